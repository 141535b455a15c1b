// A model of the deliveries of one event: what the database holds, what two nodes have in memory, and every step that can
// change either. Node `a` accepted the event and owns its first attempts; `b` takes over when `a` dies, and both work on
// queued deliveries. model.test.ts explores every order of these steps, store.test.ts takes the same steps with the real
// store, and the drawing of the states in docs/explanation/concepts.md is made from them.
//
// Time is not counted: what may happen after a while may happen at any moment. A request begins in the moment in which the
// node looks at its lease and at the delivery. In the relay up to a second lies between the two.

import type { ConnectionState, DeliveryState } from "../../src/kernel/event.ts";

export type Node = "a" | "b";

/** One delivery as the database holds it. Without a row its plan or its outcome says what became of it. */
export type Delivery = {
  state: DeliveryState;
  reason: string | null;
  hasRow: boolean;
  /** The node whose lease is on the row. */
  holder: Node | null;
  /** The row may be claimed: its time has come, or the lease has ended. */
  isDue: boolean;
};

type Result = Pick<Delivery, "state" | "reason">;

/** One delivery in the memory of a node. `isFirst`: the first attempt of an event that this node owns. */
export type Job = {
  delivery: number;
  isFirst: boolean;
  /** `unconfirmed`: the result was committed, the node does not know it, and writes it again. */
  phase: "waiting" | "sending" | "unconfirmed";
  result: Result | null;
};

export type World = {
  deliveries: readonly Delivery[];
  jobs: Readonly<Record<Node, readonly Job[]>>;
  /** `late`: it runs, and its lease on open events has ended. `absent`: it does not run yet, or no longer. */
  nodes: Readonly<Record<Node, "running" | "late" | "absent">>;
  connection: ConnectionState | "removed";
  /** What some node still takes for the state of a connection that was resumed a moment ago. */
  believed: "paused" | "needs reconnection" | null;
  person: "known" | "withdrawn" | "erased";
  /** The platform no longer takes the event, because of its age. */
  isTooOld: boolean;
};

/** A change of the world; null where it cannot happen. */
type Change = (world: World) => World | null;

/** Faults, users and persons may do nothing for ever; the relay, platforms and time go on. */
type By = "relay" | "platform" | "time" | "user" | "person" | "fault";

/** `cause` names a change of state in the drawing. */
export type Step = { by: By; cause?: string } & (
  | { of: "job"; take: (world: World, node: Node, job: Job) => World | null }
  | { of: "delivery"; take: (world: World, delivery: number) => World | null }
  | { of: "delivery and node"; take: (world: World, delivery: number, node: Node) => World | null }
  | { of: "world"; take: Change }
);

const row = (state: DeliveryState, reason: string | null, isDue = false): Delivery => ({
  state,
  reason,
  hasRow: true,
  holder: null,
  isDue,
});
const queuedRow = row("queued", null, true);

const isOpen = ({ state, hasRow }: Delivery) => state === "queued" && !hasRow;
const isWaiting = ({ state }: Delivery) => state === "queued" || state === "parked";
/** No node is sending it. The lease of a row ends when it falls due. */
const isFree = ({ hasRow, holder, isDue }: Delivery) => hasRow && (holder === null || isDue);

const deliveryAt = ({ deliveries }: World, at: number) => deliveries[at] as Delivery;

function withDelivery(world: World, at: number, change: Partial<Delivery>): World {
  return { ...world, deliveries: world.deliveries.with(at, { ...deliveryAt(world, at), ...change }) };
}

function changeAll(world: World, isChanged: (one: Delivery) => boolean, change: Delivery): World | null {
  const deliveries = world.deliveries.map((one) => (isChanged(one) ? change : one));
  return world.deliveries.some(isChanged) ? { ...world, deliveries } : null;
}

function withJob(world: World, node: Node, job: Job | null, changed: Job | null): World {
  const others = world.jobs[node].filter((one) => one !== job);
  return { ...world, jobs: { ...world.jobs, [node]: changed ? [...others, changed] : others } };
}

/** No other node took the event over or has claimed the row, so this one may write what became of the delivery. */
export function mayWrite(world: World, node: Node, { delivery, isFirst }: Job): boolean {
  const found = deliveryAt(world, delivery);
  return isFirst ? isOpen(found) : found.holder === node;
}

/** An attempt that begins now ends before another node can begin one. */
const isLeased = (world: World, node: Node, job: Job) =>
  mayWrite(world, node, job) && (job.isFirst ? world.nodes[node] === "running" : !deliveryAt(world, job.delivery).isDue);

/** Writes the result of a job. What was sent at once needs no row. */
function write(world: World, node: Node, job: Job, { state, reason }: Result): World {
  if (!mayWrite(world, node, job)) return world;
  const hasRow = !(job.isFirst && state === "sent");
  return withDelivery(world, job.delivery, { ...row(state, reason), hasRow });
}

const settle = (world: World, node: Node, job: Job, result: Result): World =>
  withJob(write(world, node, job, result), node, job, null);

type OfJob = Extract<Step, { of: "job" }>["take"];

/** The platform's answer. */
const answer =
  (state: DeliveryState, reason: string | null): OfJob =>
  (world, node, job) =>
    job.phase === "sending" ? settle(world, node, job, { state, reason }) : null;

/** The answer is written, and the node does not learn that it was. */
const answerUnconfirmed =
  (state: DeliveryState): OfJob =>
  (world, node, job) => {
    if (job.phase !== "sending") return null;
    const result = { state, reason: null };
    return withJob(write(world, node, job, result), node, job, { ...job, phase: "unconfirmed", result });
  };

/** The node ends the job without a request. */
const endUnsent =
  (state: DeliveryState, reasonIn: (world: World) => string | null): OfJob =>
  (world, node, job) => {
    const reason = reasonIn(world);
    return job.phase === "waiting" && reason !== null ? settle(world, node, job, { state, reason }) : null;
  };

/** The reason for which a node parks a delivery. */
const parkedReason = ({ connection, believed }: World) =>
  connection === "paused" || connection === "needs reconnection" ? connection : believed;
const skipDisconnected = (world: World) =>
  changeAll(world, (one) => isWaiting(one) && isFree(one), row("skipped", "disconnected"));
const releaseParked = (world: World) => changeAll(world, ({ state }) => state === "parked", queuedRow);
const takeOver = (world: World) => changeAll(world, isOpen, queuedRow);

const withNodes = (world: World, nodes: Partial<World["nodes"]>): World => ({
  ...world,
  nodes: { ...world.nodes, ...nodes },
});

export const steps = {
  // What a node does with deliveries.
  claim: {
    by: "relay",
    of: "delivery and node",
    take(world, delivery, node) {
      const { state, hasRow, isDue } = deliveryAt(world, delivery);
      const isClaimable = state === "queued" && hasRow && isDue && world.connection === "active";
      if (!isClaimable || world.nodes[node] === "absent") return null;
      const claimed = withDelivery(world, delivery, { holder: node, isDue: false });
      // A node that still has it in hand, from before its lease ended, makes no second job.
      if (world.jobs[node].some((job) => job.delivery === delivery)) return claimed;
      return withJob(claimed, node, null, { delivery, isFirst: false, phase: "waiting", result: null });
    },
  },
  begin: {
    by: "relay",
    of: "job",
    // The node may not know yet that the connection was paused or removed.
    take: (world, node, job) =>
      job.phase === "waiting" && !world.isTooOld && isLeased(world, node, job)
        ? withJob(world, node, job, { ...job, phase: "sending" })
        : null,
  },
  "drop a job without a lease": {
    by: "relay",
    of: "job",
    take(world, node, job) {
      // What the node owns has no lease of its own that could end: it is given back.
      const isLost = job.isFirst ? !mayWrite(world, node, job) : !isLeased(world, node, job);
      return job.phase === "waiting" && isLost ? withJob(world, node, job, null) : null;
    },
  },
  "give back": {
    by: "relay",
    of: "job",
    take: (world, node, job) => (job.phase === "waiting" ? settle(world, node, job, { state: "queued", reason: null }) : null),
  },
  "park unsent": {
    by: "relay",
    of: "job",
    cause: "paused or needs reconnection",
    take: endUnsent("parked", parkedReason),
  },
  "find unfit": {
    by: "relay",
    of: "job",
    cause: "does not apply to this platform",
    take: endUnsent("skipped", ({ person }) => (person === "withdrawn" ? "unfit" : null)),
  },
  "skip unsent": {
    by: "relay",
    of: "job",
    cause: "disconnected",
    take: endUnsent("skipped", ({ connection }) => (connection === "removed" ? "disconnected" : null)),
  },
  "expire unsent": {
    by: "relay",
    of: "job",
    cause: "too old for the platform",
    take: endUnsent("expired", ({ isTooOld }) => (isTooOld ? "too old" : null)),
  },

  // What the platform answers, and what becomes of the answer.
  accept: { by: "platform", of: "job", cause: "accepted by the platform", take: answer("sent", null) },
  refuse: { by: "platform", of: "job", cause: "refused for good", take: answer("rejected", "refused") },
  "fail for now": {
    by: "platform",
    of: "job",
    cause: "temporary failure, retried",
    take: (world, ...job) => (world.isTooOld ? null : answer("queued", null)(world, ...job)),
  },
  "fail at the age limit": {
    by: "platform",
    of: "job",
    cause: "too old for the platform",
    take: (world, ...job) => (world.isTooOld ? answer("expired", "too old")(world, ...job) : null),
  },
  "refuse the credentials": {
    by: "platform",
    of: "job",
    cause: "paused or needs reconnection",
    take(world, ...job) {
      const settled = answer("parked", "needs reconnection")(world, ...job);
      if (settled?.connection !== "active") return settled;
      return { ...settled, connection: "needs reconnection", believed: null };
    },
  },
  "accept, unconfirmed": {
    by: "fault",
    of: "job",
    cause: "accepted by the platform",
    take: answerUnconfirmed("sent"),
  },
  "fail for now, unconfirmed": {
    by: "fault",
    of: "job",
    cause: "temporary failure, retried",
    take: (world, ...job) => (world.isTooOld ? null : answerUnconfirmed("queued")(world, ...job)),
  },
  "write again": {
    by: "relay",
    of: "job",
    take: (world, node, job) => (job.phase === "unconfirmed" && job.result ? settle(world, node, job, job.result) : null),
  },
  "lose the answer": {
    by: "fault",
    of: "job",
    // The answer to a first attempt is kept until it is written, or until the node dies.
    take: (world, node, job) => (job.phase === "sending" && !job.isFirst ? withJob(world, node, job, null) : null),
  },

  // Time, and the life of nodes.
  "fall due": {
    by: "time",
    of: "delivery",
    take(world, delivery) {
      const { state, hasRow, isDue } = deliveryAt(world, delivery);
      return state === "queued" && hasRow && !isDue ? withDelivery(world, delivery, { isDue: true }) : null;
    },
  },
  "become too old": {
    by: "time",
    of: "world",
    take: (world) => (world.isTooOld ? null : { ...world, isTooOld: true }),
  },
  "be late": {
    by: "fault",
    of: "world",
    // A node that is alone has no lease that could end.
    take: (world) => (world.nodes.a === "running" && world.nodes.b === "running" ? withNodes(world, { a: "late" }) : null),
  },
  "renew the lease": {
    by: "relay",
    of: "world",
    take: (world) => (world.nodes.a === "late" ? withNodes(world, { a: "running" }) : null),
  },
  crash: {
    by: "fault",
    of: "world",
    take: (world) =>
      world.nodes.a === "absent" ? null : { ...withNodes(world, { a: "absent" }), jobs: { ...world.jobs, a: [] } },
  },
  "take over": {
    by: "relay",
    of: "world",
    take: (world) => (world.nodes.a !== "running" && world.nodes.b === "running" ? takeOver(world) : null),
  },
  "start the next process": {
    by: "relay",
    of: "world",
    // Only with the embedded database, which has one node at a time: all leases are void.
    take(world) {
      if (world.nodes.a !== "absent" || world.nodes.b !== "absent") return null;
      const started = withNodes(takeOver(world) ?? world, { b: "running" });
      return changeAll(started, ({ holder }) => holder === "a", queuedRow) ?? started;
    },
  },

  // What users do to the connection, and the relay to its deliveries then.
  pause: {
    by: "user",
    of: "world",
    take: (world) => (world.connection === "active" ? { ...world, connection: "paused", believed: null } : null),
  },
  "park what waits": {
    by: "relay",
    of: "world",
    cause: "paused or needs reconnection",
    take(world) {
      const reason = parkedReason(world);
      const isParked = (one: Delivery) => one.state === "queued" && isFree(one);
      return reason && changeAll(world, isParked, row("parked", reason));
    },
  },
  "resume or reconnect": {
    by: "user",
    of: "world",
    cause: "resumed, reconnected",
    take(world) {
      if (world.connection !== "paused" && world.connection !== "needs reconnection") return null;
      const active: World = { ...world, connection: "active", believed: world.connection };
      return releaseParked(active) ?? active;
    },
  },
  "learn that it is active": {
    by: "relay",
    of: "world",
    take: (world) => (world.believed ? { ...world, believed: null } : null),
  },
  "release what is parked": {
    by: "relay",
    of: "world",
    cause: "resumed, reconnected",
    // For deliveries that a node parked before it knew that the connection is active again.
    take: (world) => (world.connection === "active" ? releaseParked(world) : null),
  },
  disconnect: {
    by: "user",
    of: "world",
    cause: "disconnected",
    take(world) {
      if (world.connection === "removed") return null;
      const removed: World = { ...world, connection: "removed", believed: null };
      return skipDisconnected(removed) ?? removed;
    },
  },
  "skip what waits": {
    by: "relay",
    of: "world",
    cause: "disconnected",
    take: (world) => (world.connection === "removed" ? skipDisconnected(world) : null),
  },

  // What users do in the sync log.
  cancel: {
    by: "user",
    of: "delivery",
    cause: "cancelled",
    take(world, delivery) {
      const found = deliveryAt(world, delivery);
      return isWaiting(found) && isFree(found) ? withDelivery(world, delivery, row("skipped", "cancelled")) : null;
    },
  },
  replay: {
    by: "user",
    of: "delivery",
    cause: "replayed",
    take(world, delivery) {
      const isKept = world.person !== "erased" && world.connection !== "removed";
      const isReplayable = deliveryAt(world, delivery).state !== "queued";
      return isKept && isReplayable ? withDelivery(world, delivery, queuedRow) : null;
    },
  },

  // What the person does.
  "withdraw consent": {
    by: "person",
    of: "world",
    take: (world) => (world.person === "known" ? { ...world, person: "withdrawn" } : null),
  },
  erase: {
    by: "person",
    of: "world",
    cause: "person erased",
    take(world) {
      if (world.person === "erased") return null;
      const erased: World = { ...world, person: "erased" };
      return changeAll(erased, isWaiting, row("skipped", "person erased")) ?? erased;
    },
  },
} satisfies Record<string, Step>;

export type StepName = keyof typeof steps;

/** The ways in which the delivery of an accepted event begins, and the job that its node has. */
export const beginnings = {
  /** The owner attempts it at once. */
  "at once": { delivery: { ...row("queued", null), hasRow: false }, isFirst: true },
  /** The owner could not renew its lease on open events, so the delivery has one of its own. */
  leased: { delivery: { ...row("queued", null), holder: "a" }, isFirst: false },
  /** Imported, or released from the filter: any node may claim it. */
  unowned: { delivery: queuedRow, isFirst: null },
  parked: { delivery: row("parked", "paused"), isFirst: null },
  skipped: { delivery: { ...row("skipped", "planned"), hasRow: false }, isFirst: null },
} satisfies Record<string, { delivery: Delivery; isFirst: boolean | null }>;

export type Beginning = keyof typeof beginnings;

/** With the embedded database the second process starts when the first is gone. */
export function begin(names: readonly Beginning[], database: "shared" | "embedded"): World {
  const jobs = names.flatMap((name, delivery): Job[] => {
    const { isFirst } = beginnings[name];
    return isFirst === null ? [] : [{ delivery, isFirst, phase: "waiting", result: null }];
  });
  return {
    deliveries: names.map((name) => beginnings[name].delivery),
    jobs: { a: jobs, b: [] },
    nodes: { a: "running", b: database === "embedded" ? "absent" : "running" },
    connection: names.includes("parked") ? "paused" : "active",
    believed: null,
    person: "known",
    isTooOld: false,
  };
}
