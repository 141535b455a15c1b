// Reads the deliveries of events: a delivery row, else an outcome, else the plan of the event says what became of each.

import { threadShare } from "../../kernel/concurrency.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import { allByKeys, type Database, type Dialect, type Query, type Row } from "../engine/database.ts";
import { readPlanIfWhole, type PlanEntry } from "./plan.ts";
import { deliveryRow, type Attempt, type Delivery } from "./delivery.ts";
import { readOutcomesOf, tryReadOutcomes, type Outcome, type SentAttempt } from "./outcomes.ts";

/** A plan with what is needed to read its deliveries. */
export type PlannedEvent = { id: string; plan: readonly PlanEntry[]; owner: string; receivedAt: number };

/** The columns of an event from which its deliveries are read, besides id and received_at. */
export const deliverySource = "plan, owner";

export const readPlanned = (row: Row): PlannedEvent => ({
  id: String(row.id),
  plan: readPlanIfWhole(String(row.plan)),
  owner: String(row.owner),
  receivedAt: Number(row.received_at),
});

/**
 * Reads the deliveries of events, by event and ordered by platform and connection. `rows` have id, received_at and
 * `deliverySource`.
 * The delivery row, else the outcome, else the plan decides.
 * What the owner has not settled yet reads as queued, in the owner's hands. With a damaged row of outcomes nothing follows any
 * more, so what may be in that row reads as rejected.
 */
export async function readDeliveries(db: Query, siteId: string, rows: readonly Row[]): Promise<Map<string, Delivery[]>> {
  const events = rows.map(readPlanned);
  const ids = events.map(({ id }) => id);
  const stored = Map.groupBy(await readRows(db, siteId, ids), ({ eventId }) => eventId);
  const { outcomes, damaged } = await readOutcomesOf(db, siteId, ids);
  return new Map(
    events.map((event) => {
      const found = outcomes.get(event.id) ?? [];
      const merged = mergeDeliveries(siteId, event, found, stored.get(event.id) ?? []);
      return [event.id, damaged.has(event.id) ? merged.map(rejectOpen) : merged];
    }),
  );
}

/**
 * The embedded engine reads and decodes them on the thread that accepts events: in about a slice of it. On a server each step is a few
 * round trips.
 */
const stepOf = {
  embedded: { first: 16, events: 64, deliveries: 50 },
  server: { first: 100, events: 500, deliveries: 2000 },
};

/** How many events to read in a step: the more deliveries each has, the fewer. */
export function createReadSize({ isServer }: Pick<Dialect, "isServer">) {
  const max = isServer ? stepOf.server : stepOf.embedded;
  let events = max.first;
  return {
    events: () => events,
    /** Called with the deliveries that were found in so many events. */
    adapt(read: number, deliveries: number): void {
      const fitting = Math.floor((read * max.deliveries) / Math.max(1, deliveries));
      events = Math.max(1, Math.min(fitting, 4 * events, max.events));
    },
  };
}

const sumLengths = (lists: Iterable<readonly unknown[]>) => Iterator.from(lists).reduce((sum, { length }) => sum + length, 0);

type Reading = Pick<Database, "all" | "isServer">;

/** The same for any number of events, in steps. */
export async function readDeliveriesInSteps(db: Reading, siteId: string, rows: readonly Row[]): Promise<Map<string, Delivery[]>> {
  const size = createReadSize(db);
  const found = new Map<string, Delivery[]>();
  for (let at = 0; at < rows.length;) {
    await threadShare.rest(siteId);
    const some = rows.slice(at, at + size.events());
    const deliveries = await readDeliveries(db, siteId, some);
    for (const [id, ofEvent] of deliveries) found.set(id, ofEvent);
    size.adapt(some.length, sumLengths(deliveries.values()));
    at += some.length;
  }
  return found;
}

/** The same by the ids of events. */
export async function readDeliveriesOf(db: Reading, siteId: string, ids: readonly string[]): Promise<Map<string, Delivery[]>> {
  const sql = `SELECT id, received_at, ${deliverySource} FROM events WHERE site_id = $1 AND id IN ({KEYS})`;
  return readDeliveriesInSteps(db, siteId, await allByKeys(db, sql, [siteId], ids));
}

/** The delivery of an event with a damaged row of outcomes. */
export const rejectOpen = (delivery: Delivery): Delivery =>
  isOpen(delivery)
    ? {
        ...delivery,
        state: "rejected",
        reason: "the stored outcome is damaged; it may have been sent",
        dueAt: 0,
        owner: "",
      }
    : delivery;

async function readRows(db: Query, siteId: string, ids: readonly string[]): Promise<Delivery[]> {
  const sql = `SELECT ${deliveryRow.list} FROM deliveries WHERE site_id = $1 AND event_id IN ({KEYS})`;
  return (await allByKeys(db, sql, [siteId], ids)).map(deliveryRow.read);
}

export function mergeDeliveries(
  siteId: string,
  event: PlannedEvent,
  outcomes: readonly Outcome[],
  rows: readonly Delivery[],
): Delivery[] {
  const merged = event.plan.map((entry, position) => {
    const row = rows.find(({ connectionId }) => connectionId === entry.connectionId);
    return row ?? withoutRow(siteId, event, entry, outcomes.find((one) => one.position === position)?.sent);
  });
  return merged.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

const orderOf = ({ platform, connectionId }: Delivery) => `${platform} ${connectionId}`;

/** An open first attempt is never due: its owner settles it, or a node that takes the event over. */
const neverDue = Number.MAX_SAFE_INTEGER;

/** True for a first attempt that is not settled. */
export const isOpen = ({ state, dueAt }: Delivery) => state === "queued" && dueAt === neverDue;

/** When the next attempt is due; null where there is none, or it is being made. */
export const nextTryAt = (delivery: Delivery) => (delivery.state === "queued" && !isOpen(delivery) ? delivery.dueAt : null);

function withoutRow(
  siteId: string,
  { id, owner, receivedAt }: PlannedEvent,
  { connectionId, platform, by, reason }: PlanEntry,
  sent: SentAttempt | null | undefined,
): Delivery {
  const state = by === "skipped" ? "skipped" : sent ? "sent" : "queued";
  return {
    siteId,
    eventId: id,
    connectionId,
    platform,
    state,
    reason,
    attempts: sent ? 1 : 0,
    dueAt: state === "queued" ? neverDue : 0,
    owner: state === "queued" ? owner : "",
    updatedAt: sent ? sent.startedAt + sent.durationMs : receivedAt,
  };
}

/** `request` is null where it was not stored. `settings` then identifies the settings that it was made with. */
export type StoredAttempt = Omit<Attempt, "request"> & {
  connectionId: string;
  request: string | null;
  settings: string;
};

/** Reads the first attempts of an event that were sent. */
export async function readSentAttempts(db: Query, siteId: string, eventId: string): Promise<StoredAttempt[]> {
  const { outcomes: found } = await readOutcomesOf(db, siteId, [eventId]);
  const outcomes = found.get(eventId) ?? [];
  const [event] = await db.all(`SELECT plan FROM events WHERE site_id = $1 AND id = $2`, [siteId, eventId]);
  const plan = event ? readPlanIfWhole(String(event.plan)) : [];
  return outcomes.flatMap(({ position, sent }) => {
    const connectionId = plan[position]?.connectionId;
    if (!sent || connectionId === undefined) return [];
    return [{ connectionId, number: 1, state: "sent", reason: null, request: null, ...sent }];
  });
}

/**
 * Lists a connection's first attempts of the newest events, since `since`, that were sent at once. Reads at most `limit` rows, in steps, and
 * ends with the one in which it has `wanted`; `isComplete` is false if there are more.
 */
export async function listSentAtOnce(
  db: Reading,
  siteId: string,
  connectionId: string,
  since: number,
  limit: number,
  wanted = Infinity,
): Promise<{ sent: SentAttempt[]; isComplete: boolean }> {
  const size = createReadSize(db);
  const sent: SentAttempt[] = [];
  let below = { eventId: lastId, number: 0 };
  for (let read = 0; read < limit && sent.length < wanted;) {
    await threadShare.rest(siteId);
    const some = Math.min(size.events(), limit - read);
    const rows = await db.all(
      `SELECT newest.event_id, newest.number, newest.results, events.plan FROM (
         SELECT event_id, number, results FROM outcomes
         WHERE site_id = $1 AND event_id >= $2 AND event_id <= $3 AND (event_id < $3 OR number < $4)
         ORDER BY event_id DESC, number DESC LIMIT $5) AS newest
       LEFT JOIN events ON events.site_id = $1 AND events.id = newest.event_id
       ORDER BY newest.event_id DESC, newest.number DESC`,
      [siteId, idAt(since), below.eventId, below.number, some],
    );
    const plans = rows.map(({ plan }) => (plan === null ? [] : readPlanIfWhole(String(plan))));
    for (const [i, row] of rows.entries())
      for (const { position, sent: attempt } of tryReadOutcomes(String(row.results)) ?? [])
        if (attempt && plans[i]?.[position]?.connectionId === connectionId) sent.push(attempt);
    const last = rows.at(-1);
    if (!last || rows.length < some) return { sent, isComplete: true };
    below = { eventId: String(last.event_id), number: Number(last.number) };
    size.adapt(rows.length, sumLengths(plans));
    read += some;
  }
  return { sent, isComplete: false };
}
