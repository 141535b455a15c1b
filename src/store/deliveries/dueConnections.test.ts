// Looking for due deliveries costs as much as there are connections that have some, and nothing for all others.

import { afterAll, describe, expect, test } from "vitest";
import { newLocation, createAt, sql } from "../../../test/support/nodes.ts";
import type { Database } from "../engine/database.ts";
import { connectDatabase } from "../connect.ts";
import { dueConnectionStore } from "./dueConnections.ts";

describe.each(["sqlite", "postgres"] as const)("connections with waiting deliveries on %s", async (engine) => {
  const location = await newLocation(engine);
  await (await createAt(location)).close();
  const db = connectDatabase(location);
  afterAll(() => db.close());
  let statements = 0;
  const all: Database["all"] = (...asked) => {
    statements += 1;
    return db.background.all(...asked);
  };
  const counted: Database = { ...db, all, background: { all } };
  const store = dueConnectionStore(counted);

  /** Inserts deliveries of two connections for each of the sites. */
  async function insert(from: number, to: number, state: string, dueAt: number): Promise<void> {
    const rows: string[] = [];
    for (let n = from; n <= to; n += 1)
      for (const connection of ["a", "b"])
        rows.push(`('s${String(n).padStart(5, "0")}', 'e', '${connection}', 'meta', '${state}', 0, ${dueAt}, '', 0)`);
    await sql(
      location,
      `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
       VALUES ${rows.join(",")}`,
    );
  }
  const ask = async (find: () => Promise<unknown[]>) => {
    statements = 0;
    return { found: (await find()).length, statements };
  };

  test("thousands of connections that wait for nothing cost one statement", async () => {
    await insert(0, 2000, "sent", 0);
    await insert(3000, 3000, "queued", 100);
    expect(await ask(() => store.findDue(99))).toEqual({ found: 0, statements: 1 });
    expect(await ask(() => store.findDue(100))).toEqual({ found: 2, statements: 1 });
    expect(await ask(() => store.findParked())).toEqual({ found: 0, statements: 1 });
  });

  test("all connections with due deliveries are found, however many there are, and no others", async () => {
    await insert(4000, 4300, "queued", 50);
    await insert(5000, 5100, "queued", 200);
    await insert(6000, 6149, "parked", 0);
    const due = await store.findDue(100);
    expect(due).toHaveLength(2 * 302);
    expect(new Set(due.map(({ siteId, connectionId }) => siteId + connectionId)).size).toBe(2 * 302);
    expect(due.filter(({ siteId }) => siteId >= "s05000")).toEqual([]);
    expect(await store.findDue(200)).toHaveLength(2 * 403);
    expect(await store.findParked()).toHaveLength(2 * 150);
  });
});
