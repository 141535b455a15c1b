import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../../../test/support/databases.ts";
import { eventually } from "../../../test/support/relay.ts";
import { runHook } from "./hook.ts";

const backup = { file: "/backups/a $(touch b).backup", madeAt: 0, bytes: 12 };

function script(text: string): string {
  const path = join(freshFolder(), "hook");
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o700);
  return path;
}

const run = (text: string, timeoutMs = 60_000, environment = { PATH: process.env.PATH }) =>
  runHook({ program: script(text), timeoutMs, environment }, backup, true);

test("a hook gets the file as its argument and the rest as variables, and no shell reads the name", async () => {
  const text = 'echo "$1|$BACKUP_FILE|$BACKUP_BYTES|$BACKUP_MADE_AT|$BACKUP_ENCRYPTED|$#"';
  expect(await run(text)).toEqual({
    ok: true,
    output: `${backup.file}|${backup.file}|12|1970-01-01T00:00:00.000Z|true|1`,
  });
});

test("a hook that fails is reported with the end of its output", async () => {
  expect(await run("echo no bucket >&2; exit 3")).toMatchObject({
    ok: false,
    reason: expect.stringContaining("exit code 3"),
    output: "no bucket",
  });
  const long = await run("seq 1 20000; exit 1");
  expect(long.output.length).toBeLessThanOrEqual(4000);
  expect(long.output).toMatch(/20000$/);
});

test("a hook that does not end is killed with the programs that it started", async () => {
  const pidFile = join(freshFolder(), "pid");
  const result = await run(`sleep 600 & echo $! > ${pidFile}; wait`, 300);
  expect(result).toMatchObject({
    ok: false,
    reason: expect.stringContaining("did not end within 0.3 seconds"),
  });
  const pid = readFileSync(pidFile, "utf8").trim();
  // A process that has ended may stay as a zombie until its parent reads its state.
  await eventually("the program ends", () => {
    if (!existsSync(`/proc/${pid}`)) return true;
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  });
});

test("a hook that cannot be started is reported", async () => {
  const missing = { program: "/nowhere/hook", timeoutMs: 1000, environment: {} };
  expect(await runHook(missing, backup, false)).toMatchObject({
    ok: false,
    reason: expect.stringContaining("/nowhere/hook could not be started"),
  });
});
