// Backfills: past events that a connection receives after all. The row of a backfill is its whole progress, and each step
// moves its cursor in the transaction that queues the deliveries. So nothing is queued twice, whatever process does the next
// step, and a backfill goes on after a restart where it was.

import type { BackfillState } from "../../kernel/backfill.ts";
import type { DeliveryState } from "../../kernel/event.ts";
import { asJson, asNumber, asNumberOrNull, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { allByKeys, chunks, hasRows, insertRow, orReplace, type Database, type RowQuery } from "../engine/database.ts";
import { lockEvents } from "../events/eventRow.ts";
import { ownedByAny } from "./ownership.ts";
import { packPlan } from "./plan.ts";
import { writeAudited, type AuditLine } from "../sites/audit.ts";
import { markHours } from "../statistics/statistics.ts";
import { deliveryRow, insertDeliveries, newDelivery, type ConnectionKey } from "./delivery.ts";
import { readDueTime } from "./dueTime.ts";
import { deliverySource, readDeliveries, readPlanned } from "./readDeliveries.ts";

export type BackfillTally = {
  /** Conversions that were given to delivery. */
  queued: number;
  /** What became of them when they were first attempted: `queued` ones are retried. */
  outcomes: Partial<Record<DeliveryState, number>>;
  /** Events that were left out, by reason. */
  leftOut: Record<string, number>;
};

export type BackfillRow = ConnectionKey & {
  state: BackfillState;
  /** Why it was cancelled. */
  reason: string | null;
  days: number;
  perMinute: number;
  /** The first event id, and the one below which it ends. */
  fromId: string;
  toId: string;
  /** The last event that was judged. */
  cursor: string;
  /** The events that were queued last. */
  chunk: string[];
  /** The number of conversions that were counted before; null where there were too many to count. */
  total: number | null;
  tally: BackfillTally;
  /** The earliest time of the next step. */
  dueAt: number;
  startedBy: string;
  startedAt: number;
  updatedAt: number;
};

type NewBackfill = Omit<BackfillRow, "state" | "reason" | "cursor" | "chunk" | "tally" | "dueAt" | "updatedAt">;

/** A step: the events that are queued, and the progress with them. */
type BackfillStep = Pick<BackfillRow, "cursor" | "chunk" | "tally" | "dueAt"> & {
  platform: string;
  at: number;
};

/** The reason of a queued delivery until its first attempt. */
export const backfillReason = "backfill";

export const backfillRow = describeRow<BackfillRow, BackfillRow>({
  siteId: asText,
  connectionId: asText,
  state: asOneOf<BackfillState>(),
  reason: asTextOrNull,
  days: asNumber,
  perMinute: asNumber,
  fromId: asText,
  toId: asText,
  cursor: asText,
  chunk: asJson<string[]>(),
  total: asNumberOrNull,
  tally: asJson<BackfillTally>(),
  dueAt: asNumber,
  startedBy: asText,
  startedAt: asNumber,
  updatedAt: asNumber,
});

/** Identifies a backfill among those that its connection had. */
type Key = ConnectionKey & { startedAt: number };
const valuesOf = ({ siteId, connectionId, startedAt }: Key) => [siteId, connectionId, startedAt];

export function backfillStore(db: Database, newId: () => string) {
  async function find(siteId: string, connectionId: string): Promise<BackfillRow | null> {
    const sql = `SELECT ${backfillRow.list} FROM backfills WHERE site_id = $1 AND connection_id = $2`;
    const [found] = await db.all(sql, [siteId, connectionId]);
    return found ? backfillRow.read(found) : null;
  }

  return {
    find,

    async listRunning(): Promise<BackfillRow[]> {
      const rows = await db.background.all(`SELECT ${backfillRow.list} FROM backfills WHERE state = 'running'`);
      return rows.map(backfillRow.read);
    },

    /** Starts a backfill in place of the connection's last one. False while that one is running. */
    async start(wanted: NewBackfill, line: AuditLine): Promise<boolean> {
      const started: BackfillRow = {
        ...wanted,
        state: "running",
        reason: null,
        cursor: wanted.fromId,
        chunk: [],
        tally: { queued: 0, outcomes: {}, leftOut: {} },
        dueAt: wanted.startedAt,
        updatedAt: wanted.startedAt,
      };
      // A sharded table cannot set the column by which it is sharded.
      const [, , ...others] = backfillRow.inserted;
      const replaced = `${orReplace("site_id, connection_id", ...others)} WHERE backfills.state <> 'running'
         OR (backfills.started_at = excluded.started_at AND backfills.started_by = excluded.started_by) RETURNING state`;
      const row = backfillRow.toRow(started);
      return writeAudited(db, newId, line, (tx) => hasRows(insertRow(tx, "backfills", row, replaced)));
    },

    /** Counts the states of the events that were queued last. Null while one of them was not attempted. */
    async readOutcomes(of: BackfillRow): Promise<BackfillTally["outcomes"] | null> {
      const outcomes: BackfillTally["outcomes"] = {};
      const sql = `SELECT state, reason FROM deliveries
         WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})`;
      for (const { state, reason } of await allByKeys(db, sql, [of.siteId, of.connectionId], of.chunk)) {
        if (state === "queued" && reason === backfillReason) return null;
        const name = state as DeliveryState;
        outcomes[name] = (outcomes[name] ?? 0) + 1;
      }
      return outcomes;
    },

    /**
     * Queues the deliveries of a step and moves the cursor, in one transaction. False when the backfill was cancelled, or
     * another node has made this step.
     */
    step: (before: BackfillRow, next: BackfillStep): Promise<boolean> =>
      db.write(async (tx) => {
        const moved = await tx.all(
          `UPDATE backfills SET cursor = $5, chunk = $6, tally = $7, due_at = $8, updated_at = $9
           WHERE site_id = $1 AND connection_id = $2 AND started_at = $3 AND state = 'running' AND cursor = $4 RETURNING state`,
          [
            ...valuesOf(before),
            before.cursor,
            next.cursor,
            JSON.stringify(next.chunk),
            JSON.stringify(next.tally),
            next.dueAt,
            next.at,
          ],
        );
        // A transaction that runs again, because its commit was not confirmed, finds the cursor moved and queues nothing.
        if (moved.length === 0) return hasMoved(tx, before, next);
        for (const ids of chunks(next.chunk)) await queueEvents(tx, db.forUpdate, before, next, ids);
        return true;
      }),

    /** Ends a running backfill; a cancelled one with what was queued and not attempted. False when it had ended. */
    async end(
      of: Key,
      state: "done" | "cancelled",
      reason: string | null,
      tally: BackfillTally | null,
      at: number,
    ): Promise<boolean> {
      return db.write(async (tx) => {
        const [ended] = await tx.all(
          `UPDATE backfills SET state = $4, reason = $5, tally = COALESCE($6, tally), updated_at = $7
           WHERE site_id = $1 AND connection_id = $2 AND started_at = $3 AND (state = 'running' OR (state = $4 AND updated_at = $7)) RETURNING chunk`,
          [...valuesOf(of), state, reason, tally && JSON.stringify(tally), at],
        );
        if (ended && state === "cancelled")
          await cancelChunk(tx, of, JSON.parse(String(ended.chunk)), at, await readDueTime(db, tx, at));
        return ended !== undefined;
      });
    },
  };
}

/** A delivery that a node has claimed is left to its settlement: the platform may have it already. */
async function cancelChunk(tx: RowQuery, of: Key, chunk: readonly string[], at: number, time: number): Promise<void> {
  await allByKeys(
    tx,
    `UPDATE deliveries SET state = 'skipped', reason = 'cancelled', owner = '', updated_at = $4
     WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})
       AND state = 'queued' AND reason = $3 AND (owner = '' OR due_at <= $5)`,
    [of.siteId, of.connectionId, backfillReason, at, time],
    chunk,
  );
}

async function hasMoved(tx: RowQuery, before: BackfillRow, next: BackfillStep): Promise<boolean> {
  const rows = await tx.all(
    `SELECT state FROM backfills WHERE site_id = $1 AND connection_id = $2 AND started_at = $3 AND cursor = $4 AND chunk = $5 AND updated_at = $6`,
    [...valuesOf(before), next.cursor, JSON.stringify(next.chunk), next.at],
  );
  return rows.length > 0;
}

/**
 * A delivery that the platform has, or may get, is left alone. A new one becomes the last entry of its event's plan: outcomes
 * name the others by their position.
 */
async function queueEvents(
  tx: RowQuery,
  forUpdate: string,
  { siteId, connectionId }: BackfillRow,
  { platform, at }: BackfillStep,
  ids: readonly string[],
): Promise<void> {
  const rows = await lockEvents(tx, forUpdate, siteId, ids, `id, received_at, ${deliverySource}, email_ref`);
  const known = rows.filter((event) => event.email_ref !== null);
  const deliveries = await readDeliveries(tx, siteId, known);
  const again: string[] = [];
  for (const event of known.map(readPlanned)) {
    const earlier = deliveries.get(event.id)?.find((one) => one.connectionId === connectionId);
    if (earlier && earlier.state !== "skipped" && earlier.state !== "expired") continue;
    const queued = { connectionId, platform, state: "queued", reason: backfillReason } as const;
    const delivery = newDelivery({ siteId, id: event.id }, queued, ownedByAny(at));
    await tx.change(insertDeliveries, [deliveryRow.values(delivery)]);
    if (earlier) again.push(event.id);
    else {
      const plan = [...event.plan, { connectionId, platform, by: "row", reason: null } as const];
      await tx.all(`UPDATE events SET plan = $3 WHERE site_id = $1 AND id = $2`, [siteId, event.id, packPlan(plan)]);
    }
  }
  // Those that ended with a row of their own.
  await allByKeys(
    tx,
    `UPDATE deliveries SET state = 'queued', reason = $3, due_at = $4, owner = '', updated_at = $4
     WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS}) AND state IN ('skipped', 'expired')`,
    [siteId, connectionId, backfillReason, at],
    again,
  );
  await markHours(tx, siteId, ids, at);
}
