// Migrations from every released schema to the present one, and from the present one to the next, lose nothing, and the
// present code reads the result.

import { describe, expect, test } from "vitest";
import { checkLocation } from "../src/maintenance/check.ts";
import { ulid } from "../src/kernel/ids.ts";
import { createDirectory } from "../src/sites/directory.ts";
import type { Database, Row } from "../src/store/engine/database.ts";
import { latestVersion, migrate } from "../src/store/schema/migrate.ts";
import type { Migration } from "../src/store/schema/migration.ts";
import { migrations } from "../src/store/schema/schema.ts";
import { connectDatabase, type StoreLocation } from "../src/store/connect.ts";
import { createStore, type Store } from "../src/store/store.ts";
import { columnsOf, tablesAt } from "../src/store/schema/tables.ts";
import { fillTable } from "../src/store/copy/rows.ts";
import { freshDatabase, freshFolder } from "./support/databases.ts";
import { engines, type Engine } from "./support/relay.ts";
import { eventId, person, representativeRows, rowsAt, rowsKey } from "./support/schema/rows.ts";
import { sha256 } from "./support/sha256.ts";

const versions = Array.from({ length: latestVersion }, (_, i) => i + 1);

/** The migrations of a next release: they add to full tables, and remove nothing. */
const next: readonly Migration[] = [
  {
    kind: "expand",
    version: latestVersion + 1,
    name: "notes",
    configuration: [],
    bySite: ["notes"],
    statements: [
      ...["events", "deliveries", "identities", "sites", "users"].map(
        (table) => `ALTER TABLE ${table} ADD COLUMN note text NOT NULL DEFAULT ''`,
      ),
      `CREATE TABLE notes (site_id text NOT NULL, id text NOT NULL, PRIMARY KEY (site_id, id)) {COMPACT}`,
    ],
  },
  {
    kind: "expand",
    version: latestVersion + 2,
    name: "notes are found",
    configuration: [],
    bySite: [],
    statements: [],
    indexes: [{ name: "events_by_note", on: "events (site_id, note)" }],
  },
];

const newLocation = async (engine: Engine): Promise<StoreLocation> =>
  engine === "sqlite" ? { engine, file: `${freshFolder()}/store.db` } : { engine, url: await freshDatabase(), connections: 4 };

/** Writes rows into the tables of a version, each with the columns that the table had then. */
async function fill(db: Database, version: number): Promise<Record<string, Row[]>> {
  const filled: Record<string, Row[]> = {};
  const all = representativeRows();
  for (const table of tablesAt(version)) {
    if (table === "settings") continue;
    const known = await columnsOf(db, table);
    const rows: Row[] = (all[table] ?? []).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => known.includes(column))),
    );
    expect(rows.length, `${table} has rows to carry over`).toBeGreaterThan(0);
    const columns = Object.keys(rows[0] as Row);
    await fillTable(
      db,
      table,
      columns,
      rows.map((row) => columns.map((column) => row[column] ?? null)),
    );
    filled[table] = rows;
  }
  return filled;
}

/** By table, how the present code reads it and what it must return. */
const readers: readonly [table: string, read: (store: Store) => Promise<unknown>, expected: unknown][] = [
  [
    "connections",
    async (store) => (await store.configuration.listSitesSince(-1))[0]?.connections[0]?.settings,
    { source: "acme", write_key: "s3cret" },
  ],
  ["events", (store) => store.events.get("s1", eventId), expect.objectContaining({ extra: { plan: "gold" }, value: 49.9 })],
  [
    "deliveries",
    (store) => store.deliveries.listByEvent("s1", eventId),
    [
      expect.objectContaining({ connectionId: "c2", state: "sent" }),
      expect.objectContaining({ connectionId: "c1", state: "sent" }),
    ],
  ],
  [
    "attempts",
    (store) => store.deliveries.listAttempts("s1", eventId),
    [
      expect.objectContaining({ connectionId: "c1", httpStatus: 200 }),
      expect.objectContaining({ connectionId: "c2", httpStatus: 200, request: null }),
    ],
  ],
  ["identities", async (store) => (await store.people.findIdentity("s1", sha256(person)))?.visits.length, 1],
  ["consents", (store) => store.people.readConsent("s1", person), "granted"],
  ["audit", async (store) => (await store.audit.list("s1", 9)).length, 1],
  ["bot_visits", async (store) => (await store.traffic.listBotVisits("s1", 9))[0]?.page, "/"],
  [
    "oauth_apps",
    (store) => store.platformSignIns.findApp("google_ads"),
    { platform: "google_ads", clientId: "client", clientSecret: "s3cret" },
  ],
  ["webhooks", async (store) => (await store.webhooks.listWithSecrets("s1"))[0]?.url, "https://totals.example/in"],
  [
    "sources",
    async (store) => (await store.configuration.listSitesSince(-1))[0]?.sources[0]?.secrets,
    { signing_secret: [{ value: "s3cret", until: null }] },
  ],
  ["source_requests", async (store) => (await store.sourceRequests.list("s1", "src1", { limit: 9 })).length, 1],
  ["periods", (store) => store.periods.readOpen("s1"), { startsAt: rowsAt, conversions: 2, removed: 0 }],
  ["alerts", async (store) => (await store.alerts.listSince("s1", 0))[0]?.text, "wrong keys"],
  ["grants", async (store) => (await store.members.listGrants("u1")).length, 1],
  ["statistics", async (store) => (await store.statistics.listFigures("s1", 0, 9_999_999))[0]?.count, 1],
  ["rejected_requests", async (store) => (await store.rejectedRequests.list("s1", { limit: 9 })).length, 1],
];

/** Opens the store of the present code, and expects every row in the tables and from the readers. */
async function expectAll(location: StoreLocation, filled: Record<string, Row[]>, from: number): Promise<void> {
  const store = await createStore(location, rowsKey, ulid);
  const db = connectDatabase(location);
  try {
    expect(store.migrated).toMatchObject({ from, to: latestVersion });
    for (const [table, rows] of Object.entries(filled)) {
      const columns = Object.keys(rows[0] as Row);
      expect(await db.all(`SELECT ${columns.join(", ")} FROM ${table}`), table).toEqual(rows);
    }
    for (const [table, read, expected] of readers) if (filled[table]) expect(await read(store), table).toEqual(expected);
    const directory = createDirectory(store);
    await directory.refresh();
    expect(directory.siteOfHost("shop.example.com")?.settings).toMatchObject({
      inbound: true,
      alertWebhook: "https://hooks.example/T",
      keepEventsMs: 90 * 86_400_000,
    });
  } finally {
    await db.close();
    await store.close();
  }
}

describe.each(engines)("migrations on %s", (engine) => {
  test.each(versions)("rows of schema %i reach the present schema unchanged, and can be read", async (version) => {
    const location = await newLocation(engine);
    const old = connectDatabase(location);
    await migrate(old, { to: version });
    const filled = await fill(old, version);
    await old.close();
    await expectAll(location, filled, version);
    expect(await checkLocation(location, () => [rowsKey])).toEqual([]);
  });

  test("rows of the present schema reach the next schema unchanged, and the present code still reads them there", async () => {
    const location = await newLocation(engine);
    const db = connectDatabase(location);
    await migrate(db);
    const filled = await fill(db, latestVersion);
    expect(await migrate(db, { steps: [...migrations, ...next] })).toEqual({
      from: latestVersion,
      to: latestVersion + 2,
      applied: ["notes", "notes are found"],
    });
    expect(await columnsOf(db, "events")).toContain("note");
    await db.close();
    await expectAll(location, filled, latestVersion + 2);
  });

  test("every table that a migration creates is declared, so that backups include it", async () => {
    const db = connectDatabase(await newLocation(engine));
    await migrate(db);
    const rows = await db.all(
      engine === "sqlite"
        ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
        : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    await db.close();
    const created = rows.map((row) => String(row.name)).filter((name) => name !== "migrations");
    expect(created.toSorted()).toEqual(tablesAt(latestVersion).toSorted());
  });
});
