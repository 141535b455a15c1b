// Bugs that the simulation must find. Each is planted in the text of one module when it is loaded; no file is changed. The seed
// that found it is pinned: it runs in every test run, with the bug and without.

import type { Mutation } from "./runtime/hooks.ts";

export const mutations: Readonly<Record<string, Mutation>> = {
  "takeover skips the oldest": {
    seed: 194,
    what: "A node that takes over begins behind the low-water mark, and leaves the oldest open event behind.",
    file: "store/deliveries/nodes.ts",
    find: '${isFirst ? ">=" : ">"}',
    replace: ">",
  },
  "mark passes open events": {
    seed: 194,
    what: "The low-water mark of a node passes events that are not settled yet, so no other node takes them over.",
    file: "delivery/openEvents.ts",
    find: "(isLinked(open) ? open.next.id : lastId)",
    replace: "lastId",
  },
  "abandoned events are closed": {
    seed: 203,
    what: "An event whose commit was not confirmed is closed, although it may have been committed.",
    file: "pipeline.ts",
    find: "openEvent?.abandon();",
    replace: "openEvent?.close();",
  },
  "failed settlements are dropped": {
    seed: 192,
    what: "Results whose commit failed are not written again.",
    file: "delivery/openEvents.ts",
    find: "await Promise.all(failed.map((owned) => owned.retry()));",
    replace: "",
  },
  "own claim counts as another's": {
    seed: 17,
    what: "A transaction that runs again takes its own claim for a duplicate.",
    file: "store/events/claims.ts",
    find: "SET expires_at = excluded.expires_at\n   WHERE dedup_claims.event_id = excluded.event_id",
    replace: "SET expires_at = excluded.expires_at\n   WHERE 1 = 0",
  },
  "totals count twice": {
    seed: 17,
    what: "A transaction that runs again adds to the totals again.",
    file: "store/events/events.ts",
    find: "accepted.filter((_item, i) => written[i])",
    replace: "accepted",
  },
  "old consent": {
    seed: 132,
    what: "Retries are sent with the consent of the first attempt.",
    file: "identity/attribution.ts",
    find: "...(await readConsent(people, siteId, person.emailSha256, mode))",
    replace: "",
  },
  "unreadable consent is no refusal": {
    seed: 407,
    what: "Consent that cannot be read counts as unknown.",
    file: "identity/attribution.ts",
    find: "await lookUp.catch(() => unreadable)",
    replace: 'await lookUp.catch(() => ({ consent: "unknown", identity: null }) as const)',
  },
  "answer before the flush": {
    seed: 3,
    what: "A commit counts as durable when the flush ends that was under way before it.",
    file: "store/engine/sqlite/logFlush.ts",
    find: "running ? (next ??= running.then(startNext, startNext)) : start()",
    replace: "running ?? start()",
  },
  "a loop ends with its first error": {
    seed: 81,
    what: "Periodic work stops when it fails once.",
    file: "background/poll.ts",
    find: "      onError(error);\n",
    replace: "      onError(error);\n      stopping.abort();\n",
  },
  "due times of a wrong clock": {
    seed: 8,
    what: "Due times that a clock far ahead has written are not corrected when the clock is.",
    file: "maintenance/dueTimes.ts",
    find: "correct: () => loop.wake(0)",
    replace: "correct: () => {}",
  },
  "newest period first": {
    seed: 4,
    what: "Periods are pushed out of order.",
    file: "store/outbound/pushes.ts",
    find: "ORDER BY pushes.number LIMIT 1",
    replace: "ORDER BY pushes.number DESC LIMIT 1",
  },
};
