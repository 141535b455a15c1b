// Relays behind a real PgBouncer, in session and in transaction mode. The tests run wherever PgBouncer is installed.

import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { createConnections } from "../../src/store/engine/postgres/pool.ts";
import { probe } from "../../src/store/engine/postgres/probe.ts";
import { lockTables, unlockTables } from "../../src/store/maintenance/siteLock.ts";
import { connectDatabase } from "../../src/store/connect.ts";
import { applyMigration } from "../../src/store/schema/applyMigration.ts";
import type { Migration } from "../../src/store/schema/migration.ts";
import { migrations } from "../../src/store/schema/schema.ts";
import { checkedText, isLongRun, isMissing, createFigures, statusText } from "../support/engines/figures.ts";
import { createTwoNodes } from "../support/engines/load.ts";
import { setUpSite } from "../support/installation.ts";
import { createDatabase, startPostgres, withClient } from "../support/postgres/postgres.ts";
import { emptyInstallation, eventually, newInstallation } from "../support/relay.ts";
import { startPgBouncer, type PgBouncerMode } from "../support/servers/pgbouncer.ts";
import { findProgram } from "../support/servers/programs.ts";

const program = findProgram("pgbouncer");
const figures = createFigures("pgbouncer");
const loadMs = isLongRun ? 10_000 : 500;
const withFlag = (url: string) => `${url}?cleancast=transaction-pooler`;

describe.skipIf(isMissing("PgBouncer", program, "install the package pgbouncer"))("PgBouncer", () => {
  afterAll(() => figures.publish());
  const start = (url: string, mode: PgBouncerMode, more?: Record<string, string>) =>
    startPgBouncer(program ?? "", url, mode, more);
  const version = () => /\d[\d.]*/.exec(spawnSync(program ?? "", ["--version"]).stdout.toString())?.[0];

  test.each([
    ["session", { ignore_startup_parameters: "statement_timeout" }, (url: string) => url],
    ["transaction", {}, withFlag],
  ] as const)(
    "two nodes behind PgBouncer in %s mode store and deliver every order that they answer",
    { timeout: 600_000 },
    async (mode, settings, toUrl) => {
      const direct = await newInstallation("postgres", {
        LOG_LEVEL: "silent",
        CLEANCAST_DATABASE_CONNECTIONS: "8",
      });
      const databaseUrl = direct.env.DATABASE_URL ?? "";
      const home = direct.with({
        DATABASE_URL: toUrl(await start(databaseUrl, mode, { ...settings, default_pool_size: mode === "session" ? "40" : "8" })),
      });
      const { load, keys } = await createTwoNodes(home, direct);
      const sent = await load.sendFor(keys, 8, loadMs);
      const checked = await load.check();
      const connections = await withClient(databaseUrl, async (client) => {
        const { rows } = await client.query<{ n: string }>(
          `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        );
        return rows[0]?.n;
      });
      figures.note(
        `PgBouncer ${version()}, ${mode} mode, two nodes`,
        `${statusText(sent.statuses)}, p50 ${sent.p50} ms, ${connections} connections to PostgreSQL; ${checkedText(checked)}`,
      );
      expect(Object.keys(sent.statuses)).toEqual(["200"]);
      expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
      expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
      for (const relay of load.relays) expect(await relay.stop()).toBe(0);
    },
  );

  test("the advice for a pooler that refuses settings names the setting of PgBouncer and the flag", async () => {
    const direct = await newInstallation("postgres");
    const url = await start(direct.env.DATABASE_URL ?? "", "session");
    const { error } = await direct.with({ DATABASE_URL: url }).fails("site", "list");
    expect(error).toContain("ignore_startup_parameters = statement_timeout");
    expect(error).toContain("cleancast=transaction-pooler");
  });

  test(
    "after a restart of PostgreSQL the pooler waits as long as it is told, and doctor and the relay say so",
    { timeout: 600_000 },
    async () => {
      const gapOf = async (retry: string) => {
        const database = await startPostgres({ durable: true });
        const direct = await emptyInstallation("postgres", { LOG_LEVEL: "silent" });
        direct.env.DATABASE_URL = await createDatabase(database.url);
        const url = await start(direct.env.DATABASE_URL, "transaction", { server_login_retry: retry });
        const home = direct.with({ DATABASE_URL: withFlag(url) });
        const { load, keys } = await createTwoNodes(home, direct);
        const doctor = await home.print("doctor", "--offline");
        async function restart(): Promise<string> {
          await sleep(500);
          await database.kill();
          await sleep(1000);
          const { error } = await home.fails("site", "list");
          await database.restart();
          await eventually("events are accepted again", async () => (await load.send(keys)) === 200);
          return error;
        }
        const sent = await load.sendDuring(keys, 4, restart());
        const checked = await load.check();
        figures.note(
          `PgBouncer ${version()}, server_login_retry = ${retry}, PostgreSQL killed and restarted`,
          `no 200 for ${sent.gapMs} ms; ${statusText(sent.statuses)}; ${checkedText(checked)}`,
        );
        expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
        for (const relay of load.relays) await relay.stop();
        await database.stop();
        return { doctor, error: sent.result };
      };
      const [quick, slow] = [await gapOf("1"), await gapOf("15")];
      expect(quick.doctor).toContain("server_login_retry = 1");
      expect(slow.doctor).toContain("PgBouncer has server_login_retry = 15");
      expect(slow.error).toContain("set server_login_retry = 1 in PgBouncer");
    },
  );

  test(
    "in transaction mode settings hold for a transaction and stay with no connection, and a statement that hangs is given up",
    { timeout: 600_000 },
    async () => {
      const direct = await newInstallation("postgres");
      const { siteId } = await setUpSite(direct, []);
      const databaseUrl = direct.env.DATABASE_URL ?? "";
      // One connection, which all clients share: what one leaves behind the next one has.
      const url = await start(databaseUrl, "transaction", { default_pool_size: "1" });
      const readLeft = () =>
        withClient(url, async (client) => {
          const { rows } = await client.query(
            `SELECT name, setting FROM pg_settings WHERE source = 'session' AND name <> 'application_name'
             UNION ALL SELECT 'prepared', statement FROM pg_prepared_statements ORDER BY name`,
          );
          return rows;
        });
      const before = await readLeft();
      const pooled = withFlag(url);
      const connections = createConnections(
        pooled,
        await probe(pooled),
        4,
        "cleancast test",
        "SET plan_cache_mode = 'force_custom_plan'",
      );
      for (const pool of [connections.readers, connections.writers]) await pool.query("SELECT 1");
      await connections.end();
      const db = connectDatabase({ engine: "postgres", url: pooled, connections: 4 });
      try {
        await db.write((tx) => tx.all("DELETE FROM leases WHERE site_id = $1", [siteId]));
        await db.run("DELETE FROM leases WHERE site_id = $1", [siteId]);
        // Another transaction holds the table: the lock gives way after its limit, and takes its turn again.
        await withClient(databaseUrl, async (client) => {
          await client.query("BEGIN; LOCK TABLE leases IN ACCESS SHARE MODE");
          const locking = lockTables(db, siteId, ["leases"]);
          const waits = `SELECT pg_backend_pid() <> pid AS waits FROM pg_locks WHERE NOT granted AND relation = CAST('leases' AS regclass)`;
          const isWaiting = async () => (await client.query(waits)).rows.length > 0;
          await eventually("the lock waits", isWaiting);
          await eventually("it gives way", async () => !(await isWaiting()));
          await client.query("COMMIT");
          await locking;
        });
        await unlockTables(db, siteId, ["leases"]);
        expect(await readLeft()).toEqual(before);
        const startedAt = performance.now();
        await expect(db.all("SELECT pg_sleep(60)")).rejects.toMatchObject({ message: "Query read timeout" });
        expect(performance.now() - startedAt).toBeLessThan(30_000);
        expect(await db.all("SELECT 1 AS one")).toEqual([{ one: 1 }]);
      } finally {
        await db.close();
        const sleeping = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`;
        await withClient(databaseUrl, (client) => client.query(sleeping));
      }
    },
  );

  test("the lock of a migration that builds indexes does not stay with a connection of the pooler", async () => {
    const direct = await newInstallation("postgres");
    const databaseUrl = direct.env.DATABASE_URL ?? "";
    const pooled = withFlag(await start(databaseUrl, "transaction"));
    const db = connectDatabase({ engine: "postgres", url: pooled, connections: 4 });
    const migration = {
      version: 900,
      name: "test-index",
      kind: "expand",
      statements: [],
      indexes: [{ name: "test_index", on: "events (received_at)" }],
      bySite: [],
      configuration: [],
    } satisfies Migration;
    try {
      expect(await applyMigration(db, migration, [...migrations, migration])).toBe(true);
    } finally {
      await db.close();
    }
    const locks = await withClient(databaseUrl, (client) =>
      client.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      ),
    );
    expect(locks.rows).toEqual([]);
  });
});
