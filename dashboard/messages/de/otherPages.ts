// German for all other pages, and for errors.

import type { ServerTexts } from "../server.ts";
import { account } from "./account.ts";
import { bots } from "./bots.ts";
import { configuration } from "./configuration.ts";
import { dataExport } from "./dataExport.ts";
import { events } from "./events.ts";
import { guard } from "./guard.ts";
import { imports } from "./imports.ts";
import { integrations } from "./integrations.ts";
import { reconciliation } from "./reconciliation.ts";
import { results } from "./results.ts";
import { accessMessages } from "./server/access.ts";
import { alertMessages } from "./server/alerts.ts";
import { apiMessages } from "./server/api.ts";
import { connectionMessages } from "./server/connections.ts";
import { deliveryMessages } from "./server/delivery.ts";
import { fieldMessages } from "./server/fields.ts";
import { fileMessages } from "./server/files.ts";
import { hostMessages } from "./server/hosts.ts";
import { siteMessages } from "./server/sites.ts";
import { whyMessages } from "./server/why.ts";
import { words } from "./server/words.ts";
import { settings } from "./settings.ts";
import { sites } from "./sites.ts";
import { siteSettings } from "./siteSettings.ts";
import { sources } from "./sources.ts";
import { webhooks } from "./webhooks.ts";

export const translation = {
  account,
  bots,
  configuration,
  dataExport,
  events,
  guard,
  imports,
  integrations,
  reconciliation,
  results,
  settings,
  sites,
  siteSettings,
  sources,
  webhooks,
};

export const serverTexts: ServerTexts = {
  messages: {
    ...accessMessages,
    ...alertMessages,
    ...apiMessages,
    ...connectionMessages,
    ...deliveryMessages,
    ...fieldMessages,
    ...fileMessages,
    ...hostMessages,
    ...siteMessages,
    ...whyMessages,
  },
  words,
};
