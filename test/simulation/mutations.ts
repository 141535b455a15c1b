// Bugs that the simulation must find. Each is planted in the text of one module when it is loaded; no file is changed. Each names
// the conditions under which it shows: seeds with this focus find it, also when a change of the product changes what a seed does.

import type { Mutation } from "./runtime/hooks.ts";

/** Nodes die while they wait for platforms or for the database. */
const dyingNodes: Mutation["focus"] = {
  engine: "postgres",
  nodes: 3,
  faults: { crash: 9 },
  platformFaults: ["late", "silent"],
  purchases: 40,
  trafficMs: 7000,
};

/** Commits take effect, and their confirmation is lost. */
const lostConfirmations: Mutation["focus"] = {
  engine: "postgres",
  faults: { "lost commits": 4 },
  purchases: 12,
};

export const mutations: Readonly<Record<string, Mutation>> = {
  "takeover skips the oldest": {
    what: "A node that takes over begins behind the low-water mark, and leaves the oldest open event behind.",
    file: "store/deliveries/nodes.ts",
    find: '           WHERE site_id = $1 AND id ${isFirst ? ">=" : ">"}',
    replace: "           WHERE site_id = $1 AND id >",
    focus: dyingNodes,
  },
  "mark passes open events": {
    what: "The low-water mark of a node passes events that are not settled yet, so no other node takes them over.",
    file: "delivery/openEvents.ts",
    find: "(isLinked(open) ? open.next.id : lastId)",
    replace: "lastId",
    focus: dyingNodes,
  },
  "abandoned events are closed": {
    what: "An event whose commit was not confirmed is closed, although it may have been committed.",
    file: "pipeline.ts",
    find: "openEvent?.abandon();",
    replace: "openEvent?.close();",
    focus: {
      engine: "postgres",
      isSynchronous: true,
      nodes: 1,
      faults: { "standby away": 1 },
      purchases: 40,
      trafficMs: 22_000,
    },
  },
  "failed settlements are dropped": {
    what: "Results whose commit failed are not written again.",
    file: "delivery/openEvents.ts",
    find: "await Promise.all(failed.map((owned) => owned.retry()));",
    replace: "",
    focus: {
      engine: "sqlite",
      faults: { "full disk": 6 },
      platformFaults: ["slow", "failing"],
      purchases: 20,
      trafficMs: 4000,
    },
  },
  "own claim counts as another's": {
    what: "A transaction that runs again takes its own claim for a duplicate.",
    file: "store/events/claims.ts",
    find: "SET expires_at = excluded.expires_at\n   WHERE dedup_claims.event_id = excluded.event_id",
    replace: "SET expires_at = excluded.expires_at\n   WHERE 1 = 0",
    focus: lostConfirmations,
  },
  "totals count twice": {
    what: "A transaction that runs again adds to the totals again.",
    file: "store/events/events.ts",
    find: "accepted.filter((_item, i) => written[i])",
    replace: "accepted",
    focus: lostConfirmations,
  },
  "old consent": {
    what: "Retries are sent with the consent of the first attempt.",
    file: "identity/attribution.ts",
    find: "...(await readConsent(people, siteId, person.emailSha256, mode))",
    replace: "",
    focus: {
      faults: {},
      actions: { "refuse consent": 8 },
      platformFaults: ["failing"],
      purchases: 20,
      trafficMs: 3000,
    },
  },
  "unreadable consent is no refusal": {
    what: "Consent that cannot be read counts as unknown.",
    file: "identity/attribution.ts",
    find: "await lookUp.catch(() => unreadable)",
    replace: 'await lookUp.catch(() => ({ consent: "unknown", identity: null }) as const)',
    focus: {
      engine: "postgres",
      nodes: 1,
      faults: { "slow network to the database": 8 },
      actions: { "refuse consent": 16 },
      purchases: 30,
      trafficMs: 4000,
    },
  },
  "answer before the flush": {
    what: "A commit counts as durable when the flush ends that was under way before it.",
    file: "store/engine/sqlite/logFlush.ts",
    find: "running ? (next ??= running.then(startNext, startNext)) : start()",
    replace: "running ?? start()",
    focus: { engine: "sqlite", faults: { "slow disk": 4 }, purchases: 12 },
  },
  "a loop ends with its first error": {
    what: "Periodic work stops when it fails once.",
    file: "background/poll.ts",
    find: "      onError(error);\n",
    replace: "      onError(error);\n      stopping.abort();\n",
    focus: {
      engine: "postgres",
      nodes: 1,
      faults: { "slow network to the database": 6, "clock jump": 4, failover: 2 },
      platformFaults: ["failing"],
      purchases: 12,
      trafficMs: 5000,
    },
  },
  "due times of a wrong clock": {
    what: "Due times that a clock far ahead has written are not corrected when the clock is.",
    file: "maintenance/dueTimes.ts",
    find: "    correct() {\n",
    replace: "    correct() {\n      return;\n",
    focus: { engine: "sqlite", faults: { "wrong clock": 4 }, platformFaults: ["failing"], purchases: 8 },
  },
  "newest period first": {
    what: "Periods are pushed out of order.",
    file: "store/outbound/pushes.ts",
    find: "ORDER BY pushes.number LIMIT 1",
    replace: "ORDER BY pushes.number DESC LIMIT 1",
    focus: { trafficMs: 7000 },
  },
  "settlement without its lease": {
    what: "A node that was suspended overwrites what another one has recorded meanwhile.",
    file: "store/deliveries/deliveries.ts",
    find: "WHERE site_id = $1 AND event_id = $2 AND connection_id = $3 AND owner = $4`",
    replace: "WHERE site_id = $1 AND event_id = $2 AND connection_id = $3 AND (owner = $4 OR 1 = 1)`",
    focus: {
      engine: "postgres",
      nodes: 3,
      faults: { pause: 8 },
      platformFaults: ["failing", "slow"],
      purchases: 24,
      trafficMs: 6000,
    },
  },
  "lease may end during the attempt": {
    what: "A job is sent although its lease may end before the platform answers.",
    file: "delivery/lanes/deliver.ts",
    find: "const neededMs = options.attemptMs + tickMs;",
    replace: "const neededMs = 0;",
    focus: {
      engine: "postgres",
      nodes: 1,
      faults: {},
      limits: { lanes: 16, batch: 1, perSecond: 2 },
      purchases: 40,
      trafficMs: 1500,
    },
  },
  "probe without an end": {
    what: "A call that probes a platform, and is told to come back later, is never over: nothing more is sent.",
    file: "delivery/lanes/breaker.ts",
    find: "state.isProbing = false;\n      state.until = at + Math.min(seconds",
    replace: "state.until = at + Math.min(seconds",
    focus: { faults: {}, platformFaults: ["limiting"], purchases: 12, trafficMs: 6000 },
  },
};
