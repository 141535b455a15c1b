// Reads all events with their rows, some at a time in the order of their keys: it finds rows that cannot be read or contradict
// each other, and hours and totals that differ from the events.

import type { DeliveryState, FilterReason } from "../../../kernel/event.ts";
import { timeOfId } from "../../../kernel/ids.ts";
import { hourMs } from "../../../kernel/time.ts";
import { readList, tryParse, tryRead } from "../../damagedRows.ts";
import type { Row } from "../../engine/database.ts";
import { refOf, readPerson } from "../../events/eventRow.ts";
import { unpackAttribution } from "../../people/personCodec.ts";
import type { Snapshot } from "../snapshot.ts";
import { checkHeldClaims, claimedColumns, idPattern, readWindows, type DedupWindows } from "./claims.ts";
import { compareHours, compareTotals, type SiteCounts } from "./counts.ts";
import { incompleteSites, type Faults } from "./faults.ts";
import { checkDeliveries, hasPlan } from "../../deliveries/check.ts";
import { deliverySource } from "../../deliveries/readDeliveries.ts";

/** The text is empty for a person who was erased. */
const personPattern = /^(?:(?:[0-9a-f]{64}|-)(?: (?:=|[0-9a-f]{64})?){0,7})?$/;

export type EventRules = {
  windowsOf: (settings: Record<string, unknown>) => DedupWindows;
  now: number;
};

export async function checkEvents(snapshot: Snapshot, { windowsOf, now }: EventRules, faults: Faults): Promise<void> {
  const sites = await snapshot.all(`SELECT site_id FROM sites WHERE site_id NOT IN (${incompleteSites})`);
  const left = new Set(sites.map((row) => String(row.site_id)));
  const windows = await readWindows(snapshot, windowsOf);
  const nodes = await snapshot.all(`SELECT owner, low_water FROM nodes`);
  const marks = new Map(nodes.map((row) => [String(row.owner), String(row.low_water)]));
  const compare = async (siteId: string, counts: SiteCounts) => {
    if (!left.delete(siteId)) return;
    await compareHours(snapshot, siteId, counts, faults);
    await compareTotals(snapshot, siteId, counts, now, faults);
  };
  let siteId: string | null = null;
  let counts = noCounts();
  // The rows of a deleted site go one table after the other; what could still be sent of a moved one is there.
  const sql = `SELECT ${claimedColumns}, status, email_ref, attribution, reasons, ${deliverySource}, uses_order_event_id
    FROM events WHERE site_id NOT IN (${incompleteSites}) ORDER BY site_id, id`;
  for await (const some of snapshot.stream(sql)) {
    for (const [id, rows] of Map.groupBy(some, (row) => String(row.site_id))) {
      if (id !== siteId) {
        if (siteId !== null) await compare(siteId, counts);
        siteId = id;
        counts = noCounts();
      }
      for (const row of rows) checkEvent(row, faults);
      const states = await checkDeliveries(snapshot, { siteId: id, events: rows.filter(hasPlan), marks }, faults);
      const ofSite = windows.get(id);
      if (ofSite) await checkHeldClaims(snapshot, id, rows, ofSite, now, faults);
      for (const row of rows) countEvent(counts, row, states.get(String(row.id)) ?? []);
    }
  }
  if (siteId !== null) await compare(siteId, counts);
  // The remaining sites have no events left.
  for (const id of left) await compare(id, noCounts());
}

const noCounts = (): SiteCounts => ({ hours: new Map(), conversions: 0, removed: 0 });

/** Counts as the relay does: totals in toCounted, hours in the rollup. */
function countEvent(counts: SiteCounts, row: Row, deliveries: readonly { platform: string; state: DeliveryState }[]): void {
  const hour = Math.floor(timeOfId(String(row.id)) / hourMs);
  const figures = counts.hours.get(hour) ?? new Map<string, number>();
  counts.hours.set(hour, figures);
  const count = (figure: string) => figures.set(figure, (figures.get(figure) ?? 0) + 1);
  if (row.mode === "test") return void count("test");
  // A released event stays counted as removed.
  if (isBots(row)) counts.removed += 1;
  if (row.status === "filtered") return void count("filtered");
  counts.conversions += 1;
  for (const kind of ["conversion", "source", "campaign"]) count(kind);
  for (const { platform, state } of deliveries) count(`delivery ${platform} ${state}`);
}

const isBots = ({ reasons }: Row): boolean =>
  (readList(String(reasons)) as (FilterReason | null)[]).some((one) => one?.code === "only bot visits");

function checkEvent(row: Row, faults: Faults): void {
  const id = String(row.id);
  if (!idPattern.test(id)) faults.add("events with an invalid id", "unreadable", id);
  if (!personPattern.test(String(row.person))) faults.add("events with an invalid email hash", "unreadable", id);
  if (String(row.name).trim() === "") faults.add("events without a name", "unreadable", id);
  if (Number(row.uses_order_event_id) === 1 && row.order_id === null)
    faults.add("events without an order that use its order event id", "unreadable", id);
  const person = row.person === "" ? null : readPerson(String(row.person));
  const ref = row.email_ref === null ? null : Number(row.email_ref);
  if (!isReadable(row)) faults.add("events that cannot be read", "unreadable", id);
  else if (ref !== (person ? refOf(person) : null)) faults.add("events with another person's hash", "missable", id);
}

const isReadable = (row: Row): boolean =>
  tryRead(() => unpackAttribution(String(row.attribution))) !== null &&
  (row.reasons === null || Array.isArray(tryParse(String(row.reasons)))) &&
  hasPlan(row);
