// Going on after the encryption key was lost. What it sealed is gone for good; what is left is put into a state in which
// people see what they must enter again. Values that open are left alone, so a run that was killed is simply run again.

import { randomBytes } from "node:crypto";
import type { Database, Query, Row } from "../engine/database.ts";
import { opens, sealedRows } from "./reseal.ts";
import { raiseRevision } from "../sites/revision.ts";
import { sealWith, tryOpen, type Keys, type Seal } from "../engine/seal.ts";
import { sealedColumns, sealedIn, sealedNames, type SealedColumn } from "./sealedColumns.ts";
import { openSnapshot } from "./snapshot.ts";
import type { StoreLocation } from "../store.ts";

/** How many values of each kind are gone, by table. */
export type Gone = Record<string, number>;

const why = "the encryption key was lost";

/** The word that every start opens. */
async function wordIn(db: Query): Promise<Row | undefined> {
  const [row] = await db.all(`SELECT value FROM settings WHERE name = $1`, [sealedNames.check]);
  return row;
}

/** Whether there is a database that was sealed with some key. */
export async function isSealed(location: StoreLocation): Promise<boolean> {
  const snapshot = await openSnapshot(location);
  if (!snapshot) return false;
  try {
    return snapshot.version > 0 && (await wordIn(snapshot)) !== undefined;
  } finally {
    await snapshot.close();
  }
}

/** Whether none of the keys opens the word that every start looks at. */
export async function isLost(db: Query, keys: Keys): Promise<boolean> {
  const row = await wordIn(db);
  return row !== undefined && tryOpen(sealWith(keys), String(row.value), sealedNames.check) === null;
}

export async function goOnWithout(db: Database, keys: Keys, now: number): Promise<Gone> {
  const seal = sealWith(keys);
  const gone: Gone = {};
  const count = (table: string) => (gone[table] = (gone[table] ?? 0) + 1);
  for (const row of await db.all(`SELECT site_id, settings FROM sites`)) {
    const shut = sealedIn(String(row.site_id), String(row.settings)).filter(
      ({ sealed, place }) => tryOpen(seal, sealed, place) === null,
    );
    if (shut.length === 0) continue;
    const names = shut.map(({ name }) => name);
    await leaveOut(db, row, names);
    count("sites");
  }
  // The settings of the installation come last: with them the start works again, and all else must be done by then.
  for (const sealed of sealedColumns) {
    for await (const rows of sealedRows(db, sealed)) {
      const shut = rows.filter((row) => !opens(seal, sealed, row));
      if (shut.length === 0) continue;
      await db.write(async (tx) => {
        for (const row of shut) await forget(tx, seal, sealed, row, now);
      });
      for (const _ of shut) count(sealed.table);
    }
  }
  return gone;
}

async function leaveOut(db: Database, row: Row, names: readonly string[]): Promise<void> {
  const settings = JSON.parse(String(row.settings)) as Record<string, unknown>;
  for (const name of names) delete settings[name];
  const siteId = String(row.site_id);
  await db.write((tx) =>
    raiseRevision(tx, siteId, () =>
      tx.all(`UPDATE sites SET settings = $2 WHERE site_id = $1`, [siteId, JSON.stringify(settings)]),
    ),
  );
}

async function forget(tx: Query, seal: Seal, sealed: SealedColumn, row: Row, now: number): Promise<void> {
  const { table, key, column } = sealed;
  const ids = key.map((name) => String(row[name]));
  const its = key.map((name, i) => `${name} = $${i + 1}`).join(" AND ");
  const [siteId = ""] = ids;
  switch (table) {
    case "connections":
      await raiseRevision(tx, siteId, () =>
        tx.all(
          `UPDATE connections SET credentials = $3, state = 'needs reconnection', state_reason = $4, updated_at = $5
           WHERE ${its}`,
          [...ids, seal.close("{}", sealed.place(row)), why, now],
        ),
      );
      return;
    case "webhooks": {
      const secret = { current: randomBytes(24).toString("base64"), previous: null };
      const plain = column === "url" ? "https://lost.invalid/" : JSON.stringify(secret);
      await tx.all(
        `UPDATE webhooks SET ${column} = $3, state = 'disabled', state_reason = $4, updated_at = $5 WHERE ${its}`,
        [...ids, seal.close(plain, sealed.place(row)), `${why}: remove this webhook and add it again`, now],
      );
      return;
    }
    case "events":
      await tx.all(`UPDATE events SET extra = NULL WHERE ${its}`, ids);
      return;
    case "settings":
      await renew(tx, seal, String(row.name));
      return;
    default:
      await tx.all(`DELETE FROM ${table} WHERE ${its}`, ids);
  }
}

/** With the secret of the sign-in, sessions end, and what authenticator apps prove can no longer be checked. */
async function renew(tx: Query, seal: Seal, name: string): Promise<void> {
  const plain = name === sealedNames.check ? "cleancast" : randomBytes(32).toString("hex");
  await tx.all(`UPDATE settings SET value = $2 WHERE name = $1`, [name, seal.close(plain, name)]);
  if (name !== sealedNames.access) return;
  for (const table of ["sessions", "verifications", "two_factors"]) await tx.all(`DELETE FROM ${table}`);
  await tx.all(`UPDATE users SET two_factor = 0`);
}
