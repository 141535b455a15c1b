// Changes the encryption key while nodes run that know both keys. Each value is replaced only if it is still the one that was
// read, so a concurrent writer wins, and no node has to stop. The values themselves show what is done: a run that was killed
// is simply run again.

import { readPages } from "../copy/rows.ts";
import { readObject } from "../damagedRows.ts";
import type { Database, Query, Row } from "../engine/database.ts";
import { sealWith, tryUnseal, type Keys, type Seal } from "../engine/seal.ts";
import { sealedColumns, sealedIn, type SealedColumn } from "./sealedColumns.ts";

type Resealed = {
  /** The number of values that got the new key. */
  resealed: number;
  /** The places of values that no key decrypts. */
  unreadable: string[];
};

/** Pages are small: in the embedded store a running relay waits for as long as one takes. */
const pageSize = 100;

export function resealStore(db: Database, keys: Keys) {
  const seal = sealWith(keys);
  const current = sealWith(() => keys().slice(0, 1));

  /** Makes one pass over all sealed values. Passes are repeated until one finds nothing to change. */
  async function reseal(pause: () => Promise<unknown>): Promise<Resealed> {
    const done: Resealed = { resealed: 0, unreadable: [] };
    await resealSites(done);
    for (const sealed of sealedColumns) {
      for await (const rows of sealedRows(db, sealed)) {
        const changes = rows.flatMap((row) => resealRow(row, sealed, done));
        if (changes.length === 0) continue;
        await db.write(async (tx) => {
          for (const [row, value] of changes) done.resealed += await replace(tx, sealed, row, value);
        });
        await pause();
      }
    }
    return done;
  }

  function resealRow(row: Row, sealed: SealedColumn, done: Resealed): [Row, string][] {
    const place = sealed.place(row);
    const value = resealValue(String(row[sealed.column]), place, done);
    return value === null ? [] : [[row, value]];
  }

  /** Returns null for a value that has the new key, or that no key decrypts. */
  function resealValue(text: string, place: string, done: Resealed): string | null {
    if (tryUnseal(current, text, place) !== null) return null;
    const plain = tryUnseal(seal, text, place);
    if (plain !== null) return seal.seal(plain, place);
    done.unreadable.push(place);
    return null;
  }

  async function resealSites(done: Resealed): Promise<void> {
    for (const row of await db.all(`SELECT site_id, settings FROM sites`)) {
      const text = String(row.settings);
      const settings = readObject(text) ?? {};
      let changed = 0;
      for (const { name, sealed, place } of sealedIn(String(row.site_id), text)) {
        const value = resealValue(sealed, place, done);
        if (value === null) continue;
        settings[name] = value;
        changed += 1;
      }
      if (changed === 0) continue;
      const sql = `UPDATE sites SET settings = $3 WHERE site_id = $1 AND settings = $2 RETURNING site_id`;
      const rows = await db.run(sql, [row.site_id as string, text, JSON.stringify(settings)]);
      done.resealed += rows.length * changed;
    }
  }

  return { reseal };
}

/** Yields the rows that have a sealed value, a page at a time, in the order of their key. */
export const sealedRows = (db: Query, { table, key, column, where }: SealedColumn): AsyncGenerator<Row[]> =>
  readPages({ db, seal: null }, { name: table, columns: [...key, column], key, siteId: null, where }, pageSize);

async function replace(tx: Query, sealed: SealedColumn, row: Row, value: string): Promise<number> {
  const { table, key, column } = sealed;
  const same = key.map((name, i) => `${name} = $${i + 3}`).join(" AND ");
  const rows = await tx.all(`UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2 AND ${same} RETURNING ${key[0]}`, [
    value,
    String(row[column]),
    ...key.map((name) => String(row[name])),
  ]);
  return rows.length;
}

/** True if the sealed value of a row can be decrypted. */
export const canOpen = (seal: Seal, sealed: SealedColumn, row: Row) =>
  tryUnseal(seal, String(row[sealed.column]), sealed.place(row)) !== null;
