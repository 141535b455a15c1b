// How the store behaves when connections break, servers are gone or can only be read; a primary that dies and a standby that
// takes its place are in test/faults/failOver.test.ts.

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, inject, test, type TestContext } from "vitest";
import { freshDatabase } from "../../test/databases.ts";
import { openPostgres } from "./postgres.ts";
import type { Database } from "./database.ts";

function open(url: string, { onTestFinished }: Pick<TestContext, "onTestFinished">): Database {
  const db = openPostgres(url, { connections: 4 });
  onTestFinished(() => db.close());
  return db;
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const endAll = (url: string) =>
  onServer(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`,
  );

/** The same database behind other addresses. */
const behind = (url: string, hosts: string) => url.replace(new URL(url).host, hosts);

async function timed(work: Promise<unknown>): Promise<{ ms: number; error: Error & { code?: string } }> {
  const startedAt = performance.now();
  const error = await work.then(
    () => new Error("it was done"),
    (thrown: Error) => thrown,
  );
  return { ms: performance.now() - startedAt, error };
}

test.concurrent("transactions whose connections are ended are run again as a whole", async (context) => {
  const url = await freshDatabase();
  const db = open(url, context);
  await db.write((tx) => tx.all(`CREATE TABLE steps (n bigint, half text, PRIMARY KEY (n, half))`));
  let isOver = false;
  const ending = (async () => {
    for (let times = 0; times < 6 && !isOver; times++) {
      await endAll(url);
      await sleep(40);
    }
  })();
  let runs = 0;
  const one = (n: number) =>
    db.write(async (tx) => {
      runs += 1;
      for (const half of ["a", "b"]) {
        await tx.all(`INSERT INTO steps (n, half) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [n, half]);
        await sleep(10);
      }
    });
  const total = 60;
  await Promise.all(Array.from({ length: total }, (_, n) => one(n)));
  isOver = true;
  await ending;
  expect(runs).toBeGreaterThan(total);
  const [row] = await db.all(`SELECT COUNT(*) AS n FROM steps`);
  expect(row?.n).toBe(2 * total);
});

test.concurrent("a server that can only be read is not used, not even for reads, until it can be written to again", async (context) => {
  const url = await freshDatabase();
  const name = new URL(url).pathname.slice(1);
  const db = open(url, context);
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
  await onServer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await endAll(url);
  const { error } = await timed(db.all(`SELECT 1 AS one`));
  expect(error).toMatchObject({ code: "25006", message: "the server can only be read" });
  await onServer(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await sleep(1100);
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
});

test.concurrent("of several servers the one is found that is there", async (context) => {
  const url = await freshDatabase();
  const db = open(behind(url, `127.0.0.1:1,${new URL(url).host},127.0.0.1:2`), context);
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
});

test.concurrent("where none is there, the first wait some seconds and the others not at all", async (context) => {
  const db = open(behind(inject("postgresUrl"), "127.0.0.1:1,127.0.0.1:2"), context);
  const first = await timed(db.all(`SELECT 1`));
  expect(first.error).toMatchObject({
    code: "08001",
    message: "no server can be written to (127.0.0.1:1, 127.0.0.1:2): connect ECONNREFUSED 127.0.0.1:1",
  });
  expect(first.ms).toBeLessThan(3500);
  const next = await Promise.all(
    Array.from({ length: 1000 }, () => timed(db.write((tx) => tx.all(`SELECT 1`)))),
  );
  expect(Math.max(...next.map(({ ms }) => ms))).toBeLessThan(500);
  // What must not be given up so soon is held, as long as it asked for.
  const held = await timed(db.write((tx) => tx.all(`SELECT 1`), 400));
  expect(held.ms).toBeGreaterThan(390);
});

test.concurrent("what does not pass by waiting is said at once", async (context) => {
  const url = new URL(inject("postgresUrl"));
  url.pathname = "/there_is_none";
  const { error, ms } = await timed(open(url.href, context).all(`SELECT 1`));
  expect(error.code).toBe("3D000");
  expect(ms).toBeLessThan(1500);
});
