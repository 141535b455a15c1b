// The pages of a site. The router, the tabs of Configuration and Settings, and the search all use this list.

import type { ComponentType } from "react";

type SitePage = {
  path: string;
  label: string;
  load: () => Promise<{ default: ComponentType }>;
  /** The events of the page's list open in a drawer over it. */
  hasTraces?: true;
};

export const sitePages: readonly SitePage[] = [
  { path: "overview", label: "Overview", load: () => import("./scenes/overview/Overview.tsx") },
  { path: "events", label: "Events", load: () => import("./scenes/events/Events.tsx"), hasTraces: true },
  {
    path: "integrations",
    label: "Integrations",
    load: () => import("./scenes/integrations/platforms/Platforms.tsx"),
  },
  {
    path: "integrations/log",
    label: "Sync log",
    load: () => import("./scenes/integrations/syncLog/SyncLog.tsx"),
    hasTraces: true,
  },
  {
    path: "integrations/webhooks",
    label: "Webhooks",
    load: () => import("./scenes/integrations/webhooks/Webhooks.tsx"),
  },
  {
    path: "configuration/keys",
    label: "Inbound keys",
    load: () => import("./scenes/configuration/inbound/InboundKeys.tsx"),
  },
  { path: "configuration/tag", label: "Tag", load: () => import("./scenes/configuration/Tag.tsx") },
  {
    path: "configuration/domains",
    label: "Domains",
    load: () => import("./scenes/configuration/domains/Domains.tsx"),
  },
  {
    path: "configuration/traffic",
    label: "Traffic filters",
    load: () => import("./scenes/configuration/traffic/Traffic.tsx"),
  },
  {
    path: "configuration/consent",
    label: "Consent & privacy",
    load: () => import("./scenes/configuration/consent/Consent.tsx"),
  },
  {
    path: "configuration/deduplication",
    label: "Deduplication",
    load: () => import("./scenes/configuration/Deduplication.tsx"),
  },
  { path: "settings/api-keys", label: "API Keys", load: () => import("./scenes/settings/ApiKeys.tsx") },
  { path: "settings/members", label: "Members", load: () => import("./scenes/settings/Members.tsx") },
  { path: "settings/alerts", label: "Alerts", load: () => import("./scenes/settings/Alerts.tsx") },
  { path: "settings/oauth-apps", label: "OAuth apps", load: () => import("./scenes/settings/OAuthApps.tsx") },
  { path: "settings/audit", label: "Audit log", load: () => import("./scenes/settings/Audit.tsx") },
];
