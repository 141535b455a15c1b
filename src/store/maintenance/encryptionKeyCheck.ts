// The sealed settings of the installation: a known text that reveals a wrong encryption key at the start, and the secret of
// the sign-in.

import type { Database } from "../engine/database.ts";
import { sealWith, secretFor, tryOpen, type Keys, type Seal } from "../engine/seal.ts";
import { readSetting } from "../settings.ts";
import { sealedNames } from "./sealedColumns.ts";

export class WrongEncryptionKey extends Error {
  constructor() {
    super(
      "CLEANCAST_ENCRYPTION_KEY (or encryption.key in the data folder) is not the key that this database was " +
        "sealed with. Use the same key on every node.",
    );
  }
}

/** Reads a sealed setting, and writes it where there is none yet. */
async function readSealedSetting(db: Database, seal: Seal, name: string, first: string): Promise<string> {
  await db.write((tx) =>
    tx.all(`INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, [
      name,
      seal.close(first, name),
    ]),
  );
  const plain = tryOpen(seal, String(await readSetting(db, name)), name);
  if (plain === null) throw new WrongEncryptionKey();
  return plain;
}

/** Throws for a wrong key at the start, and not when the first credential cannot be decrypted. */
export async function verifyEncryptionKey(db: Database, seal: Seal): Promise<void> {
  await readSealedSetting(db, seal, sealedNames.check, "cleancast");
}

/**
 * Reads the secret that signs cookies and seals the secrets of authenticator apps. It was derived from the encryption key
 * once and is stored sealed since then, so that users stay signed in, and their apps work, when the key is changed.
 */
export const readAccessSecret = (db: Database, keys: Keys) =>
  readSealedSetting(
    db,
    sealWith(keys),
    sealedNames.access,
    secretFor("cleancast access", keys()[0] as Buffer),
  );
