// The overview of a site: key figures, charts and the live feed.

import { section } from "./catalogue/catalogue.ts";
import { plural } from "./catalogue/plural.ts";

export const overviewText = section("overview", {
  title: "Overview",
  about: (period: string, before: string, timeZone: string) => `${period}, compared with ${before} (time zone ${timeZone})`,
  earlier: "Earlier period",
  siteAdded: "Site added",
  range: "Time range",
  events: "Events",
  visits: "Visits",
  periods: {
    today: "Today",
    yesterday: "Yesterday",
    "24h": "Last 24 hours",
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    month: "This month",
    lastMonth: "Last month",
    "12m": "Last 12 months",
  },
  filter: {
    event: (name: string) => `Only the event ${name}`,
    source: (name: string) => `Only the source ${name}`,
    campaign: (name: string) => `Only the campaign ${name}`,
    platform: (name: string) => `Only conversions for ${name}`,
    about: "Bots, duplicates and the live feed are for the whole site and are not shown.",
    clear: "Clear the filter",
    hint: "Filter the page",
  },
  noName: "none",
  otherNames: "others",
  noConversions: "No conversions in this period.",
  feed: {
    title: "Live",
    testTitle: "Newest events",
    about: "The newest events, as they arrive.",
    new: (event: string) => `New event: ${event}`,
    emptyTitle: "Waiting for the first event",
    empty: "It appears here as soon as it arrives.",
    states: { connecting: "connecting", live: "connected", reconnecting: "reconnecting" },
    stateLabel: (state: string) => `Live feed: ${state}`,
  },
  conversions: {
    title: "Conversions",
    about: {
      day: "Accepted live events per day, without duplicates, filtered and test events.",
      hour: "Accepted live events per hour, without duplicates, filtered and test events.",
    },
    chart: { day: "Conversions per day", hour: "Conversions per hour" },
  },
  value: {
    title: "Value",
    about: {
      day: "Value of these conversions per day, without refunds. Currencies are never added together.",
      hour: "Value of these conversions per hour, without refunds. Currencies are never added together.",
    },
    currency: "Currency",
    series: (currency: string) => `Value in ${currency}`,
    none: "No conversions with a value in this period.",
    refunded: (amount: string) => `${amount} refunded`,
  },
  tiles: {
    matchRate: "Match rate",
    matched: (matched: string, all: number) =>
      plural(all, {
        one: `${matched} of # conversion with a click ID`,
        other: `${matched} of # conversions with a click ID`,
      }),
    delivered: "Delivered",
    deliveredOf: (sent: string, all: number) =>
      plural(all, {
        one: `${sent} of # delivery, skipped not counted`,
        other: `${sent} of # deliveries, skipped not counted`,
      }),
    botVisits: (count: number) => plural(count, { one: "# visit", other: "# visits" }),
    botEvents: (count: number) => plural(count, { one: "# event", other: "# events" }),
    valueAnd: (currencies: readonly string[]) => `Value (also ${currencies.join(", ")})`,
    noComparison: "no earlier data",
    noChange: "no change",
    from: (before: string) => `from ${before}`,
    change: (percent: string, before: string) => `${percent} from ${before}`,
    /** Percentage points. */
    points: (points: number, before: string) => plural(points, { one: `# pt from ${before}`, other: `# pts from ${before}` }),
    more: "up",
    less: "down",
  },
  deliveries: {
    title: "Deliveries by platform",
    about: "Current delivery status of these conversions. Skipped deliveries did not apply to the platform.",
    log: "Sync log",
    none: "No deliveries in this period.",
    platforms: "Platforms",
    share: (percent: string) => `${percent} delivered`,
    state: (count: string, state: string) => `${count} ${state}`,
  },
  match: {
    title: "Match rate by click ID",
    about: "Conversions with each click ID. One conversion can have several.",
    chart: "Conversions by click ID",
    none: "no click ID",
    identified: (identified: string, all: string) => `${identified} of ${all} had an identity record.`,
    withheld: (count: number) =>
      plural(count, {
        one: "# was sent without identifiers, for lack of consent.",
        other: "# were sent without identifiers, for lack of consent.",
      }),
    checkTag: "Check the tag",
  },
  bySource: {
    title: "Where conversions come from",
    by: "By source or campaign",
    source: "Source",
    campaign: "Campaign",
    about: {
      source: "By utm_source, or by the network of the click ID. Value without refunds.",
      campaign: "By utm_campaign. Value without refunds.",
    },
    model: "Which visits get a conversion",
    models: { last: "Last", first: "First", linear: "Linear" },
    aboutModel: {
      last: "A conversion counts for the last visit with a campaign or click.",
      first: "A conversion counts for the first visit with a campaign or click.",
      linear: "A conversion counts in equal parts for each visit with a campaign or click.",
    },
    label: { source: "Conversions by source", campaign: "Conversions by campaign" },
  },
  byEvent: {
    title: "Conversions by event",
    about: "By event name, as your servers send it, with their value.",
  },
  bots: {
    title: "Bots removed",
    about: {
      day: "Bot visits and events filtered as bots, per day. They are never sent to a platform.",
      hour: "Bot visits and events filtered as bots, per hour. They are never sent to a platform.",
    },
    chart: { day: "Bots removed per day", hour: "Bots removed per hour" },
    rows: "Filtered events",
    noVisits: "No visits in this period.",
    none: (visits: number) =>
      plural(visits, {
        one: "No bots: # visit in this period.",
        other: "No bots among # visits in this period.",
      }),
  },
  reasons: {
    title: "Removed by reason",
    about: "The strongest signal of each bot visit, and why events were filtered: as bots, or by your rules.",
    rows: "Traffic filters",
    none: "Nothing was removed in this period.",
    visits: "Visits removed by reason",
    events: "Events removed by reason",
    showAll: (count: number) => plural(count, { other: "Show all #" }),
  },
  duplicates: {
    title: "Duplicates",
    about: {
      day: "Duplicates per day: received again and not re-sent.",
      hour: "Duplicates per hour: received again and not re-sent.",
    },
    chart: { day: "Duplicates per day", hour: "Duplicates per hour" },
    none: "No duplicates in this period.",
    how: "How duplicates are detected",
  },
});
