// Reads the encryption key from the environment, or from a file that is created for a new database and read again when it
// changes.
//
// The file has one line. While the key is being changed it has two, and the first one seals. A running relay reads the file again
// every second, so a change reaches it without a restart.

import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../kernel/errorCode.ts";
import { makeFolder, syncToDisk } from "../store/maintenance/syncToDisk.ts";
import type { Keys } from "../store/engine/seal.ts";

/**
 * `given` maps names of variables to values: first the key that seals, then the other key, which is set only while the key
 * is being changed. `mayCreate` says whether a missing file is created: an existing database needs the key that it was sealed with.
 */
export function readKeys(
  given: Readonly<Record<string, string | undefined>>,
  { file, mayCreate }: { file: string; mayCreate: () => boolean },
  faults: string[],
  faultOf: (text: string) => Error,
): Keys {
  const [[name, text] = [], [otherName, otherText] = []] = Object.entries(given);
  if (text === undefined) {
    if (otherText !== undefined) faults.push(`${otherName} goes with ${name}; leave it out where the key is in a file.`);
    let followed: Keys | null = null;
    return () => (followed ??= follow(file, mayCreate(), faultOf))();
  }
  const keys: Buffer[] = [];
  for (const [variable, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const key = decodeKey(value);
    if (key) keys.push(key);
    else faults.push(`${variable} must be 32 bytes as 64 hex characters or as base64; make one with: openssl rand -hex 32`);
  }
  return () => keys;
}

/** The message for a missing key file. */
export const missingKey = (file: string) =>
  `${file} is not there, and the database was sealed with the key that it held. Put it back from its copy, or set ` +
  "CLEANCAST_ENCRYPTION_KEY; if the key is gone for good: 'cleancast encryption-key lost'.";

/** A new database gets its key file before its database file exists, so the caller evaluates `mayCreate` first. */
function follow(file: string, mayCreate: boolean, faultOf: (text: string) => Error): Keys {
  if (mayCreate) createKeyFile(file);
  else if (!existsSync(file)) throw faultOf(missingKey(file));
  const keys = readKeyFile(file);
  if (!keys) throw faultOf(`${file} does not hold a key of 64 hex characters; restore it from a backup.`);
  return followKeyFile(file, keys, () => performance.now());
}

/** After this time every process has read a change of the file, with some margin. */
export const settledMs = 2500;
const checkMs = 1000;

/** Returns null for a text that is not a key of 32 bytes. */
export function decodeKey(text: string): Buffer | null {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  return bytes.length === 32 ? bytes : null;
}

export const newKey = () => randomBytes(32);

/**
 * Creates the file where there is none, readable only by its owner. An existing file stays. The key is on the disk before
 * the file has its name, and the name before anything is sealed: a power cut never leaves half a key, or sealed values
 * without theirs.
 */
export function createKeyFile(path: string): void {
  makeFolder(dirname(path));
  const part = `${path}.${randomBytes(6).toString("hex")}.part`;
  try {
    writeFileSync(part, `${newKey().toString("hex")}\n`, { flag: "wx", mode: 0o600, flush: true });
    nameOnce(part, path);
  } finally {
    rmSync(part, { force: true });
  }
  syncToDisk(dirname(path));
}

/** Another process may create the file at the same moment: then that one stays. */
function nameOnce(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    // Some file systems have no hard links.
    if (!existsSync(path)) renameSync(part, path);
  }
}

/** Returns null for a file that does not hold keys. */
export function readKeyFile(path: string): readonly Buffer[] | null {
  const lines = readFileSync(path, "utf8").trim().split(/\s+/);
  const keys = lines.map(decodeKey);
  return keys.length <= 2 && keys.every((key) => key !== null) ? keys : null;
}

/** Replaces the file atomically, so that no process reads half a key. */
export function writeKeyFile(path: string, keys: readonly Buffer[]): void {
  const text = keys.map((key) => `${key.toString("hex")}\n`).join("");
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  syncToDisk(dirname(path));
}

/** Returns the keys of a file and follows its changes. A running process keeps its keys when the file cannot be read. */
export function followKeyFile(path: string, first: readonly Buffer[], elapsed: () => number): Keys {
  let keys = first;
  let seen = readStamp(path);
  let checkedAt = elapsed();
  return () => {
    if (elapsed() - checkedAt < checkMs) return keys;
    checkedAt = elapsed();
    const stamp = readStamp(path);
    if (stamp === null || stamp === seen) return keys;
    try {
      keys = readKeyFile(path) ?? keys;
      seen = stamp;
    } catch {
      // The file is being replaced; the next check finds it.
    }
    return keys;
  };
}

/** Identifies the state of the file; null where it cannot be read. */
function readStamp(path: string): string | null {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return null;
  }
}
