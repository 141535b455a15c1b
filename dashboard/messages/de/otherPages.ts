// German for all other pages, and for errors.

import { account } from "./account.ts";
import { configuration } from "./configuration.ts";
import { events } from "./events.ts";
import { imports } from "./imports.ts";
import { integrations } from "./integrations.ts";
import { reconciliation } from "./reconciliation.ts";
import { results } from "./results.ts";
import { errors } from "./server/errors.ts";
import { faults } from "./server/faults.ts";
import { importFaults } from "./server/imports.ts";
import { reasons } from "./server/reasons.ts";
import { settings } from "./settings.ts";
import { sites } from "./sites.ts";
import { siteSettings } from "./siteSettings.ts";
import { webhooks } from "./webhooks.ts";

export const translation = {
  account,
  configuration,
  events,
  imports,
  integrations,
  reconciliation,
  results,
  settings,
  sites,
  siteSettings,
  webhooks,
};

export const serverTexts = { ...errors, ...faults, ...importFaults, ...reasons };
