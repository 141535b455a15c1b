// What the installation itself keeps sealed: a word that tells a wrong key at the start, and the secret of the sign-in.

import type { Database } from "../engine/database.ts";
import { sealWith, secretFor, tryOpen, type Keys, type Seal } from "../engine/seal.ts";
import { sealedNames } from "./sealedColumns.ts";

export class WrongEncryptionKey extends Error {
  constructor() {
    super(
      "CLEANCAST_ENCRYPTION_KEY (or encryption.key in the data folder) is not the key that this database was " +
        "sealed with. Use the same key on every node.",
    );
  }
}

async function sealedSetting(db: Database, seal: Seal, name: string, first: string): Promise<string> {
  await db.write((tx) =>
    tx.all(`INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, [
      name,
      seal.close(first, name),
    ]),
  );
  const [row] = await db.all(`SELECT value FROM settings WHERE name = $1`, [name]);
  const plain = tryOpen(seal, String(row?.value), name);
  if (plain === null) throw new WrongEncryptionKey();
  return plain;
}

/** A wrong key must show at the start, not when the first credential cannot be opened. */
export async function checkSeal(db: Database, seal: Seal): Promise<void> {
  await sealedSetting(db, seal, sealedNames.check, "cleancast");
}

/**
 * What signs cookies and seals the secrets of authenticator apps. It was made of the encryption key once, and rests
 * sealed since then: so that people stay signed in, and their apps work, when the key is changed.
 */
export const accessSecret = (db: Database, keys: Keys) =>
  sealedSetting(db, sealWith(keys), sealedNames.access, secretFor("cleancast access", keys()[0] as Buffer));
