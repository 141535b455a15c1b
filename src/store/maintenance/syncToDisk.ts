import { closeSync, fsyncSync, openSync } from "node:fs";

/** Waits until a file, or the entries of a folder, would survive a power failure. */
export function syncToDisk(path: string): void {
  const opened = openSync(path, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
