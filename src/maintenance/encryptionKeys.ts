// Reads the encryption key from the environment, or from a file that is created for a new database and followed from then on.

import { existsSync } from "node:fs";
import type { Keys } from "../store/engine/seal.ts";
import { createKeyFile, decodeKey, followKeyFile, readKeyFile } from "./encryptionKeyFile.ts";

/**
 * `given` has the key that seals and, while it is changed, the other one; each under the name of its variable. `mayCreate`
 * says whether a missing file is created: an existing database needs the key that it was sealed with.
 */
export function readKeys(
  given: Readonly<Record<string, string | undefined>>,
  { file, mayCreate }: { file: string; mayCreate: () => boolean },
  faults: string[],
  faultOf: (text: string) => Error,
): Keys {
  const [[name, text] = [], [otherName, otherText] = []] = Object.entries(given);
  if (text === undefined) {
    if (otherText !== undefined)
      faults.push(`${otherName} goes with ${name}; leave it out where the key is in a file.`);
    let followed: Keys | null = null;
    return () => (followed ??= follow(file, mayCreate(), faultOf))();
  }
  const keys: Buffer[] = [];
  for (const [variable, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const key = decodeKey(value);
    if (key) keys.push(key);
    else
      faults.push(
        `${variable} must be 32 bytes as 64 hex characters or as base64; make one with: openssl rand -hex 32`,
      );
  }
  return () => keys;
}

/** The message for a missing key file. */
export const missingKey = (file: string) =>
  `${file} is not there, and the database was sealed with the key that it held. Put it back from its copy, or set ` +
  "CLEANCAST_ENCRYPTION_KEY; if the key is gone for good: 'cleancast encryption-key lost'.";

/** `mayCreate` was evaluated before this reads the file: a new database gets its key first. */
function follow(file: string, mayCreate: boolean, faultOf: (text: string) => Error): Keys {
  if (mayCreate) createKeyFile(file);
  else if (!existsSync(file)) throw faultOf(missingKey(file));
  const keys = readKeyFile(file);
  if (!keys) throw faultOf(`${file} does not hold a key of 64 hex characters; restore it from a backup.`);
  return followKeyFile(file, keys, () => performance.now());
}
