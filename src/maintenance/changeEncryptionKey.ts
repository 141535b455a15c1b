// Changing the encryption key of a running installation, and going on without one that was lost.

import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../kernel/refusal.ts";
import type { Keys } from "../store/engine/seal.ts";
import type { Store } from "../store/store.ts";
import { newKey, readKeyFile, settledMs, writeKeyFile } from "./encryptionKeyFile.ts";

const pauseMs = 20;
const maxPasses = 20;

/** Puts a new key in front of the present one. A change that was cut off is gone on with. Resolves when all know it. */
export async function beginChange(file: string): Promise<void> {
  const keys = readKeyFile(file);
  const [old] = keys ?? [];
  if (keys?.length === 1 && old) writeKeyFile(file, [newKey(), old]);
  await sleep(settledMs);
}

/** Takes the old key out of the file, and keeps it in another: backups that were taken until now open with it alone. */
export function endChange(file: string, now: number): string {
  const [current, old] = readKeyFile(file) ?? [];
  if (!current || !old) throw new Error(`${file} does not hold two keys`);
  const kept = `${file}.until-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}`;
  writeKeyFile(kept, [old]);
  writeKeyFile(file, [current]);
  return kept;
}

/** Seals everything with the first key; returns how many values that were. */
export async function sealAnew({ seals }: Pick<Store, "seals">, keys: Keys): Promise<number> {
  if (keys().length < 2) return 0;
  let resealed = 0;
  for (let passes = 0; passes < maxPasses; passes += 1) {
    const done = await seals.reseal(() => sleep(pauseMs));
    resealed += done.resealed;
    const [first] = done.unreadable;
    if (first !== undefined)
      throw new Refusal(
        "key",
        `${done.unreadable.length} sealed values open with neither key (the first: ${first}). The rest is done and ` +
          "both keys stay; 'cleancast check' names them all.",
      );
    // Nothing was found that the old key sealed: this pass was the proof.
    if (done.resealed === 0) return resealed;
  }
  throw new Refusal(
    "key",
    "Values are still being sealed with the old key: a node does not know the new one. Give it both keys, and run this again.",
  );
}
