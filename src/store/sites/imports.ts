// Imports of files: the progress of each and the process that holds its lease. Ids of imported rows are made from the
// import and the line, so a line that is imported again changes nothing, and progress may lag behind.

import { writeAudit, type AuditLine } from "./audit.ts";
import { readObject } from "../damagedRows.ts";
import { asNumber, asObject, asOneOf, asText, describeRow } from "../describeRow.ts";
import { insertRow, orReplace, type Database } from "../engine/database.ts";
import type { Claimant } from "../events/claims.ts";
import { markHours } from "../statistics/statistics.ts";

export const importKinds = ["conversions", "identities", "orders"] as const;
export type ImportKind = (typeof importKinds)[number];
type ImportState = "running" | "stopped" | "done";

export type ImportRow = {
  siteId: string;
  id: string;
  kind: ImportKind;
  /** Its name, without the folder. */
  file: string;
  options: Record<string, unknown>;
  state: ImportState;
  line: number;
  tally: Record<string, unknown>;
  owner: string;
  leaseUntil: number;
  startedAt: number;
  updatedAt: number;
  /** False where the row is damaged: the import is listed, and cannot be continued. */
  isReadable: boolean;
};

export type NewImport = Pick<ImportRow, "siteId" | "id" | "kind" | "file" | "options" | "tally">;
export type ImportLease = { owner: string; now: number; until: number };
type Key = Pick<ImportRow, "siteId" | "id">;
type Progress = Pick<ImportRow, "line" | "tally">;

const began = { state: "running", line: 0, isReadable: true } as const;

export function importStore(db: Database, newId: () => string) {
  const find = async ({ siteId, id }: Key): Promise<ImportRow | null> => {
    const [row] = await db.all(`SELECT ${importRow.list} FROM imports WHERE site_id = $1 AND id = $2`, [siteId, id]);
    return row ? importRow.read(row) : null;
  };

  return {
    find,

    /**
     * Creates the import and its audit line, or takes over one whose lease has ended; `seen` is its row as it was read, or
     * null. Returns null when another process was first.
     */
    async claim(
      wanted: NewImport,
      seen: ImportRow | null,
      { owner, now, until }: ImportLease,
      line: AuditLine,
    ): Promise<ImportRow | null> {
      const { siteId, id } = wanted;
      const auditId = newId();
      const rows = await db.write(async (tx) => {
        if (seen) {
          // A transaction that runs again may find itself as the owner.
          return tx.all(
            `UPDATE imports SET owner = $3, lease_until = $4, state = 'running', updated_at = $5
             WHERE site_id = $1 AND id = $2 AND state <> 'done' AND (owner = $3 OR (owner = $6 AND lease_until = $7))
             RETURNING ${importRow.list}`,
            [siteId, id, owner, until, now, seen.owner, seen.leaseUntil],
          );
        }
        const begun = importRow.toRow({ ...wanted, ...began, owner, leaseUntil: until, startedAt: now, updatedAt: now });
        const replaced = `${orReplace("site_id, id", "owner")} WHERE imports.owner = excluded.owner RETURNING ${importRow.list}`;
        const inserted = await insertRow(tx, "imports", begun, replaced);
        if (inserted.length) await writeAudit(tx, auditId, line);
        return inserted;
      });
      return rows[0] ? importRow.read(rows[0]) : null;
    },

    /** Writes the progress. False when another process holds the lease. */
    async save({ siteId, id }: Key, { line, tally }: Progress, { owner, now, until }: ImportLease): Promise<boolean> {
      const rows = await db.run(
        `UPDATE imports SET line = $3, tally = $4, lease_until = $5, updated_at = $6
         WHERE site_id = $1 AND id = $2 AND owner = $7 RETURNING id`,
        [siteId, id, line, JSON.stringify(tally), until, now, owner],
      );
      return rows.length > 0;
    },

    /** Writes the last progress and ends the lease. `audit` is the line of a finished import. */
    async end(
      { siteId, id }: Key,
      state: "stopped" | "done",
      { line, tally }: Progress,
      { owner, now }: Pick<ImportLease, "owner" | "now">,
      audit: AuditLine | null,
    ): Promise<void> {
      const auditId = newId();
      await db.write(async (tx) => {
        const rows = await tx.all(
          `UPDATE imports SET state = $3, line = $4, tally = $5, owner = '', lease_until = 0, updated_at = $6
           WHERE site_id = $1 AND id = $2 AND owner = $7 RETURNING id`,
          [siteId, id, state, line, JSON.stringify(tally), now, owner],
        );
        if (rows.length && audit) await writeAudit(tx, auditId, audit);
      });
    },

    async list(siteId: string): Promise<ImportRow[]> {
      const rows = await db.all(`SELECT ${importRow.list} FROM imports WHERE site_id = $1 ORDER BY started_at DESC`, [siteId]);
      return rows.map(importRow.read);
    },

    /** Called before events of past hours are written, so that their statistics are computed again. */
    markHours: (siteId: string, eventIds: readonly string[], now: number) =>
      db.write((tx) => markHours(tx, siteId, eventIds, now)),

    /** Finds the event of which this one would be a duplicate at this time. */
    async findOriginal({ event, claim, orderEventId, personRef }: Claimant, now: number): Promise<string | null> {
      const [row] = await db.all(
        `SELECT event_id FROM dedup_claims
         WHERE site_id = $1 AND claim IN ($2, $3) AND person_ref = $4 AND expires_at > $5`,
        [event.siteId, claim, orderEventId ?? claim, personRef, now],
      );
      return row ? String(row.event_id) : null;
    },

    /** Counts the queued deliveries of a connection, up to `max`. */
    async countQueued(siteId: string, connectionId: string, max: number): Promise<number> {
      const [row] = await db.all(
        `SELECT COUNT(*) AS n FROM (
           SELECT 1 AS one FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' LIMIT $3) AS queued`,
        [siteId, connectionId, max],
      );
      return Number(row?.n);
    },
  };
}

export const importRow = describeRow<ImportRow, ImportRow>({
  siteId: asText,
  id: asText,
  kind: asOneOf<ImportKind>(),
  file: asText,
  options: asObject,
  state: asOneOf<ImportState>(),
  line: asNumber,
  tally: asObject,
  owner: asText,
  leaseUntil: asNumber,
  startedAt: asNumber,
  updatedAt: asNumber,
  isReadable: {
    column: "options",
    read: (_options, row) => [row.options, row.tally].every((text) => readObject(String(text)) !== null),
  },
});
