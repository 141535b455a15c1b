// `npm run test:store` runs the tests of the store on SQLite and on the PostgreSQL of the tests; with a URL after `--` on that
// database: Citus, YugabyteDB or any other that is compatible with PostgreSQL. A run creates schemas of its own and removes
// them; the database user must be allowed to create them.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { withClient } from "../../test/support/postgres/postgres.ts";
import { findPrimary } from "../../src/store/engine/postgres/probe.ts";
import { findUrlFault, serverUrls } from "../../src/store/engine/postgres/servers.ts";
import { readDialectFlags } from "../../src/store/engine/postgres/dialect.ts";
import { embedded, harmful, schemaPrefix, tested } from "./files.ts";
import { summary, type Report } from "./summary.ts";

const [url] = process.argv.slice(2);
process.exitCode = await (url === undefined ? vitest(["src/store"], {}) : onDatabase(url));

function vitest(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn("vitest", ["run", ...args], {
    stdio: "inherit",
    env: { ...process.env, TEST_TIER: "", TEST_COUNTS: "", ...env },
  });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
}

async function onDatabase(address: string): Promise<number> {
  let server: string;
  try {
    const fault = findUrlFault(address, { name: "The URL" });
    if (fault !== null) throw new Error(fault);
    readDialectFlags(address);
    ({ server } = await findPrimary(serverUrls(address)));
    process.stdout.write(`${await withClient(server, describe)}\n`);
    await withClient(server, refuseIfInUse);
    await withClient(server, (client) => removeSchemas(client, "of an earlier run"));
  } catch (error) {
    process.stderr.write(`The database cannot be used: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  const report = join(tmpdir(), `cleancast-store-${process.pid}.json`);
  await vitest(
    [
      ...tested,
      ...[...harmful, ...embedded].map((file) => `--exclude=${file}`),
      "--testNamePattern=^((?!sqlite).)*$",
      "--reporter=json",
      `--outputFile=${report}`,
      "--reporter=dot",
    ],
    {
      CLEANCAST_TEST_DATABASE_URL: server,
      CLEANCAST_TEST_IN_SCHEMAS: "1",
      STORE_LOAD_EVENTS: process.env["STORE_LOAD_EVENTS"] ?? "4000",
    },
  );
  await withClient(server, (client) => removeSchemas(client, "that tests left behind")).catch((error: unknown) =>
    process.stderr.write(`Schemas named ${schemaPrefix}… may be left: ${String(error)}\n`),
  );
  if (!existsSync(report)) return 1;
  const { text, holds } = summary(JSON.parse(readFileSync(report, "utf8")) as Report, process.cwd());
  rmSync(report, { force: true });
  process.stdout.write(`\n${text}\n`);
  return holds ? 0 : 1;
}

/** Describes the server, its extensions and the privileges of the user. */
async function describe(client: Client): Promise<string> {
  const first = async (sql: string) => {
    try {
      return Object.values((await client.query<Record<string, string | null>>(sql)).rows[0] ?? {})[0] ?? "no";
    } catch (error) {
      return `refused (${error instanceof Error ? error.message : String(error)})`;
    }
  };
  return [
    `server:          ${await first("SELECT version()")}`,
    `Citus:           ${await first("SELECT extversion FROM pg_extension WHERE extname = 'citus'")}`,
    `superuser:       ${await first("SELECT CASE WHEN rolsuper THEN 'yes' ELSE 'no' END FROM pg_roles WHERE rolname = current_user")}`,
    `can create schemas: ${await first("SELECT CASE WHEN has_database_privilege(current_database(), 'CREATE') THEN 'yes' ELSE 'no' END")}`,
    `isolation:       ${await first("SHOW transaction_isolation")}`,
  ].join("\n");
}

/** Throws if another process uses the database: a relay would suffer from the load, another run would lose its schemas. */
async function refuseIfInUse(client: Client): Promise<void> {
  for (let checks = 1; checks <= 5; checks += 1) {
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cleancast%' LIMIT 1",
    );
    if (rows.length === 0) return;
    // Our own probe for the primary may still be disconnecting.
    await sleep(200);
  }
  throw new Error("a relay, a command or another run of these tests is using it. Use a separate database.");
}

/** Removes the schemas that a killed run or a test left behind, and prints the name of each. */
async function removeSchemas(client: Client, whose: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE $1 ORDER BY 1",
    [`${schemaPrefix.replaceAll("_", "\\_")}%`],
  );
  for (const { name } of rows) {
    await client.query(`DROP SCHEMA "${name}" CASCADE`);
    process.stdout.write(`removed schema ${name} ${whose}\n`);
  }
}
