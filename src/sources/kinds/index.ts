// All kinds of sources. A new one is one folder and one line here.

import type { Kind } from "../kind.ts";
import { calcom } from "./calcom/index.ts";
import { calendly } from "./calendly/index.ts";
import { callrail } from "./callrail/index.ts";
import { chargebee } from "./chargebee/index.ts";
import { custom } from "./custom/index.ts";
import { gohighlevel } from "./gohighlevel/index.ts";
import { hubspot } from "./hubspot/index.ts";
import { jotform } from "./jotform/index.ts";
import { lemonsqueezy } from "./lemonsqueezy/index.ts";
import { paddle } from "./paddle/index.ts";
import { pipedrive } from "./pipedrive/index.ts";
import { salesforce } from "./salesforce/index.ts";
import { shopify } from "./shopify/index.ts";
import { standardWebhooks } from "./standard_webhooks/index.ts";
import { stripe } from "./stripe/index.ts";
import { tally } from "./tally/index.ts";
import { typeform } from "./typeform/index.ts";
import { webflow } from "./webflow/index.ts";
import { woocommerce } from "./woocommerce/index.ts";

export const kinds: readonly Kind[] = [
  stripe,
  shopify,
  woocommerce,
  hubspot,
  pipedrive,
  salesforce,
  gohighlevel,
  calendly,
  calcom,
  typeform,
  tally,
  jotform,
  webflow,
  callrail,
  paddle,
  lemonsqueezy,
  chargebee,
  standardWebhooks,
  custom,
];

const byId = new Map(kinds.map((kind) => [kind.id, kind]));

export const kindOf = (id: string): Kind | undefined => byId.get(id);
