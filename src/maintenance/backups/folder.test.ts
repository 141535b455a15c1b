import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../../../test/support/databases.ts";
import { dayMs } from "../../kernel/time.ts";
import { deleteOldBackups, deleteParts, guardSpace, listBackups, nextFile } from "./folder.ts";

const start = Date.parse("2026-11-16T03:00:00Z");

/** Creates a folder with one backup a day, the oldest first, and files that are none. */
function folderOf(days: number): string {
  const folder = freshFolder();
  for (let day = 0; day < days; day += 1) writeFileSync(nextFile(folder, start + day * dayMs, "/data").file, "x".repeat(day + 1));
  for (const name of ["notes.txt", "cleancast.backup", "cleancast-20261116T030000Z.backup.old"])
    writeFileSync(join(folder, name), "");
  return folder;
}

const names = (files: readonly string[]) => files.map((file) => basename(file));

test("backups are listed newest first, without other files of the folder", () => {
  const listed = listBackups(folderOf(3));
  expect(names(listed.map(({ file }) => file))).toEqual([
    "cleancast-20261118T030000Z.backup",
    "cleancast-20261117T030000Z.backup",
    "cleancast-20261116T030000Z.backup",
  ]);
  expect(listed[0]).toMatchObject({ madeAt: start + 2 * dayMs, bytes: 3 });
});

test("a retention keeps the newest backups by number and by age, and never deletes other files", () => {
  const folder = folderOf(5);
  const now = start + 4 * dayMs;
  expect(names(deleteOldBackups(folder, { count: 4, maxAgeMs: null }, now))).toEqual(["cleancast-20261116T030000Z.backup"]);
  expect(names(deleteOldBackups(folder, { count: 10, maxAgeMs: 2 * dayMs }, now))).toEqual(["cleancast-20261117T030000Z.backup"]);
  expect(listBackups(folder)).toHaveLength(3);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(["notes.txt", "cleancast.backup"]));
});

test("the newest backup is kept whatever its age", () => {
  const folder = folderOf(2);
  deleteOldBackups(folder, { count: 1, maxAgeMs: dayMs }, start + 100 * dayMs);
  expect(listBackups(folder).map(({ madeAt }) => madeAt)).toEqual([start + dayMs]);
});

test("a second backup within a second gets a name of its own", () => {
  const folder = folderOf(1);
  const { file, part } = nextFile(folder, start + 300, "/data");
  expect(basename(file)).toBe("cleancast-20261116T030001Z.backup");
  expect(part.startsWith(file)).toBe(true);
});

test("parts of killed backups are deleted: own ones at once, those of other machines after a day", () => {
  const folder = folderOf(0);
  const own = nextFile(folder, start, "/data").part;
  const other = nextFile(folder, start, "/elsewhere").part;
  const old = nextFile(folder, start - dayMs, "/elsewhere").part;
  for (const part of [own, other, old]) writeFileSync(part, "half");
  utimesSync(old, new Date(), new Date(Date.now() - 2 * dayMs));
  deleteParts(folder, "/data", Date.now());
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([basename(other)]);
});

test("a backup does not begin where its disk would be filled, and ends when the reserve is reached", () => {
  const folder = folderOf(1);
  expect(() => guardSpace(folder, () => 100e6)).toThrow(/Too little space is left .*CLEANCAST_BACKUP_KEEP/);
  let free = 1e9;
  const check = guardSpace(folder, () => free);
  check(100e6);
  free = 200e6;
  check(101e6);
  expect(() => check(120e6)).toThrow("Too little space");
});
