// The folder of the scheduled backups: the names of its files, the space that is left, and which files are deleted. Only files
// with these names are ever deleted.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { Denied } from "../../kernel/refusal.ts";
import { dayMs } from "../../kernel/time.ts";

export type StoredBackup = { file: string; madeAt: number; bytes: number };

export type Retention = {
  /** How many backups are kept. */
  count: number;
  /** Older ones are deleted, but never the newest; null keeps them whatever their age. */
  maxAgeMs: number | null;
};

const nameForm = /^cleancast-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;
const partForm = /^cleancast-\d{8}T\d{6}Z\.backup\.([0-9a-f]{12})\.part$/;

const nameAt = (ms: number) => `cleancast-${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "")}.backup`;

/**
 * Names the next file, and the file that it is written to: by the second, or by the next one without a backup. `place` is the
 * data folder of this installation.
 */
export function nextFile(folder: string, now: number, place: string): { file: string; part: string } {
  let at = now;
  while (existsSync(join(folder, nameAt(at)))) at += 1000;
  const file = join(folder, nameAt(at));
  return { file, part: `${file}.${writerOf(place)}.part` };
}

/** Several machines may share a folder; a machine runs one backup of a data folder at a time. */
const writerOf = (place: string) => createHash("sha256").update(`${hostname()}\0${place}`).digest("hex").slice(0, 12);

/** Lists the complete backups, newest first. */
export function listBackups(folder: string): StoredBackup[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, year, month, day, hour, minute, second] = nameForm.exec(name) ?? [];
      if (year === undefined) return [];
      const stats = statSync(join(folder, name), { throwIfNoEntry: false });
      const madeAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
      return stats?.isFile() ? [{ file: join(folder, name), madeAt, bytes: stats.size }] : [];
    })
    .toSorted((a, b) => b.madeAt - a.madeAt);
}

/** Deletes the backups that the retention does not keep, and returns their names. */
export function deleteOldBackups(folder: string, { count, maxAgeMs }: Retention, now: number): string[] {
  const backups = listBackups(folder);
  const old = backups.filter(({ madeAt }, i) => i > 0 && (i >= count || (maxAgeMs !== null && madeAt < now - maxAgeMs)));
  for (const { file } of old) rmSync(file, { force: true });
  return old.map(({ file }) => file);
}

/** A machine that writes to the folder may be slow, but not for so long. */
const abandonedMs = dayMs;

/** Deletes what earlier backups of this machine left when they were killed. The caller holds the lock of the data folder. */
export function deleteParts(folder: string, place: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const writer = partForm.exec(name)?.[1];
    if (writer === undefined) continue;
    const path = join(folder, name);
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (writer === writerOf(place) || at < now - abandonedMs) rmSync(path, { force: true });
  }
}

/** A backup leaves this much free: the database may be on the same disk. */
const minFreeBytes = 256e6;
/** The free space is measured again after so many bytes. */
const measuredEveryBytes = 16e6;

/** Refuses to begin where the next backup, if it is as large as the last, would fill the disk. Returns a check for the writing. */
export function guardSpace(folder: string, freeBytes = freeBytesOf): (written: number) => void {
  const [newest] = listBackups(folder);
  const refuse = (needed: number) => {
    if (freeBytes(folder) >= needed) return;
    throw new Denied(
      "unavailable",
      `Too little space is left in ${folder}: a backup needs ${Math.ceil(needed / 1e6)} MB, with the reserve that stays free. ` +
        "Free space, or keep fewer backups (CLEANCAST_BACKUP_KEEP).",
      undefined,
      "file",
    );
  };
  refuse(minFreeBytes + (newest?.bytes ?? 0) * 1.1);
  let next = measuredEveryBytes;
  return (written) => {
    if (written < next) return;
    next = written + measuredEveryBytes;
    refuse(minFreeBytes);
  };
}

function freeBytesOf(folder: string): number {
  const { bsize, bavail } = statfsSync(folder);
  return bsize * bavail;
}
