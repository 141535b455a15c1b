import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Waits until a file, or the entries of a folder, would survive a power failure. */
export function syncToDisk(path: string): void {
  const opened = openSync(path, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Creates a folder that only its owner can read, and those above it that are missing, so that they survive a power failure. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = resolve(path); made.startsWith(resolve(first)); made = dirname(made)) syncToDisk(dirname(made));
}
