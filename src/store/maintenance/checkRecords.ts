// The part of the check that reads whole rows. It finds rows that cannot be read, and hours whose statistics differ from
// their events.

import { hourMs } from "../../kernel/time.ts";
import { timeOfId } from "../../kernel/ids.ts";
import { readOutcomes, type Outcome } from "../deliveries/outcomes.ts";
import type { Row } from "../engine/database.ts";
import { emailRef, readPerson } from "../events/eventRow.ts";
import { readPlan } from "../events/plan.ts";
import { unpackAttribution, unpackRecord } from "../people/personCodec.ts";
import type { Snapshot } from "./snapshot.ts";
import { finalAt } from "../statistics/statistics.ts";

export type AddFault = (what: string, count: number, example: string) => void;

/** Selects faulty rows, each as `example`. */
export type FaultQuery = { what: string; sql: string };

/** Counts faults, and remembers the first of each kind. */
export function countFaults(add: AddFault) {
  const found = new Map<string, { count: number; example: string }>();
  return {
    count: (what: string, example: string): void => {
      const known = found.get(what);
      if (known) known.count += 1;
      else found.set(what, { count: 1, example });
    },
    report: () => found.forEach(({ count, example }, what) => add(what, count, example)),
  };
}

const idPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
/** The text is empty for a person who was erased. */
const personPattern = /^(?:[0-9a-f]{64}(?: (?:=|[0-9a-f]{64})?){0,7})?$/;

/** The live conversions of an hour, and their deliveries. */
type Counts = { conversions: number; deliveries: number };
type CountFault = (what: string, example: string) => void;

export async function checkEvents(snapshot: Snapshot, add: AddFault): Promise<void> {
  const { count, report } = countFaults(add);
  const rolled = await snapshot.all(`SELECT DISTINCT site_id FROM statistics_hours`);
  const left = new Set(rolled.map((row) => String(row.site_id)));
  const nodes = await snapshot.all(`SELECT owner, low_water FROM nodes`);
  const marks = new Map(nodes.map((row) => [String(row.owner), String(row.low_water)]));
  let siteId = "";
  let counted = new Map<number, Counts>();
  const sql = `SELECT site_id, id, mode, status, name, order_id, email_ref, person, attribution, reasons, plan, owner,
      uses_order_event_id FROM events ORDER BY site_id, id`;
  for await (const some of snapshot.stream(sql)) {
    for (const [id, rows] of Map.groupBy(some, (row) => String(row.site_id))) {
      if (id !== siteId) {
        if (left.delete(siteId)) await compareHours(snapshot, siteId, counted, count);
        siteId = id;
        counted = new Map();
      }
      for (const row of rows) checkEvent(row, count);
      const readable = rows.filter(hasPlan);
      await checkPlans(snapshot, siteId, readable, marks, count);
      for (const row of readable)
        if (row.mode === "live" && row.status === "accepted") countEvent(counted, row);
    }
  }
  if (left.delete(siteId)) await compareHours(snapshot, siteId, counted, count);
  // The remaining sites have no events left.
  for (const id of left) await compareHours(snapshot, id, new Map(), count);
  report();
}

function countEvent(counted: Map<number, Counts>, row: Row): void {
  const hour = Math.floor(timeOfId(String(row.id)) / hourMs);
  const counts = counted.get(hour) ?? { conversions: 0, deliveries: 0 };
  counts.conversions += 1;
  counts.deliveries += readPlan(String(row.plan)).length;
  counted.set(hour, counts);
}

function checkEvent(row: Row, countFault: CountFault): void {
  const id = String(row.id);
  if (!idPattern.test(id)) countFault("events with an invalid id", id);
  if (!personPattern.test(String(row.person))) countFault("events with an invalid email hash", id);
  if (String(row.name).trim() === "") countFault("events without a name", id);
  if (Number(row.uses_order_event_id) === 1 && row.order_id === null)
    countFault("events without an order that use its order event id", id);
  const fault = eventFault(row);
  if (fault) countFault(fault, id);
}

function hasPlan(row: Row): boolean {
  try {
    return readPlan(String(row.plan)).every(({ connectionId, platform }) => connectionId && platform);
  } catch {
    return false;
  }
}

function eventFault(row: Row): string | null {
  try {
    const { emailSha256 } = readPerson(String(row.person));
    unpackAttribution(String(row.attribution));
    const reasons: unknown = row.reasons === null ? [] : JSON.parse(String(row.reasons));
    if (!Array.isArray(reasons) || !hasPlan(row)) return "events that cannot be read";
    const ref = row.email_ref === null ? null : Number(row.email_ref);
    return ref === (emailSha256 ? emailRef(emailSha256) : null) ? null : "events with another person's hash";
  } catch {
    return "events that cannot be read";
  }
}

/** Compares plans with the outcomes, deliveries and attempts of their events. `marks` are the low-water marks of nodes. */
async function checkPlans(
  snapshot: Snapshot,
  siteId: string,
  events: readonly Row[],
  marks: ReadonlyMap<string, string>,
  countFault: CountFault,
): Promise<void> {
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) return;
  const range = [siteId, String(first.id), String(last.id)];
  const within = `site_id = $1 AND event_id >= $2 AND event_id <= $3`;
  const ofEvent = async (columns: string, table: string) =>
    Map.groupBy(await snapshot.all(`SELECT ${columns} FROM ${table} WHERE ${within}`, range), (row) =>
      String(row.event_id),
    );
  const outcomes = await ofEvent("event_id, number, results", "outcomes");
  const deliveries = await ofEvent("event_id, connection_id, attempts", "deliveries");
  const attempts = await ofEvent("event_id, connection_id, number", "attempts");
  for (const { id, plan, owner } of events) {
    const eventId = String(id);
    const found = readAllOutcomes(outcomes.get(eventId) ?? []);
    if (!found) {
      countFault("outcomes that cannot be read", eventId);
      continue;
    }
    const entries = readPlan(String(plan));
    const rows = deliveries.get(eventId) ?? [];
    const rowOf = (position: number) =>
      rows.find((row) => row.connection_id === entries[position]?.connectionId);
    if (found.some(({ position }) => entries[position]?.by !== "owner"))
      countFault("outcomes that no plan has", eventId);
    if (new Set(found.map(({ position }) => position)).size < found.length)
      countFault("outcomes that are there twice", eventId);
    if (found.some(({ position, sent }) => !sent && !rowOf(position)))
      countFault("outcomes without their delivery", eventId);
    if (entries.some(({ by }, position) => by === "row" && !rowOf(position)))
      countFault("plans without their delivery", eventId);
    const isOpen = entries.some(
      ({ by }, position) => by === "owner" && !found.some((one) => one.position === position),
    );
    if (isOpen && (marks.get(String(owner)) ?? "z") > eventId)
      countFault("open events that no node owns", eventId);
    for (const row of rows) {
      const position = entries.findIndex(({ connectionId }) => connectionId === row.connection_id);
      const made = (attempts.get(eventId) ?? []).filter((one) => one.connection_id === row.connection_id);
      const atOnce = found.some((one) => one.position === position && one.sent) ? 1 : 0;
      if (position < 0) countFault("deliveries that no plan has", eventId);
      else if (made.length + atOnce > Number(row.attempts))
        countFault("attempts beyond the count of their delivery", eventId);
      else if (made.length + atOnce < Number(row.attempts))
        countFault("deliveries with missing attempts", eventId);
    }
  }
}

/** Null when a row cannot be read. */
function readAllOutcomes(rows: readonly Row[]): Outcome[] | null {
  try {
    return rows.flatMap((row) => readOutcomes(String(row.results)));
  } catch {
    return null;
  }
}

/** Compares the hours that are final and whose events were not purged. */
async function compareHours(
  snapshot: Snapshot,
  siteId: string,
  counted: ReadonlyMap<number, Counts>,
  countFault: CountFault,
): Promise<void> {
  const rows = await snapshot.all(
    `SELECT statistics_hours.hour,
       COALESCE(SUM(CASE WHEN kind = 'conversion' THEN count END), 0) AS conversions,
       COALESCE(SUM(CASE WHEN kind = 'delivery' THEN count END), 0) AS deliveries
     FROM statistics_hours LEFT JOIN statistics ON statistics.site_id = statistics_hours.site_id
       AND statistics.hour = statistics_hours.hour
     WHERE statistics_hours.site_id = $1 AND due_at = ${finalAt} AND rolled_at < ${finalAt}
     GROUP BY statistics_hours.hour`,
    [siteId],
  );
  for (const row of rows) {
    const hour = Number(row.hour);
    const { conversions, deliveries } = counted.get(hour) ?? { conversions: 0, deliveries: 0 };
    const example = `${siteId} ${new Date(hour * hourMs).toISOString()}`;
    if (Number(row.conversions) !== conversions)
      countFault("hours whose statistics differ from their events", example);
    else if (Number(row.deliveries) !== deliveries)
      countFault("hours whose statistics differ from their deliveries", example);
  }
}

export async function checkPeople(snapshot: Snapshot, add: AddFault): Promise<void> {
  const { count, report } = countFaults(add);
  for (const [table, key] of [
    ["identities", "email_sha256"],
    ["visitors", "visitor_id"],
  ] as const) {
    for await (const rows of snapshot.stream(`SELECT ${key} AS id, record FROM ${table}`)) {
      for (const row of rows)
        if (!isRecord(String(row.record), String(row.id)))
          count(`${table} that cannot be read`, String(row.id));
    }
  }
  report();
}

function isRecord(text: string, subject: string): boolean {
  try {
    const { visits } = unpackRecord(text, subject) as { visits?: unknown };
    return (
      Array.isArray(visits) &&
      visits.every(
        (visit) => typeof visit?.seenAt === "number" && visit.clickIds && visit.browserIds && visit.utm,
      )
    );
  } catch {
    return false;
  }
}
