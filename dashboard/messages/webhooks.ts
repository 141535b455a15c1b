// Webhooks: URLs that receive the totals of a site.

import { section } from "./catalogue/catalogue.ts";
import { plural } from "./catalogue/plural.ts";

export const webhooksText = section("webhooks", {
  title: "Webhooks",
  about: "A webhook sends your server the number of conversions and of removed bot visits and events.",
  add: "Add webhook",
  minutes: (count: number) => plural(count, { one: "every minute", other: "every # minutes" }),
  seconds: (count: number) => plural(count, { one: "every second", other: "every # seconds" }),
  emptyTitle: "No webhooks yet",
  empty: (period: string) => `Add the URL of your server to receive the totals ${period}.`,
  emptyLoading: "Add the URL of your server to receive the totals.",
  currentPeriod: "The current period began <start/> and ends <end/>.",
  currentPeriodEnds: "The current period ends <end/>.",
  columns: {
    url: "URL",
    state: "State",
    nextPush: "Next push",
    waiting: "Periods waiting",
    lastPush: "Last push",
  },
  secret: {
    title: "Webhook secret",
    about:
      "Every push carries it as <code>Authorization: Bearer</code> and is signed with it. Your receiver checks both; see <link>Outbound webhook</link>, with examples for Node, Python and PHP.",
  },
  payload: {
    title: "Payload",
    about: (period: string) => `A POST ${period}, with the totals since the last one.`,
    example: "Example of a push",
    conversions: "Accepted events, without duplicates, filtered events and events of test keys.",
    removed: "Bot visits and events filtered as bots.",
    delivery:
      "Each conversion is in exactly one push. A failed push is repeated with the same ID until it is delivered. <link>How to verify a push</link>",
  },
  form: {
    title: "Add a webhook",
    aboutUrl: "HTTPS, and reachable from the internet.",
    sendEmpty: "Also push empty periods",
    aboutSendEmpty: "A missing push then means that something is wrong.",
  },
  panel: {
    emptyPeriods: "Empty periods",
    pushed: "pushed",
    notPushed: "not pushed",
    added: "Added",
    id: "ID",
    pushes: "Pushes",
    thePushes: "the pushes",
    since: "since <time/>",
    disabled: "This webhook is disabled",
    waiting: (periods: number) => plural(periods, { one: "# period is waiting.", other: "# periods are waiting." }),
    waitsUntilEnabled: "Its periods wait until it is enabled.",
    enable: "Enable",
    enabled: "Webhook enabled.",
    enabledAndPushed: (periods: number) =>
      plural(periods, {
        one: "Webhook enabled. # period is pushed now.",
        other: "Webhook enabled. # periods are pushed now, oldest first.",
      }),
    disable: "Disable",
    disabledNotice: "Webhook disabled. Its periods wait.",
    rotate: "Rotate secret",
    rotateQuestion: "Rotate the secret?",
    rotateConsequence:
      "The new secret is shown once and used immediately. The old one stays valid for 24 hours: pushes are signed with both, so that your receiver can switch. A second rotation within that time ends the oldest secret.",
    delete: "Delete",
    deleteQuestion: "Delete this webhook?",
    deleteConsequence: (periods: number) =>
      plural(periods, {
        one: "It receives no more pushes. Its queue (# period) and its log are deleted.",
        other: "It receives no more pushes. Its queue (# periods) and its log are deleted.",
      }),
    deleted: "Webhook deleted.",
  },
  pushes: {
    emptyTitle: "No pushes yet",
    empty: "Each push appears here with its totals and the response.",
    delivered: "delivered",
    failed: "failed",
    totals: (conversions: number, removed: string) =>
      plural(conversions, {
        one: `# conversion, ${removed} removed`,
        other: `# conversions, ${removed} removed`,
      }),
    noResponse: "no response",
    noResponseSentence: "No response.",
    emptyResponse: "Empty response.",
    period: (first: string, last: string) => `Period: ${first} – ${last}`,
    response: "Response",
  },
  test: {
    send: "Send test",
    delivered: "Test push delivered",
    failed: "Test push failed",
    sent: "Sent request",
    body: "Body",
    about: "A test push carries the totals of the current period and is not counted.",
  },
  replay: {
    open: "Replay…",
    title: "Replay closed periods?",
    about:
      "All closed periods of these days are pushed again, with the same IDs and totals. A receiver that remembers the IDs counts none twice.",
    submit: "Replay",
    none: "No closed periods in these days.",
    waiting: (periods: number) =>
      plural(periods, {
        one: "# period waits until the webhook is enabled.",
        other: "# periods wait until the webhook is enabled.",
      }),
    done: (periods: number) => plural(periods, { one: "# period is pushed again.", other: "# periods are pushed again." }),
  },
});
