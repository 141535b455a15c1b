// Checks that the plans of events agree with their outcomes, deliveries and attempts: docs/decisions/0015-rows-of-an-event.md.

import { tryRead } from "../damagedRows.ts";
import { deliveryRow, type Delivery } from "./delivery.ts";
import { readOutcomes, tryReadOutcomes, type Outcome } from "./outcomes.ts";
import { mergeDeliveries, rejectOpen } from "./readDeliveries.ts";
import type { Row } from "../engine/database.ts";
import { readPlan, type PlanEntry } from "./plan.ts";
import type { Snapshot } from "../maintenance/snapshot.ts";
import type { Faults } from "../maintenance/check/faults.ts";

export const hasPlan = (row: Row): boolean =>
  tryRead(() => readPlan(String(row.plan)))?.every((one) => one.connectionId && one.platform) ?? false;

/** The rows of one event. */
type Rows = {
  id: string;
  plan: readonly PlanEntry[];
  outcomes: readonly Row[];
  deliveries: readonly Delivery[];
  attempts: readonly Row[];
};

/**
 * Checks events of one site, in the order of their ids. `marks` are the low-water marks of nodes. Returns the deliveries of
 * each event as they are.
 */
export async function checkDeliveries(
  snapshot: Snapshot,
  { siteId, events, marks }: { siteId: string; events: readonly Row[]; marks: ReadonlyMap<string, string> },
  faults: Faults,
): Promise<Map<string, Delivery[]>> {
  const states = new Map<string, Delivery[]>();
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return states;
  const range = [siteId, String(first.id), String(last.id)];
  const read = (columns: string, table: string) =>
    snapshot.all(`SELECT ${columns} FROM ${table} WHERE site_id = $1 AND event_id >= $2 AND event_id <= $3`, range);
  const ofEvent = (row: Row) => String(row.event_id);
  const outcomes = Map.groupBy(await read("event_id, number, results", "outcomes"), ofEvent);
  const stored = (await read(deliveryRow.list, "deliveries")).map(deliveryRow.read);
  const deliveries = Map.groupBy(stored, ({ eventId }) => eventId);
  const attempts = Map.groupBy(await read("event_id, connection_id, number", "attempts"), ofEvent);
  for (const event of events) {
    const id = String(event.id);
    const [owner, receivedAt] = [String(event.owner), Number(event.received_at)];
    const rows: Rows = {
      id,
      plan: readPlan(String(event.plan)),
      outcomes: outcomes.get(id) ?? [],
      deliveries: deliveries.get(id) ?? [],
      attempts: attempts.get(id) ?? [],
    };
    if (event.status === "filtered" && rows.plan.length > 0) faults.add("filtered events with deliveries", "unsendable", id);
    const found = readAll(rows.outcomes);
    const planned = { id, plan: rows.plan, owner, receivedAt };
    const merged = mergeDeliveries(siteId, planned, found ?? [], rows.deliveries);
    states.set(id, found ? merged : merged.map(rejectOpen));
    if (!found) {
      faults.add("outcomes that cannot be read", "unreadable", id);
      continue;
    }
    const open = checkOutcomes(rows, found, faults);
    if (open.length > 0 && (marks.get(owner) ?? "z") > id) faults.add("open events that no node owns", "unsendable", id);
    for (const delivery of rows.deliveries) checkDelivery(delivery, { ...rows, found, open }, faults);
  }
  return states;
}

/** Null when a row cannot be read. */
function readAll(rows: readonly Row[]): Outcome[] | null {
  const read = rows.map((row) => tryReadOutcomes(String(row.results)));
  return read.includes(null) ? null : read.flatMap((outcomes) => outcomes ?? []);
}

/** Returns the connections whose first attempt is open. */
function checkOutcomes(rows: Rows, found: readonly Outcome[], faults: Faults): string[] {
  const { id, plan, deliveries } = rows;
  const hasRow = (position: number) => deliveries.some(({ connectionId }) => connectionId === plan[position]?.connectionId);
  const positions = new Set(found.map(({ position }) => position));
  if (found.some(({ position }) => plan[position]?.by !== "node")) faults.add("outcomes that no plan has", "orphaned", id);
  if (positions.size < found.length) faults.add("outcomes that are there twice", "resendable", id);
  if (found.some(({ position, sent }) => !sent && !hasRow(position)))
    faults.add("outcomes without their delivery", "unsendable", id);
  if (plan.some(({ by }, position) => by === "row" && !hasRow(position)))
    faults.add("plans without their delivery", "unsendable", id);
  const open = plan.filter(({ by }, position) => by === "node" && !positions.has(position));
  if (!areInSequence(rows.outcomes, open.length > 0)) faults.add("outcomes whose numbers are not in sequence", "resendable", id);
  return open.map(({ connectionId }) => connectionId);
}

/**
 * The number of an owner's row is the number of first attempts that were settled before. It may be higher while attempts are
 * open or once another node has taken the event over: a server that was promoted may lack earlier rows, which are written
 * again. A node that takes an event over uses any numbers that are free.
 */
function areInSequence(rows: readonly Row[], isOpen: boolean): boolean {
  const sorted = rows
    .map((row) => ({ number: Number(row.number), text: String(row.results) }))
    .toSorted((one, other) => one.number - other.number);
  const isTaken = ({ text }: { text: string }) => text.endsWith('"taken"]');
  const mayBeHigher = isOpen || sorted.some(isTaken);
  let before = 0;
  return sorted.every((row) => {
    if (isTaken(row)) return row.number >= 0;
    const isRight = mayBeHigher ? row.number >= before : row.number === before;
    before += readOutcomes(row.text).length;
    return isRight;
  });
}

function checkDelivery(
  delivery: Delivery,
  { id, plan, attempts, found, open }: Rows & { found: readonly Outcome[]; open: readonly string[] },
  faults: Faults,
): void {
  const position = plan.findIndex(({ connectionId }) => connectionId === delivery.connectionId);
  if (position < 0) return faults.add("deliveries that no plan has", "resendable", id);
  if (open.includes(delivery.connectionId)) faults.add("deliveries whose first attempt is open", "resendable", id);
  const numbers = attempts.filter((row) => row.connection_id === delivery.connectionId).map((row) => Number(row.number));
  const made = numbers.length + (found.some((one) => one.position === position && one.sent) ? 1 : 0);
  if (made > delivery.attempts) faults.add("attempts beyond the count of their delivery", "orphaned", id);
  else if (made < delivery.attempts) faults.add("deliveries with missing attempts", "orphaned", id);
  else if (numbers.length > 0 && Math.max(...numbers) !== delivery.attempts)
    faults.add("attempts whose numbers are not in sequence", "orphaned", id);
}
