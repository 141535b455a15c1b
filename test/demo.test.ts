// The demo is the first thing that people see.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { writeHistory } from "../scripts/demo/history.ts";
import { ulid } from "../src/kernel/ids.ts";
import { createStore } from "../src/store/store.ts";
import { standins } from "../standins/index.ts";
import { commandIn } from "./support/commands.ts";
import { freshFolder } from "./support/databases.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "../scripts/demo/main.ts");

test("the demo writes its history, starts, accepts events of every site, and leaves no files behind", async () => {
  const folder = freshFolder();
  const { stdout, stderr } = await run(
    process.execPath,
    [program, "--once", "--days", "1"],
    // PORT=0 chooses a free port.
    { env: { ...process.env, TMPDIR: folder, PORT: "0" } },
  );
  expect(stderr).toBe("");
  for (const step of ["Writing 1 days of history … 0 %", "Computing statistics …", "Starting the relay …"])
    expect(stdout).toContain(step);
  expect(stdout).toMatch(/Look at first:\n {2}Overview .*\n {2}Sources .*\n {2}Funnel /);
  expect(stdout).toMatch(/is running with \d{3} events of 1 days/);
  expect(stdout).toContain(`A relay with ${standins.length} platforms, each connected to its stand-in, and 5 sources`);
  expect(stdout).toMatch(/Dashboard {3}http:\/\/localhost:\d+\/dashboard\//);
  expect(stdout).toMatch(/Password {4}[0-9A-Za-z]{16}/);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  [["--hlep"], "Unknown option '--hlep'"],
  [["--days", "0"], "--days takes a number from 1 to 90"],
  [["--port", "http"], "--port takes a number from 0 to 65535"],
])("the demo refuses %j with its options and no stack trace", async (args, fault) => {
  const failed = await run(process.execPath, [program, ...args]).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^--?[^]*--quiet {4}[^\n]*\n$|^Unknown[^]*--quiet/),
  });
  expect((failed as { stderr: string }).stderr).toContain(fault);
  expect((failed as { stderr: string }).stderr).not.toContain("    at ");
});

test("the demo reports a port that is taken in one sentence, before it does anything", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const folder = freshFolder();
  const env = { ...process.env, TMPDIR: folder, PORT: String(port) };
  const failed = await run(process.execPath, [program, "--once"], { env }).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `Port ${port} is already in use. Choose another: npm run demo -- --port 9080, or PORT=9080 npm run demo\n`,
  });
  expect(readdirSync(folder)).toEqual([]);
  other.close();
});

test("the demo's audit log is in the order of time, and its progress never goes back", async () => {
  const location = { engine: "sqlite", file: join(freshFolder(), "cleancast.db") } as const;
  const encryptionKey = randomBytes(32);
  const receiver = { url: "http://127.0.0.1:9", close: async () => {} };
  const shares: Record<string, number[]> = {};
  const { shop, product, rejectedOrder } = await writeHistory({
    location,
    encryptionKey,
    now: Date.now(),
    days: 5,
    receiver,
    onProgress: (step, share) => void (shares[step] ??= []).push(share),
  });
  expect(Object.keys(shares)).toEqual(["events", "statistics"]);
  for (const of of Object.values(shares)) expect(of).toEqual(of.toSorted((one, other) => one - other));
  // The command that the demo prints explains this order.
  const env = { CLEANCAST_DATA: dirname(location.file), CLEANCAST_ENCRYPTION_KEY: encryptionKey.toString("hex") };
  const why = await commandIn({ args: ["why", rejectedOrder?.orderId ?? "none", "--site", shop.demo.host], env });
  expect(why.out).toContain("rejected");
  const store = await createStore(location, encryptionKey, ulid);
  for (const siteId of ["", shop.siteId, product.siteId]) {
    const lines = (await store.audit.list(siteId, 1000)).map(({ at, action }) => ({ at, action }));
    expect(lines.length).toBeGreaterThan(2);
    expect(lines).toEqual(lines.toSorted((one, other) => other.at - one.at));
  }
  await store.close();
});
