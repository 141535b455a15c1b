// Where the encryption key comes from: the environment, or a file that is made for a new database and followed from then on.

import { existsSync } from "node:fs";
import type { Keys } from "../store/engine/seal.ts";
import { decodeKey, keysIn, makeKeyFile, readKeyFile } from "./encryptionKeyFile.ts";

/**
 * `given`: the key that seals and, while it is changed, the other one; each under the name of its variable. `mayMake`:
 * whether a file that is not there is made. Beside a database only the key will do that it was sealed with.
 */
export function readKeys(
  given: Readonly<Record<string, string | undefined>>,
  { file, mayMake }: { file: string; mayMake: () => boolean },
  faults: string[],
  faultOf: (text: string) => Error,
): Keys {
  const [[name, text] = [], [otherName, otherText] = []] = Object.entries(given);
  if (text === undefined) {
    if (otherText !== undefined)
      faults.push(`${otherName} goes with ${name}; leave it out where the key is in a file.`);
    let followed: Keys | null = null;
    return () => (followed ??= follow(file, mayMake(), faultOf))();
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

/** Told of a key that somebody must find again. */
export const missingKey = (file: string) =>
  `${file} is not there, and the database was sealed with the key that it held. Put it back from its copy, or set ` +
  "CLEANCAST_ENCRYPTION_KEY; if the key is gone for good: 'cleancast encryption-key lost'.";

/** `mayMake` was asked before this looks at the file: whoever makes a database makes its key first. */
function follow(file: string, mayMake: boolean, faultOf: (text: string) => Error): Keys {
  if (mayMake) makeKeyFile(file);
  else if (!existsSync(file)) throw faultOf(missingKey(file));
  const keys = readKeyFile(file);
  if (!keys) throw faultOf(`${file} does not hold a key of 64 hex characters; restore it from a backup.`);
  return keysIn(file, keys, () => performance.now());
}
