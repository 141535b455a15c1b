// The frame of every page: navigation, search, menus and error pages.

import { section } from "./catalogue.ts";
import { plural } from "./plural.ts";

export const frameText = section("frame", {
  sections: {
    label: "Sections",
    overview: "Overview",
    events: "Events",
    integrations: "Integrations",
    reconciliation: "Reconciliation",
    configuration: "Configuration",
    settings: "Settings",
  },
  /** The pages of a site, by their path. */
  pages: {
    overview: "Overview",
    events: "Events",
    integrations: "Integrations",
    "integrations/log": "Sync log",
    "integrations/quality": "Match quality",
    "integrations/webhooks": "Webhooks",
    reconciliation: "Reconciliation",
    "configuration/keys": "Inbound keys",
    "configuration/tag": "Tag",
    "configuration/domains": "Domains",
    "configuration/traffic": "Traffic filters",
    "configuration/consent": "Consent & privacy",
    "configuration/deduplication": "Deduplication",
    "settings/api-keys": "API keys",
    "settings/members": "Members",
    "settings/alerts": "Alerts",
    "settings/oauth-apps": "OAuth apps",
    "settings/audit": "Audit log",
  },
  skip: "Skip to content",
  openNavigation: "Open navigation",
  closeNavigation: "Close navigation",
  allSites: "All sites",
  switchSite: (name: string) => `Site: ${name}. Switch`,
  search: "Search and jump",
  jumpTo: "Jump to…",
  menu: {
    about: ": account and appearance",
    account: "Account",
    documentation: "Documentation",
    light: "Light",
    dark: "Dark",
    system: "System",
    signOut: "Sign out",
  },
  alerts: {
    count: (count: number) =>
      plural(count, { one: "# issue needs attention", other: "# issues need attention" }),
    view: (count: number) => plural(count, { one: "View issue", other: "View issues" }),
    hint: "What happened and what to do",
  },
  unreachable: (time: string) => `The relay cannot be reached. This page shows the state of ${time}.`,
  notFound: {
    title: "Page not found",
    about: "The link may be incomplete, or this page has been removed.",
    action: "Go to your sites",
  },
  broken: {
    title: "This page could not be shown",
    about: "The relay may have been upgraded in the meantime. Nothing was lost.",
    action: "Reload",
  },
  jump: {
    label: "Jump to",
    hint: "A page, site, key, order ID or email",
    nothing: "Nothing found. Try a page, a site, an order ID or an email.",
    site: "site",
    event: "event",
    key: (prefix: string) => `inbound key ${prefix}…`,
    account: "password, two-factor, sessions",
  },
});
