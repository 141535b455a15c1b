// Moves with databases that changed between two runs, or that do not fit. test/faults/move.test.ts kills moves.

import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, type TestContext } from "vitest";
import { freshDatabase, freshFolder } from "../../../test/support/databases.ts";
import { ulid } from "../../kernel/ids.ts";
import { readTargetState } from "../../store/maintenance/installationMove.ts";
import type { Database } from "../../store/engine/database.ts";
import { latestVersion, migrate } from "../../store/schema/migrate.ts";
import { connectDatabase } from "../../store/connect.ts";
import { createStore } from "../../store/store.ts";
import { columnsOf, tablesAt } from "../../store/schema/tables.ts";
import { move, type MovePlan } from "./move.ts";
import { createProgress } from "./moveProgress.ts";

const connectionColumns = "site_id, id, platform, account, settings, credentials, events, state, created_at, updated_at";

/** An embedded database with some connections, and a database to move it to. */
async function newMove({ onTestFinished }: Pick<TestContext, "onTestFinished">) {
  const file = `${freshFolder()}/cleancast.db`;
  await (await createStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid)).close();
  const from = new DatabaseSync(file, { timeout: 5000 });
  onTestFinished(() => from.close());
  const connect = from.prepare(
    `INSERT INTO connections (${connectionColumns}) VALUES ('s1', ?, 'meta', ?, '{}', '', '[]', 'active', 0, 0)`,
  );
  for (let n = 10; n < 30; n += 1) connect.run(`c${n}`, `account ${n}`);
  const reported: string[] = [];
  const open = async (): Promise<Database> => {
    const db = connectDatabase({ engine: "postgres", url: await freshDatabase(), connections: 4 });
    onTestFinished(() => db.close());
    return db;
  };
  const to = await open();
  let ids = 0;
  /** Runs a move like the command: the progress is read from its file. */
  const run = (plan: Partial<MovePlan> = {}) =>
    move({
      from,
      to,
      target: "db/one",
      progress: createProgress(`${file}.move`),
      newId: () => `move ${(ids += 1)}`,
      prepareOnly: false,
      now: Date.now,
      report: (text) => reported.push(text),
      size: { rows: 3, bytes: 1_000_000 },
      ...plan,
    });
  /** Lists the tables whose rows differ between the two databases. */
  const differing = async () => {
    const found: string[] = [];
    for (const name of tablesAt(latestVersion)) {
      const columns = await columnsOf(to, name);
      const sql = `SELECT ${columns.join(", ")} FROM ${name}`;
      const lines = (rows: readonly Record<string, unknown>[]) =>
        rows.map((row) => JSON.stringify(columns.map((column) => row[column]))).toSorted();
      if (lines(from.prepare(sql).all()).join() !== lines(await to.all(sql)).join()) found.push(name);
    }
    return found;
  };
  return { from, to, connect, reported, open, run, differing };
}

describe.concurrent("a move", () => {
  test("a move finds rows that were changed, added or removed in PostgreSQL since they were copied", async (context) => {
    const { to, reported, run, differing } = await newMove(context);
    await run({ prepareOnly: true });
    for (const sql of [
      `UPDATE connections SET credentials = 'gone' WHERE id = 'c15'`,
      `DELETE FROM connections WHERE id = 'c22'`,
      `INSERT INTO lockouts (site_id, host, started_at, locked_until) VALUES ('alien', '', 0, 0)`,
    ])
      await to.write((tx) => tx.all(sql));
    expect(await differing()).toEqual(["connections", "lockouts"]);
    reported.length = 0;
    expect(await run()).toMatchObject({ state: "moved" });
    expect(await differing()).toEqual([]);
    // Only the changed ranges are copied again.
    expect(Number(/Pass 1: (\d+) of/.exec(reported.join())?.[1])).toBeLessThanOrEqual(6);
  });

  test("a move compares all rows once more where some are missing at the end, and then gives up", async (context) => {
    const { to, from, reported, run, differing } = await newMove(context);
    let spoils = 2;
    let spoilt: Promise<unknown> = Promise.resolve();
    const report = (text: string) => {
      reported.push(text);
      if (text.startsWith("Writes are locked") && (spoils -= 1) >= 0)
        spoilt = to.write((tx) => tx.all(`DELETE FROM connections WHERE id = 'c22'`));
    };
    /** Lets the deletion finish before rows are counted. */
    const late: Database = {
      ...to,
      write: async (work) => {
        await spoilt;
        return to.write(work);
      },
    };
    await expect(run({ to: late, report })).rejects.toThrow(/has 20 rows here and 19 in PostgreSQL.*Stop it/);
    expect(reported.filter((text) => text.endsWith("compared once more."))).toHaveLength(1);
    expect(from.prepare("PRAGMA user_version").get()).toEqual({ user_version: 0 });
    spoils = 1;
    expect(await run({ to: late, report })).toMatchObject({ state: "moved" });
    expect(await differing()).toEqual([]);
  });

  test("a move copies rows that exchanged unique values", async (context) => {
    const { from, to, connect, reported, run, differing } = await newMove(context);
    await run({ prepareOnly: true });
    from.exec("DELETE FROM connections WHERE id = 'c29'");
    connect.run("c05", "account 29");
    from.exec(`UPDATE connections SET account = 'x' WHERE id = 'c12';
      UPDATE connections SET account = 'account 12' WHERE id = 'c20';
      UPDATE connections SET account = 'account 20' WHERE id = 'c12'`);
    // If another server answers at the end than at the beginning, everything is compared once more.
    let asked = 0;
    const failedOver: Database = {
      ...to,
      all: (sql, params) =>
        sql.includes("pg_control_system") && (asked += 1) === 2 ? Promise.resolve([{ place: "another" }]) : to.all(sql, params),
    };
    expect(await run({ to: failedOver })).toMatchObject({ state: "moved" });
    expect(reported.join()).toContain("Another server answers now");
    expect(asked).toBe(4);
    expect(await differing()).toEqual([]);
  });

  test("a move keeps its copy when another database is named by mistake, until --restart", async (context) => {
    const { open, reported, run, from } = await newMove(context);
    await run({ prepareOnly: true });
    const other = await open();
    await expect(run({ to: other, target: "db/two" })).rejects.toThrow(/being moved to db\/one.*--restart/s);
    await other.write((tx) => tx.all(`CREATE TABLE users (id text)`));
    await expect(run({ to: other, restart: true })).rejects.toThrow(/already has data.*table users/);
    expect(await other.all(`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`)).toEqual([
      { name: "users" },
    ]);
    reported.length = 0;
    await run({ prepareOnly: true });
    expect(reported[0]).toMatch(/^Pass 1: 0 of /);

    await other.write((tx) => tx.all(`DROP TABLE users`));
    // This run fails after the tables were created and before its start was recorded.
    const dying = {
      ...createProgress(`${from.location()}.move`),
      begin: () => {
        throw new Error("killed");
      },
    };
    await expect(run({ to: other, target: "db/two", restart: true, progress: dying })).rejects.toThrow("killed");
    expect(await run({ to: other, target: "db/two" })).toMatchObject({ state: "moved" });
    expect(from.prepare("SELECT target FROM moved").get()).toEqual({ target: "db/two" });
    await expect(run()).rejects.toThrow(/moved already, to db\/two/);
  });

  test("a move into a database with rows or a newer schema is refused, and leaves no trace there", async (context) => {
    const { run, to } = await newMove(context);
    await migrate(to);
    await to.write((tx) =>
      tx.all(`INSERT INTO oauth_apps (platform, client_id, credentials, updated_at) VALUES ('x', '', '', 0)`),
    );
    await expect(run()).rejects.toThrow(/already has data.*table oauth_apps/);
    await to.write((tx) => tx.all(`DELETE FROM oauth_apps`));
    await to.write((tx) => tx.all(`INSERT INTO migrations (version, name, applied_at) VALUES (99999, 'newer', 0)`));
    await expect(run()).rejects.toThrow(/schema 99999/);
    expect((await readTargetState(to)).move).toBeNull();
    await to.write((tx) => tx.all(`DELETE FROM migrations WHERE version = 99999`));
    expect(await run()).toMatchObject({ state: "moved" });
  });

  test("a move names the row that PostgreSQL refuses", async (context) => {
    const { from, run } = await newMove(context);
    from.exec(`UPDATE connections SET settings = 'a' || char(0) WHERE id = 'c17'`);
    await expect(run()).rejects.toThrow(/The table connections cannot be copied: the row with the key "s1 c17"/);
    from.exec(`UPDATE connections SET settings = '{}', created_at = 1.5 WHERE id = 'c17'`);
    await expect(run()).rejects.toThrow(/the row with the key "s1 c17"/);
  });

  test("a move that was killed after the final lock is finished without its progress file", async (context) => {
    const { from, to, run, differing } = await newMove(context);
    const killed: Database = {
      ...to,
      write: (work) =>
        to.write((tx) =>
          work({
            ...tx,
            all: async (sql, params) => {
              if (sql.startsWith("DELETE FROM migrations")) throw new Error("killed");
              return tx.all(sql, params);
            },
          }),
        ),
    };
    await expect(run({ to: killed })).rejects.toThrow("killed");
    const elsewhere = { progress: createProgress(`${freshFolder()}/nothing`) };
    expect(await run(elsewhere)).toMatchObject({ state: "moved", passes: 0, heldMs: null });
    expect(await differing()).toEqual([]);
    await expect(run(elsewhere)).rejects.toThrow(/moved already/);
    expect(from.isOpen).toBe(true);
  });
});
