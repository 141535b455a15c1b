import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { lockFolder } from "./lock.ts";

test("a data folder is locked once, until the lock is released", () => {
  const folder = freshFolder();
  const unlock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow("another Cleancast is running on");
  unlock();
  lockFolder(folder)();
});

test("a folder that is not writable is not reported as in use", () => {
  const folder = freshFolder();
  mkdirSync(join(folder, "serve.lock"));
  expect(() => lockFolder(folder)).toThrow(
    /which is not writable \(unable to open database file\)\. Run this as the user that the data belongs to/,
  );
});
