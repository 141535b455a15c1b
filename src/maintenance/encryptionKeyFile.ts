// The encryption key in its file: one line. While the key is changed there are two, and the first is the one that seals. A
// running relay looks at the file again every second, so a change reaches it without a restart.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Keys } from "../store/engine/seal.ts";

/** How long after a change of the file every process on it seals with the new key, with some to spare. */
export const settledMs = 2500;
const lookMs = 1000;

export function decodeKey(text: string): Buffer | null {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  return bytes.length === 32 ? bytes : null;
}

export const newKey = () => randomBytes(32);

/** Makes the file where there is none: readable by its owner alone, and never over one that is there. */
export function makeKeyFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${newKey().toString("hex")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** Null for a file that does not hold keys. */
export function readKeyFile(path: string): readonly Buffer[] | null {
  const lines = readFileSync(path, "utf8").trim().split(/\s+/);
  const keys = lines.map(decodeKey);
  return keys.length <= 2 && keys.every((key) => key !== null) ? keys : null;
}

/** In one go: nobody ever reads half a key. */
export function writeKeyFile(path: string, keys: readonly Buffer[]): void {
  const text = keys.map((key) => `${key.toString("hex")}\n`).join("");
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
}

/** The keys of a file, followed. One that cannot be read any more changes nothing for a process that runs. */
export function keysIn(path: string, first: readonly Buffer[], elapsed: () => number): Keys {
  let keys = first;
  let seen = markOf(path);
  let lookedAt = elapsed();
  return () => {
    if (elapsed() - lookedAt < lookMs) return keys;
    lookedAt = elapsed();
    const mark = markOf(path);
    if (mark === null || mark === seen) return keys;
    try {
      keys = readKeyFile(path) ?? keys;
      seen = mark;
    } catch {
      // It is being replaced; the next look finds it.
    }
    return keys;
  };
}

function markOf(path: string): string | null {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return null;
  }
}
