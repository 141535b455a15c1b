// The shared engine: any number of nodes on one PostgreSQL, which may have standbys that take its place.

import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Pool, PoolClient } from "pg";
import {
  chunks,
  type Database,
  type Query,
  type Row,
  type RowQuery,
  type RowStatement,
  type Value,
} from "./database.ts";
import { openSession } from "./pool.ts";
import { isDoubtful, isPassing, isStale, sqlState, StoreFault } from "./postgresErrors.ts";
import { openPrimary, type Connections } from "./primary.ts";
import { serversOf } from "./servers.ts";
import { switchesIn } from "./switches.ts";

/**
 * How long a caller is held while there is no server to write to, or its transaction collides with others. Less than the
 * look-up of a person's consent is given (identity/attribution.ts): an event that came while nobody could be asked is
 * refused, and not accepted a moment later without what belongs to it.
 */
const patienceMs = 1900;
const shortestPauseMs = 20;
const longestPauseMs = 500;

export function openPostgres(url: string, options: { connections: number }): Database {
  const { connections } = options;
  const switches = switchesIn(url);
  const elapsed = () => performance.now();
  const primary = openPrimary({ servers: serversOf(url), connections, random: Math.random, elapsed });

  /** Runs `work` until it passes, on whichever server is the one by then. */
  async function retried<T>(work: (on: Connections) => Promise<T>, mostMs?: number): Promise<T> {
    const startedAt = elapsed();
    const heldMs = () => elapsed() - startedAt;
    const wait = { patienceMs: mostMs ?? patienceMs, patient: mostMs !== undefined };
    for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const on = await primary.connections({ ...wait, heldMs: heldMs() });
      try {
        return await work(on);
      } catch (error) {
        if (isDoubtful(error)) primary.doubt(on);
        if (!isPassing(error) || heldMs() + pauseMs >= wait.patienceMs) throw error;
      }
      // With jitter: those that collided do not meet again.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  const all = (sql: string, params?: readonly Value[]) => retried(({ readers }) => run(readers, sql, params));

  async function alone<T>(work: (session: Query) => Promise<T>): Promise<T> {
    const { server } = await primary.connections({ patienceMs, heldMs: 0, patient: false });
    const client = openSession(server);
    try {
      await client.connect();
      return await work({ all: (sql, params) => run(client, sql, params) });
    } finally {
      await client.end();
    }
  }

  return {
    engine: "postgres",
    skipLocked: switches.skipLocked ? "FOR UPDATE SKIP LOCKED" : "",
    advisoryLocks: switches.advisoryLocks,
    alone: switches.advisoryLocks ? alone : null,
    isSharded: async () =>
      switches.asSharded || (await all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`)).length > 0,
    all,
    commitGroup: (siteId) => siteId,
    write: (work, mostMs) => retried(({ writers }) => transaction(writers, work), mostMs),
    blamesData: (error) => /^(22|23|54)/.test(sqlState(error)),
    isOwnError: (error) => sqlState(error) !== "",
    close: () => primary.close(),
  };
}

async function transaction<T>(pool: Pool, work: (tx: RowQuery) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Not awaited: BEGIN travels with the first statement of `work`, which fails if it fails.
    const begun = client.query("BEGIN");
    begun.catch(() => {});
    const result = await work({
      all: (sql, params) => run(client, sql, params),
      change: (statement, rows, first) => change(client, statement, rows, first),
    });
    await commit(client);
    return result;
  } catch (error) {
    if (isDoubtful(error) || isStale(error)) broken = error as Error;
    else await client.query("ROLLBACK").catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * A primary whose wait for its standby was cut short says COMMIT all the same, and only warns: if it died now, the
 * transaction would be gone. So it counts as not known, and is run again.
 */
async function commit(client: PoolClient): Promise<void> {
  let warned = false;
  const onNotice = ({ code }: { code?: string | undefined }) => void (warned ||= code === "01000");
  client.on("notice", onNotice);
  try {
    const { command } = await client.query("COMMIT");
    if (warned) throw new StoreFault("08007", "it is not known whether the transaction is durable");
    // PostgreSQL's answer to the COMMIT of a transaction in which something had failed.
    if (command !== "COMMIT") throw new StoreFault("40000", "the transaction was rolled back");
  } finally {
    client.off("notice", onNotice);
  }
}

const names = new Map<string, string>();

/** Every text is prepared once a connection, under a name made from it. */
function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) {
    name = hash("sha1", sql);
    names.set(sql, name);
  }
  return name;
}

export async function run(
  on: Pool | PoolClient | Client,
  sql: string,
  params: readonly Value[] = [],
): Promise<Row[]> {
  const result = await on.query<Row>({ name: statementName(sql), text: sql, values: params as Value[] });
  return result.rows;
}

/** Sent without waiting for each other: they share a round trip. */
export async function change(
  client: PoolClient | Client,
  statement: RowStatement,
  rows: readonly (readonly Value[])[],
  first: readonly Value[] = [],
): Promise<boolean[]> {
  const returned = await Promise.all(
    [...chunks(rows)].map((some) => run(client, statement.forMany(some.length), [...first, ...some.flat()])),
  );
  // In whichever order a database of several nodes returns them.
  const changed = new Set(returned.flat().map((row) => Object.values(row).join("\n")));
  return rows.map((row) => changed.has(statement.key.map((at) => row[at]).join("\n")));
}
