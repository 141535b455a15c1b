// The sealed settings of the installation: a known text that reveals a wrong encryption key at the start, the secret of the
// sign-in, and the key of push messages.

import type { Database, Query, Row } from "../engine/database.ts";
import { sealWith, secretFor, tryUnseal, type Keys, type Seal } from "../engine/seal.ts";
import { readSetting } from "../settings.ts";
import { canOpen, sealedRows } from "./reseal.ts";
import { sealedColumns, sealedNames } from "./sealedColumns.ts";

export class WrongEncryptionKey extends Error {
  constructor() {
    super(
      "CLEANCAST_ENCRYPTION_KEY (or encryption.key in the data folder) is not the key that this database was " +
        "sealed with. Use the same key on every node.",
    );
  }
}

type OnRepaired = (name: string) => void;

/** `first` is the value where there is none yet. */
type SealedSetting = { name: string; first: () => string; onRepaired: OnRepaired };

/**
 * Reads a sealed setting, and writes it only where there is none yet: a write needs every machine of a sharded database, and
 * one of them may be down. One that is damaged, while the key is right, is written again: a damaged row is not a wrong key.
 */
async function readSealedSetting(db: Database, seal: Seal, { name, first, onRepaired }: SealedSetting): Promise<string> {
  const stored = (await readSetting(db, name)) ?? (await insertSetting(db, name, seal.seal(first(), name)));
  const plain = tryUnseal(seal, stored, name);
  if (plain !== null) return plain;
  if (!(await isRightKey(db, seal))) throw new WrongEncryptionKey();
  await db.run(`UPDATE settings SET value = $2 WHERE name = $1 AND value = $3`, [name, seal.seal(first(), name), stored]);
  onRepaired(name);
  // Another node may have been first.
  const repaired = tryUnseal(seal, String(await readSetting(db, name)), name);
  if (repaired === null) throw new WrongEncryptionKey();
  return repaired;
}

/** Returns the value that is stored afterwards: another node may have been first. */
async function insertSetting(db: Database, name: string, value: string): Promise<string> {
  await db.run(`INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, [name, value]);
  return String(await readSetting(db, name));
}

/**
 * True for the right key, also where values are damaged. A change of the key reseals the two known values last: if one of them can
 * be decrypted, no value of another key is left. If neither can, a wrong key and a change that was interrupted look the same as
 * damage, unless all other values (the first ones of each kind) can be decrypted.
 */
async function isRightKey(db: Query, seal: Seal): Promise<boolean> {
  for (const name of Object.values(sealedNames)) {
    const stored = await readSetting(db, name);
    if (stored !== null && tryUnseal(seal, stored, name) !== null) return true;
  }
  let opened = 0;
  for (const column of sealedColumns.filter(({ table }) => table !== "settings")) {
    const rows: Row[] = (await sealedRows(db, column).next()).value ?? [];
    if (!rows.every((row) => canOpen(seal, column, row))) return false;
    opened += rows.length;
  }
  return opened > 0;
}

/** Throws for a wrong key at the start, and not when the first credential cannot be decrypted. */
export async function verifyEncryptionKey(db: Database, seal: Seal, onRepaired: OnRepaired = () => {}): Promise<void> {
  await readSealedSetting(db, seal, { name: sealedNames.check, first: () => "cleancast", onRepaired });
}

/** Throws where the key of a running process was replaced by a wrong one, so that no row is taken for damaged. */
export async function refuseWrongKey(db: Query, seal: Seal): Promise<void> {
  if (!(await isRightKey(db, seal))) throw new WrongEncryptionKey();
}

/**
 * Reads the secret that signs cookies and seals the secrets of authenticator apps. It was derived from the encryption key
 * once and is stored sealed since then, so that users stay signed in, and their apps work, when the key is changed. A damaged
 * one is derived again, which gives the same secret unless the key was changed since.
 */
export const readAccessSecret = (db: Database, keys: Keys, onRepaired: OnRepaired = () => {}) =>
  readSealedSetting(db, sealWith(keys), {
    name: sealedNames.access,
    first: () => secretFor("cleancast access", keys()[0] as Buffer),
    onRepaired,
  });

/** Reads the key that signs messages to devices; `first` makes it when it is first needed. */
export const readPushKey = (db: Database, keys: Keys, first: () => string, onRepaired: OnRepaired) =>
  readSealedSetting(db, sealWith(keys), { name: sealedNames.push, first, onRepaired });
