// The output of a command may be closed before the command ends, as by `head`. Each test is a process of its own.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { command, eventually, newInstallation, post } from "../support/relay.ts";
import { freshEvent } from "../contract/answers.ts";

const run = promisify(execFile);

/** Starts a relay, reads its first output, and closes it. */
async function startAndClose(env: Record<string, string> = {}) {
  const home = await newInstallation("sqlite", env);
  const { child, printed, ended } = home.launch("serve");
  await eventually("the relay runs", () => /X-CC-Api-Key: \w+/.test(printed.out));
  const url = (/is running on (\S+)/.exec(printed.out)?.[1] ?? "").replace("localhost", "127.0.0.1");
  const key = /X-CC-Api-Key: (\w+)/.exec(printed.out)?.[1] ?? "";
  child.stdout.destroy();
  return { home, child, printed, ended, url, key };
}

test("a relay whose output is closed ends quietly with its next log line, and loses no event", async () => {
  const { home, printed, ended, url, key } = await startAndClose();
  const answer = await post(url, key, freshEvent()).catch(() => null);
  expect([await ended, printed.err]).toEqual([0, ""]);
  // The relay may end before the request: only an accepted event counts.
  const { items: events } = await home.run("event", "list");
  expect(events).toHaveLength(answer?.status === 200 ? 1 : 0);
});

test("a relay whose output is closed ends quietly after SIGTERM", async () => {
  const { child, printed, ended } = await startAndClose({ LOG_LEVEL: "silent" });
  child.kill("SIGTERM");
  expect([await ended, printed.err]).toEqual([0, ""]);
});

test("a command whose output is closed ends quietly", async () => {
  const home = await newInstallation("sqlite");
  await home.run("site", "add", "shop.example.com");
  const script = `{ "${process.execPath}" "${command}" site set --help; echo "$?" >&2; } | true`;
  const { stderr } = await run("sh", ["-c", script], { env: home.env });
  expect(stderr).toBe("0\n");
});
