// The store with broken connections, and with servers that are gone or read-only. A primary that dies and a standby that takes
// its place are in test/faults/failOver.test.ts.

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, inject, test, type TestContext } from "vitest";
import { freshDatabase } from "../../../../test/support/databases.ts";
import { createGateway } from "../../../../test/support/postgres/gateway.ts";
import { simulateTimeline } from "../../../../test/support/postgres/timeline.ts";
import { connectClient } from "./client.ts";
import { connectPostgres } from "./engine.ts";
import type { Database } from "../database.ts";

function open(url: string, { onTestFinished }: Pick<TestContext, "onTestFinished">): Database {
  const db = connectPostgres(url, { connections: 4 });
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
  onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`);

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

/** Waits for a server longer than a request does, so that a busy machine does not matter. */
const askPatiently = (db: Database) => db.write((tx) => tx.all(`SELECT 1 AS one`), { timeoutMs: 60_000 });

/** Waiting takes two seconds each time. A busy machine may take as long for another reason, but not every time. */
async function shortestOf(measure: () => Promise<number>): Promise<number> {
  let ms = Infinity;
  for (let times = 0; times < 10 && ms >= 1500; times++) ms = Math.min(ms, await measure());
  return ms;
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
  // A longer timeout than an event has: this is not about speed.
  const one = (n: number) =>
    db.write(
      async (tx) => {
        runs += 1;
        for (const half of ["a", "b"]) {
          await tx.all(`INSERT INTO steps (n, half) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [n, half]);
          await sleep(10);
        }
      },
      { timeoutMs: 20_000 },
    );
  const total = 60;
  await Promise.all(Array.from({ length: total }, (_, n) => one(n)));
  isOver = true;
  await ending;
  expect(runs).toBeGreaterThan(total);
  const [row] = await db.all(`SELECT COUNT(*) AS n FROM steps`);
  expect(row?.n).toBe(2 * total);
});

test.concurrent("a read-only server is not used, not even for reads, until it can be written to again", async (context) => {
  const url = await freshDatabase();
  const name = new URL(url).pathname.slice(1);
  const db = open(url, context);
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
  await onServer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await endAll(url);
  const { error } = await timed(db.all(`SELECT 1 AS one`));
  expect(error).toMatchObject({ code: "25006", message: "the server is read-only" });
  await onServer(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await sleep(1100);
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
});

test.concurrent("a server that falls silent is given up long before the limit of a statement, and found again", async (context) => {
  const url = await freshDatabase();
  const gateway = await createGateway(url);
  const db = open(behind(url, gateway.host), context);
  await db.write((tx) => tx.all(`SELECT 1 AS one`));
  gateway.mode = "silent";
  const failing = Promise.all([timed(db.write((tx) => tx.all(`SELECT 1 AS one`))), timed(db.all(`SELECT 1 AS one`))]);
  // A write has 30 seconds where the server says nothing.
  expect(await Promise.race([failing, sleep(25_000, "later")])).toMatchObject([
    { error: { message: expect.not.stringMatching("it was done") } },
    { error: { message: expect.not.stringMatching("it was done") } },
  ]);
  gateway.mode = "open";
  await askPatiently(db);
});

test.concurrent("a statement that is slow on a server that answers is awaited", async (context) => {
  const db = open(await freshDatabase(), context);
  expect(await db.all(`SELECT pg_sleep(4.5)`)).toHaveLength(1);
  expect(db.promotions()).toBe(0);
});

test.concurrent("the one server that answers is found among several", async (context) => {
  const url = await freshDatabase();
  const db = open(behind(url, `127.0.0.1:1,${new URL(url).host},127.0.0.1:2`), context);
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
});

test.concurrent("without any server the first callers wait about two seconds, and later callers fail at once", async (context) => {
  const db = open(behind(inject("postgresUrl"), "127.0.0.1:1,127.0.0.1:2"), context);
  const first = await timed(db.all(`SELECT 1`));
  expect(first.error).toMatchObject({
    code: "08001",
    message:
      "no server can be written to: 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1), 127.0.0.1:2 (connect ECONNREFUSED 127.0.0.1:2)",
  });
  const failAtOnce = async () => {
    const next = await Promise.all(Array.from({ length: 1000 }, () => timed(db.write((tx) => tx.all(`SELECT 1`)))));
    return Math.max(...next.map(({ ms }) => ms));
  };
  expect(await shortestOf(failAtOnce)).toBeLessThan(1500);
  // A write with a time limit of its own waits that long.
  const held = await timed(db.write((tx) => tx.all(`SELECT 1`), { timeoutMs: 400 }));
  expect(held.ms).toBeGreaterThan(300);
});

test.concurrent("an error that waiting cannot solve is thrown at once", async (context) => {
  const url = new URL(inject("postgresUrl"));
  url.pathname = "/there_is_none";
  const failAtOnce = async () => {
    const { error, ms } = await timed(open(url.href, context).all(`SELECT 1`));
    expect(error.code).toBe("3D000");
    return ms;
  };
  expect(await shortestOf(failAtOnce)).toBeLessThan(1500);
});

test.concurrent.each(["28000", "3D000"])(
  "a server that fell silent and then refuses connections (%s) is given up for another",
  async (code) => {
    const url = await freshDatabase();
    const [first, second] = [await createGateway(url), await createGateway(url, "closed")];
    const db = connectPostgres(behind(url, `${first.host},${second.host}`), { connections: 4 });
    expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    first.mode = { code };
    first.cut();
    // The cut connections are idle, so they are dropped without an error.
    await sleep(50);
    second.mode = "open";
    expect(await askPatiently(db)).toEqual([{ one: 1 }]);
    await db.close();
  },
);

test.concurrent("a server that cannot be used does not keep callers from waiting for the others", async (context) => {
  const url = await freshDatabase();
  const [odd, late] = [await createGateway(url, { code: "3D000" }), await createGateway(url, "closed")];
  const db = open(behind(url, `${odd.host},${late.host}`), context);
  const asked = askPatiently(db);
  const opened = sleep(600).then(() => (late.mode = "open"));
  expect(await asked).toEqual([{ one: 1 }]);
  await opened;
});

test.concurrent("a wrong password fails the callers that wait, and later callers are served when it is right", async (context) => {
  const url = await freshDatabase();
  const only = await createGateway(url, { code: "28P01" });
  const db = open(behind(url, only.host), context);
  expect((await timed(db.all(`SELECT 1`))).error.code).toBe("28P01");
  only.mode = "open";
  await expect.poll(() => db.all(`SELECT 1 AS one`).catch(String)).toEqual([{ one: 1 }]);
});

test.concurrent("a statement that was prepared before its table got a column is prepared again", async (context) => {
  const url = await freshDatabase();
  const db = open(url, context);
  await db.write((tx) => tx.all(`CREATE TABLE things (n bigint PRIMARY KEY)`));
  const write = () =>
    db.write((tx) => tx.all(`INSERT INTO things (n) VALUES (1) ON CONFLICT (n) DO UPDATE SET n = 1 RETURNING *`));
  const read = () => db.all(`SELECT * FROM things`);
  // So many calls make every connection prepare both statements.
  await Promise.all(Array.from({ length: 8 }, () => Promise.all([write(), read()])));
  const other = await connectClient(url, "another node");
  await other.query(`ALTER TABLE things ADD COLUMN more text`);
  await other.end();
  for (let times = 0; times < 4; times++) {
    expect(await write()).toEqual([{ n: 1, more: null }]);
    expect(await read()).toEqual([{ n: 1, more: null }]);
  }
});

test.concurrent("a session that the server ended after its time limit is replaced", async (context) => {
  const url = await freshDatabase();
  const db = open(url, context);
  let runs = 0;
  const passed = await db.write(async (tx) => {
    runs += 1;
    if (runs === 1) await tx.all(`SET transaction_timeout = 50`);
    await tx.all(`SELECT pg_sleep(0.2)`);
    return tx.all(`SELECT 1 AS one`);
  });
  expect(passed).toEqual([{ one: 1 }]);
  expect(runs).toBe(2);
});

test.concurrent("whoever opens the database waits for the first answer of a slow server", async (context) => {
  const url = await freshDatabase();
  const gateway = await createGateway(url);
  // The probe alone takes several round trips.
  gateway.delayMs = 300;
  const db = open(behind(url, gateway.host), context);
  expect(await db.all("SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test.concurrent("a store that is closed before the first answer fails what waits, at once", async () => {
  const url = await freshDatabase();
  const ms = await shortestOf(async () => {
    const gateway = await createGateway(url, "silent");
    const db = connectPostgres(behind(url, gateway.host), { connections: 4 });
    const waiting = timed(db.all(`SELECT 1 AS one`));
    const closed = db.close();
    const failed = await waiting;
    expect(failed.error).toMatchObject({ code: "08003" });
    gateway.mode = "closed";
    gateway.cut();
    await closed;
    return failed.ms;
  });
  expect(ms).toBeLessThan(1500);
});

test.concurrent("a long statement is awaited, but not on a server that fell silent", async () => {
  const url = await freshDatabase();
  const gateway = await createGateway(url);
  const limits = { answerTimeoutMs: 1500, probeEveryMs: 200 };
  const client = await connectClient(behind(url, gateway.host), "cleancast test", limits);
  await client.query(`SELECT pg_sleep(0.6)`);
  const asked = timed(client.query(`SELECT pg_sleep(60)`));
  gateway.mode = "silent";
  expect((await asked).error.message).toBe("the server no longer answers");
  await client.end();
  const late = await timed(connectClient(behind(url, gateway.host), "cleancast test", limits));
  expect(late.error).toMatchObject({ code: "08006", message: "the server does not answer" });
});

test.concurrent("a read whose server falls silent is answered by the one that took its place", async (context) => {
  const url = await freshDatabase();
  const [silent, next] = [await createGateway(url), await createGateway(url, "closed")];
  const db = open(behind(url, `${silent.host},${next.host}`), context);
  await db.all(`SELECT 1`);
  silent.mode = "silent";
  next.mode = "open";
  expect(await db.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
});

test.concurrent("a server that is silent does not keep the others from being probed again", async (context) => {
  const url = await freshDatabase();
  const [silent, late] = [await createGateway(url), await createGateway(url, "closed")];
  const db = open(behind(url, `${silent.host},${late.host}`), context);
  await db.all(`SELECT 1`);
  silent.mode = "silent";
  silent.cut();
  const opened = sleep(300).then(() => (late.mode = "open"));
  expect(await askPatiently(db)).toEqual([{ one: 1 }]);
  await opened;
});

test
  .skipIf(inject("inSchemas"))
  .concurrent(
    "a new connection to the same name is refused when a promoted server answers there, and the promotion is counted",
    async (context) => {
      const url = await freshDatabase();
      const { promote } = await simulateTimeline(url);
      const db = open(url, context);
      expect([await db.all(`SELECT 1 AS one`), db.promotions()]).toEqual([[{ one: 1 }], 0]);
      await promote();
      // One more than there are idle connections.
      await Promise.all([db.all(`SELECT pg_sleep(0.1)`), db.all(`SELECT 2`)]);
      expect(db.promotions()).toBe(1);
      // Connections that break are no promotion.
      await endAll(url);
      expect([await db.all(`SELECT 1 AS one`), db.promotions()]).toEqual([[{ one: 1 }], 1]);
    },
  );

test
  .skipIf(inject("inSchemas"))
  .concurrent(
    "a transaction that asks for it does not run on a promoted server before the promotion is counted",
    async (context) => {
      const url = await freshDatabase();
      const { promote } = await simulateTimeline(url);
      const db = open(url, context);
      const write = (confirmTimeline: boolean) =>
        db.write(async (tx) => [await tx.all(`SELECT 1 AS one`), db.promotions()], { confirmTimeline });
      expect(await write(true)).toEqual([[{ one: 1 }], 0]);
      await promote();
      expect(await write(false)).toEqual([[{ one: 1 }], 0]);
      expect(await write(true)).toEqual([[{ one: 1 }], 1]);
    },
  );
