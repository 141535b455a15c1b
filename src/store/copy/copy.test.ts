import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { newLocation } from "../../../test/support/nodes.ts";
import { engines, type Engine } from "../../../test/support/relay.ts";
import { connectDatabase } from "../connect.ts";
import type { Database } from "../engine/database.ts";
import { querySource } from "../maintenance/installationMove.ts";
import { latestVersion, migrate } from "../schema/migrate.ts";
import { primaryKeyOf, tablesAt } from "../schema/tables.ts";
import { createCopy, type PageSize } from "./copy.ts";

const table = { name: "t", columns: ["id", "extra", "label"], key: ["id"], siteId: null };
const createTable = "CREATE TABLE t (id integer NOT NULL PRIMARY KEY, extra text, label text UNIQUE)";

/** A table with rows, an empty one on that engine, and a copy of the one to the other. */
async function newCopy(engine: Engine, rows: number, bytes = 10, size: PageSize = { rows: 5, bytes: 200_000 }) {
  const from = new DatabaseSync(":memory:");
  from.exec(createTable);
  const put = from.prepare("INSERT INTO t VALUES (?, ?, ?)");
  for (let id = 1; id <= rows; id += 1) put.run(id, "x".repeat(bytes), `label ${id}`);
  const db = connectDatabase(await newLocation(engine));
  onTestFinished(() => db.close());
  await db.run(createTable);
  const sql: { text: string; rows: number }[] = [];
  const hooks = { onCount: async () => {} };
  const to: Database = {
    ...db,
    write: (work, options) =>
      db.write(
        (tx) =>
          work({
            ...tx,
            async all(text, params = []) {
              sql.push({ text, rows: params.length / table.columns.length });
              if (text.includes("COUNT")) await hooks.onCount();
              return tx.all(text, params);
            },
          }),
        options,
      ),
  };
  const copy = createCopy({
    from: { db: querySource(from), seal: null },
    to: { db: to, seal: null },
    tables: [table],
    beforeWrite: async () => {},
    size,
  });
  const differs = async () => {
    const all = "SELECT id, extra, label FROM t ORDER BY id";
    return JSON.stringify(from.prepare(all).all()) !== JSON.stringify(await db.all(all));
  };
  /** The numbers of rows that were written together since the last call. */
  const written = () =>
    sql
      .splice(0)
      .filter(({ text }) => text.startsWith("INSERT"))
      .map((one) => one.rows);
  return { from, put, db, copy, hooks, differs, written };
}

describe.each(engines)("a copy to %s", (engine) => {
  test.each([
    ["by their rows", 10, 10],
    ["by their bytes", 100_000, 4],
  ])("the pages of a table are bounded %s, and have all of its rows", async (_how, rowBytes, maxRows) => {
    const { copy, differs, written, from } = await newCopy(engine, 50, rowBytes);
    expect(await copy.pass()).toEqual({ copied: 50, total: 50, differing: [] });
    expect(Math.max(...written())).toBeLessThanOrEqual(maxRows);
    expect(await differs()).toBe(false);
    // An unchanged table is cut at the same places again; where one row has changed, only that one is written.
    expect(await copy.pass()).toEqual({ copied: 0, total: 50, differing: [] });
    expect(written()).toEqual([]);
    from.exec("UPDATE t SET extra = 'changed' WHERE id = 17");
    expect(await copy.pass()).toMatchObject({ copied: 1 });
    expect(written()).toEqual([1]);
    expect(await differs()).toBe(false);
  });

  test("a row that is larger than a page is a page of its own", async () => {
    const { copy, written } = await newCopy(engine, 4, 1000, { rows: 10, bytes: 100 });
    await copy.pass();
    expect(written()).toEqual([1, 1, 1, 1]);
  });

  test("rows that are added, changed and removed between passes are copied, however much a page grows or shrinks", async () => {
    const { copy, from, put, differs } = await newCopy(engine, 30);
    await copy.pass();
    from.exec("DELETE FROM t WHERE id BETWEEN 6 AND 15; UPDATE t SET id = 1000 + id WHERE id < 3");
    for (let id = 100; id < 140; id += 1) put.run(id, "new", `label ${id}`);
    expect(await copy.pass()).toMatchObject({ total: 60, differing: [] });
    expect(await differs()).toBe(false);
  });

  test("a row that was removed there and is written here again, unchanged, is copied again", async () => {
    const { copy, from, put, db, hooks, differs } = await newCopy(engine, 10);
    await copy.pass();
    from.exec("DELETE FROM t WHERE id = 2");
    // The pass has seen row 4, which is gone when extra rows are removed.
    hooks.onCount = async () => from.exec("DELETE FROM t WHERE id = 4");
    await copy.pass();
    hooks.onCount = async () => {};
    put.run(4, "x".repeat(10), "label 4");
    // Another row makes up for it in the count.
    await db.run("INSERT INTO t VALUES (77, '', '')");
    expect(await copy.pass({ isLocked: true })).toMatchObject({ differing: [] });
    expect(await differs()).toBe(false);
  });

  test("a pass reports rows that another program removes there, and finds them after it was told to forget", async () => {
    const { copy, db, differs } = await newCopy(engine, 10);
    await copy.pass();
    await db.run("DELETE FROM t WHERE id = 3");
    expect((await copy.pass()).differing).toEqual([{ table: "t", here: 10, there: 9 }]);
    copy.forget();
    expect(await copy.pass()).toEqual({ copied: 1, total: 10, differing: [] });
    expect(await differs()).toBe(false);
  });

  test("an unreadable table is reported as a fault of the embedded database, with its name", async () => {
    const { copy, from } = await newCopy(engine, 1);
    from.exec("INSERT INTO t VALUES (9007199254740993, '', '')");
    await expect(copy.pass()).rejects.toThrow(/cannot be read in t .*cleancast check/);
  });
});

test("the primary key of every table is known", async () => {
  const db = connectDatabase(await newLocation("sqlite"));
  onTestFinished(() => db.close());
  await migrate(db);
  for (const name of tablesAt(latestVersion)) {
    const columns = await db.all(`SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk`, [name]);
    expect(primaryKeyOf(name), name).toEqual(columns.map((column) => column["name"]));
  }
});
