// Every message that the dashboard may show, in English, by its code. `{name}` is the place of a parameter.

import { accessMessages } from "./access.ts";
import { alertMessages } from "./alerts.ts";
import { apiMessages } from "./api.ts";
import { connectionMessages } from "./connections.ts";
import { deliveryMessages } from "./delivery.ts";
import { fieldMessages } from "./fields.ts";
import { fileMessages } from "./files.ts";
import { hostMessages } from "./hosts.ts";
import { reasonMessages } from "./reasons.ts";
import { siteMessages } from "./sites.ts";
import { whyMessages } from "./why.ts";

export const messages = {
  ...accessMessages,
  ...alertMessages,
  ...apiMessages,
  ...connectionMessages,
  ...deliveryMessages,
  ...fieldMessages,
  ...fileMessages,
  ...hostMessages,
  ...reasonMessages,
  ...siteMessages,
  ...whyMessages,
} as const;
