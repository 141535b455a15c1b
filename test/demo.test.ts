// The demo is the first thing that people see.

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freshFolder } from "./support/databases.ts";

const run = promisify(execFile);

test("the demo writes its history, starts, accepts events of every site, and leaves no files behind", async () => {
  const folder = freshFolder();
  const { stdout, stderr } = await run(
    process.execPath,
    [join(import.meta.dirname, "../scripts/demo/main.ts"), "--once", "--days", "1", "--port", "0"],
    { env: { ...process.env, TMPDIR: folder } },
  );
  expect(stderr).toBe("");
  expect(stdout).toMatch(/is running with \d{3} events of 1 days/);
  expect(stdout).toMatch(/Dashboard {3}http:\/\/localhost:\d+\/dashboard\//);
  expect(stdout).toMatch(/Password {4}[0-9A-Za-z]{16}/);
  expect(readdirSync(folder)).toEqual([]);
}, 60_000);
