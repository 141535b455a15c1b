// A new key file is durable before anything is sealed with its key.

import fs, { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { createKeyFile, readKeyFile } from "./encryptionKeys.ts";

type Synced = { path: string; isNamed: boolean };

/** What `work` syncs, in order, and whether the key file had its name by then. */
function syncsOf(file: string, work: () => void): Synced[] {
  const synced: Synced[] = [];
  const paths = new Map<number, string>();
  const { openSync, fsyncSync } = fs;
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    return fd;
  };
  fs.fsyncSync = (fd) => {
    synced.push({ path: paths.get(fd) ?? "", isNamed: existsSync(file) });
    fsyncSync(fd);
  };
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    Object.assign(fs, { openSync, fsyncSync });
    syncBuiltinESMExports();
  }
  return synced;
}

test("a new key is synced before its file has its name, and the name and new folders are synced as well", () => {
  const root = freshFolder();
  const file = join(root, "new", "data", "key");
  const synced = syncsOf(file, () => createKeyFile(file));
  const folders = [join(root, "new"), root];
  expect(synced.slice(0, 2).map(({ path }) => path)).toEqual(folders);
  const [, , key, name] = synced;
  expect([dirname(key?.path ?? ""), key?.isNamed]).toEqual([dirname(file), false]);
  expect(name).toEqual({ path: dirname(file), isNamed: true });
  expect(readKeyFile(file)).toHaveLength(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(file))).toEqual([basename(file)]);
});

test("an existing key file stays as it is", () => {
  const file = join(freshFolder(), "key");
  writeFileSync(file, `${"ab".repeat(32)}\n`);
  createKeyFile(file);
  expect(readFileSync(file, "utf8")).toBe(`${"ab".repeat(32)}\n`);
  expect(readdirSync(dirname(file))).toEqual(["key"]);
});
