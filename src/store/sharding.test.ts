// What a sharded PostgreSQL asks of the schema and of every statement, checked without one: the rules are those of Citus.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../../test/databases.ts";
import { uuidv7 } from "../ids.ts";
import type { Database } from "./database.ts";
import { anchor, distribution, oneAfterTheOther } from "./distribute.ts";
import { latestVersion, migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";
import { openDatabase, openStore } from "./store.ts";
import { tablesAt } from "./tables.ts";

const bySite = migrations.flatMap((one) => one.bySite);
const configuration = migrations.flatMap((one) => one.configuration);

describe("where tables go on a sharded database", () => {
  test("configuration is copied to every node, then the anchor is spread, then the others beside it", () => {
    expect(
      distribution({
        kind: "expand",
        version: 1,
        name: "x",
        statements: [],
        configuration: ["sites"],
        bySite: ["deliveries", "events"],
      }),
    ).toBe(`DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
  IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'migrations'::regclass) THEN PERFORM create_reference_table('migrations'); END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'sites'::regclass) THEN PERFORM create_reference_table('sites'); END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'events'::regclass) THEN PERFORM create_distributed_table('events', 'site_id', colocate_with => 'none'); END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'deliveries'::regclass) THEN PERFORM create_distributed_table('deliveries', 'site_id', colocate_with => 'events'); END IF;
END IF; END $$`);
    expect(oneAfterTheOther).toContain(
      `PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);`,
    );
  });

  test("every table of every migration is placed once; one that adds none says nothing", () => {
    const texts = migrations.map((one) => distribution(one) ?? "").join("\n");
    for (const table of bySite)
      expect(texts.split(`create_distributed_table('${table}', 'site_id'`), table).toHaveLength(2);
    for (const table of ["migrations", ...configuration])
      expect(texts.split(`create_reference_table('${table}')`), table).toHaveLength(2);
    expect(texts.split("colocate_with => 'none'")).toHaveLength(2);
    expect(migrations[0]?.bySite).toContain(anchor);
    for (const one of migrations)
      expect(distribution(one) === null).toBe(one.bySite.length + one.configuration.length === 0);
  });
});

describe("the schema on PostgreSQL", () => {
  let db: Database;
  beforeAll(async () => {
    db = openDatabase({ engine: "postgres", url: await freshDatabase(), connections: 2 });
    await migrate(db);
  });
  afterAll(() => db.close());

  test("where the extension is, every table is placed; without it, placing changes nothing", async () => {
    for (const one of migrations) {
      const text = distribution(one);
      if (text !== null) await db.write((tx) => tx.all(text));
    }
    const isSharded = (await db.all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`)).length > 0;
    if (!isSharded) {
      expect(await db.all(`SELECT 1 AS n FROM pg_class WHERE relname LIKE 'pg_dist%'`)).toEqual([]);
      return;
    }
    const placed = await db.all(
      `SELECT c.relname AS "table", p.partmethod AS method FROM pg_dist_partition AS p
       JOIN pg_class AS c ON c.oid = p.logicalrelid WHERE c.relnamespace = CAST(current_schema() AS regnamespace)`,
    );
    const methods = new Map(placed.map((row) => [String(row.table), row.method]));
    for (const table of bySite) expect(methods.get(table), table).toBe("h");
    for (const table of configuration) expect(methods.get(table), table).toBe("n");
  });

  test("every table is in exactly one list", async () => {
    const all = [...bySite, ...configuration];
    expect(new Set(all).size).toBe(all.length);
    expect(all.toSorted()).toEqual(tablesAt(latestVersion).toSorted());
  });

  test("what grows has the site as its first column: text, never null, in the database's own order", async () => {
    const columns = await db.all(
      `SELECT table_name AS "table", data_type AS type, is_nullable AS nullable, collation_name AS collation
       FROM information_schema.columns
       WHERE table_schema = current_schema() AND column_name = 'site_id' AND ordinal_position = 1`,
    );
    const found = new Map(columns.map(({ table, ...rest }) => [String(table), rest]));
    for (const table of bySite)
      expect(found.get(table), table).toEqual({ type: "text", nullable: "NO", collation: null });
  });

  test("the site is first in every primary key and in every unique index of what grows", async () => {
    const indexes = await db.all(
      `SELECT t.relname AS "table", i.relname AS index, x.indisprimary AS is_primary,
         ARRAY_TO_STRING(ARRAY(SELECT a.attname FROM UNNEST(x.indkey) WITH ORDINALITY AS k (number, place)
           JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.number ORDER BY k.place), ',') AS columns
       FROM pg_index AS x JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
       JOIN pg_namespace AS n ON n.oid = t.relnamespace WHERE n.nspname = current_schema() AND x.indisunique`,
    );
    const keyed = new Set<string>();
    for (const row of indexes) {
      if (!bySite.includes(String(row.table))) continue;
      expect(String(row.columns).split(",")[0], String(row.index)).toBe("site_id");
      if (row.is_primary) keyed.add(String(row.table));
    }
    expect(bySite.filter((table) => !keyed.has(table))).toEqual([]);
  });

  test("no foreign key, trigger, sequence, identity or function of ours", async () => {
    const odd = await db.all(
      `SELECT 'foreign key' AS kind, conname AS name FROM pg_constraint WHERE contype IN ('f', 'x') AND connamespace = CAST(current_schema() AS regnamespace)
       UNION ALL SELECT 'trigger', tgname FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
         WHERE NOT tgisinternal AND c.relnamespace = CAST(current_schema() AS regnamespace)
       UNION ALL SELECT 'sequence', relname FROM pg_class WHERE relkind = 'S' AND relnamespace = CAST(current_schema() AS regnamespace)
       UNION ALL SELECT 'identity', attname FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
         WHERE attidentity <> '' AND c.relnamespace = CAST(current_schema() AS regnamespace)
       UNION ALL SELECT 'function', proname FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
         WHERE nspname = current_schema()`,
    );
    expect(odd).toEqual([]);
  });

  test("migrations use nothing that a spread table refuses", () => {
    for (const { name, statements } of migrations)
      for (const statement of statements)
        expect(statement, name).not.toMatch(
          /ADD COLUMN[^;]*\b(CHECK|SERIAL|BIGSERIAL|IDENTITY|UNIQUE|REFERENCES)\b|CREATE TRIGGER|SET STATISTICS|CLUSTER ON|\bLIKE\b|COLLATE/i,
        );
  });
});

/** Every text in backticks that is a statement, of all files but tests and those that never run beside a relay. */
function statementsInSource(): { file: string; text: string }[] {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const files = readdirSync(folder).filter(
    (file) => !/\.test\.ts$|^migration|^distribute|^snapshot|^target|^tables|^peek|^copy/.test(file),
  );
  return files.flatMap((file) => {
    const source = readFileSync(`${folder}/${file}`, "utf8");
    return [...source.matchAll(/`\s*((?:WITH|SELECT|INSERT|UPDATE|DELETE)\b[^`]*)`/g)].map((found) => ({
      file,
      text: (found[1] ?? "").replaceAll(/\s+/g, " "),
    }));
  });
}

describe("every statement of the store", () => {
  const all = statementsInSource();

  test.each([
    [
      "no function inside ON CONFLICT",
      /ON CONFLICT.*\b(?:now|random|clock_timestamp|coalesce|greatest|least)\s*\(/i,
    ],
    ["no subquery inside ON CONFLICT", /ON CONFLICT.*DO UPDATE.*\(\s*SELECT/i],
    ["rows are written with VALUES", /INSERT INTO \w+ \([^)]*\) SELECT/i],
    [
      "no lists that SQLite does not have, and that pull everything to one node",
      /\bunnest\b|= ANY\b|jsonb_to_recordset/i,
    ],
    ["no place of a row as its key", /\bctid\b|\browid\b/i],
    ["no change inside a WITH", /WITH[^]*AS (?:MATERIALIZED )?\(\s*(?:INSERT|UPDATE|DELETE)/i],
    ["no cast that only PostgreSQL knows", /::/],
    ["the site of a row is never changed", /SET (?:[^W]*, )?site_id =/i],
  ])("%s", (_name, forbidden) => {
    expect(all.length).toBeGreaterThan(150);
    expect(all.filter(({ text }) => forbidden.test(text))).toEqual([]);
  });
});

/**
 * What is asked of all sites at once, by file: the start of the text. Everything else names its site. Citus answers these where
 * tables are joined, grouped and compared by site; not where a list of VALUES is looked up (due.ts has another way there).
 */
const ofAllSites: Readonly<Record<string, readonly string[]>> = {
  "check.ts": ["SELECT"],
  "checkRecords.ts": ["SELECT"],
  "deliveries.ts": [
    // Of the embedded database alone.
    "UPDATE deliveries SET due_at = $1, owner = '' WHERE state = 'queued' AND owner <> ''",
  ],
  "due.ts": [
    "SELECT v.column1",
    "WITH RECURSIVE",
    "SELECT site_id, connection_id FROM deliveries WHERE state =",
  ],
  "health.ts": ["SELECT MIN(periods.ends_at) AS ends_at FROM webhooks"],
  "periods.ts": ["SELECT site_id, number, ends_at FROM period_heads"],
  "pushes.ts": [
    "SELECT site_id, id FROM webhooks",
    "UPDATE webhooks SET owner = '', due_at = 0 WHERE owner <> ''",
  ],
};

describe("statements of all sites", () => {
  /** Where the site stands in a condition that is put together elsewhere. */
  const composed = /\$\{(?!condition\b|quoted|tuples|columns)/;
  const found = statementsInSource().filter(({ text }) => {
    const tables = [...text.matchAll(/\b(?:FROM|JOIN|UPDATE) (\w+)/g)].map((one) => one[1] as string);
    const isOfSites = tables.some((table) => bySite.includes(table));
    return (
      isOfSites && !text.startsWith("INSERT") && !/site_id = (?:\$\d|'')/.test(text) && !composed.test(text)
    );
  });

  test("are those that are known to be", () => {
    const unknown = found.filter(
      ({ file, text }) => !ofAllSites[file]?.some((start) => text.startsWith(start)),
    );
    expect(unknown).toEqual([]);
    expect(found.length).toBeGreaterThan(8);
  });

  test("lock nothing, and sum nothing for one row of another table", () => {
    expect(found.filter(({ text }) => /FOR UPDATE|\{db\.skipLocked\}/.test(text))).toEqual([]);
    const correlated = /\(\s*SELECT (?:COALESCE\()?(?:SUM|MIN|MAX|COUNT)\((?!.*GROUP BY)/;
    expect(found.filter(({ text }) => correlated.test(text))).toEqual([]);
  });

  test("find the same connections on a sharded database as on another", async () => {
    const url = await freshDatabase();
    const open = (address: string) =>
      openStore({ engine: "postgres", url: address, connections: 4 }, Buffer.alloc(32, 7), uuidv7);
    const plain = await open(url);
    const sharded = await open(`${url}${url.includes("?") ? "&" : "?"}cleancast=as-sharded`);
    try {
      const db = openDatabase({ engine: "postgres", url, connections: 2 });
      const columns =
        "site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at";
      for (const [site, connection, state, dueAt] of [["s1", "c1", "queued", 5], ["s1", "c1", "queued", 6], ["s1", "c2", "parked", 0], ["s2", "c1", "queued", 99], ["s3", "c9", "queued", 1]] as const)
        await db.write((tx) =>
          tx.all(`INSERT INTO deliveries (${columns}) VALUES ($1, $2, $3, 'meta', $4, 0, $5, '', 0)`, [site, uuidv7(), connection, state, dueAt]),
        ); // prettier-ignore
      await db.close();
      const among = ["s1", "s2"].flatMap((siteId) =>
        ["c1", "c2"].map((connectionId) => ({ siteId, connectionId })),
      );
      for (const store of [plain, sharded]) {
        expect(await store.deliveries.due(10, among)).toEqual([{ siteId: "s1", connectionId: "c1" }]);
        expect(await store.deliveries.parked(among)).toEqual([{ siteId: "s1", connectionId: "c2" }]);
      }
    } finally {
      await plain.close();
      await sharded.close();
    }
  });
});
