// The part of the check that looks into rows: are they readable, and do the numbers of an hour agree with its events?

import { timeOfId } from "../ids.ts";
import type { Row } from "./database.ts";
import type { Snapshot } from "./snapshot.ts";
import { finalAt } from "./statistics.ts";
import { hourMs } from "./traffic.ts";

export type Add = (what: string, count: number, example: string) => void;

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

export async function checkEvents(snapshot: Snapshot, add: Add): Promise<void> {
  const { wrong, tell } = gather(add);
  let siteId = "";
  let counted = new Map<number, number>();
  const sql = `SELECT site_id, id, mode, status, email_hash, person, attribution, reasons FROM events ORDER BY site_id, id`;
  for await (const rows of snapshot.stream(sql)) {
    for (const row of rows) {
      const id = String(row.id);
      if (row.site_id !== siteId) {
        await compareHours(snapshot, siteId, counted, wrong);
        siteId = String(row.site_id);
        counted = new Map();
      }
      if (!idForm.test(id)) wrong("events whose id is not one of ours", id);
      if (!hashForm.test(String(row.email_hash))) wrong("events whose hashed email is none", id);
      const fault = eventFault(row);
      if (fault) wrong(fault, id);
      if (row.mode === "live" && row.status === "accepted") {
        const hour = Math.floor(timeOfId(id) / hourMs);
        counted.set(hour, (counted.get(hour) ?? 0) + 1);
      }
    }
  }
  await compareHours(snapshot, siteId, counted, wrong);
  tell();
}

function eventFault(row: Row): string | null {
  try {
    const { email } = JSON.parse(String(row.person)) as { email?: unknown };
    JSON.parse(String(row.attribution));
    if (row.reasons !== null) JSON.parse(String(row.reasons));
    return email === row.email_hash ? null : "events under another person's hash";
  } catch {
    return "events that cannot be read";
  }
}

/** Hours that are done with, and whose events are all still there. */
async function compareHours(
  snapshot: Snapshot,
  siteId: string,
  counted: ReadonlyMap<number, number>,
  wrong: (what: string, example: string) => void,
): Promise<void> {
  if (counted.size === 0) return;
  const rows = await snapshot.all(
    `SELECT statistics_hours.hour, COALESCE(SUM(count), 0) AS count FROM statistics_hours
       LEFT JOIN statistics ON statistics.site_id = statistics_hours.site_id
         AND statistics.hour = statistics_hours.hour AND kind = 'conversion'
     WHERE statistics_hours.site_id = $1 AND due_at = ${finalAt} AND rolled_at < ${finalAt}
     GROUP BY statistics_hours.hour`,
    [siteId],
  );
  for (const row of rows) {
    const hour = Number(row.hour);
    if (Number(row.count) !== (counted.get(hour) ?? 0))
      wrong(
        "hours whose numbers are not those of their events",
        `${siteId} ${new Date(hour * hourMs).toISOString()}`,
      );
  }
}

export async function checkPeople(snapshot: Snapshot, add: Add): Promise<void> {
  const { wrong, tell } = gather(add);
  for (const [table, key] of [
    ["identities", "email_hash"],
    ["visitors", "visitor_id"],
  ] as const) {
    for await (const rows of snapshot.stream(`SELECT ${key} AS id, record FROM ${table}`)) {
      for (const row of rows)
        if (!isRecord(String(row.record))) wrong(`${table} that cannot be read`, String(row.id));
    }
  }
  tell();
}

function isRecord(text: string): boolean {
  try {
    const { visits } = JSON.parse(text) as { visits?: unknown };
    return Array.isArray(visits) && visits.every((visit) => typeof visit?.seenAt === "number");
  } catch {
    return false;
  }
}
