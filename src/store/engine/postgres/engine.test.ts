// The shared engine: groups of sites whose commits share a transaction, background reads, and statements on one connection.

import { expect, inject, onTestFinished, test } from "vitest";
import { freshDatabase, migratedDatabase } from "../../../../test/support/databases.ts";
import { nodeStore } from "../../deliveries/nodes.ts";
import { rowStatement } from "../database.ts";
import { createClient } from "./client.ts";
import { commitGroups, connectPostgres } from "./engine.ts";
import { changeRows } from "./statements.ts";

const sites = Array.from({ length: 100 }, (_, n) => `site-${n}`);

async function groupsOf(url: string, isKnown: boolean): Promise<number> {
  const db = connectPostgres(url, { connections: 2 });
  onTestFinished(() => db.close());
  if (isKnown) await db.isSharded();
  return new Set(sites.map((site) => db.commitGroup(site))).size;
}

// A database that is given to `npm run test:store` may be sharded.
test.skipIf(inject("inSchemas"))(
  "sites are divided into a few commit groups; each site is its own where tables are sharded, and until that is known",
  async () => {
    const url = await freshDatabase();
    const sharded = `${url}${url.includes("?") ? "&" : "?"}cleancast=as-sharded`;
    expect(await groupsOf(sharded, true)).toBe(sites.length);
    expect(await groupsOf(url, false)).toBe(sites.length);
    expect(await groupsOf(url, true)).toBe(commitGroups);
  },
);

test("looks over all sites that hang leave the other reads their connections, and end after a short time", async () => {
  const db = connectPostgres(await freshDatabase(), { connections: 6 });
  const dueWork = Array.from({ length: 8 }, () =>
    db.background.all("SELECT pg_sleep(30)").then(
      () => "answered",
      (error: { code?: string }) => error.code,
    ),
  );
  try {
    const reads = await Promise.all(Array.from({ length: 20 }, (_, n) => db.all("SELECT $1 AS n", [n])));
    expect(reads).toHaveLength(20);
    expect(await Promise.race(dueWork)).toBe("57014");
  } finally {
    await db.close();
    await Promise.all(dueWork);
  }
});

test.skipIf(inject("inSchemas"))("a node renews its lease while writes that hang have all other connections", async () => {
  const db = connectPostgres(await migratedDatabase(), { connections: 8 });
  onTestFinished(() => db.close());
  // Several for each connection, as many sites write at the same time.
  const hanging = Array.from({ length: 12 }, () => db.write((tx) => tx.all("SELECT pg_sleep(3)")).catch(() => {}));
  const outcome = await Promise.race([
    Promise.any(hanging).then(() => "a write ended first"),
    nodeStore(db).renew("node", "0", 30_000),
  ]);
  expect(outcome).toBeUndefined();
  await Promise.all(hanging);
});

test("a connection without pipelining gets one statement at a time, because the driver will queue none", async () => {
  const client = createClient(await freshDatabase(), "cleancast test", 5000);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("CREATE TEMP TABLE numbers (n int)");
  let running = 0;
  let maxRunning = 0;
  const send = client.query.bind(client) as (statement: unknown) => Promise<unknown>;
  client.query = ((statement: unknown) => {
    maxRunning = Math.max(maxRunning, ++running);
    return send(statement).finally(() => (running -= 1));
  }) as typeof client.query;
  const statement = rowStatement({ text: "INSERT INTO numbers (n) VALUES {ROWS}", columns: 1 });
  await changeRows(
    client,
    statement,
    Array.from({ length: 200 }, (_, n) => [n]),
  );
  expect(maxRunning).toBe(1);
  expect((await client.query("SELECT COUNT(*) AS n FROM numbers")).rows).toEqual([{ n: 200 }]);
});
