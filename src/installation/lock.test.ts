import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { lockFolder } from "./lock.ts";

test("a folder has one lock, until it is given back", () => {
  const folder = freshFolder();
  const unlock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow("another Cleancast is running on");
  unlock();
  lockFolder(folder)();
});

test("a folder in which nothing can be written does not pass for one in use", () => {
  const folder = freshFolder();
  mkdirSync(join(folder, "serve.lock"));
  expect(() => lockFolder(folder)).toThrow(/where nothing can be written \(unable to open database file\)/);
});
