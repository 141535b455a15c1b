// Reconciliation: the list of orders, its comparison with events and deliveries, and the orders behind each number.

import { section } from "./catalogue/catalogue.ts";
import { plural } from "./catalogue/plural.ts";

export const reconciliationText = section("reconciliation", {
  title: "Reconciliation",
  orders: "Orders",
  about: "Compares your own list of orders with the events that were received and with what each platform answered.",
  period: {
    label: "Compared period",
    compared: (day: string) => `compared ${day}`,
    states: { running: "running", done: "done", cancelled: "cancelled" },
    none: "The list has not been compared yet.",
    from: "First day",
    to: "Last day",
    compare: "Compare",
    started: "The reconciliation has started.",
    defaults: (days: string, hours: string) =>
      `Without days: the ${days} days before the last ${hours} hours, in which orders and answers may still arrive.`,
  },
  run: {
    cancelled: "This comparison was cancelled. Its numbers are those of the orders that had been compared.",
    emptyTitle: "No orders in this period",
    empty: "Choose other days, or upload the orders of this period.",
    progress: (orders: number) => plural(orders, { one: "# order compared so far", other: "# orders compared so far" }),
    running: "The reconciliation is running",
  },
  summary: {
    received: "Received",
    missing: (count: string) => `${count} never received`,
    all: "all of them",
    differing: "Received with differences",
    lowest: "Most orders missing at",
    parts: (accepted: string, deliverable: string, failed: string) =>
      `${accepted} of ${deliverable} accepted${failed === "0" ? "" : `, ${failed} failed`}`,
  },
  funnel: {
    label: "Funnel",
    title: (platform: string) => `From your orders to ${platform}`,
    titleOfAll: "From your orders to the platforms",
    about: "How many orders came through each step, and why the others did not. Each number leads to its orders.",
    headline: (platform: string, accepted: string, deliverable: string, share: string) =>
      `${platform} has ${accepted} of ${deliverable} deliverable orders, ${share}.`,
    connection: "Connection",
    all: "All connections",
    allAbout: "Orders that came through each step, and the largest loss at the platform.",
    largest: "Largest loss",
    noOrders: "No orders yet",
    noOrdersMore: "The funnel begins with your own list of orders. Add it, and each order is followed to every platform.",
    addOrders: "Add orders",
    lost: (step: string) => `Lost before ${step}:`,
    more: (count: number) => plural(count, { one: "# more reason", other: "# more reasons" }),
    confirmations:
      "Confirmations are those that had arrived when the orders were compared. A platform that answers with counts does not say which conversion of a request it counts: those conversions are unknown here, and counted in the sums of the overview, which can therefore be higher.",
    steps: {
      orders: "Orders in your list",
      received: "Received",
      "not filtered": "Not filtered",
      attributed: "With a click ID",
      due: "Due at the platform",
      accepted: "Accepted",
      confirmed: "Confirmed",
    },
    hints: {
      "not filtered": "no bot, no rule",
      attributed: "most platforms need none",
      confirmed: "the platform counts it",
    },
  },
  acceptance: {
    title: "Accepted of deliverable",
    about:
      "How many of the orders that a platform should have it has accepted. What cannot apply stands apart: skipped, filtered, or from before it was connected. <docs>How it is counted</docs>",
    table: "Accepted orders of each connection",
    ofOnly: (deliverable: string) => `of ${deliverable}`,
    ofDeliverable: (accepted: string, deliverable: string) => `${accepted} of ${deliverable}`,
    later: "connected later",
    leftOut: "event not selected",
    notApplicable: "Cannot apply",
    connection: "Connection",
    accepted: "Accepted",
    skipped: "Skipped",
    waiting: "Waiting",
    failed: "Failed",
    filtered: "Filtered",
    notReceived: "Not received",
    notConnected: "Not connected",
    counts: {
      accepted: (count: string) => `${count} accepted`,
      waiting: (count: string) => `${count} waiting`,
      failed: (count: string) => `${count} failed`,
      notReceived: (count: string) => `${count} not received`,
    },
  },
  differences: {
    title: "Orders and events",
    values: (listed: string, received: string) => `${listed} in the list, ${received} received`,
    weak: (count: number) =>
      plural(count, {
        one: "# of them has no common order ID: it was found by person, day and value.",
        other: "# of them have no common order ID: they were found by person, day and value.",
      }),
  },
  repair: {
    send: "Send them",
    sendQuestion: (orders: number) =>
      plural(orders, { one: "Send # order to all platforms?", other: "Send # orders to all platforms?" }),
    sendConsequence:
      "Each order with an email becomes a conversion and is delivered to every connection. Orders without an email are left out, and so are those that arrived since, or to which an event of the same person, day and value may belong. Platforms accept conversions up to a certain age.",
    sendAbout: "Sends these orders as conversions. Or download them in the form that the import reads.",
    csv: "CSV for the import",
    sent: (orders: number) => plural(orders, { one: "# order sent", other: "# orders sent" }),
    compareAgain: "They are being delivered. Compare again to see what became of them.",
    withoutEmail: (orders: number) =>
      plural(orders, {
        one: "# order without an email was left out",
        other: "# orders without an email were left out",
      }),
    receivedSince: (orders: number) =>
      plural(orders, {
        one: "# order has arrived since and was not sent again",
        other: "# orders have arrived since and were not sent again",
      }),
    similar: (orders: number) =>
      plural(orders, {
        one: "# order was left out: an event of the same person, day and value is here",
        other: "# orders were left out: events of the same person, day and value are here",
      }),
    filtered: (orders: number) => plural(orders, { one: "# order was filtered", other: "# orders were filtered" }),
    refused: (orders: number) => plural(orders, { one: "# order was refused", other: "# orders were refused" }),
    correct: { status_changed: "Take them back", value_differs: "Restate the values" },
    correctQuestion: {
      status_changed: (orders: number) =>
        plural(orders, {
          one: "Take back the conversions of # order?",
          other: "Take back the conversions of # orders?",
        }),
      value_differs: (orders: number) =>
        plural(orders, {
          one: "Restate the conversions of # order?",
          other: "Restate the conversions of # orders?",
        }),
    },
    correctConsequence:
      "Google Ads and offline conversions of Microsoft are corrected to what your list says. Other platforms cannot change a conversion that they accepted.",
    correctAbout: {
      status_changed: "Takes the conversions back at platforms that can do so.",
      value_differs: "Sends the value of your list to platforms that can restate a conversion.",
    },
    correctOff: {
      status_changed:
        "Conversions of these orders can be taken back at Google Ads and Microsoft. <quality>Turn on corrections</quality> first.",
      value_differs:
        "The values of these orders can be restated at Google Ads and Microsoft. <quality>Turn on corrections</quality> first.",
    },
    corrected: (orders: number) => plural(orders, { one: "# order with a correction", other: "# orders with a correction" }),
    counted: (count: string, state: string) => `${count} ${state}`,
    left: (orders: number) =>
      plural(orders, {
        one: "# order stays as it is: no platform has it, or the list has changed",
        other: "# orders stay as they are: no platform has them, or the list has changed",
      }),
  },
  classes: {
    matched: "Matched",
    value_differs: "Other value",
    currency_differs: "Other currency",
    duplicate: "Received more than once",
    status_changed: "Refunded or cancelled",
    missing_here: "Never received",
    not_due: "Not due",
    extra_here: "Not in the list",
  },
  aboutClasses: {
    matched: "Received, with the same value and currency.",
    value_differs: "Received with another value than the list has.",
    currency_differs: "Received with another currency.",
    duplicate: "Several events of the order were accepted.",
    status_changed: "Received, and no longer valid since.",
    missing_here: "Paid orders without an event.",
    not_due: "Not paid, and never received. Not counted.",
    extra_here: "Events without an order in the list. Not counted.",
  },
  differing: {
    value_differs: (count: string) => `${count} with another value`,
    currency_differs: (count: string) => `${count} in another currency`,
    duplicate: (count: string) => `${count} more than once`,
    status_changed: (count: string) => `${count} refunded or cancelled`,
  },
  list: {
    title: "Your list of orders",
    empty: "No orders yet. Add the orders of your shop or CRM, then compare them with what was received and delivered.",
    about: (orders: number, first: string, last: string) =>
      plural(orders, {
        one: `# order, from ${first} to ${last}. An order that is listed again replaces the earlier one.`,
        other: `# orders, from ${first} to ${last}. An order that is listed again replaces the earlier one.`,
      }),
    aboutMany: (orders: string, first: string, last: string) =>
      `More than ${orders} orders, from ${first} to ${last}. An order that is listed again replaces the earlier one.`,
    upload: "Upload CSV or NDJSON",
    columns: "Order ID, time, value, currency, status. <docs>Columns</docs>",
    progress: "Upload",
    written: (orders: number) => plural(orders, { one: "# order written", other: "# orders written" }),
    refused: (rows: number) => plural(rows, { one: "# row refused", other: "# rows refused" }),
    reason: (count: string, reason: string) => `${count} × ${reason}`,
    lines: (lines: string) => `(line ${lines})`,
  },
  feed: {
    label: "Or fetch it every day from",
    header: "Header name",
    headerValue: "Header value",
    saved: "The list is fetched within a minute, and then every day.",
    fetchSoon: "The list is fetched within a minute.",
    fetch: "Fetch now",
    remove: "Remove",
    question: "Stop fetching the list?",
    consequence: "The orders stay. You can upload lists, or set an address again.",
    fetched: "Fetched every day from <url/>. Last fetch: <time/>",
  },
  rows: {
    title: "Orders",
    csv: "these orders",
    searchMore: "No matches among these orders. Search further",
    emptyTitle: "No orders",
    empty: "No order matches.",
    time: "Time",
    order: "Order",
    event: "event",
    class: "Class",
    foundBy: "Found by",
    listed: "Listed",
    received: "Received",
    deliveries: "Deliveries",
    filtered: (reason: string) => `filtered: ${reason}`,
    withClickId: "with a click ID",
    withoutClickId: "without a click ID",
    cannotAsk: "the platform cannot be asked",
    outcome: (platform: string, state: string) => `${platform}: ${state}`,
    correctedTo: (money: string) => `corrected to ${money}`,
  },
  states: {
    sent: "accepted",
    skipped: "skipped",
    queued: "queued",
    parked: "parked",
    rejected: "rejected",
    expired: "expired",
    waiting: "waiting",
    failed: "failed",
    none: "not connected at the time",
  },
  foundBy: { exact: "exact", "other spelling": "other spelling", weak: "person, day, value" },
  corrections: {
    waiting: "correction waiting",
    applied: "sent with the corrected value",
    "nothing to correct": "nothing to correct",
    rejected: "correction rejected",
    "cannot be taken back": "cannot be taken back",
  },
  confirmations: { confirmed: "confirmed", "not counted": "not counted", unknown: "unknown" },
  leads: {
    title: "Lead stages",
    about: "How many leads reached each stage, by their source, and how long they took from the stage before.",
    bySource: "By source",
    learn: "About lead stages",
    period: "Period",
    days: (days: number) => plural(days, { one: "Last day", other: "Last # days" }),
    stages: "Stages, from the first to the last",
    source: "Source",
    noSource: "Unknown source",
    after: (span: string) => `after ${span}`,
    wentBack: "Went back",
    none: "No lead stages yet",
    noneMore: "Send an event for each stage of a lead: lead, qualified_lead, closed_won, or the names of your CRM.",
    incomplete: "There are more stages than can be read at once. Only the newest are counted.",
    backTitle: "Leads that went back",
    backAbout: "A stage that a lead reaches again is not sent again if the event has the lead's id.",
    backFrom: "From",
    backTo: "Back to",
    backTime: "Time",
  },
});
