// Counts, starts and cancels backfills. A backfill sends the conversions of the last days to a connection that did not get
// them: because it is new, or because it could not send them then.

import { maxBackfillDays, maxBackfillPace } from "../../kernel/backfill.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { idAt } from "../../kernel/ids.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal, type By } from "../../kernel/refusal.ts";
import { dayMs } from "../../kernel/time.ts";
import type { Connection, Site } from "../../sites/directory.ts";
import { auditLine } from "../../sites/manage.ts";
import type { BackfillRow } from "../../store/deliveries/backfills.ts";
import type { Store } from "../../store/store.ts";
import { createEligibility } from "./eligibility.ts";

/** A page takes a few milliseconds of the thread that accepts events. */
const pageSize = 50;

type BackfillCount = {
  /** Events in the period. */
  found: number;
  /** Those that would be sent. */
  sendable: number;
  /** Those that would not, by reason. */
  leftOut: Record<string, number>;
  /** False when the count was stopped because it took too long. */
  isComplete: boolean;
};

type CountStore = Pick<Store, "deliveries" | "events" | "people" | "configuration">;

/** Counts what a backfill would send now. It stops after `maxMs`; the numbers are then of a part of the events only. */
export async function countBackfill(
  store: CountStore,
  site: Site,
  connection: Connection,
  { days, now, maxMs }: { days: number; now: number; maxMs: number },
): Promise<BackfillCount> {
  checkDays(days);
  const judge = await createEligibility(store, site, connection);
  const count: BackfillCount = { found: 0, sendable: 0, leftOut: {}, isComplete: false };
  const startedAt = performance.now();
  let after = idAt(now - days * dayMs);
  while (performance.now() - startedAt < maxMs) {
    // The embedded store runs on that thread.
    await threadShare.nextSlice(site.id);
    const page = await judge(after, idAt(now), pageSize, now);
    for (const { leftOut } of page) {
      count.found += 1;
      if (leftOut === null) count.sendable += 1;
      else count.leftOut[leftOut] = (count.leftOut[leftOut] ?? 0) + 1;
    }
    const last = page.at(-1);
    if (page.length < pageSize || !last) return { ...count, isComplete: true };
    after = last.id;
  }
  return count;
}

/** `total` is the number that was counted; null where counting took too long. */
type WantedBackfill = { days: number; perMinute: number; total: number | null };

export async function startBackfill(
  store: Pick<Store, "backfills">,
  connection: Connection,
  { days, perMinute, total }: WantedBackfill,
  by: By,
): Promise<BackfillRow> {
  checkDays(days);
  if (!Number.isInteger(perMinute) || perMinute < 1 || perMinute > maxBackfillPace)
    throw new Refusal("perMinute", say("pace_invalid", { max: maxBackfillPace }));
  const { siteId, id: connectionId, platform } = connection;
  const wanted = {
    siteId,
    connectionId,
    days,
    perMinute,
    fromId: idAt(by.now - days * dayMs),
    toId: idAt(by.now),
    total,
    startedBy: by.actor,
    startedAt: by.now,
  };
  const detail = { id: connectionId, platform, days, perMinute, conversions: total };
  const isStarted = await store.backfills.start(wanted, auditLine(siteId, "backfill started", detail, by));
  const row = await store.backfills.find(siteId, connectionId);
  if (!isStarted || !row) throw new Refusal("connection", say("backfill_running", { connection: connectionId }));
  return row;
}

/** Stops a backfill. What the platform has received stays there; what was queued and not attempted is not sent. */
export async function cancelBackfill(
  store: Pick<Store, "backfills" | "audit">,
  { siteId, id: connectionId, platform }: Connection,
  by: By,
): Promise<BackfillRow> {
  const row = await store.backfills.find(siteId, connectionId);
  const isEnded =
    row?.state === "running" &&
    (await store.backfills.end(row, "cancelled", say("cancelled_by", { actor: by.actor }), null, by.now));
  if (!row || !isEnded) throw new Refusal("connection", say("no_backfill_running", { connection: connectionId }));
  const detail = { id: connectionId, platform, queued: row.tally.queued };
  await store.audit.add(auditLine(siteId, "backfill cancelled", detail, by));
  return (await store.backfills.find(siteId, connectionId)) ?? row;
}

function checkDays(days: number): void {
  if (!Number.isInteger(days) || days < 1 || days > maxBackfillDays)
    throw new Refusal("days", say("days_invalid", { max: maxBackfillDays }));
}
