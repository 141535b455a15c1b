// Starting and stopping: the first start, later starts, and the messages for a wrong configuration.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { call, command, emptyInstallation, engines, eventually, newInstallation, type Installation } from "../support/relay.ts";
import { accepted, deduped, freshEvent, plainText, summarize } from "../contract/answers.ts";

const run = promisify(execFile);

/** Lets the shell read the printed line as it would when pasted, and returns curl's arguments. */
async function argumentsOfPasted(line: string): Promise<string[]> {
  const { stdout } = await run("bash", ["-c", `curl() { printf '%s\\0' "$@"; }\n${line}`]);
  return stdout.split("\0").slice(0, -1);
}

/** Returns the output of a start that must fail; the process has to end by itself. */
async function failure(home: Installation, env: Record<string, string> = {}): Promise<string> {
  const start = run(process.execPath, [command, "serve"], {
    env: { ...home.env, ...env },
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  const ended = await start.then(
    () => ({ killed: false, code: 0, stdout: "", stderr: "" }),
    (error: { killed: boolean; code: number | null; stdout: string; stderr: string }) => error,
  );
  if (ended.killed) throw new Error(`the relay did not end:\n${ended.stdout}${ended.stderr}`);
  expect([ended.code, ended.stdout]).toEqual([1, ""]);
  return ended.stderr;
}

describe.each(engines)("the first start on %s", (engine) => {
  test("the first start creates a site, a key and the sandbox, and prints a curl command that works repeatedly", async () => {
    const home = await emptyInstallation(engine);
    const relay = await home.start();
    const port = new URL(relay.url).port;
    expect(relay.output()).toContain(`is running on http://localhost:${port}\n`);
    const data = engine === "sqlite" ? `${home.env.CLEANCAST_DATA} (embedded database)` : "PostgreSQL (DATABASE_URL)";
    expect(relay.output()).toContain(`Data: ${data}`);
    expect(relay.key).toMatch(/^cc_[0-9A-Za-z]{38}$/);
    expect(relay.output().split(relay.key)).toHaveLength(2);

    const line =
      relay
        .output()
        .split("\n")
        .find((one) => one.startsWith("curl ")) ?? "";
    const orders: unknown[] = [];
    for (let i = 0; i < 2; i += 1) {
      const [silent, url, ...rest] = await argumentsOfPasted(line);
      expect([silent, url]).toEqual(["-sS", `http://localhost:${port}/__cc/inbound`]);
      const headers = rest.filter((_, at) => rest[at - 1] === "-H").map((one) => one.split(": ") as [string, string]);
      const body = rest.at(rest.indexOf("-d") + 1) ?? "";
      orders.push(JSON.parse(body).orderId);
      const answer = await call(relay.url, { headers: Object.fromEntries(headers), body });
      expect(summarize(answer)).toEqual(accepted("purchase", { sandbox: { ok: true } }));
    }
    expect(new Set(orders).size).toBe(2);

    expect(await home.run("site", "list")).toMatchObject({
      items: [{ hosts: ["localhost"], inbound: true, health: { keys: 1, connections: { active: 1 } } }],
    });
    const { findings } = await home.run("doctor");
    // The PostgreSQL of the tests trades safety for speed, which the doctor reports.
    const wrong = ({ level, what }: { level: string; what: string }) =>
      level === "error" && !what.startsWith("PostgreSQL runs with");
    expect(findings.filter(wrong)).toEqual([]);
    const { items: events } = await home.run("event", "list");
    expect(events.map(({ deliveries }: { deliveries: object[] }) => deliveries)).toEqual([
      [expect.objectContaining({ platform: "sandbox", state: "sent" })],
      [expect.objectContaining({ platform: "sandbox", state: "sent" })],
    ]);
    // The sandbox shows what a platform would have got.
    const trace = await home.run("event", "show", events[0].id);
    expect(trace.deliveries[0].log[0].request).toContain('"value":49.9,"currency":"EUR"');

    // The second start changes nothing, shows no key, and knows everything.
    expect(await relay.stop()).toBe(0);
    const before = await home.run("key", "list");
    const second = await home.start();
    expect(second.key).toBe("");
    expect(second.output()).not.toContain("cc_");
    expect(await home.run("key", "list")).toEqual(before);
    expect((await home.run("site", "list")).items).toHaveLength(1);
    const event = { email: "ada@example.com", event: "purchase", orderId: orders[0] };
    expect(summarize(await second.post(relay.key, event))).toEqual(deduped);
    expect(summarize(await call(second.url, { method: "GET", path: "/healthz" }))).toEqual(plainText(200, "ok"));
    expect(await second.stop()).toBe(0);
  });

  test("a start with an existing site creates nothing", async () => {
    const home = await newInstallation(engine);
    const { key } = await home.addSite("shop.example");
    const relay = await home.start({
      CLEANCAST_TRUST_PROXIES: "10.0.0.0/8",
      CLEANCAST_PORT: "tcp://10.0.0.1:80",
    });
    expect(relay.output()).toMatch(
      /^Warning: CLEANCAST_TRUST_PROXIES is not a setting and has no effect\. Did you mean CLEANCAST_TRUST_PROXY\?\nCleancast/,
    );
    expect(relay.key).toBe("");
    const { items: sites } = await home.run("site", "list");
    expect(sites.map(({ hosts }: { hosts: string[] }) => hosts)).toEqual([["shop.example"]]);
    expect(summarize(await relay.post(key, freshEvent()))).toEqual(accepted("purchase"));
    await relay.kill();
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s ends the relay after the requests in flight", async (signal) => {
    const receiver = await startReceiver();
    let held: ServerResponse | undefined;
    receiver.behave = (_request, response) => (held = response);
    const home = await newInstallation(engine);
    const { key } = await home.addSite("shop.example");
    await home.run("connection", "add", "shop.example", "webhook", `url=${receiver.url}`);
    const relay = await home.start();
    const answer = relay.post(key, freshEvent());
    await eventually("the event is on its way", () => held !== undefined);

    const exited = new Promise((resolve) => relay.process.once("exit", resolve));
    relay.process.kill(signal);
    const connects = () => call(relay.url, { method: "GET", path: "/healthz" }).then(Boolean, () => false);
    await eventually("new connections are refused", async () => !(await connects()));
    expect(relay.process.exitCode).toBeNull();
    held?.writeHead(200).end();
    expect(summarize(await answer)).toEqual(accepted("purchase", { webhook: { ok: true } }));
    expect(await exited).toBe(0);
    const { items: events } = await home.run("event", "list");
    expect(events).toMatchObject([{ deliveries: [{ state: "sent" }] }]);
  });
});

test("two nodes that start at once on an empty PostgreSQL create one site", async () => {
  const home = await emptyInstallation("postgres");
  const relays = await Promise.all([home.start(), home.start()]);
  const keys = relays.map(({ key }) => key).filter(Boolean);
  expect(keys).toHaveLength(1);
  expect((await home.run("site", "list")).items).toMatchObject([{ health: { keys: 1, connections: { active: 1 } } }]);
  for (const relay of relays) {
    await eventually("the key works", async () => (await relay.post(String(keys[0]), freshEvent())).status === 200);
  }
});

test("a failed first start exits, and the next start completes it", async () => {
  const home = await newInstallation("sqlite");
  await home.run("migrate");
  const db = new DatabaseSync(join(String(home.env.CLEANCAST_DATA), "cleancast.db"));
  db.exec(`CREATE TRIGGER full BEFORE INSERT ON inbound_keys BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
  expect(await failure(home)).toContain("the disk is full");
  db.exec(`DROP TRIGGER full`);
  db.close();
  const relay = await home.start();
  expect(summarize(await relay.post(relay.key, freshEvent()))).toEqual(accepted("purchase", { sandbox: { ok: true } }));
  expect((await home.run("site", "list")).items).toMatchObject([{ health: { keys: 1, connections: { active: 1 } } }]);
});

test("only their owner can read the data folder and the encryption key", async () => {
  const home = await newInstallation("sqlite");
  const folder = join(String(home.env.CLEANCAST_DATA), "made", "here");
  const relay = await home.start({ CLEANCAST_DATA: folder });
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(statSync(join(folder, "encryption.key")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "encryption.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  await relay.kill();
});

describe("an invalid configuration", () => {
  test("an invalid configuration is reported with all faults at once, each with its variable and remedy", async () => {
    const home = await newInstallation("sqlite");
    const env = {
      PORT: "eighty",
      DATABASE_URL: "mysql://root:hunter2@db/x",
      CLEANCAST_ENCRYPTION_KEY: "too-short-s3cret",
      CLEANCAST_TRUST_PROXY: "loopback,my-proxy",
      CLEANCAST_REQUIRE_TLS: "perhaps",
      TLS_CERT_FILE: "cert.pem",
      CLEANCAST_PLATFORM_ORIGINS: '{"myspace":"https://example.com"}',
      CLEANCAST_ALLOW_PRIVATE: "10.0.0.0/8, not a host!",
      CLEANCAST_RETRY_SECONDS: "10,soon",
      CLEANCAST_PUSH_SECONDS: "0",
      CLEANCAST_CONNECT_SECONDS: "-1",
      CLEANCAST_MAX_IN_FLIGHT: "0",
      CLEANCAST_DATABASE_CONNECTIONS: "1",
      CLEANCAST_LEASE_SECONDS: "5",
      LOG_LEVEL: "loud",
    };
    const output = await failure(home, env);
    expect(output).toMatch(/^Cleancast cannot start:\n/);
    const faults = output.split("\n").filter((line) => line.startsWith("  - "));
    expect(faults.toSorted()).toEqual(
      [
        '  - PORT is "eighty"; set it to a number from 0 to 65535.',
        "  - DATABASE_URL must start with postgres:// ; leave it out for the embedded database.",
        "  - CLEANCAST_ENCRYPTION_KEY must be 32 bytes as 64 hex characters or as base64; make one with: openssl rand -hex 32",
        '  - CLEANCAST_TRUST_PROXY has "my-proxy"; use loopback, addresses or networks like 10.0.0.0/8.',
        '  - CLEANCAST_REQUIRE_TLS is "perhaps"; set it to true or false.',
        "  - TLS_KEY_FILE is missing; HTTPS needs both TLS_CERT_FILE and TLS_KEY_FILE.",
        '  - CLEANCAST_PLATFORM_ORIGINS names "myspace", which is not a platform.',
        '  - CLEANCAST_ALLOW_PRIVATE has "not a host!"; use host names, addresses or networks like 10.0.0.0/8.',
        '  - CLEANCAST_RETRY_SECONDS is "10,soon"; set it to seconds separated by commas, like 10,60,300.',
        '  - CLEANCAST_PUSH_SECONDS is "0"; set it to a number from 1 to 86400.',
        '  - CLEANCAST_CONNECT_SECONDS is "-1"; set it to a number from 0.1 to 60.',
        '  - CLEANCAST_MAX_IN_FLIGHT is "0"; set it to a number from 1 to 1000000.',
        '  - CLEANCAST_DATABASE_CONNECTIONS is "1"; set it to a number from 2 to 500.',
        "  - CLEANCAST_LEASE_SECONDS is 5; set it to at least CLEANCAST_ANSWER_SECONDS + CLEANCAST_ATTEMPT_SECONDS (70).",
        '  - LOG_LEVEL is "loud"; set it to one of trace, debug, info, warn, error, silent.',
      ].toSorted(),
    );
    for (const secret of ["hunter2", "s3cret"]) expect(output).not.toContain(secret);
  });

  test("a missing file is reported with its variable", async () => {
    const home = await newInstallation("sqlite");
    const keyFile = fileURLToPath(new URL("../fixtures/tls-key.pem", import.meta.url));
    const output = await failure(home, { TLS_CERT_FILE: "/nowhere/cert.pem", TLS_KEY_FILE: keyFile });
    expect(output).toContain("TLS_CERT_FILE");
    expect(output).not.toMatch(/^\s+at /m);
  });

  test("a file that is no certificate is reported with its variable", async () => {
    const home = await newInstallation("sqlite");
    const file = join(String(home.env.CLEANCAST_DATA), "cert.pem");
    writeFileSync(file, "no certificate");
    const output = await failure(home, { TLS_CERT_FILE: file, TLS_KEY_FILE: file });
    expect(output).toContain("TLS_CERT_FILE");
    expect(output).not.toMatch(/^\s+at /m);
  });

  test("a database that does not answer is reported with its variable, without its password", async () => {
    const home = await newInstallation("sqlite", { CLEANCAST_ENCRYPTION_KEY: "5a".repeat(32) });
    const output = await failure(home, { DATABASE_URL: "postgres://cleancast:hunter2@127.0.0.1:9/x" });
    expect(output).toContain("DATABASE_URL");
    expect(output).not.toContain("hunter2");
    expect(output).not.toMatch(/^\s+at /m);
  });

  test("a data folder that cannot be created is reported with its variable", async () => {
    const home = await newInstallation("sqlite");
    const file = join(String(home.env.CLEANCAST_DATA), "file");
    writeFileSync(file, "");
    const output = await failure(home, { CLEANCAST_DATA: join(file, "data") });
    expect(output).toContain("CLEANCAST_DATA");
    expect(output).not.toMatch(/^\s+at /m);
  });

  test("a port in use is reported with its variable", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const home = await newInstallation("sqlite");
    const port = String((other.address() as AddressInfo).port);
    expect(await failure(home, { PORT: port })).toContain(`port ${port} is already in use; set PORT to a free one.`);
    other.close();
  });

  test("a port that is no whole number is reported with its variable", async () => {
    const output = await failure(await newInstallation("sqlite"), { PORT: "8080.5" });
    expect(output).toContain("PORT");
    expect(output).not.toMatch(/^\s+at /m);
  });

  test("an address that this machine does not have is reported with its variable", async () => {
    for (const host of ["203.0.113.7", "nowhere.invalid"]) {
      const output = await failure(await newInstallation("sqlite"), { HOST: host });
      expect(output).toContain("HOST");
      expect(output).not.toMatch(/^\s+at /m);
    }
  });

  test("a second relay on one data folder is refused", async () => {
    const home = await newInstallation("sqlite");
    const first = await home.start();
    expect(await failure(home)).toContain("give this one its own CLEANCAST_DATA");
    expect(summarize(await first.post(first.key, freshEvent())).status).toBe(200);
    await first.kill();
  });

  test.each(engines)("an encryption key that does not match the data on %s is reported with its variable", async (engine) => {
    const home = await newInstallation(engine);
    await home.addSite("shop.example");
    const output = await failure(home, { CLEANCAST_ENCRYPTION_KEY: "ab".repeat(32) });
    expect(output).toContain("CLEANCAST_ENCRYPTION_KEY");
    expect(output).not.toMatch(/^\s+at /m);
  });
});
