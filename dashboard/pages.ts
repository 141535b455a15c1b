// The pages of a site. The router, the tabs of Configuration and Settings, and the search all use this list.

import type { ComponentType } from "react";
import type { frameText } from "./messages/frame.ts";

type SitePage = {
  path: keyof typeof frameText.pages;
  load: () => Promise<{ default: ComponentType }>;
  /** The events of the page's list open in a drawer over it. */
  hasTraces?: true;
};

export const sitePages: readonly SitePage[] = [
  // In one file with the frame around it.
  { path: "overview", load: () => import("./scenes/overview/Overview.tsx") },
  { path: "first-conversion", load: () => import("./scenes/firstConversion/FirstConversion.tsx") },
  { path: "events", load: () => import("./scenes/events/Events.tsx"), hasTraces: true },
  { path: "sources", load: () => import("./scenes/sources/Sources.tsx") },
  {
    path: "integrations",
    load: () => import("./scenes/integrations/platforms/Platforms.tsx"),
  },
  {
    path: "integrations/log",
    load: () => import("./scenes/integrations/syncLog/SyncLog.tsx"),
    hasTraces: true,
  },
  {
    path: "integrations/quality",
    load: () => import("./scenes/integrations/quality/Quality.tsx"),
  },
  {
    path: "integrations/webhooks",
    load: () => import("./scenes/integrations/webhooks/Webhooks.tsx"),
  },
  {
    path: "integrations/export",
    load: () => import("./scenes/integrations/export/DataExport.tsx"),
  },
  {
    path: "reconciliation",
    load: () => import("./scenes/reconciliation/Reconciliation.tsx"),
  },
  { path: "reconciliation/funnel", load: () => import("./scenes/reconciliation/FunnelPage.tsx") },
  { path: "leads", load: () => import("./scenes/leads/LeadStages.tsx") },
  { path: "bots/clicks", load: () => import("./scenes/bots/InvalidClicks.tsx") },
  { path: "bots/evidence", load: () => import("./scenes/bots/Evidence.tsx") },
  { path: "bots/visits", load: () => import("./scenes/bots/Visits.tsx") },
  { path: "configuration/general", load: () => import("./scenes/configuration/General.tsx") },
  {
    path: "configuration/keys",
    load: () => import("./scenes/configuration/inbound/InboundKeys.tsx"),
  },
  { path: "configuration/tag", load: () => import("./scenes/configuration/Tag.tsx") },
  {
    path: "configuration/domains",
    load: () => import("./scenes/configuration/domains/Domains.tsx"),
  },
  { path: "configuration/traffic", load: () => import("./scenes/configuration/Traffic.tsx") },
  {
    path: "configuration/consent",
    load: () => import("./scenes/configuration/consent/Consent.tsx"),
  },
  {
    path: "configuration/deduplication",
    load: () => import("./scenes/configuration/Deduplication.tsx"),
  },
  { path: "configuration/import", load: () => import("./scenes/configuration/import/Import.tsx") },
  { path: "settings/api-keys", load: () => import("./scenes/settings/ApiKeys.tsx") },
  { path: "settings/assistants", load: () => import("./scenes/settings/Assistants.tsx") },
  { path: "settings/members", load: () => import("./scenes/settings/Members.tsx") },
  { path: "settings/alerts", load: () => import("./scenes/settings/Alerts.tsx") },
  { path: "settings/sharing", load: () => import("./scenes/sharing/SharedLinks.tsx") },
  { path: "settings/oauth-apps", load: () => import("./scenes/settings/OAuthApps.tsx") },
  { path: "settings/audit", load: () => import("./scenes/settings/Audit.tsx") },
];

/** Loads the code of the page that an address names, so that it comes together with that of the frame around it. */
export async function loadNamedPage({ pathname }: Location): Promise<void> {
  const [, path] = /^\/dashboard\/sites\/[\w-]+\/(.+)$/.exec(pathname) ?? [];
  // A failure shows when the page is opened.
  await sitePages
    .find((page) => page.path === path)
    ?.load()
    .catch(() => {});
}
