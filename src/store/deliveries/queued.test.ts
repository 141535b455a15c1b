// Changing a few deliveries of a large backlog reads about as many rows as it changes, on a PostgreSQL whose statistics are
// older than the backlog, when its planner is at its worst. Runs on the tests' own PostgreSQL alone, because others count
// the rows that they read in other places.

import { Client } from "pg";
import { describe, expect, inject, test } from "vitest";
import { migratedDatabase } from "../../../test/support/databases.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Delivery } from "./delivery.ts";
import type { Settlement } from "./delivery.ts";
import { createStore, type Store } from "../store.ts";

const many = 20_000;
const now = Date.UTC(2026, 10, 15);
const busy = { siteId: "s05", connectionId: "c1" };

/**
 * Makes many deliveries of one connection in this state, all due at once, and a sent one at each other site. With "others"
 * the server's statistics know those others alone. Returns how many rows `work` read.
 */
async function withMany(
  state: "queued" | "parked",
  work: (store: Store) => Promise<void>,
  counted: "nothing" | "others" = "nothing",
): Promise<number> {
  const url = await migratedDatabase();
  const open = () => createStore({ engine: "postgres", url, connections: 4 }, Buffer.alloc(32, 7), ulid);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await (await open()).close();
    const insert = `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)`;
    await client.query(`ALTER TABLE deliveries SET (autovacuum_enabled = false)`);
    await client.query(`${insert} SELECT 's1' || n, 'e1', 'c1', 'meta', 'sent', 0, 0, '', 0 FROM generate_series(0, 9) AS n`);
    if (counted === "others") await client.query(`ANALYZE deliveries`);
    await client.query(`${insert} SELECT '${busy.siteId}', 'e' || n, 'c1', 'meta', '${state}', 0, ${now}, '', 0
      FROM generate_series(1, ${many}) AS n`);
    await client.query(`SELECT pg_stat_force_next_flush()`);
    const before = await rowsRead(client);
    const store = await open();
    await work(store);
    // A connection reports what it has read when it ends.
    await store.close();
    return (await settled(client)) - before;
  } finally {
    await client.end();
  }
}

const sent = ({ siteId, eventId, connectionId, owner }: Delivery): Settlement => ({
  siteId,
  eventId,
  connectionId,
  owner,
  state: "sent",
  reason: null,
  dueAt: 0,
  attempts: 1,
  at: now,
  attempt: {
    number: 1,
    startedAt: now,
    durationMs: 1,
    state: "sent",
    reason: null,
    httpStatus: 200,
    batch: 1,
    request: "",
    response: null,
  },
});

async function rowsRead(client: Client): Promise<number> {
  const { rows } = await client.query(
    `SELECT (SELECT SUM(seq_tup_read) FROM pg_stat_user_tables WHERE relname = 'deliveries')
       + (SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'deliveries') AS n`,
  );
  return Number(rows[0].n);
}

/** The reports arrive a moment after the connections were closed. */
async function settled(client: Client): Promise<number> {
  const others = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend'`;
  while ((await client.query(others)).rows.length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return rowsRead(client);
}

describe.skipIf(inject("inSchemas"))("a large backlog of one connection", () => {
  test("claiming and parking some deliveries of a backlog reads about as many rows", async () => {
    const read = await withMany("queued", async ({ deliveries }) => {
      for (let i = 0; i < 8; i++) {
        expect(await deliveries.findDue(now)).toEqual([busy]);
        expect(await deliveries.findParked()).toEqual([]);
        const lease = { by: "row", owner: "node", at: now, dueAt: now + 1 } as const;
        expect(await deliveries.claimDue(busy, lease, 20)).toHaveLength(20);
      }
      const outcome = { state: "parked", reason: "paused" } as const;
      for (let i = 0; i < 4; i++) expect(await deliveries.endPending(busy, outcome, now, 100)).toBe(100);
      expect(await deliveries.findParked()).toEqual([busy]);
    });
    expect(read).toBeGreaterThan(500);
    // Index entries that were just changed may be read again; a full scan would show in every step.
    expect(read).toBeLessThan(many);
  });

  test("releasing and ending some deliveries of a backlog reads about as many rows", async () => {
    const read = await withMany("parked", async ({ deliveries }) => {
      for (let i = 0; i < 8; i++) {
        expect(await deliveries.findParked()).toEqual([busy]);
        expect(await deliveries.releaseParked(busy.siteId, busy.connectionId, now, 100)).toBe(100);
      }
      expect(await deliveries.findDue(now)).toEqual([busy]);
      const outcome = { state: "skipped", reason: "disconnected" } as const;
      for (let i = 0; i < 4; i++) expect(await deliveries.endPending(busy, outcome, now, 100)).toBe(100);
    });
    expect(read).toBeGreaterThan(500);
    expect(read).toBeLessThan(many);
  });

  test.each(["nothing", "others"] as const)(
    "settling some deliveries of a backlog reads about as many rows, with statistics of %s",
    async (counted) => {
      const read = await withMany(
        "queued",
        async ({ deliveries }) => {
          for (const limit of [1, 2, 8, 20, 64, 100]) {
            const claimed = await deliveries.claimDue(busy, { by: "row", owner: "node", at: now, dueAt: now + 60_000 }, limit);
            expect(claimed).toHaveLength(limit);
            await Promise.all(claimed.map((one) => deliveries.settle(sent(one))));
          }
          expect(await deliveries.listAttempts(busy.siteId, "e1")).toHaveLength(1);
        },
        counted,
      );
      expect(read).toBeGreaterThan(400);
      expect(read).toBeLessThan(many / 2);
    },
  );
});
