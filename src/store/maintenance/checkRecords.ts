// The part of the check that reads whole rows. It finds rows that cannot be read, and hours whose statistics differ from
// their events.

import { hourMs } from "../../kernel/time.ts";
import { orderEventId, timeOfId } from "../../kernel/ids.ts";
import type { Row } from "../engine/database.ts";
import { unpackRecord } from "../people/personCodec.ts";
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

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The hash is empty for a person who was erased. */
const hashPattern = /^(?:[0-9a-f]{64})?$/;

/** The live conversions of an hour, and their deliveries. */
type Counts = { conversions: number; deliveries: number };
type CountFault = (what: string, example: string) => void;

export async function checkEvents(snapshot: Snapshot, add: AddFault): Promise<void> {
  const { count, report } = countFaults(add);
  const rolled = await snapshot.all(`SELECT DISTINCT site_id FROM statistics_hours`);
  const left = new Set(rolled.map((row) => String(row.site_id)));
  let siteId = "";
  let counted = new Map<number, Counts>();
  const columns =
    "site_id, id, platform_event_id, mode, status, name, order_id, email_sha256, person, attribution, reasons"
      .split(", ")
      .map((column) => `events.${column}`)
      .join(", ");
  const sql = `SELECT ${columns}, COUNT(deliveries.event_id) AS deliveries
    FROM events LEFT JOIN deliveries ON deliveries.site_id = events.site_id AND deliveries.event_id = events.id
    GROUP BY events.site_id, events.id ORDER BY events.site_id, events.id`;
  for await (const rows of snapshot.stream(sql)) {
    for (const row of rows) {
      if (row.site_id !== siteId) {
        if (left.delete(siteId)) await compareHours(snapshot, siteId, counted, count);
        siteId = String(row.site_id);
        counted = new Map();
      }
      checkEvent(row, count);
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
  counts.deliveries += Number(row.deliveries);
  counted.set(hour, counts);
}

function checkEvent(row: Row, countFault: CountFault): void {
  const id = String(row.id);
  if (!idPattern.test(id)) countFault("events with an invalid id", id);
  if (!hashPattern.test(String(row.email_sha256))) countFault("events with an invalid email hash", id);
  if (String(row.name).trim() === "") countFault("events without a name", id);
  if (!hasOwnPlatformEventId(row)) countFault("events whose platform event id is not theirs", id);
  const fault = eventFault(row);
  if (fault) countFault(fault, id);
}

/** The platform event id is the id of the event, or its order event id. */
const hasOwnPlatformEventId = ({ site_id, id, platform_event_id, name, order_id }: Row) =>
  platform_event_id === id ||
  (order_id !== null && platform_event_id === orderEventId(String(site_id), String(name), String(order_id)));

function eventFault(row: Row): string | null {
  try {
    const person = JSON.parse(String(row.person)) as { emailSha256?: unknown };
    const attribution = JSON.parse(String(row.attribution)) as { clickIds?: unknown } | null;
    const reasons: unknown = row.reasons === null ? [] : JSON.parse(String(row.reasons));
    if (!attribution?.clickIds || !Array.isArray(reasons)) return "events that cannot be read";
    return person.emailSha256 === row.email_sha256 ? null : "events with another person's hash";
  } catch {
    return "events that cannot be read";
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
