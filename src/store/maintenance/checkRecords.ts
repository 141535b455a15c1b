// The part of the check that looks into rows: are they readable, and do the numbers of an hour agree with its events?

import { hourMs } from "../../kernel/time.ts";
import { orderEventId, timeOfId } from "../../kernel/ids.ts";
import type { Row } from "../engine/database.ts";
import { unpackRecord } from "../people/personCodec.ts";
import type { Snapshot } from "./snapshot.ts";
import { finalAt } from "../statistics/statistics.ts";

export type Add = (what: string, count: number, example: string) => void;

/** Selects what is wrong, as `example`. */
export type Question = { what: string; sql: string };

/** Counts what is wrong, and remembers the first of each kind. */
export function gather(add: Add) {
  const found = new Map<string, { count: number; example: string }>();
  return {
    wrong: (what: string, example: string): void => {
      const known = found.get(what);
      if (known) known.count += 1;
      else found.set(what, { count: 1, example });
    },
    tell: () => found.forEach(({ count, example }, what) => add(what, count, example)),
  };
}

const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Empty for a person who was erased. */
const hashForm = /^(?:[0-9a-f]{64})?$/;

/** Of one hour: live conversions, and their deliveries. */
type Counts = { conversions: number; deliveries: number };
type Wrong = (what: string, example: string) => void;

export async function checkEvents(snapshot: Snapshot, add: Add): Promise<void> {
  const { wrong, tell } = gather(add);
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
        if (left.delete(siteId)) await compareHours(snapshot, siteId, counted, wrong);
        siteId = String(row.site_id);
        counted = new Map();
      }
      lookAt(row, wrong);
      if (row.mode === "live" && row.status === "accepted") countIn(counted, row);
    }
  }
  if (left.delete(siteId)) await compareHours(snapshot, siteId, counted, wrong);
  // Of these not a single event is left.
  for (const id of left) await compareHours(snapshot, id, new Map(), wrong);
  tell();
}

function countIn(counted: Map<number, Counts>, row: Row): void {
  const hour = Math.floor(timeOfId(String(row.id)) / hourMs);
  const counts = counted.get(hour) ?? { conversions: 0, deliveries: 0 };
  counts.conversions += 1;
  counts.deliveries += Number(row.deliveries);
  counted.set(hour, counts);
}

function lookAt(row: Row, wrong: Wrong): void {
  const id = String(row.id);
  if (!idForm.test(id)) wrong("events whose id is not one of ours", id);
  if (!hashForm.test(String(row.email_sha256))) wrong("events whose hashed email is none", id);
  if (String(row.name).trim() === "") wrong("events without a name", id);
  if (!isDispatchedAs(row)) wrong("events that go to platforms under another's id", id);
  const fault = eventFault(row);
  if (fault) wrong(fault, id);
}

/** Under its own id, or the one that a browser can foretell. */
const isDispatchedAs = ({ site_id, id, platform_event_id, name, order_id }: Row) =>
  platform_event_id === id ||
  (order_id !== null && platform_event_id === orderEventId(String(site_id), String(name), String(order_id)));

function eventFault(row: Row): string | null {
  try {
    const person = JSON.parse(String(row.person)) as { emailSha256?: unknown };
    const attribution = JSON.parse(String(row.attribution)) as { clickIds?: unknown } | null;
    const reasons: unknown = row.reasons === null ? [] : JSON.parse(String(row.reasons));
    if (!attribution?.clickIds || !Array.isArray(reasons)) return "events that cannot be read";
    return person.emailSha256 === row.email_sha256 ? null : "events under another person's hash";
  } catch {
    return "events that cannot be read";
  }
}

/** Hours that are done with, and whose events are all still there. */
async function compareHours(
  snapshot: Snapshot,
  siteId: string,
  counted: ReadonlyMap<number, Counts>,
  wrong: Wrong,
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
      wrong("hours whose numbers are not those of their events", example);
    else if (Number(row.deliveries) !== deliveries)
      wrong("hours whose numbers are not those of their deliveries", example);
  }
}

export async function checkPeople(snapshot: Snapshot, add: Add): Promise<void> {
  const { wrong, tell } = gather(add);
  for (const [table, key] of [
    ["identities", "email_sha256"],
    ["visitors", "visitor_id"],
  ] as const) {
    for await (const rows of snapshot.stream(`SELECT ${key} AS id, record FROM ${table}`)) {
      for (const row of rows)
        if (!isRecord(String(row.record), String(row.id)))
          wrong(`${table} that cannot be read`, String(row.id));
    }
  }
  tell();
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
