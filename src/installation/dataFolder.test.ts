import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { folderFault, hasDatabaseFile } from "./dataFolder.ts";

test("a database file that cannot be looked at is a fault of the folder, and not a missing installation", () => {
  const folder = freshFolder();
  const file = join(folder, "cleancast.db");
  expect(hasDatabaseFile(folder, file)).toBe(false);
  symlinkSync(file, file);
  expect(() => hasDatabaseFile(folder, file)).toThrow(
    `CLEANCAST_DATA is ${folder}, which cannot be read (ELOOP: too many symbolic links encountered, stat '${file}'). ` +
      "Set CLEANCAST_DATA to another folder.",
  );
});

test("who may not read or write the data is told whose user to be", () => {
  for (const code of ["EACCES", "EPERM", "EROFS"]) {
    const error = Object.assign(new Error("permission denied"), { code });
    expect(folderFault("/data", "which cannot be read", error).faults).toEqual([
      "CLEANCAST_DATA is /data, which cannot be read (permission denied). Run this as the user that the data belongs to " +
        "(sudo -u USER …), let this user write there, or set CLEANCAST_DATA to another folder.",
    ]);
  }
});

test("a full disk is told from a folder without permission", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("PRAGMA max_page_count = 1");
  let full: unknown;
  try {
    database.exec("CREATE TABLE one (a); CREATE TABLE two (a)");
  } catch (error) {
    full = error;
  }
  database.close();
  for (const error of [full, Object.assign(new Error("no space left on device"), { code: "ENOSPC" })])
    expect(folderFault("/data", "whose database cannot be used", error).message).toMatch(
      /\((?:database or disk is full|no space left on device)\)\. Free some space there, or set CLEANCAST_DATA/,
    );
});
