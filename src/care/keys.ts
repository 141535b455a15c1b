// Where the encryption key comes from: the environment, or a file that is made on first use and followed from then on.

import type { Keys } from "../store/seal.ts";
import { decodeKey, keysIn, makeKeyFile, readKeyFile } from "./keyFile.ts";

/** `given`: the key that seals and, while it is changed, the other one; each under the name of its variable. */
export function readKeys(
  given: Readonly<Record<string, string | undefined>>,
  file: string,
  faults: string[],
  faultOf: (text: string) => Error,
): Keys {
  const [[name, text] = [], [otherName, otherText] = []] = Object.entries(given);
  if (text === undefined) {
    if (otherText !== undefined)
      faults.push(`${otherName} goes with ${name}; leave it out where the key is in a file.`);
    let followed: Keys | null = null;
    return () => (followed ??= follow(file, faultOf))();
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

function follow(file: string, faultOf: (text: string) => Error): Keys {
  makeKeyFile(file);
  const keys = readKeyFile(file);
  if (!keys) throw faultOf(`${file} does not hold a key of 64 hex characters; restore it from a backup.`);
  return keysIn(file, keys, () => performance.now());
}
