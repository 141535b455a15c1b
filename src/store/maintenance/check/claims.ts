// Compares claims with the events that hold them: a claim that is missing lets a sender repeat an order, and one that is not
// its event's refuses an order as a duplicate that is none.

import type { Mode } from "../../../kernel/event.ts";
import { timeOfId } from "../../../kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../../kernel/time.ts";
import { readObject } from "../../damagedRows.ts";
import { readNumber, readText } from "../../describeRow.ts";
import { allByKeys, type Row } from "../../engine/database.ts";
import { deliveryMark, possibleClaims, stageMark } from "../../events/claims.ts";
import { readPerson } from "../../events/eventRow.ts";
import { finalAt } from "../../statistics/statistics.ts";
import type { Snapshot } from "../snapshot.ts";
import { keptHoursMs } from "./counts.ts";
import { incompleteSites, type Faults } from "./faults.ts";

/** How long events of a site count as duplicates, with an order id and without. */
export type DedupWindows = { dedupOrderMs: number; dedupNoOrderMs: number };

export const idPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The columns of an event that its claims are made from. */
export const claimedColumns = "site_id, id, mode, name, value, currency, order_id, order_event_id, time, received_at, person";

/** The clock of the node that purges claims is trusted that far ahead. */
const clockToleranceMs = 2 * dayMs;
/** Other nodes learn of a changed setting a little later. */
const settingDelayMs = 10 * minuteMs;

/** Null for an event whose person was erased or has no email: what it claimed is not known any more. */
function claimsOf(row: Row): ReturnType<typeof possibleClaims> | null {
  if (row.person === "") return null;
  const person = readPerson(String(row.person));
  // Without either, the claim is made from click ids too, of which some may be withheld.
  if (person.emailSha256 === undefined && row.order_id === null) return null;
  return possibleClaims({
    siteId: String(row.site_id),
    mode: row.mode as Mode,
    name: String(row.name),
    value: readNumber(row.value ?? null),
    currency: String(row.currency),
    orderId: readText(row.order_id ?? null),
    orderEventId: readText(row.order_event_id ?? null),
    time: Number(row.time),
    person,
  });
}

/** Reads since when the windows of duplicates of each site are what they are, and how long they are. */
export async function readWindows(
  snapshot: Snapshot,
  windowsOf: (settings: Record<string, unknown>) => DedupWindows,
): Promise<Map<string, DedupWindows & { since: number }>> {
  const changes = await snapshot.all(
    `SELECT site_id, MAX(at) AS at FROM audit
     WHERE action IN ('settings changed', 'settings copied') AND detail LIKE '%dedup_%' GROUP BY site_id`,
  );
  const changedAt = new Map(changes.map((row) => [String(row.site_id), Number(row.at) + settingDelayMs]));
  const sites = await snapshot.all(`SELECT site_id, settings FROM sites`);
  return new Map(
    sites.flatMap((row) => {
      const settings = readObject(String(row.settings));
      if (!settings) return [];
      const siteId = String(row.site_id);
      return [[siteId, { ...windowsOf(settings), since: changedAt.get(siteId) ?? 0 }]];
    }),
  );
}

/**
 * Finds events whose window lasts, and whose claim is not there, or that go out under an order event id which another event
 * holds. Their rows have `claimedColumns`, the status and `uses_order_event_id`.
 */
export async function checkHeldClaims(
  snapshot: Snapshot,
  siteId: string,
  events: readonly Row[],
  windows: DedupWindows & { since: number },
  now: number,
  faults: Faults,
): Promise<void> {
  const held = events.flatMap((row) => {
    const receivedAt = Number(row.received_at);
    const until = receivedAt + (row.order_id === null ? windows.dedupNoOrderMs : windows.dedupOrderMs);
    if (receivedAt < windows.since || until < now + clockToleranceMs) return [];
    const claims = claimsOf(row)?.claims;
    // A filtered event may have handed its order event id over.
    const usesFirst = Number(row.uses_order_event_id) === 1 && row.status === "accepted";
    return claims ? [{ id: String(row.id), claims, usesFirst, until }] : [];
  });
  const sql = `SELECT claim, event_id, expires_at FROM dedup_claims WHERE site_id = $1 AND claim IN ({KEYS})`;
  const wanted = held.flatMap(({ claims }) => claims);
  const rows = await allByKeys(snapshot, sql, [siteId], wanted);
  const found = new Map(rows.map((row) => [String(row.claim), row]));
  for (const { id, claims, usesFirst, until } of held) {
    // A clock that was wrong let a later event take the claim.
    const isHeld = (claim: string) => {
      const row = found.get(claim);
      return row && (row.event_id === id || Number(row.expires_at) > until);
    };
    if (!claims.some(isHeld)) faults.add("events without their claim", "repeatable", id);
    else if (usesFirst && !claims.slice(0, 1).some(isHeld))
      faults.add("events with the order event id of another event", "uncounted", id);
  }
}

/** Finds claims whose event is missing, or is not the one that made them. */
export async function checkClaims(snapshot: Snapshot, now: number, faults: Faults): Promise<void> {
  const sql = `SELECT site_id, claim, event_id, person_ref FROM dedup_claims
    WHERE claim NOT LIKE '${deliveryMark}%' AND site_id NOT IN (${incompleteSites})`;
  for await (const some of snapshot.stream(sql)) {
    for (const [siteId, claims] of Map.groupBy(some, (row) => String(row.site_id))) {
      const events = await readEvents(snapshot, siteId, claims);
      const gone = claims.filter((claim) => !events.has(String(claim.event_id)));
      for (const claim of await notPurged(snapshot, siteId, gone, now))
        faults.add("claims without their event", "refusable", String(claim.event_id));
      for (const claim of claims) {
        const event = events.get(String(claim.event_id));
        if (event && !isClaimOf(claim, event))
          faults.add("claims that are not their event's", "refusable", String(claim.event_id));
      }
    }
  }
}

async function readEvents(snapshot: Snapshot, siteId: string, claims: readonly Row[]): Promise<Map<string, Row>> {
  const ids = [...new Set(claims.map((row) => String(row.event_id)))];
  const sql = `SELECT ${claimedColumns} FROM events WHERE site_id = $1 AND id IN ({KEYS})`;
  const rows = await allByKeys(snapshot, sql, [siteId], ids);
  return new Map(rows.map((row) => [String(row.id), row]));
}

function isClaimOf(claim: Row, event: Row): boolean {
  // The lead's id is sealed, so the claim of a stage cannot be made again here.
  if (String(claim.claim).startsWith(stageMark)) return true;
  const own = claimsOf(event);
  return own === null || (own.claims.includes(String(claim.claim)) && own.personRef === Number(claim.person_ref));
}

/** Leaves out events that were purged: the hours of those are marked as final first. */
async function notPurged(snapshot: Snapshot, siteId: string, claims: readonly Row[], now: number): Promise<Row[]> {
  const hourOf = (claim: Row) => Math.floor(timeOfId(String(claim.event_id)) / hourMs);
  const isId = (claim: Row) => idPattern.test(String(claim.event_id));
  const hours = [...new Set(claims.filter(isId).map(hourOf))];
  const sql = `SELECT hour FROM statistics_hours
    WHERE site_id = $1 AND rolled_at = ${finalAt} AND hour IN ({KEYS})`;
  const purged = new Set((await allByKeys(snapshot, sql, [siteId], hours)).map((row) => Number(row.hour)));
  const oldest = Math.floor((now - keptHoursMs) / hourMs);
  return claims.filter((claim) => !isId(claim) || !(purged.has(hourOf(claim)) || hourOf(claim) < oldest));
}
