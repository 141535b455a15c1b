// Migrations while nodes work, and several versions on one database. The further migrations here are made up.

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../../../test/support/databases.ts";
import { NewerSchema, OlderNodes, sessionName } from "./compatibility.ts";
import type { Database } from "../engine/database.ts";
import { latestVersion, migrate, SchemaBusy } from "./migrate.ts";
import type { Migration } from "./migration.ts";
import { migrations } from "./schema.ts";
import { createSnapshot } from "../maintenance/snapshot.ts";
import { connectDatabase, type StoreLocation } from "../connect.ts";
import { probeSchema } from "./schemaProbe.ts";
import { columnsOf } from "./tables.ts";

const nothing = { statements: [], configuration: [], bySite: [] };
const next = latestVersion + 1;
const expand: Migration = {
  ...nothing,
  kind: "expand",
  version: next,
  name: "more",
  bySite: ["notes"],
  statements: [
    `ALTER TABLE events ADD COLUMN note text`,
    `CREATE TABLE notes (site_id text NOT NULL, id text NOT NULL, PRIMARY KEY (site_id, id)) {COMPACT}`,
  ],
};
const index: Migration = {
  ...nothing,
  kind: "expand",
  version: next + 1,
  name: "found sooner",
  indexes: [{ name: "events_by_note", on: "events (site_id, note)" }],
};
const contract: Migration = {
  ...nothing,
  kind: "contract",
  unusedSince: next,
  version: next + 1,
  name: "less",
  statements: [`ALTER TABLE events DROP COLUMN order_event_id`],
};
const plus = (...more: Migration[]) => ({ steps: [...migrations, ...more] });

async function locationOf(engine: "sqlite" | "postgres", flags = ""): Promise<StoreLocation> {
  if (engine === "sqlite") return { engine, file: `${freshFolder()}/store.db` };
  const url = await freshDatabase();
  const end = flags && `${url.includes("?") ? "&" : "?"}cleancast=${flags}`;
  return { engine, url: `${url}${end}`, connections: 4 };
}

/** A database at the present schema, closed afterwards; `more` are further nodes on it. */
async function onDatabase(location: StoreLocation, work: (db: Database, more: () => Database) => Promise<void>): Promise<void> {
  const opened: Database[] = [];
  const open = () => {
    const db = connectDatabase(location);
    opened.push(db);
    return db;
  };
  try {
    const db = open();
    await migrate(db);
    await work(db, open);
  } finally {
    for (const db of opened) await db.close();
  }
}

describe.each(["sqlite", "postgres"] as const)("the schema on %s", (engine) => {
  test("an older version keeps working and starts again on an expanded schema", async () => {
    await onDatabase(await locationOf(engine), async (db) => {
      await migrate(db, plus(expand, index));
      expect(await migrate(db)).toEqual({ from: next + 1, to: latestVersion, applied: [] });
      expect(await migrate(db, plus(expand, index))).toMatchObject({ from: next + 1, applied: [] });
    });
  });

  test("a version that needs what was removed does not start, and says what to do", async () => {
    await onDatabase(await locationOf(engine), async (db) => {
      const steps = plus(expand, contract);
      await (engine === "sqlite" ? migrate(db, steps) : asNewNode(db, steps));
      const refusal = migrate(db);
      await expect(refusal).rejects.toThrow(NewerSchema);
      await expect(refusal).rejects.toThrow(
        `The database has schema ${next + 1}, this version of Cleancast knows ${latestVersion}, and needs something that is no longer ` +
          `there. Start the newer version again (or any that knows schema ${next}), or restore a backup taken before the upgrade`,
      );
      // The release in between no longer uses what was removed.
      expect(await migrate(db, plus(expand))).toEqual({ from: next + 1, to: next, applied: [] });
    });
  });

  test("a newer schema without its compatibility row is refused", async () => {
    await onDatabase(await locationOf(engine), async (db) => {
      await migrate(db, plus(expand));
      await db.write((tx) => tx.all(`DELETE FROM settings WHERE name = 'oldest_schema'`));
      await expect(migrate(db)).rejects.toThrow(/Start the newer version again, or restore/);
    });
  });

  test("a database of an unreleased schema with a larger number is refused, and the error names the remedy", async () => {
    const location = await locationOf(engine);
    await onDatabase(location, async (db) => {
      await db.write(async (tx) => {
        await tx.all(`UPDATE migrations SET version = 12, name = 'unreleased'`);
        await tx.all(`DELETE FROM settings WHERE name = 'schema_generation'`);
      });
      await expectUnreleased(location, db);
      await db.write((tx) => tx.all(`DROP TABLE settings`));
      await expectUnreleased(location, db);
      expect(await db.all(`SELECT version FROM migrations`)).toEqual([{ version: 12 }]);
    });
  });

  test("a database of the same schema number with other tables is refused", async () => {
    const location = await locationOf(engine);
    const [initial, ...later] = migrations as [Migration, ...Migration[]];
    const earlier = { ...initial, statements: [...initial.statements, `CREATE TABLE tickets (id text)`] };
    const db = connectDatabase(location);
    try {
      await migrate(db, { steps: [earlier, ...later] });
      await expectUnreleased(location, db);
      expect(await migrate(db, { steps: [earlier, ...later] })).toMatchObject({ applied: [] });
    } finally {
      await db.close();
    }
  });

  test("a migration that fails half way has changed nothing, and can be applied later", async () => {
    await onDatabase(await locationOf(engine), async (db) => {
      const broken = {
        ...expand,
        statements: [...expand.statements, `ALTER TABLE nowhere ADD COLUMN x text`],
      };
      await expect(migrate(db, plus(broken))).rejects.toThrow(/nowhere/);
      expect(await columnsOf(db, "events")).not.toContain("note");
      expect(await columnsOf(db, "notes")).toEqual([]);
      expect(await migrate(db)).toMatchObject({ from: latestVersion });
      expect(await migrate(db, plus(expand))).toMatchObject({ from: latestVersion, applied: ["more"] });
    });
  });
});

/** Expects a start, a command that only reads and a probe to refuse the database. */
async function expectUnreleased(location: StoreLocation, db: Database): Promise<void> {
  const text =
    location.engine === "sqlite"
      ? "The embedded database was made by an unreleased version of Cleancast, and cannot be used or migrated: start with a new data folder."
      : "The PostgreSQL database was made by an unreleased version of Cleancast, and cannot be used or migrated: start with a new, empty database.";
  await expect(migrate(db)).rejects.toThrow(text);
  await expect(createSnapshot(location)).rejects.toThrow(text);
  await expect(probeSchema(location)).rejects.toThrow(text);
}

/** Migrates as if the test had no sessions of the present schema open. */
async function asNewNode(db: Database, options: ReturnType<typeof plus>): Promise<void> {
  const older = `application_name LIKE $1`;
  const filtered: Database = {
    ...db,
    write: (work) =>
      db.write((tx) =>
        work({
          ...tx,
          all: (sql, params) => (sql.includes(older) ? Promise.resolve([]) : tx.all(sql, params)),
        }),
      ),
  };
  await migrate(filtered, options);
}

describe("nodes on one PostgreSQL", () => {
  test.each(["", "no-advisory-locks"])("each migration is applied once by nodes that start together (%s)", async (flags) => {
    await onDatabase(await locationOf("postgres", flags), async (db, more) => {
      const nodes = [db, more(), more(), more()];
      const reports = await Promise.all(nodes.map((node) => migrate(node, plus(expand, index))));
      expect(reports.flatMap(({ applied }) => applied).toSorted()).toEqual(["found sooner", "more"]);
    });
  });

  test("a migration waits for a table that is read for long without blocking nodes", async () => {
    const location = await locationOf("postgres");
    await onDatabase(location, async (db, more) => {
      await onClient(location, async (reader) => {
        await reader.query("BEGIN");
        await reader.query("SELECT COUNT(*) FROM events");
        const migrating = migrate(more(), plus(expand));
        let longest = 0;
        for (const end = performance.now() + 60_000; longest <= 500 && performance.now() < end;) {
          const askedAt = performance.now();
          await db.all(`SELECT id FROM events WHERE site_id = $1`, ["s"]);
          longest = Math.max(longest, performance.now() - askedAt);
          await sleep(20);
        }
        console.log(`longest wait of a node behind the step: ${Math.round(longest)} ms`);
        // The node waited, but neither for the reader nor until its statement timed out.
        expect(longest).toBeGreaterThan(500);
        expect(longest).toBeLessThan(12_000);
        await expect(migrate(more(), { ...plus(expand), timeoutMs: 100 })).rejects.toThrow(SchemaBusy);
        await reader.query("COMMIT");
        expect(await migrating).toMatchObject({ applied: ["more"] });
      });
    });
  });

  test("an index is built while nodes write and start, and an invalid one is built again", async () => {
    const location = await locationOf("postgres");
    await onDatabase(location, async (db, more) => {
      await migrate(db, plus(expand));
      await onClient(location, async (writer) => {
        await writer.query("BEGIN");
        await writer.query(`DELETE FROM events WHERE site_id = 'no site'`);
        const killed = migrate(more(), plus(expand, index)).then(
          () => "built",
          () => "killed",
        );
        await eventually(async () => (await readIndexValidity(db)) === 0);
        // Neither writes nor starts wait for the index.
        const askedAt = performance.now();
        await db.write((tx) => tx.all(`DELETE FROM events WHERE site_id = 'none'`));
        await migrate(more());
        await migrate(more(), plus(expand));
        expect(performance.now() - askedAt).toBeLessThan(12_000);
        await db.all(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY events_by_note%'`,
        );
        expect(await killed).toBe("killed");
        expect(await readIndexValidity(db)).toBe(0);
        await writer.query("COMMIT");
      });
      expect(await migrate(db, plus(expand, index))).toMatchObject({ applied: ["found sooner"] });
      expect(await readIndexValidity(db)).toBe(1);
    });
  });

  test("a contract migration is refused while an older node is connected", async () => {
    const location = await locationOf("postgres");
    await onDatabase(location, async (db) => {
      const url = (location as { url: string }).url;
      const old = new Client({ connectionString: url, application_name: sessionName(latestVersion) });
      await old.connect();
      const refusal = migrate(db, plus(expand, contract));
      await expect(refusal).rejects.toThrow(OlderNodes);
      await expect(refusal).rejects.toThrow(`removes what nodes with schema ${latestVersion} need`);
      expect(await columnsOf(db, "events")).toContain("order_event_id");
      await old.end();
    });
  });

  test("a statement whose result type another node has changed is run again", async () => {
    await onDatabase(await locationOf("postgres"), async (db, more) => {
      const ask = () => db.all(`SELECT attempts FROM deliveries WHERE site_id = $1`, ["s"]);
      const write = () => db.write((tx) => tx.all(`DELETE FROM deliveries WHERE site_id = $1 RETURNING attempts`, ["s"]));
      // So many calls make every connection prepare both statements.
      await Promise.all(Array.from({ length: 8 }, () => [ask(), write()]).flat());
      await more().write((tx) => tx.all(`ALTER TABLE deliveries ALTER COLUMN attempts TYPE bigint`));
      await Promise.all(Array.from({ length: 8 }, () => [ask(), write()]).flat());
    });
  });
});

async function onClient(location: StoreLocation, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: (location as { url: string }).url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function readIndexValidity(db: Database): Promise<number | null> {
  const [row] = await db.all(
    `SELECT CASE WHEN indisvalid THEN 1 ELSE 0 END AS is_valid FROM pg_index WHERE indexrelid = to_regclass('events_by_note')`,
  );
  return row ? Number(row.is_valid) : null;
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await check()); await sleep(20))
    if (performance.now() > end) throw new Error("not within 60 s");
}
