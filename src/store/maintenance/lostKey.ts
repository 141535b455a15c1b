// Discards what a lost encryption key sealed, which nothing can decrypt any more, and leaves rows in a state that shows people
// what they must enter again. Values that can be decrypted stay, so a run that was killed is simply run again.

import { randomBytes } from "node:crypto";
import { readObject } from "../damagedRows.ts";
import type { Database, Query, Row } from "../engine/database.ts";
import { canOpen, sealedRows } from "./reseal.ts";
import { raiseRevision } from "../sites/revision.ts";
import { sealWith, tryUnseal, type Keys, type Seal } from "../engine/seal.ts";
import { sealedColumns, sealedIn, sealedNames, type SealedColumn } from "./sealedColumns.ts";
import { readSetting } from "../settings.ts";
import { createSnapshot } from "./snapshot.ts";
import type { StoreLocation } from "../connect.ts";

/** The number of values that were discarded, by table. */
type DiscardedCounts = Record<string, number>;

const reason = "the encryption key was lost";

/** True if there is a database that holds sealed values. */
export async function hasSealedValues(location: StoreLocation): Promise<boolean> {
  const snapshot = await createSnapshot(location);
  if (!snapshot) return false;
  try {
    return snapshot.version > 0 && (await readSetting(snapshot, sealedNames.check)) !== null;
  } finally {
    await snapshot.close();
  }
}

/** True if none of the keys decrypts the known text, which every start decrypts. */
export async function isKeyLost(db: Query, keys: Keys): Promise<boolean> {
  const sealed = await readSetting(db, sealedNames.check);
  return sealed !== null && tryUnseal(sealWith(keys), sealed, sealedNames.check) === null;
}

export async function discardSealedValues(db: Database, keys: Keys, now: number): Promise<DiscardedCounts> {
  const seal = sealWith(keys);
  const discarded: DiscardedCounts = {};
  const count = (table: string) => (discarded[table] = (discarded[table] ?? 0) + 1);
  for (const row of await db.all(`SELECT site_id, settings FROM sites`)) {
    const unreadable = sealedIn(String(row.site_id), String(row.settings)).filter(
      ({ sealed, place }) => tryUnseal(seal, sealed, place) === null,
    );
    if (unreadable.length === 0) continue;
    const names = unreadable.map(({ name }) => name);
    await removeSettings(db, row, names);
    count("sites");
  }
  // The settings of the installation come last: with them a start works again, and all else must be done by then.
  for (const sealed of sealedColumns) {
    for await (const rows of sealedRows(db, sealed)) {
      const unreadable = rows.filter((row) => !canOpen(seal, sealed, row));
      if (unreadable.length === 0) continue;
      await db.write(async (tx) => {
        for (const row of unreadable) await discard(tx, seal, { sealed, row, now });
      });
      for (const _ of unreadable) count(sealed.table);
    }
  }
  return discarded;
}

async function removeSettings(db: Database, row: Row, names: readonly string[]): Promise<void> {
  const settings = readObject(String(row.settings)) ?? {};
  for (const name of names) delete settings[name];
  const siteId = String(row.site_id);
  await db.write((tx) =>
    raiseRevision(tx, siteId, () =>
      tx.all(`UPDATE sites SET settings = $2 WHERE site_id = $1`, [siteId, JSON.stringify(settings)]),
    ),
  );
}

type LostValue = { sealed: SealedColumn; row: Row; now: number };

async function discard(tx: Query, seal: Seal, { sealed, row, now }: LostValue): Promise<void> {
  const { table, key, column } = sealed;
  const ids = key.map((name) => String(row[name]));
  const hasKey = key.map((name, i) => `${name} = $${i + 1}`).join(" AND ");
  const [siteId = ""] = ids;
  switch (table) {
    case "connections":
      await raiseRevision(tx, siteId, () =>
        tx.all(
          `UPDATE connections SET credentials = $3, state = 'needs reconnection', state_reason = $4, updated_at = $5
           WHERE ${hasKey}`,
          [...ids, seal.seal("{}", sealed.place(row)), reason, now],
        ),
      );
      return;
    case "sources":
      // Its address is lost with the key: a person has to give the sender a new one.
      await raiseRevision(tx, siteId, () =>
        tx.all(`UPDATE sources SET tokens = '[]', credentials = $3, state = 'paused', updated_at = $4 WHERE ${hasKey}`, [
          ...ids,
          seal.seal('{"tokens":[],"secrets":{}}', sealed.place(row)),
          now,
        ]),
      );
      return;
    case "webhooks": {
      const secret = { current: randomBytes(24).toString("base64"), previous: null };
      const plain = column === "url" ? "https://lost.invalid/" : JSON.stringify(secret);
      await tx.all(
        `UPDATE webhooks SET ${column} = $3, state = 'disabled', state_reason = $4, disabled_by = NULL, updated_at = $5
         WHERE ${hasKey}`,
        [...ids, seal.seal(plain, sealed.place(row)), `${reason}: remove this webhook and add it again`, now],
      );
      return;
    }
    case "events":
      await tx.all(`UPDATE events SET extra = NULL WHERE ${hasKey}`, ids);
      return;
    case "settings":
      await renew(tx, seal, String(row.name));
      return;
    default:
      await tx.all(`DELETE FROM ${table} WHERE ${hasKey}`, ids);
  }
}

/** Without the secret of the sign-in, sessions end, and codes of authenticator apps can no longer be verified. */
async function renew(tx: Query, seal: Seal, name: string): Promise<void> {
  // The next device makes a new one. The rows of the devices were deleted before: their addresses were lost too.
  if (name === sealedNames.push) return void (await tx.all(`DELETE FROM settings WHERE name = $1`, [name]));
  const plain = name === sealedNames.check ? "cleancast" : randomBytes(32).toString("hex");
  await tx.all(`UPDATE settings SET value = $2 WHERE name = $1`, [name, seal.seal(plain, name)]);
  if (name !== sealedNames.access) return;
  for (const table of ["sessions", "verifications", "two_factors"]) await tx.all(`DELETE FROM ${table}`);
  await tx.all(`UPDATE users SET two_factor = 0`);
}
