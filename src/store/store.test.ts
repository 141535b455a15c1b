// Opening a store: its schema, its tables and its encryption key, on both engines.

import { afterAll, describe, expect, inject, test } from "vitest";
import { freshDatabase } from "../../test/support/databases.ts";
import { newLocation, createAt, createNodes, sql } from "../../test/support/nodes.ts";
import { ulid } from "../kernel/ids.ts";
import { WrongEncryptionKey } from "./maintenance/encryptionKeyCheck.ts";
import { NewerSchema } from "./schema/compatibility.ts";
import { migrations } from "./schema/schema.ts";
import { createStore } from "./store.ts";

describe.each(["sqlite", "postgres"] as const)("opening a store on %s", async (engine) => {
  const { location, close } = await createNodes(engine, freshDatabase);
  afterAll(close);

  test("opening a store again changes nothing", async () => {
    const again = await createAt(location);
    expect(again.migrated.applied).toEqual([]);
    await again.close();
  });

  // Citus has no triggers on such tables; test/engines/citus.test.ts ends a machine.
  test.runIf(engine === "postgres" && !inject("inSchemas"))(
    "a store opens while configuration cannot be written, as when a machine of a sharded database is down",
    async () => {
      const configuration = ["migrations", ...migrations.flatMap((one) => one.configuration)];
      await sql(
        location,
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006'; END $$`,
      );
      // Triggers of statements also refuse those that change no row, as the database does.
      for (const table of configuration)
        await sql(
          location,
          `CREATE TRIGGER down BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse()`,
        );
      try {
        await (await createAt(location)).close();
      } finally {
        await sql(location, "DROP FUNCTION refuse() CASCADE");
      }
    },
  );

  test("nodes that start at once on an empty database apply each migration once", async () => {
    const empty = await newLocation(engine, freshDatabase);
    const count = engine === "postgres" ? 4 : 1;
    const stores = await Promise.all(Array.from({ length: count }, () => createAt(empty)));
    // Each migration was applied by one node.
    expect(stores.flatMap((one) => one.migrated.applied).toSorted()).toEqual(migrations.map((one) => one.name).toSorted());
    await Promise.all(stores.map((one) => one.close()));
  });

  test("a schema that is too new is refused", async () => {
    const newer = await newLocation(engine, freshDatabase);
    await (await createAt(newer)).close();
    await sql(newer, `INSERT INTO migrations (version, name, applied_at) VALUES (999, 'tomorrow', 0)`);
    const kept = await createAt(newer);
    expect(kept.migrated).toMatchObject({ from: 999, applied: [] });
    await kept.close();
    await sql(newer, `UPDATE settings SET value = '998' WHERE name = 'oldest_schema'`);
    await expect(createAt(newer)).rejects.toThrow(NewerSchema);
  });

  test("a wrong encryption key is refused at start", async () => {
    await expect(createStore(location, Buffer.alloc(32, 8), ulid)).rejects.toThrow(WrongEncryptionKey);
  });

  test("every table that grows has the site first in its primary key and in every unique index", async () => {
    for (const table of migrations.flatMap((one) => one.bySite)) {
      const keys =
        engine === "sqlite"
          ? await sql(location, `SELECT name FROM pragma_table_info('${table}') WHERE pk = 1`)
          : await sql(
              location,
              `SELECT a.attname AS name FROM pg_index i
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
               WHERE i.indrelid = '${table}'::regclass AND i.indisunique`,
            );
      expect([table, keys.length > 0, keys.every(({ name }) => name === "site_id")]).toEqual([table, true, true]);
    }
  });

  test("every table is declared as configuration or as keyed by site", async () => {
    const rows =
      engine === "sqlite"
        ? await sql(location, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
        : await sql(location, `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`);
    const declared = migrations.flatMap((one) => [...one.configuration, ...one.bySite]);
    expect(rows.map(({ name }) => String(name)).toSorted()).toEqual(["migrations", ...declared].toSorted());
  });
});
