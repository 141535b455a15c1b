// The list of sites, and adding one.

import { section } from "./catalogue/catalogue.ts";
import { plural } from "./catalogue/plural.ts";

export const sitesText = section("sites", {
  title: "Sites",
  about: "Each site has its own keys, connections and data. 24 hours means the current hour and the 23 before it.",
  site: "Site",
  conversions: "Conversions, 24 h",
  bots: "Bots removed, 24 h",
  connections: "Connections",
  waiting: "Waiting",
  lastEvent: "Last event",
  noEvent: "none yet",
  alerts: "Alerts",
  alertCount: (count: number) => plural(count, { one: "# alert", other: "# alerts" }),
  moreHosts: (first: string, more: number) => plural(more, { other: `${first} and # more` }),
  needReconnection: (count: number) => plural(count, { one: "# needs reconnection", other: "# need reconnection" }),
  active: (count: number) => plural(count, { other: "# active" }),
  paused: (count: number) => plural(count, { other: "# paused" }),
  emptyTitle: "No site yet",
  emptyAdmin: "Add the domain where people convert to see its keys, platforms and figures here.",
  emptyViewer: "You have no access to a site yet. Ask an owner to invite you.",
  add: {
    title: "Add a site",
    submit: "Add",
    added: (name: string) => `${name} was added.`,
    domain: "Domain",
    about: "The domain where people convert. You can add more later.",
  },
});
