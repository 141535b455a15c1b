// TLS between relay and PostgreSQL: load over encrypted connections, which certificates are accepted, and what is advised for those
// that are not.

import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectDatabase } from "../../src/store/connect.ts";
import { freshFolder } from "../support/databases.ts";
import { checkedText, isLongRun, createFigures, statusText } from "../support/engines/figures.ts";
import { measureCost, createTwoNodes } from "../support/engines/load.ts";
import { startPostgres, withClient, type Postgres } from "../support/postgres/postgres.ts";
import { newInstallation, type Installation } from "../support/relay.ts";
import { newAuthority } from "../support/servers/certificates.ts";

const nobody = 65_534;
const figures = createFigures("tls");
const senders = 8;
const loadMs = isLongRun ? 10_000 : 500;
let postgres: Postgres;
let home: Installation;
let folder: string;

beforeAll(async () => {
  folder = freshFolder();
  const authority = newAuthority();
  const { cert, key } = authority.issue(["localhost"]);
  write("ca.crt", authority.cert);
  write("other.crt", newAuthority().cert);
  postgres = await startPostgres();
  // In the server's own folder, which other users cannot enter: PostgreSQL refuses a key that others may read.
  for (const [name, text] of [
    ["server.crt", cert],
    ["server.key", key],
  ] as const) {
    const file = join(postgres.dataFolder, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(file, nobody, nobody);
  }
  await withClient(postgres.url, async (client) => {
    await client.query("ALTER SYSTEM SET ssl = on");
    await client.query("SELECT pg_reload_conf()");
  });
  home = await newInstallation("postgres", { LOG_LEVEL: "silent" });
});
afterAll(async () => {
  figures.publish();
  await postgres.stop();
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

async function at(host: string, parameters: string): Promise<Installation> {
  const url = new URL(await postgres.createDatabase());
  url.hostname = host;
  return home.with({ DATABASE_URL: `${url.href}?${parameters}` });
}

const withCa = (name: string) => `sslrootcert=${join(folder, name)}`;

test.each(["verify-full", "verify-ca", "require", "prefer"])(
  "with sslmode=%s and the right authority the connection is encrypted, without a warning",
  async (mode) => {
    const warnings: string[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning.message);
    process.on("warning", onWarning);
    const url = (await at("localhost", `sslmode=${mode}&${withCa("ca.crt")}`)).env.DATABASE_URL ?? "";
    const db = connectDatabase({ engine: "postgres", url, connections: 2 });
    try {
      const [row] = await db.all("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
      expect(row?.ssl).toBe(true);
    } finally {
      await db.close();
      process.off("warning", onWarning);
    }
    expect(warnings.filter((text) => text.includes("SSL"))).toEqual([]);
  },
);

test.each([
  ["a wrong authority", "localhost", "other.crt", "Add sslrootcert="],
  ["an unknown authority", "localhost", null, "Add sslrootcert="],
  ["another name", "127.0.0.1", "ca.crt", "is for another name"],
  ["a missing file", "localhost", "none.crt", "none.crt, which does not exist"],
] as const)("%s is refused, and the advice names the remedy", async (_what, host, authority, advice) => {
  const parameters = authority ? `sslmode=verify-full&${withCa(authority)}` : "sslmode=verify-full";
  const { error } = await (await at(host, parameters)).fails("site", "list");
  expect(error).toContain(advice);
});

test("a server without TLS is not used when TLS is asked for", async () => {
  const plain = await newInstallation("postgres");
  const { error } = await plain.with({ DATABASE_URL: `${plain.env.DATABASE_URL}?sslmode=verify-full` }).fails("site", "list");
  expect(error).toContain("does not offer TLS");
});

type Session = { ssl: boolean; version: string | null };

/** The sessions of the relays. */
const sessionsOf = async (databaseUrl: string): Promise<Session[]> => {
  const database = new URL(databaseUrl).pathname.slice(1);
  const { rows } = await withClient(postgres.url, (client) =>
    client.query<Session>(
      `SELECT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity ON pg_stat_activity.pid = pg_stat_ssl.pid WHERE datname = $1`,
      [database],
    ),
  );
  return rows;
};

test.each([
  ["without TLS", null],
  ["with the right authority", "ca.crt"],
])("two nodes %s store and deliver every order that they answer", async (name, authority) => {
  const parameters = authority ? `sslmode=verify-full&${withCa(authority)}` : "sslmode=disable";
  const here = await at("localhost", parameters);
  const url = here.env.DATABASE_URL ?? "";
  const { load, keys } = await createTwoNodes(here, here.with({ DATABASE_URL: url.split("?")[0] ?? "" }));
  const { sent, databaseUs, nodesUs } = await measureCost(load, keys, senders, loadMs, () => [postgres.cpuMs()]);
  const sessions = await sessionsOf(url);
  const checked = await load.check();
  const versions = [...new Set(sessions.map(({ version }) => version ?? "not encrypted"))];
  figures.note(
    `two nodes ${name}`,
    `${statusText(sent.statuses)}, p50 ${sent.p50} ms; ${sessions.length} connections, ${versions.join(", ")}; CPU of an event: database ${databaseUs[0]} µs, nodes ${nodesUs} µs; ${checkedText(checked)}`,
  );
  expect(Object.keys(sent.statuses)).toEqual(["200"]);
  expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
  expect(sessions.map(({ ssl }) => ssl)).toEqual(sessions.map(() => authority !== null));
  expect(sessions.length).toBeGreaterThan(1);
  for (const relay of load.relays) expect(await relay.stop()).toBe(0);
});

test("a node with the wrong authority does not start and says why, and the others go on", async () => {
  const here = await at("localhost", `sslmode=verify-full&${withCa("ca.crt")}`);
  const url = here.env.DATABASE_URL ?? "";
  const { load, keys } = await createTwoNodes(here, here.with({ DATABASE_URL: url.split("?")[0] ?? "" }));
  const wrong = here.with({ DATABASE_URL: url.replace("ca.crt", "other.crt") });
  const starting = wrong.start().then(
    () => "it started",
    (error: Error) => error.message,
  );
  const { result, statuses } = await load.sendDuring(keys, 2, starting);
  expect(result).toMatch(/the certificate of PostgreSQL at localhost:\d+ is not from an authority that this machine knows/);
  expect(result).toContain("Add sslrootcert=/path/to/ca.crt to DATABASE_URL");
  const checked = await load.check();
  figures.note(
    "a third node with the wrong authority",
    `does not start: unknown authority; the two others meanwhile ${statusText(statuses)}; ${checkedText(checked)}`,
  );
  expect(Object.keys(statuses)).toEqual(["200"]);
  expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
  for (const relay of load.relays) expect(await relay.stop()).toBe(0);
});
