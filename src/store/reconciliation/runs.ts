// Reconciliations and their rows. The row of a run is its whole progress: a step writes its result rows, the tally and the
// cursor in one transaction. So the numbers equal the rows, whatever process does the next step, and a run goes on after a
// restart where it was.

import type { ConfirmationReason, ConfirmationState, CountedAs } from "../../kernel/confirmation.ts";
import type { DeliveryState } from "../../kernel/event.ts";
import type { MatchKind, OrderStatus, RowClass, RunState } from "../../kernel/reconciliation.ts";
import { readList, readObject } from "../damagedRows.ts";
import { asNumber, asNumberOrNull, asObject, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import {
  allByKeys,
  allForEach,
  hasRows,
  insertRow,
  keyedRead,
  rowStatement,
  type Database,
  type Row,
  type RowQuery,
  type Value,
} from "../engine/database.ts";
import type { PurgeStep } from "../maintenance/purge.ts";
import { writeAudit, type AuditLine } from "../sites/audit.ts";

export type Run = {
  siteId: string;
  id: string;
  state: RunState;
  /** Orders are read first, then the events that no order was found for. */
  phase: "orders" | "events" | "done";
  /** Where the phase goes on; "" at its start. */
  cursor: string;
  /** The window by the time of orders and events: from, and before. */
  from: number;
  to: number;
  /** The usual event that stands for an order. */
  event: string;
  /** The share by which values may differ, in percent. */
  tolerance: number;
  tally: Record<string, unknown>;
  /** False where the row is damaged: such a run does not go on. */
  isReadable: boolean;
  startedBy: string;
  startedAt: number;
  updatedAt: number;
};

/** The state of a delivery when its row was written; `attributed` where the event has a click id of the platform. */
export type RowOutcome = {
  connectionId: string;
  platform: string;
  state: DeliveryState;
  reason: string | null;
  attributed: boolean;
  /** Of an accepted order; null where the platform cannot be asked about it. */
  confirmation: CountedAs | null;
};

export type RunRow = {
  siteId: string;
  runId: string;
  /** The id of the order; "!" with the event id where there is no order. */
  id: string;
  /** As the list spells it; null for an order without an id, and without an order. */
  orderId: string | null;
  class: RowClass;
  foundBy: MatchKind | null;
  eventId: string | null;
  /** The number of accepted events of the order. */
  events: number;
  /** Of the order, else of the event. */
  time: number;
  orderValue: number | null;
  orderCurrency: string | null;
  orderStatus: OrderStatus | null;
  eventValue: number | null;
  eventCurrency: string | null;
  /** The code of the first reason for which the event was filtered. */
  filtered: string | null;
  outcomes: RowOutcome[];
};

export const runRow = describeRow<Run, Run>({
  siteId: asText,
  id: asText,
  state: asOneOf<RunState>(),
  phase: asOneOf<Run["phase"]>(),
  cursor: asText,
  from: { column: "from_time", write: (one) => one.from, read: Number },
  to: { column: "to_time", write: (one) => one.to, read: Number },
  event: asText,
  tolerance: asNumber,
  tally: asObject,
  isReadable: { column: "tally", read: (value) => readObject(String(value)) !== null },
  startedBy: asText,
  startedAt: asNumber,
  updatedAt: asNumber,
});

type PackedOutcome = [
  connectionId: string,
  platform: string,
  state: DeliveryState,
  reason: string | null,
  attributed: 0 | 1,
  confirmation?: ConfirmationState,
  why?: ConfirmationReason | null,
];

const packOutcomes = (outcomes: readonly RowOutcome[]) =>
  JSON.stringify(
    outcomes.map(({ connectionId, platform, state, reason, attributed, confirmation }): PackedOutcome => {
      const delivery = [connectionId, platform, state, reason, attributed ? 1 : 0] as const;
      return confirmation ? [...delivery, confirmation.state, confirmation.reason] : [...delivery];
    }),
  );

/** Returns none where the value is damaged. */
function readOutcomes(value: Value): RowOutcome[] {
  return (readList(String(value)) as PackedOutcome[]).map(
    ([connectionId, platform, state, reason, attributed, confirmation, why = null]) => ({
      connectionId,
      platform,
      state,
      reason,
      attributed: attributed === 1,
      confirmation: confirmation === undefined ? null : { state: confirmation, reason: why },
    }),
  );
}

export const resultRow = describeRow<RunRow, RunRow>({
  siteId: asText,
  runId: asText,
  id: asText,
  orderId: asTextOrNull,
  class: asOneOf<RowClass>(),
  foundBy: asOneOf<MatchKind | null>(),
  eventId: asTextOrNull,
  events: asNumber,
  time: asNumber,
  orderValue: asNumberOrNull,
  orderCurrency: asTextOrNull,
  orderStatus: asOneOf<OrderStatus | null>(),
  eventValue: asNumberOrNull,
  eventCurrency: asTextOrNull,
  filtered: asTextOrNull,
  outcomes: { read: readOutcomes, pack: packOutcomes },
});
const [, , , ...changing] = resultRow.inserted;

const writeResults = rowStatement({
  text: `INSERT INTO reconciliation_rows (${resultRow.inserted.join(",")}) VALUES {ROWS}
    ON CONFLICT (site_id, run_id, id) DO UPDATE SET ${changing.map((column) => `${column} = excluded.${column}`).join(", ")}`,
  columns: resultRow.inserted.length,
});

const rowOfEvent = keyedRead({
  text: `SELECT event_id FROM reconciliation_rows WHERE site_id = $1 AND run_id = $2 AND event_id = {0} LIMIT 1`,
  first: 2,
  types: ["text"],
});

/** A step: its rows, and the progress with them. */
type RunStep = Pick<Run, "phase" | "cursor" | "tally"> & { rows: readonly RunRow[]; at: number };

type Key = Pick<Run, "siteId" | "id">;

export function runStore(db: Database, newId: () => string) {
  const readAll = (rows: readonly Row[]) => rows.map(runRow.read);

  const find = async ({ siteId, id }: Key): Promise<Run | null> => {
    const [row] = await db.all(`SELECT ${runRow.list} FROM reconciliations WHERE site_id = $1 AND id = $2`, [siteId, id]);
    return row ? runRow.read(row) : null;
  };

  return {
    find,

    /** False while another run of the site goes on. */
    async start(wanted: Run, line: AuditLine): Promise<boolean> {
      const auditId = newId();
      await db.write(async (tx) => {
        const begun = insertRow(tx, "reconciliations", runRow.toRow(wanted), "ON CONFLICT DO NOTHING RETURNING id");
        if (await hasRows(begun)) await writeAudit(tx, auditId, line);
      });
      // A transaction that runs again, because its commit was not confirmed, inserts nothing.
      return (await find(wanted)) !== null;
    },

    /** Lists the runs of a site, the newest first. Few are kept. */
    list: async (siteId: string): Promise<Run[]> =>
      readAll(
        await db.all(`SELECT ${runRow.list} FROM reconciliations WHERE site_id = $1 ORDER BY id DESC LIMIT ${maxListed}`, [
          siteId,
        ]),
      ),

    listRunning: async (): Promise<Run[]> =>
      readAll(await db.all(`SELECT ${runRow.list} FROM reconciliations WHERE state = 'running'`)),

    /** False when the run was cancelled, or another process has made this step. */
    step(before: Run, next: RunStep): Promise<boolean> {
      const { siteId, id, phase, cursor } = before;
      const work = async (tx: RowQuery) => {
        const state: RunState = next.phase === "done" ? "done" : "running";
        const tally = JSON.stringify(next.tally);
        // A transaction that runs again, because its commit was not confirmed, finds its own progress and writes the same rows.
        // A run that was cancelled since then has that progress too, and stays cancelled.
        const moved = await tx.all(
          `UPDATE reconciliations SET state = $5, phase = $6, cursor = $7, tally = $8, updated_at = $9
           WHERE site_id = $1 AND id = $2
             AND ((state = 'running' AND phase = $3 AND cursor = $4) OR (state = $5 AND phase = $6 AND cursor = $7 AND tally = $8))
           RETURNING id`,
          [siteId, id, phase, cursor, state, next.phase, next.cursor, tally, next.at],
        );
        if (moved.length === 0) return false;
        await tx.change(
          writeResults,
          next.rows.map((row) => resultRow.values(row)),
        );
        return true;
      };
      // A power cut undoes the progress with the rows, and the step is made again. Others act on the end of a run.
      return db.write(work, { isRepeatable: next.phase !== "done" });
    },

    /** False when the run had ended. */
    async cancel({ siteId, id }: Key, at: number): Promise<boolean> {
      const rows = await db.run(
        `UPDATE reconciliations SET state = 'cancelled', updated_at = $3
         WHERE site_id = $1 AND id = $2 AND (state = 'running' OR (state = 'cancelled' AND updated_at = $3)) RETURNING id`,
        [siteId, id, at],
      );
      return rows.length > 0;
    },

    /** Finds rows by their ids. */
    async findRows({ siteId, id }: Key, ids: readonly string[]): Promise<Map<string, RunRow>> {
      const sql = `SELECT ${resultRow.list} FROM reconciliation_rows
        WHERE site_id = $1 AND run_id = $2 AND id IN ({KEYS})`;
      const rows = await allByKeys(db, sql, [siteId, id], ids);
      return new Map(rows.map((row) => [String(row.id), resultRow.read(row)]));
    },

    /** Returns those of the events that an order of the run has already. */
    async listTaken({ siteId, id }: Key, eventIds: readonly string[]): Promise<Set<string>> {
      const keys = eventIds.map((eventId) => [eventId]);
      const rows = await allForEach(db, rowOfEvent, [siteId, id], keys);
      return new Set(rows.map((row) => String(row.event_id)));
    },

    /** Lists rows by id, of one class or of all. */
    async listRows({ siteId, id }: Key, rowClass: RowClass | null, after: string, limit: number): Promise<RunRow[]> {
      // In the order of its index: PostgreSQL would otherwise look for a rare class in the order of ids, through all rows.
      const [where, order] = rowClass === null ? ["id > $3", "id"] : ["(class, id) > ($5, $3) AND class <= $5", "class, id"];
      const params: Value[] = [siteId, id, after, limit, ...(rowClass === null ? [] : [rowClass])];
      const rows = await db.all(
        `SELECT ${resultRow.list} FROM reconciliation_rows
         WHERE site_id = $1 AND run_id = $2 AND ${where} ORDER BY ${order} LIMIT $4`,
        params,
      );
      return rows.map(resultRow.read);
    },

    /**
     * Removes rows of a run that ended before `before`, or of the oldest where there are more than `max` runs, and the run
     * with its last rows.
     */
    async purge(siteId: string, before: number, max: number, limit: number): Promise<PurgeStep> {
      const ended = await db.all(
        `SELECT id, updated_at FROM reconciliations WHERE site_id = $1 AND state <> 'running' ORDER BY id DESC`,
        [siteId],
      );
      const old = ended.findLast((row, i) => i >= max || Number(row.updated_at) < before);
      if (!old) return { removed: 0, next: null };
      return db.write(async (tx) => {
        const rows = await tx.all(
          `DELETE FROM reconciliation_rows WHERE site_id = $1 AND run_id = $2 AND id IN (
             SELECT id FROM reconciliation_rows WHERE site_id = $1 AND run_id = $2 ORDER BY id LIMIT $3) RETURNING id`,
          [siteId, String(old.id), limit],
        );
        if (rows.length === limit) return { removed: limit, next: "" };
        await tx.all(`DELETE FROM reconciliations WHERE site_id = $1 AND id = $2`, [siteId, String(old.id)]);
        return { removed: rows.length + 1, next: "" };
      });
    },
  };
}

const maxListed = 100;
