// Purges visits and click ids that are older than the site's retention.

import type { Identity, Visit, Visitor } from "../../kernel/event.ts";
import { tryRead } from "../damagedRows.ts";
import { allByKeys, rowStatement, type Database, type Query, type Value } from "../engine/database.ts";
import type { PurgeStep } from "../maintenance/purge.ts";
import { oldestIn, packRecord, unpackRecord } from "./personCodec.ts";

export function peoplePurgeStore(db: Database) {
  return {
    /**
     * Removes visits and click ids from before `before` of up to `max` people after `after`. Reads along the primary key,
     * because an index by age would take a quarter of a record's size. Attribution ignores expired ids anyway.
     */
    async purgePeople(siteId: string, before: number, after: string, max: number): Promise<PurgeStep> {
      const rows = await db.all(
        `SELECT email_sha256, oldest_at FROM identities WHERE site_id = $1 AND email_sha256 > $2
         ORDER BY email_sha256 LIMIT $3`,
        [siteId, after, max],
      );
      const old = rows.filter((row) => Number(row.oldest_at) < before).map((row) => String(row.email_sha256));
      if (old.length > 0) await purgeRecords(db, siteId, "identities", old, before);
      return { removed: old.length, next: rows.length < max ? null : String(rows.at(-1)?.email_sha256) };
    },

    /** The same for up to `max` visitors, oldest first. Returns how many were changed. */
    async purgeVisitors(siteId: string, before: number, max: number): Promise<number> {
      const rows = await db.all(
        `SELECT visitor_id FROM visitors WHERE site_id = $1 AND oldest_at < $2 ORDER BY oldest_at LIMIT $3`,
        [siteId, before, max],
      );
      const old = rows.map((row) => String(row.visitor_id));
      if (old.length > 0) await purgeRecords(db, siteId, "visitors", old, before);
      return old.length;
    },
  };
}

export const peopleKeys = { identities: "email_sha256", visitors: "visitor_id" } as const;
export type PeopleTable = keyof typeof peopleKeys;

const saveRecordsOf = (table: PeopleTable) =>
  rowStatement({
    text: `WITH v AS MATERIALIZED (VALUES {ROWS})
     UPDATE ${table} SET record = v.column2, oldest_at = v.column3 FROM v
     WHERE ${table}.site_id = $1 AND ${table}.${peopleKeys[table]} IN ({FIRSTS}) AND ${table}.${peopleKeys[table]} = v.column1`,
    forOne: `UPDATE ${table} SET record = $3, oldest_at = $4 WHERE site_id = $1 AND ${peopleKeys[table]} = $2`,
    columns: 3,
    first: 1,
    types: ["text", "text", "bigint"],
  });
const saveRecords = { identities: saveRecordsOf("identities"), visitors: saveRecordsOf("visitors") };

export async function saveRecord(
  tx: Query,
  siteId: string,
  table: PeopleTable,
  id: string,
  record: Identity | Visitor,
  at: number,
): Promise<void> {
  await tx.all(saveRecords[table].forOne, [siteId, id, packRecord(record, id), oldestIn(record.visits, at)]);
}

export async function removeRecord(tx: Query, siteId: string, table: PeopleTable, id: string): Promise<void> {
  await tx.all(`DELETE FROM ${table} WHERE site_id = $1 AND ${peopleKeys[table]} = $2`, [siteId, id]);
}

/** Deletes records that have no visit left. */
function purgeRecords(db: Database, siteId: string, table: PeopleTable, ids: readonly string[], before: number): Promise<void> {
  const key = peopleKeys[table];
  // Sorted, so that two transactions that lock many of the same records do not deadlock.
  const sql = `SELECT ${key} AS id, record FROM ${table} WHERE site_id = $1 AND ${key} IN ({KEYS}) ORDER BY ${key} ${db.forUpdate}`;
  const sorted = ids.toSorted();
  return db.write(
    async (tx) => {
      const empty: string[] = [];
      const kept: Value[][] = [];
      for (const row of await allByKeys(tx, sql, [siteId], sorted)) {
        const id = String(row.id);
        const record = tryRead(() => unpackRecord(String(row.record), id));
        const visits = record?.visits.filter((visit) => visit.seenAt >= before).map((visit) => withoutOldClickIds(visit, before));
        // A damaged record is of no use, and may hold what is too old. Kept, it would stop the purge of all others.
        if (!record || !visits?.length) empty.push(id);
        else kept.push([id, packRecord({ ...record, visits }, id), oldestIn(visits, before)]);
      }
      await allByKeys(tx, `DELETE FROM ${table} WHERE site_id = $1 AND ${key} IN ({KEYS})`, [siteId], empty);
      await tx.change(saveRecords[table], kept, [siteId]);
    },
    { isBackground: true },
  );
}

/** Drops expired click ids, which can be older than their visit: a click id keeps the time when it was first seen. */
function withoutOldClickIds(visit: Visit, before: number): Visit {
  const clickIds = Object.fromEntries(Object.entries(visit.clickIds).filter(([, id]) => id.seenAt >= before));
  return { ...visit, clickIds };
}
