// Takes the steps of the model with a real store, and reads the deliveries back in the words of the model. What a node would
// have in memory is kept here; everything else is done by the functions that the relay, its API and its commands use.

import { english } from "../../src/kernel/messages/message.ts";
import type { Ownership } from "../../src/delivery/ownership.ts";
import { toConversion } from "../../src/delivery/conversion.ts";
import type { Job as RealJob } from "../../src/delivery/job.ts";
import { parkedReason } from "../../src/delivery/plan.ts";
import { recheckWith } from "../../src/delivery/recheck.ts";
import { cancel, replay } from "../../src/delivery/replay.ts";
import { decide, type Decision } from "../../src/delivery/decide.ts";
import { withCurrentConsent } from "../../src/identity/attribution.ts";
import { erasePerson, setConsent } from "../../src/identity/people.ts";
import type { Reading, Sha256 } from "../../src/kernel/event.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { connectPlatform, disconnect, markForReconnection, pause, resume } from "../../src/sites/connect.ts";
import type { Connection, Directory, Site } from "../../src/sites/directory.ts";
import type { NewDelivery } from "../../src/store/deliveries/delivery.ts";
import type { OutcomeRow } from "../../src/store/deliveries/outcomes.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import { duplicateKey } from "../../src/store/events/claims.ts";
import { ownedByAny } from "../../src/store/deliveries/ownership.ts";
import type { Store } from "../../src/store/store.ts";
import { auditLine, byNode, newAttempt, newEvent, newSite } from "../support/events.ts";
import type { Edge } from "./explore.ts";
import { beginnings, type Beginning, type Delivery, type Job, type Node, type StepName, type World } from "./model.ts";

const leaseMs = 30_000;
const hourMs = 3_600_000;

/** What is settled of an open event is settled here. */
const openEvent = { settle: async () => {}, close() {}, abandon() {}, leaseLeftMs: () => Infinity };

type Context = {
  stores: Record<Node, Store>;
  directory: Directory;
  /** Counts the delivery rows of an event, by connection. */
  readRows: (eventId: string) => Promise<ReadonlySet<string>>;
  now: number;
  emailSha256: Sha256;
};

type RealEvent = {
  /** Takes a step. `before` is the world of the model in which it is taken. */
  take(edge: Edge, before: World): Promise<void>;
  read(): Promise<Delivery[]>;
};

export async function acceptReal(context: Context, names: readonly Beginning[]): Promise<RealEvent> {
  const { stores, directory, readRows, emailSha256 } = context;
  let { now } = context;
  const siteId = await newSite(stores.a);
  const connectionIds = names.map((_name, i) => `c${i}`);
  for (const id of connectionIds)
    await stores.a.configuration.saveConnection(auditLine(siteId), newConnection(siteId, id), new Set());
  if (names.includes("parked")) await stores.a.configuration.setConnectionState(auditLine(siteId), "c0", "paused", null);
  await directory.refresh();

  const accepted = newAccepted(siteId, names, now, emailSha256);
  const eventId = accepted.event.id;
  await stores.a.events.accept(accepted);
  const jobs: Record<Node, Map<string, RealJob>> = { a: new Map(), b: new Map() };
  /** First attempts of which node a knows that they are settled, and what it could not confirm. */
  let settledFirst = 0;
  let unconfirmed: OutcomeRow | null = null;
  const unconfirmedRows = new Map<string, Parameters<Store["deliveries"]["settle"]>[0]>();

  const site = () => directory.site(siteId) as Site;
  const connection = (at: number) => directory.connection(siteId, `c${at}`) as Connection;
  const by = () => ({ actor: "test", now, checkAddress: () => null });
  const person = () => ({ siteId, emailSha256, actor: "test", now });
  const keyOf = (job: Job) => `${job.isFirst} ${job.delivery}`;

  const leaseOf = (owner: Node) =>
    ({ by: "row", owner, at: now, dueAt: now + leaseMs, until: now + leaseMs, endsAt: Infinity }) as const;

  async function makeJob(node: Node, at: number, attemptsMade: number, ownership: Ownership) {
    const store = stores[node];
    const event = (await store.events.getMany(siteId, [eventId])).get(eventId);
    if (!event || event === "damaged") throw new Error("the event cannot be read");
    const attribution = await withCurrentConsent(store.people, event, site().settings.consentMode);
    const conversion = toConversion(event, event.platformEventId, attribution);
    const job = {
      siteId,
      eventId,
      connectionId: `c${at}`,
      conversion,
      lookedAt: now,
      attemptsMade,
      expiresAt: now + hourMs,
      ownership,
    };
    jobs[node].set(`${ownership.by === "node"} ${at}`, job);
    return job;
  }
  const connectionOf = (at: number) => directory.connection(siteId, `c${at}`) ?? newConnection(siteId, `c${at}`);

  for (const [at, name] of names.entries()) {
    const { isFirst } = beginnings[name];
    if (isFirst !== null) await makeJob("a", at, 0, isFirst ? { ...byNode("a"), event: openEvent } : leaseOf("a"));
  }

  async function settle(edge: Edge, decision: Decision, isAttempted: boolean): Promise<void> {
    const { node, job } = edge;
    const real = job && jobs[node].get(keyOf(job));
    if (!job || !real) throw new Error(`node ${node} has no job for ${edge.name}`);
    const number = real.attemptsMade + (isAttempted ? 1 : 0);
    const attempt = isAttempted ? newAttempt(decision.state, { number, reason: decision.reason, startedAt: now }) : null;
    const { connectionId } = real;
    const settlement = { siteId, eventId, connectionId, ...decision, attempts: number, at: now, attempt };
    const isConfirmed = !edge.name.endsWith("unconfirmed");
    if (job.isFirst) {
      // The owner writes what it could not confirm before anything else.
      if (unconfirmed) await writeFirst(unconfirmed);
      const ended = { ...settlement, owner: node, platform: "sandbox", position: job.delivery, settings: "mark" };
      const first = { siteId, eventId, number: settledFirst, settlements: [ended] };
      if (isConfirmed) await writeFirst(first);
      else await stores[node].deliveries.settleFirst((unconfirmed = first));
    } else {
      const ofRow = { ...settlement, owner: node };
      await stores[node].deliveries.settle(ofRow);
      if (!isConfirmed) unconfirmedRows.set(`${node} ${job.delivery}`, ofRow);
    }
    if (isConfirmed) jobs[node].delete(keyOf(job));
  }

  async function writeFirst(first: OutcomeRow): Promise<void> {
    await stores.a.deliveries.settleFirst(first);
    settledFirst = first.number + 1;
    unconfirmed = null;
  }

  const answer = (edge: Edge, reading: Reading, isTooOld = false) => {
    const rules = { scheduleMs: [60_000], random: () => 0.5 };
    const delivery = { attemptsMade: 1, expiresAt: isTooOld ? now : now + hourMs };
    return settle(edge, decide(reading, delivery, rules, now), true);
  };
  const endUnsent = (edge: Edge, state: Decision["state"], reason: string) =>
    settle(edge, { state, reason, dueAt: state === "queued" ? now + 1000 : 0 }, false);

  /** The reason as a node would write it, which may not know yet that the connection is active. */
  function reasonToPark({ connection: actual, believed }: World): string {
    return believed && actual === "active"
      ? parkedReason({ ...connectionOf(0), state: believed, stateReason: "as it was" })
      : parkedReason(connectionOf(0));
  }
  const endPending = (state: "parked" | "skipped", reason: string) =>
    Promise.all(
      connectionIds.map((connectionId) => stores.b.deliveries.endPending({ siteId, connectionId }, { state, reason }, now, 100)),
    );
  const filterOf = (at: number) => ({ eventId, connectionId: `c${at}` });
  const later = { kind: "retry", error: "HTTP 503" } as const;
  const nothing = async () => {};

  const real: Record<StepName, (edge: Edge, before: World) => Promise<unknown>> = {
    async claim({ node, delivery: at, to: _to }) {
      const lease = leaseOf(node);
      const [claimed] = await stores[node].deliveries.claimDue({ siteId, connectionId: `c${at}` }, lease, 10);
      if (!claimed) throw new Error("nothing was due");
      const isInHand = jobs[node].has(`true ${at}`) || jobs[node].has(`false ${at}`);
      if (!isInHand) await makeJob(node, at, claimed.attempts, lease);
    },
    async begin({ node, job }, { person: known }) {
      const recheck = recheckWith({ store: stores[node], directory });
      const waiting = job && jobs[node].get(keyOf(job));
      if (!job || !waiting) throw new Error("no job waits");
      const outdated = await recheck([waiting]);
      const isWithdrawn = known === "withdrawn" && waiting.conversion.person !== null;
      if (outdated.has(waiting) !== isWithdrawn) throw new Error("the second look sees something else");
      // The relay would give the job back and claim it again, then without the person.
      if (isWithdrawn) await makeJob(node, job.delivery, waiting.attemptsMade, waiting.ownership);
    },
    async "drop a job without a lease"({ node, job }, before) {
      const waiting = job && jobs[node].get(keyOf(job));
      if (!job || !waiting) throw new Error("no job waits");
      const recheck = recheckWith({ store: stores[node], directory });
      const isHeld = !(await recheck([waiting])).has(waiting);
      const { holder, isDue } = before.deliveries[job.delivery] as Delivery;
      if (isHeld && !(holder === node && isDue)) throw new Error("the job is still this node's");
      jobs[node].delete(keyOf(job));
    },
    "give back": (edge) => endUnsent(edge, "queued", "waiting for capacity"),
    "park unsent": (edge, before) => endUnsent(edge, "parked", reasonToPark(before)),
    "skip unsent": (edge) => endUnsent(edge, "skipped", "disconnected"),
    "find unfit": (edge) => endUnsent(edge, "skipped", "no match keys: opted out"),
    "expire unsent": (edge) => endUnsent(edge, "expired", "too old to be sent"),
    accept: (edge) => answer(edge, { kind: "accepted" }),
    refuse: (edge) => answer(edge, { kind: "rejected", error: "refused" }),
    "fail for now": (edge) => answer(edge, later),
    "fail at the age limit": (edge) => answer(edge, later, true),
    async "refuse the credentials"(edge, { connection: state }) {
      if (state === "active")
        await markForReconnection({ store: stores[edge.node], directory }, connection(0), "token refused", now);
      await answer(edge, { kind: "unauthorized", error: "token refused" });
    },
    "accept, unconfirmed": (edge) => answer(edge, { kind: "accepted" }),
    "fail for now, unconfirmed": (edge) => answer(edge, later),
    async "write again"({ node, job }) {
      if (!job) throw new Error("no job");
      const ofRow = unconfirmedRows.get(`${node} ${job.delivery}`);
      if (job.isFirst && unconfirmed) await writeFirst(unconfirmed);
      else if (!job.isFirst && ofRow) await stores[node].deliveries.settle({ ...ofRow, at: now });
      unconfirmedRows.delete(`${node} ${job.delivery}`);
      jobs[node].delete(keyOf(job));
    },
    "lose the answer": async ({ node, job }) => job && jobs[node].delete(keyOf(job)),
    async "fall due"({ delivery: at }) {
      const deliveries = await stores.b.deliveries.listByEvent(siteId, eventId);
      now = Math.max(now, deliveries.find((one) => one.connectionId === `c${at}`)?.dueAt ?? 0);
    },
    "become too old": nothing,
    "be late": nothing,
    "renew the lease": nothing,
    crash: async () => jobs.a.clear(),
    "take over": () => stores.b.nodes.takeOver(siteId, { owner: "a", lowWater: eventId }, now),
    async "start the next process"() {
      await stores.b.deliveries.releaseLeases(now);
      await stores.b.nodes.takeOver(siteId, { owner: "a", lowWater: eventId }, now);
    },
    pause: () => pause({ store: stores.a, directory }, connection(0), by()),
    "park what waits": (_edge, before) => endPending("parked", reasonToPark(before)),
    async "resume or reconnect"(_edge, { connection: state }) {
      const changed = { store: stores.a, directory };
      if (state === "paused") await resume(changed, connection(0), by());
      else await connectPlatform(changed, site(), "sandbox", { settings: {} }, by());
    },
    "learn that it is active": nothing,
    async "release what is parked"() {
      const found = await stores.b.deliveries.findParked();
      for (const { connectionId } of found.filter((one) => one.siteId === siteId))
        await stores.b.deliveries.releaseParked(siteId, connectionId, now, 100);
    },
    disconnect: () => disconnect({ store: stores.a, directory }, connection(0), by()),
    "skip what waits": () => endPending("skipped", "disconnected"),
    async cancel({ delivery: at }) {
      await cancel({ store: stores.b, directory }, site(), filterOf(at), { ...by(), dryRun: false });
    },
    async replay({ delivery: at }, before) {
      const states = [before.deliveries[at]?.state ?? "sent"];
      // A replay is recognised by its time, and two in one millisecond are one.
      now += 1;
      await replay({ store: stores.b, directory }, site(), { ...filterOf(at), states }, { ...by(), dryRun: false });
    },
    "withdraw consent": () => setConsent(stores.b, person(), "denied"),
    erase: () => erasePerson(stores.b, person()),
  };

  return {
    async take(edge, before) {
      await real[edge.name as StepName](edge, before);
    },
    async read() {
      const rows = await readRows(eventId);
      const found = await stores.b.deliveries.listByEvent(siteId, eventId);
      return connectionIds.map((id): Delivery => {
        const one = found.find(({ connectionId }) => connectionId === id);
        if (!one) throw new Error(`delivery ${id} is gone`);
        const { state, owner, dueAt } = one;
        const hasRow = rows.has(id);
        return {
          state,
          reason: state === "queued" ? null : toModelReason(one.reason && english(one.reason)),
          hasRow,
          holder: hasRow && state === "queued" && owner !== "" ? (owner as Node) : null,
          isDue: hasRow && state === "queued" && dueAt <= now,
        };
      });
    },
  };
}

/** The relay's reasons say more than the model's. */
function toModelReason(reason: string | null): string | null {
  if (reason === null) return null;
  const [, known] = /^(too old|needs reconnection|no match keys)/.exec(reason) ?? [];
  return known === "no match keys" ? "unfit" : (known ?? reason);
}

function newConnection(siteId: string, id: string): Connection {
  const account = platformOf("sandbox")?.account({}) ?? "";
  return {
    siteId,
    id,
    platform: "sandbox",
    // A connection of the same account is changed and not added.
    account: id === "c0" ? account : `${account} ${id}`,
    settings: {},
    events: null,
    state: "active",
    stateReason: null,
    createdAt: 0,
  };
}

function newAccepted(siteId: string, names: readonly Beginning[], now: number, emailSha256: Sha256): NewEvent {
  const deliveries = names.map((name, i): NewDelivery => {
    const { state, reason } = beginnings[name].delivery;
    return { connectionId: `c${i}`, platform: "sandbox", state, reason };
  });
  const isOwned = names.every((name) => beginnings[name].isFirst === true);
  const made = newEvent(
    siteId,
    { receivedAt: now, orderId: null, person: { emailSha256 } },
    {
      deliveries,
      ownership: isOwned
        ? { by: "node", owner: "a", at: now }
        : names.includes("unowned")
          ? ownedByAny(now)
          : { by: "row", owner: "a", at: now, dueAt: now + leaseMs },
    },
  );
  return { ...made, claim: duplicateKey(made.event, null) };
}
