// Scheduled exports of data, at most one for each site. `next_hour` moves when the files of an hour and their manifest are there,
// so a process that dies in between leaves an hour to be written again. It moves back where rows came into hours that were written
// before, because a clock was set back.

import { readList, unsealObject } from "../damagedRows.ts";
import { asNumber, asNumberOrNull, asObject, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { hasRows, insertRow, orReplace, type Database, type Query } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";
import { writeAudited, type AuditLine } from "../sites/audit.ts";
import { hourMs } from "../../kernel/time.ts";

/** The sealed part of an export: where its files go. A folder is the operator's, CLEANCAST_EXPORT_FOLDER. */
export type ExportTarget =
  | { kind: "folder" }
  | { kind: "bucket"; endpoint: string; region: string; bucket: string; prefix: string; keyId: string; secret: string };

export type ExportOptions = { format: "parquet" | "ndjson"; people: boolean };

/** An hour that was written. `hour` is its beginning. */
export type ExportRun = { hour: number; at: number; ms: number; files: number; rows: number; bytes: number };

export type DataExport = {
  siteId: string;
  /** null where the row is damaged: then nothing is written. */
  target: ExportTarget | null;
  options: ExportOptions;
  /** Beginnings of hours: the first one, the first with changes of earlier ones, and the next one. */
  fromHour: number;
  liveHour: number;
  nextHour: number;
  /** The files of the next hour may be there in part. */
  isBegun: boolean;
  /** Hours before this one are written again. */
  redoUntil: number;
  dueAt: number;
  /** The newest first. */
  runs: ExportRun[];
  /** What was wrong with the last try. */
  error: string | null;
  /** The first failure since the last hour that was written; null after a success. */
  failingSince: number | null;
  createdAt: number;
};

export const exportPlace = (siteId: string) => `data export ${siteId}`;

const maxRuns = 48;
/** A later due time was written by a clock that ran ahead. */
const maxDelayMs = 2 * hourMs;

export function dataExportStore(db: Database, seal: Seal, newId: () => string) {
  const exportRow = describeRow<DataExport, DataExport>({
    siteId: asText,
    target: {
      column: "target",
      read: (text, { site_id }) => unsealObject(seal, String(text), exportPlace(String(site_id))) as ExportTarget | null,
    },
    options: { column: "options", read: (text) => ({ format: "parquet", people: false, ...asObject.read(text) }) },
    fromHour: asNumber,
    liveHour: asNumber,
    nextHour: asNumber,
    isBegun: { column: "begun", read: (value) => value === 1 },
    redoUntil: asNumber,
    dueAt: asNumber,
    runs: { column: "runs", read: (text) => readList(String(text)) as ExportRun[] },
    error: asTextOrNull,
    failingSince: asNumberOrNull,
    createdAt: asNumber,
  });
  const all = `SELECT ${exportRow.list} FROM data_exports`;

  return {
    async find(siteId: string): Promise<DataExport | null> {
      const [row] = await db.all(`${all} WHERE site_id = $1`, [siteId]);
      return row ? exportRow.read(row) : null;
    },

    /** Sets the export of a site, in place of the one that it has; it is due at once. */
    async set(
      line: AuditLine,
      wanted: Pick<DataExport, "options" | "fromHour" | "liveHour" | "nextHour"> & { target: ExportTarget },
    ): Promise<void> {
      const { target, options, fromHour, liveHour, nextHour } = wanted;
      const sealed = seal.seal(JSON.stringify(target), exportPlace(line.siteId));
      const hours = { from_hour: fromHour, live_hour: liveHour, next_hour: nextHour };
      const set = { target: sealed, options: JSON.stringify(options), ...hours, begun: 1, due_at: 0 };
      const row = { site_id: line.siteId, ...set, redo_until: 0, runs: "[]", created_at: line.at };
      const replaced = orReplace("site_id", ...Object.keys(set));
      await writeAudited(db, newId, line, (tx) => insertRow(tx, "data_exports", row, replaced));
    },

    /** Returns false where there was none. */
    async remove(line: AuditLine): Promise<boolean> {
      const sql = `DELETE FROM data_exports WHERE site_id = $1 RETURNING site_id`;
      return writeAudited(db, newId, line, (tx) => hasRows(tx.all(sql, [line.siteId])));
    },

    /** Makes the export due now. */
    async makeDue(siteId: string): Promise<void> {
      await db.run(`UPDATE data_exports SET due_at = 0 WHERE site_id = $1`, [siteId]);
    },

    /** Lists those that are due, and those that are ahead of the clock. */
    async listDue(now: number): Promise<DataExport[]> {
      const sql = `${all} WHERE due_at <= $1 OR due_at > $2 OR next_hour > $1 ORDER BY due_at, site_id`;
      const rows = await db.all(sql, [now, now + maxDelayMs]);
      return rows.map(exportRow.read);
    },

    /** Notes that the first file of the next hour is about to be written. False when the export was changed. */
    async begin({ siteId, nextHour }: DataExport): Promise<boolean> {
      const rows = await db.run(`UPDATE data_exports SET begun = 1 WHERE site_id = $1 AND next_hour = $2 RETURNING site_id`, [
        siteId,
        nextHour,
      ]);
      return rows.length > 0;
    },

    reopen: (siteId: string, hour: number) => db.write((tx) => reopenExport(tx, siteId, hour)),

    /**
     * Moves on to the next hour. `run` is null for an hour that was written before. False when the export was changed, or its hour
     * was opened again.
     */
    async advance({ siteId, nextHour, runs }: DataExport, run: ExportRun | null, dueAt: number): Promise<boolean> {
      const kept = run ? [run, ...runs].slice(0, maxRuns) : runs;
      const rows = await db.run(
        `UPDATE data_exports SET next_hour = $3, begun = 0, runs = $4, due_at = $5, error = NULL, failing_since = NULL
         WHERE site_id = $1 AND next_hour = $2 AND begun = 1 RETURNING site_id`,
        [siteId, nextHour, nextHour + hourMs, JSON.stringify(kept), dueAt],
      );
      return rows.length > 0;
    },

    /** Lets an export without a complete hour wait. */
    async wait({ siteId, nextHour }: DataExport, dueAt: number): Promise<void> {
      await db.run(`UPDATE data_exports SET due_at = $3 WHERE site_id = $1 AND next_hour = $2`, [siteId, nextHour, dueAt]);
    },

    async fail({ siteId, nextHour }: DataExport, error: string, dueAt: number, at: number): Promise<void> {
      await db.run(
        `UPDATE data_exports SET error = $3, due_at = $4, failing_since = COALESCE(failing_since, $5)
         WHERE site_id = $1 AND next_hour = $2`,
        [siteId, nextHour, error, dueAt, at],
      );
    },
  };
}

/** Lets the hours from this one on be written again. One that is being written counts: its reader may have passed the new rows. */
export async function reopenExport(tx: Query, siteId: string, hour: number): Promise<void> {
  const earlier = (column: string) => `CASE WHEN ${column} < $2 THEN ${column} ELSE $2 END`;
  await tx.all(
    `UPDATE data_exports SET next_hour = ${earlier("next_hour")}, from_hour = ${earlier("from_hour")}, begun = 0, due_at = 0,
       redo_until = CASE WHEN redo_until > next_hour THEN redo_until ELSE next_hour + ${hourMs} END
     WHERE site_id = $1 AND next_hour >= $2`,
    [siteId, hour],
  );
}
