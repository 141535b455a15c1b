// Checks the schema and every statement against the rules of a sharded PostgreSQL (Citus), without such a database.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase, migratedDatabase } from "../../../test/support/databases.ts";
import { faultsOf, faultsOfAllSites, namesShardedTable } from "../../../test/support/schema/hotStatements.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Database } from "../engine/database.ts";
import { anchor, distribute, isCitus, placeTables } from "./distribute.ts";
import { latestVersion, migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";
import { connectDatabase } from "../connect.ts";
import { createStore } from "../store.ts";
import { tablesAt } from "./tables.ts";

const bySite = migrations.flatMap((one) => one.bySite);
const configuration = migrations.flatMap((one) => one.configuration);

describe("the placement of tables on a sharded database", () => {
  test("configuration is copied to every node, then the anchor is sharded, then the others are colocated with it", () => {
    const migration = {
      kind: "expand",
      version: 1,
      name: "x",
      statements: [],
      configuration: ["sites"],
    } as const;
    expect(placeTables({ ...migration, bySite: ["deliveries", "events"] }).map(({ call }) => call)).toEqual([
      "create_reference_table('migrations')",
      "create_reference_table('sites')",
      "create_distributed_table('events', 'site_id', colocate_with => 'none')",
      "create_distributed_table('deliveries', 'site_id', colocate_with => 'events')",
    ]);
  });

  test("every table of every migration is placed once", () => {
    const placed = migrations.flatMap(placeTables);
    expect(placed.map(({ table }) => table).toSorted()).toEqual(["migrations", ...configuration, ...bySite].toSorted());
    for (const { table, call } of placed)
      expect(call).toMatch(bySite.includes(table) ? `create_distributed_table('${table}', 'site_id'` : "create_reference_table(");
    expect(placed.filter(({ call }) => call.includes("colocate_with => 'none'"))).toHaveLength(1);
    expect(migrations[0]?.bySite).toContain(anchor);
  });
});

describe("the schema on PostgreSQL", () => {
  let db: Database;
  beforeAll(async () => {
    db = connectDatabase({ engine: "postgres", url: await freshDatabase(), connections: 2 });
    await migrate(db);
  });
  afterAll(() => db.close());

  test("with Citus every table is placed; without it, no statement of Citus is sent", async () => {
    if (!(await isCitus(db))) {
      const sent: string[] = [];
      const observed = connectDatabase({ engine: "postgres", url: await freshDatabase(), connections: 2 });
      await migrate({
        ...observed,
        write: (work) =>
          observed.write((tx) =>
            work({
              ...tx,
              all: (sql, params) => {
                sent.push(sql);
                return tx.all(sql, params);
              },
            }),
          ),
      });
      await observed.close();
      expect(sent.length).toBeGreaterThan(migrations.flatMap(({ statements }) => statements).length);
      expect(sent.filter((sql) => /citus\.|^DO\b|create_(?:reference|distributed)|pg_dist/.test(sql))).toEqual([]);
      return;
    }
    for (const one of migrations) await db.write((tx) => distribute(tx, one));
    const placed = await db.all(
      `SELECT c.relname AS "table", p.partmethod AS method FROM pg_dist_partition AS p
       JOIN pg_class AS c ON c.oid = p.logicalrelid WHERE c.relnamespace = CAST(current_schema() AS regnamespace)`,
    );
    const methods = new Map(placed.map((row) => [String(row.table), row.method]));
    for (const table of bySite) expect(methods.get(table), table).toBe("h");
    for (const table of configuration) expect(methods.get(table), table).toBe("n");
  });

  test("every table is either configuration or sharded by site", async () => {
    const all = [...bySite, ...configuration];
    expect(new Set(all).size).toBe(all.length);
    expect(all.toSorted()).toEqual(tablesAt(latestVersion).toSorted());
  });

  test("a sharded table has the site as its first column: text, never null, with the default collation", async () => {
    const columns = await db.all(
      `SELECT table_name AS "table", data_type AS type, is_nullable AS nullable, collation_name AS collation
       FROM information_schema.columns
       WHERE table_schema = current_schema() AND column_name = 'site_id' AND ordinal_position = 1`,
    );
    const found = new Map(columns.map(({ table, ...rest }) => [String(table), rest]));
    for (const table of bySite) expect(found.get(table), table).toEqual({ type: "text", nullable: "NO", collation: null });
  });

  test("the site is first in every primary key and unique index of a sharded table", async () => {
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

  test("the schema has no foreign key, trigger, sequence, identity or function", async () => {
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

  test("migrations use nothing that a sharded table refuses", () => {
    for (const { name, statements } of migrations)
      for (const statement of statements)
        expect(statement, name).not.toMatch(
          /ADD COLUMN[^;]*\b(CHECK|SERIAL|BIGSERIAL|IDENTITY|UNIQUE|REFERENCES)\b|CREATE TRIGGER|SET STATISTICS|CLUSTER ON|\bLIKE\b|COLLATE/i,
        );
  });
});

/** Returns every statement in the sources, however it is quoted, but for tests and files that never run together with a relay. */
function statementsInSource(): { file: string; text: string; source: string }[] {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      /(?<!\.test)\.ts$/.test(file) &&
      !/^schema\/(?:migrations|migration|distribute|tables|schemaProbe)|^maintenance\/(?:snapshot|restoreTarget|copy)/.test(file),
  );
  return files.flatMap((file) => {
    const source = readFileSync(`${folder}/${file}`, "utf8");
    return statementsIn(source).map((text) => ({ file, text, source }));
  });
}

/** What `insertRow` adds to its statement, which names the site, is found too. */
const statementsIn = (source: string) =>
  [
    ...source.matchAll(/(["'`])\s*\(?((?:WITH|SELECT|INSERT|UPDATE|DELETE)\b(?:(?!\1)[^])*)\1/g),
    ...source.matchAll(/(["'`])((?:ON CONFLICT|\$\{(?:orReplace|replaced)\b)(?:(?!\1)[^])*)\1/g),
  ]
    .map((found) => (found[2] ?? "").replaceAll(/\s+/g, " ").trim())
    .map((text) => (/^(?:ON|\$)/.test(text) ? `INSERT INTO cursors (site_id) VALUES ($1) ${text}` : text))
    .filter((text) => /^(?:WITH .* AS|SELECT .|INSERT INTO|UPDATE .* SET|DELETE FROM)/.test(text));

describe("every statement of the store", () => {
  const all = statementsInSource();

  test.each([
    ["no function inside ON CONFLICT", /ON CONFLICT.*\b(?:now|random|clock_timestamp|coalesce|greatest|least)\s*\(/i],
    ["no subquery inside ON CONFLICT", /ON CONFLICT.*DO UPDATE.*\(\s*SELECT/i],
    ["rows are written with VALUES", /INSERT INTO \w+ \([^)]*\) SELECT/i],
    [
      "no arrays, which SQLite does not have, and which move all rows to one node",
      // A list of sites is a parameter, and every machine reads its own of them.
      /\bunnest\b|(?<!site_id )= ANY\b|jsonb_to_recordset/i,
    ],
    ["no physical address of a row as its key", /\bctid\b|\browid\b/i],
    ["no change inside a WITH", /WITH[^]*AS (?:MATERIALIZED )?\(\s*(?:INSERT|UPDATE|DELETE)/i],
    ["no cast that only PostgreSQL knows", /::/],
    [
      "rows to change are picked in an order, so that every replica picks the same",
      /^(?:UPDATE|DELETE)\b.*\(SELECT(?:(?!ORDER BY|\(SELECT).)*LIMIT/i,
    ],
    ["the site of a row is never changed", /SET (?:[^W]*, )?site_id =/i],
  ])("%s", (_name, forbidden) => {
    expect(all.length).toBeGreaterThan(150);
    expect(all.filter(({ text }) => forbidden.test(text))).toEqual([]);
  });
});

/**
 * Statements over all sites, by file: the start of the text. Every other statement names its site. Citus runs these where
 * tables are joined, grouped and compared by site.
 */
const ofAllSites: Readonly<Record<string, readonly string[]>> = {
  "maintenance/check/check.ts": ["SELECT"],
  "maintenance/check/claims.ts": ["SELECT"],
  "maintenance/check/events.ts": ["SELECT"],
  "maintenance/purge.ts": [
    "SELECT site_id FROM wrong_keys GROUP BY site_id",
    "SELECT site_id FROM lockouts GROUP BY site_id",
    "SELECT site_id FROM platform_sign_ins GROUP BY site_id",
  ],
  "deliveries/backfills.ts": ["SELECT ${backfillRow.list} FROM backfills WHERE state = 'running'"],
  "deliveries/deliveries.ts": [
    // Runs only on the embedded database.
    "UPDATE deliveries SET due_at = $1, owner = '', updated_at = $1 WHERE state = 'queued' AND owner <> ''",
  ],
  "deliveries/dueConnections.ts": ["SELECT site_id, connection_id FROM deliveries WHERE ${condition}"],
  "reconciliation/feeds.ts": ["SELECT ${feedRow.list} FROM order_feeds WHERE due_at <= $1 OR due_at > $2"],
  "reconciliation/runs.ts": ["SELECT ${runRow.list} FROM reconciliations WHERE state = 'running'"],
  "statistics/alerts.ts": [
    // A sharded database is not asked.
    "SELECT DISTINCT site_id FROM alerts",
    "SELECT DISTINCT site_id FROM lockouts",
    "SELECT DISTINCT site_id FROM webhooks",
    "SELECT DISTINCT site_id FROM order_feeds",
    "SELECT DISTINCT site_id FROM reconciliations",
  ],
  "maintenance/dueTimes.ts": [
    "SELECT site_id, id FROM webhooks",
    "SELECT site_id FROM statistics_heads AS heads WHERE to_hour > $3 OR EXISTS",
  ],
  "statistics/health.ts": ["SELECT MIN(periods.ends_at) AS ends_at FROM webhooks"],
  "outbound/periods.ts": ["SELECT site_id, number, ends_at FROM period_heads"],
  "outbound/pushes.ts": ["SELECT site_id, id FROM webhooks", "UPDATE webhooks SET owner = '', due_at = 0 WHERE owner <> ''"],
};

/** Statements whose condition is composed elsewhere, where it names the site. Check a new one before you list it. */
const composed: Readonly<Record<string, readonly string[]>> = {
  "maintenance/lostKey.ts": ["UPDATE webhooks SET ${column} = $3", "UPDATE events SET extra = NULL"],
  "maintenance/purge.ts": ["DELETE FROM consents WHERE ${condition}", "DELETE FROM consent_history WHERE ${condition}"],
  // Their first column is the site's: the first field of the row's description.
  "events/eventRow.ts": ["INSERT INTO events (${"],
  "corrections/corrections.ts": ["INSERT INTO corrections (${"],
  "confirmations/confirmations.ts": ["INSERT INTO confirmations (${"],
  "deliveries/delivery.ts": ["INSERT INTO deliveries (${", "INSERT INTO attempts (${"],
  "outbound/pushes.ts": ["INSERT INTO push_log (${"],
  "reconciliation/orders.ts": ["INSERT INTO orders (${"],
  "reconciliation/runs.ts": ["INSERT INTO reconciliation_rows (${"],
};

/** Finds why one node could not answer a statement. Statements that are not hot may write configuration. */
const faultsOfSite = (text: string) =>
  namesShardedTable(text) ? faultsOf({ text }).filter((one) => !one.includes("a copy of")) : [];

describe("the site of a statement", () => {
  const begins = (list: typeof composed, { file, text }: { file: string; text: string }) =>
    list[file]?.some((start) => text.startsWith(start)) === true;

  test("every statement names its site, but for those that are listed", () => {
    const all = statementsInSource();
    expect(all.length).toBeGreaterThan(300);
    const faulty = all.filter(({ text, source }) => {
      const [, columns] = /^INSERT INTO \w+ \(\$\{(\w+)\.join/.exec(text) ?? [];
      // Columns that are listed elsewhere begin with the site there.
      const isListed = columns !== undefined && new RegExp(`${columns} = \\[\\s*"site_id"`).test(source);
      return faultsOfSite(text).some((one) => !isListed || one !== "the site is not the first column");
    });
    const unknown = faulty.filter((one) => !begins(ofAllSites, one) && !begins(composed, one));
    expect(unknown.map(({ file, text }) => `${file}: ${faultsOfSite(text).join("; ")}: ${text}`)).toEqual([]);
    for (const list of [ofAllSites, composed])
      for (const [file, starts] of Object.entries(list))
        for (const start of starts)
          expect(
            faulty.some((one) => one.file === file && one.text.startsWith(start)),
            start,
          ).toBe(true);
  });

  test("each node can answer the statements over all sites for its own sites, without locks", () => {
    const found = statementsInSource().filter((one) => begins(ofAllSites, one) && namesShardedTable(one.text));
    expect(found.length).toBeGreaterThan(15);
    expect(found.flatMap(({ text }) => faultsOfAllSites(text))).toEqual([]);
    const correlated = /\(\s*SELECT (?:COALESCE\()?(?:SUM|MIN|MAX|COUNT)\((?!.*GROUP BY)/;
    expect(found.filter(({ text }) => correlated.test(text))).toEqual([]);
  });

  test.each([
    ["reads from every node", "SELECT 1 FROM events WHERE id = $1"],
    ["is composed at run time", "SELECT 1 FROM events WHERE ${where}"],
    [
      "is joined by the id alone",
      "SELECT 1 FROM events JOIN deliveries ON deliveries.event_id = events.id WHERE events.site_id = $1",
    ],
    ["lists tables", "SELECT 1 FROM events, deliveries WHERE events.site_id = $1"],
    ["lists tables under other names", "SELECT 1 FROM events AS e, deliveries d WHERE e.site_id = $1"],
    ["can match without the site", "SELECT 1 FROM events WHERE site_id = $1 OR id = $2"],
    ["can match without the site, in brackets", "SELECT 1 FROM events WHERE (site_id = $1 OR id = $2)"],
    ["reads while it writes", "INSERT INTO events (site_id, id) VALUES ($1, (SELECT id FROM deliveries LIMIT 1))"],
    ["copies rows", "INSERT INTO events (site_id, id) SELECT site_id, id FROM deliveries WHERE site_id = $1"],
    ["has another first column", "INSERT INTO events (id, site_id) VALUES ($1, $2)"],
    [
      "calls a function for an existing row",
      "INSERT INTO totals (site_id) VALUES ($1) ON CONFLICT (site_id) DO UPDATE SET n = md5(totals.n)",
    ],
    [
      "calls a function in a CASE",
      "INSERT INTO totals (site_id) VALUES ($1) ON CONFLICT (site_id) DO UPDATE SET n = CASE WHEN a THEN random() END",
    ],
    [
      "reads another table for an existing row",
      "INSERT INTO totals (site_id) VALUES ($1) ON CONFLICT (site_id) DO UPDATE SET n = (SELECT 1 FROM events WHERE site_id = $1)",
    ],
    [
      "locks rows in a subquery",
      "UPDATE events SET name = $2 WHERE site_id = $1 AND id IN (SELECT event_id FROM deliveries FOR UPDATE)",
    ],
    ["deletes with a join", "DELETE FROM events USING deliveries WHERE events.site_id = $1"],
  ])("a statement that %s is reported", (_how, text) => {
    for (const quote of ['"', "'", "`"]) expect(statementsIn(`all(${quote}${text}${quote})`)).toEqual([text]);
    expect(faultsOfSite(text)).not.toEqual([]);
  });

  test.each([
    "SELECT 1 FROM events WHERE site_id = $1 AND (id = $2 OR id = $3)",
    "SELECT 1 FROM events JOIN deliveries ON deliveries.site_id = events.site_id AND event_id = id WHERE events.site_id = $1",
    "INSERT INTO totals (site_id, n) VALUES ($1, $2) ON CONFLICT (site_id) DO UPDATE SET n = CASE WHEN totals.n > excluded.n THEN 1 ELSE 2 END",
  ])("a statement that one node can answer is not reported: %s", (text) => expect(faultsOfSite(text)).toEqual([]));
});

describe("due deliveries", () => {
  test("a sharded database finds the same due deliveries as any other", async () => {
    const url = await migratedDatabase();
    const open = (address: string) =>
      createStore({ engine: "postgres", url: address, connections: 4 }, Buffer.alloc(32, 7), ulid);
    const plain = await open(url);
    const sharded = await open(`${url}${url.includes("?") ? "&" : "?"}cleancast=as-sharded`);
    try {
      const db = connectDatabase({ engine: "postgres", url, connections: 2 });
      const columns = "site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at";
      for (const [site, connection, state, dueAt] of [
        ["s1", "c1", "queued", 5],
        ["s1", "c1", "queued", 6],
        ["s1", "c2", "parked", 0],
        ["s2", "c1", "queued", 99],
        ["s3", "c9", "queued", 1],
      ] as const)
        await db.write((tx) =>
          tx.all(`INSERT INTO deliveries (${columns}) VALUES ($1, $2, $3, 'meta', $4, 0, $5, '', 0)`, [
            site,
            ulid(),
            connection,
            state,
            dueAt,
          ]),
        );
      await db.close();
      for (const store of [plain, sharded]) {
        const due = await store.deliveries.findDue(10);
        expect(due.map(({ siteId, connectionId }) => `${siteId} ${connectionId}`).toSorted()).toEqual(["s1 c1", "s3 c9"]);
        expect(await store.deliveries.findParked()).toEqual([{ siteId: "s1", connectionId: "c2" }]);
      }
    } finally {
      await plain.close();
      await sharded.close();
    }
  });
});
