// From every schema that there ever was to the present one: nothing is lost, and the present code reads it.

import { describe, expect, test } from "vitest";
import { checkLocation } from "../src/maintenance/restore.ts";
import { uuidv7 } from "../src/kernel/ids.ts";
import { directoryOf } from "../src/sites/directory.ts";
import type { Database, Row } from "../src/store/engine/database.ts";
import { latestVersion, migrate } from "../src/store/schema/migrate.ts";
import { openDatabase, openStore, type Store, type StoreLocation } from "../src/store/store.ts";
import { columnsOf, tablesAt } from "../src/store/schema/tables.ts";
import { fillTable } from "../src/store/maintenance/restoreTarget.ts";
import { freshDatabase, freshFolder } from "./support/databases.ts";
import { engines } from "./support/relay.ts";
import { eventId, person, representativeRows, rowsAt, rowsKey } from "./support/rows.ts";
import { sha256 } from "./support/sha256.ts";

const versions = Array.from({ length: latestVersion - 1 }, (_, i) => i + 1);

/** The rows of the tables of a version, each with the columns that it had then. */
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
    await fillTable(db, table, columns, rows.map((row) => columns.map((column) => row[column] ?? null))); // prettier-ignore
    filled[table] = rows;
  }
  return filled;
}

/** What the present code makes of it, by the version that brought it. */
const readers: readonly [since: number, read: (store: Store) => Promise<unknown>, expected: unknown][] = [
  [1, async (store) => (await store.configuration.listSitesSince(-1))[0]?.connections[0]?.settings, { source: "acme", write_key: "s3cret" }],
  [1, (store) => store.events.get("s1", eventId), expect.objectContaining({ extra: { plan: "gold" }, value: 49.9 })],
  [1, (store) => store.deliveries.listByEvent("s1", eventId), [expect.objectContaining({ state: "sent" })]],
  [1, (store) => store.deliveries.listAttempts("s1", eventId), [expect.objectContaining({ httpStatus: 200 })]],
  [1, async (store) => (await store.people.findIdentity("s1", sha256(person)))?.visits.length, 1],
  [1, (store) => store.people.readConsent("s1", person), "granted"],
  [1, async (store) => (await store.audit.list("s1", 9)).length, 1],
  [2, async (store) => (await store.traffic.listBotVisits("s1", 9))[0]?.page, "/"],
  [3, (store) => store.platformSignIns.findApp("google_ads"), { platform: "google_ads", clientId: "client", clientSecret: "s3cret" }],
  [4, async (store) => (await store.webhooks.listWithSecrets("s1"))[0]?.url, "https://totals.example/in"],
  [4, (store) => store.periods.readOpen("s1"), { startsAt: rowsAt, conversions: 2, removed: 0 }],
  [5, async (store) => (await store.alerts.listSince("s1", 0))[0]?.text, "wrong keys"],
  [6, async (store) => (await store.members.listGrants("u1")).length, 1],
  [7, async (store) => (await store.statistics.listFigures("s1", 0, 9_999_999))[0]?.count, 1],
  [7, async (store) => (await store.rejectedRequests.list("s1", { limit: 9 })).length, 1],
]; // prettier-ignore

describe.each(engines)("on %s", { timeout: 60_000 }, (engine) => {
  test.each(versions)("from schema %i", async (version) => {
    const location: StoreLocation =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await freshDatabase(), connections: 4 };
    const old = openDatabase(location);
    await migrate(old, { to: version });
    const filled = await fill(old, version);
    await old.close();

    const store = await openStore(location, rowsKey, uuidv7);
    const db = openDatabase(location);
    try {
      expect(store.migrated).toMatchObject({ from: version, to: latestVersion });
      for (const [table, rows] of Object.entries(filled)) {
        const columns = Object.keys(rows[0] as Row);
        expect(await db.all(`SELECT ${columns.join(", ")} FROM ${table}`), table).toEqual(rows);
      }
      for (const [since, read, expected] of readers)
        if (since <= version) expect(await read(store)).toEqual(expected);
      const directory = directoryOf(store);
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
    expect(await checkLocation(location, () => [rowsKey])).toEqual([]);
  });

  test("a migration declares every table that it makes, so that backups have them all", async () => {
    const location: StoreLocation =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await freshDatabase(), connections: 4 };
    const db = openDatabase(location);
    await migrate(db);
    const rows = await db.all(
      engine === "sqlite"
        ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
        : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    await db.close();
    const made = rows.map((row) => String(row.name)).filter((name) => name !== "migrations");
    expect(made.toSorted()).toEqual(tablesAt(latestVersion).toSorted());
  });
});
