// Changes the encryption key of a running installation.

import { setTimeout as sleep } from "node:timers/promises";
import { Conflict } from "../kernel/refusal.ts";
import type { Keys } from "../store/engine/seal.ts";
import type { Store } from "../store/store.ts";
import { newKey, readKeyFile, settledMs, writeKeyFile } from "./encryptionKeys.ts";

const pauseMs = 20;
const maxPasses = 20;

/** Puts a new key before the present one, or continues a change that was interrupted. Resolves when all nodes know both. */
export async function beginKeyChange(file: string): Promise<void> {
  const keys = readKeyFile(file);
  const [old] = keys ?? [];
  if (keys?.length === 1 && old) writeKeyFile(file, [newKey(), old]);
  await sleep(settledMs);
}

/** Moves the old key to another file, whose name it returns: backups that were taken until now need it. */
export function endKeyChange(file: string, now: number): string {
  const [current, old] = readKeyFile(file) ?? [];
  if (!current || !old) throw new Error(`${file} does not hold two keys`);
  const kept = `${file}.until-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}`;
  writeKeyFile(kept, [old]);
  writeKeyFile(file, [current]);
  return kept;
}

/** Seals all values with the first key; returns how many were changed. */
export async function resealAll({ seals }: Pick<Store, "seals">, keys: Keys): Promise<number> {
  if (keys().length < 2) return 0;
  let resealed = 0;
  for (let passes = 0; passes < maxPasses; passes += 1) {
    const done = await seals.reseal(() => sleep(pauseMs));
    resealed += done.resealed;
    const [first] = done.unreadable;
    if (first !== undefined)
      throw new Conflict(
        "key",
        `${done.unreadable.length} sealed values cannot be decrypted with either key (the first: ${first}). All others ` +
          "are done and both keys stay; 'cleancast check' lists the values.",
      );
    // This pass found no value with the old key, which proves that none is left.
    if (done.resealed === 0) return resealed;
  }
  throw new Conflict(
    "key",
    "A node that does not have the new key still seals values with the old one. Give it both keys, and run this again.",
  );
}
