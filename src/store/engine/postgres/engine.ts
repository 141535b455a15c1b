// The shared engine: any number of nodes on one PostgreSQL, which may have standbys that take its place.

import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Pool, PoolClient } from "pg";
import { openClient } from "./client.ts";
import {
  chunks,
  type Database,
  type Query,
  type Row,
  type RowQuery,
  type RowStatement,
  type Value,
} from "../database.ts";
import { isDoubtful, isPassing, isStale, sqlState, StoreFault, unsure } from "./errors.ts";
import { nodeName, type Connections } from "./pool.ts";
import { openPrimary } from "./primary.ts";
import { serversOf } from "./servers.ts";
import { switchesIn } from "./dialectFlags.ts";

/** How long a caller is held while there is no server to write to, or its transaction collides with others. */
const defaultTimeoutMs = 1900;
const minPauseMs = 20;
const maxPauseMs = 500;

export type PostgresOptions = {
  connections: number;
  /** How long a commit may wait for a standby. */
  commitMs?: number;
  /** How often all of several servers are asked. */
  roundMs?: number;
};

export function openPostgres(url: string, options: PostgresOptions): Database {
  const { commitMs = 15_000, ...given } = options;
  const switches = switchesIn(url);
  const elapsed = () => performance.now();
  const primary = openPrimary({ ...given, servers: serversOf(url), random: Math.random, elapsed });

  /** Runs `work` until it passes, on whichever server is the one by then. */
  async function retried<T>(
    pool: "readers" | "writers",
    work: (client: PoolClient, on: Connections, isUnsure: boolean) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T> {
    let by = elapsed() + (timeoutMs ?? defaultTimeoutMs);
    let wasSilent = false;
    let isUnsure = false;
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      // While there is no server, nobody is held longer than those who came when it was lost.
      const heldUntil = timeoutMs === undefined ? Math.min(by, primary.lostAt() + defaultTimeoutMs) : by;
      const on = await primary.connections(heldUntil);
      let client: PoolClient | null = null;
      try {
        client = await on[pool].connect();
        const result = await work(client, on, isUnsure);
        client.release();
        return result;
      } catch (error) {
        if (client) await giveBack(client, error, pool === "writers");
        // Whatever keeps us out, the server may have left its place to another; but not if it is only full.
        const isOut = client === null && sqlState(error) !== "53300";
        if (isOut || isDoubtful(error)) primary.doubt(on);
        // A read whose time went by while a server was silent may ask the next one, once.
        if (pool === "readers" && isDoubtful(error) && !wasSilent) {
          wasSilent = true;
          by = elapsed() + defaultTimeoutMs;
        }
        if (!(isOut || isPassing(error)) || elapsed() + pauseMs >= by) throw error;
        isUnsure ||= sqlState(error) === unsure;
      }
      // With jitter: those that collided do not meet again.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  const all = (sql: string, params?: readonly Value[]) =>
    retried("readers", (client) => run(client, sql, params));

  /** Null until it was asked. */
  let sharded: boolean | null = switches.asSharded || null;
  const isSharded = async () =>
    (sharded ??= (await all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`)).length > 0);

  async function alone<T>(work: (session: Query) => Promise<T>): Promise<T> {
    const { server } = await primary.connections(elapsed() + defaultTimeoutMs);
    const client = await openClient(server, nodeName);
    try {
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
    isSharded,
    all,
    commitGroup: (siteId) => (sharded === false ? groupOf(siteId) : siteId),
    write: (work, { timeoutMs } = {}) =>
      retried(
        "writers",
        async (client, on, isUnsure) => {
          const result = await begin(client, work, isUnsure);
          await commit(client, () => on.endWait(client), commitMs);
          return result;
        },
        timeoutMs,
      ),
    blamesData: (error) => /^(22|23|54)/.test(sqlState(error)),
    isOwnError: (error) => sqlState(error) !== "",
    close: () => primary.close(),
  };
}

/** Into so many groups sites are divided, whose commits share transactions. */
export const commitGroups = 4;

/** Ids are random, so any part of them divides sites evenly. */
const groupOf = (siteId: string) => String(siteId.charCodeAt(siteId.length - 1) % commitGroups);

async function giveBack(client: PoolClient, error: unknown, isInTransaction: boolean): Promise<void> {
  let isBroken = isDoubtful(error) || isStale(error);
  if (isInTransaction && !isBroken) await client.query("ROLLBACK").catch(() => (isBroken = true));
  client.release(isBroken);
}

/** What a transaction does, up to its commit. */
async function begin<T>(
  client: PoolClient,
  work: (tx: RowQuery) => Promise<T>,
  isUnsure: boolean,
): Promise<T> {
  // Not awaited: it travels with the first statement of `work`, which fails if it fails.
  client.query("BEGIN").catch(() => {});
  // A transaction that finds its work done would write nothing, and its commit would not wait for the standby.
  if (isUnsure) await client.query("SELECT pg_logical_emit_message(true, 'cleancast', '')");
  return work({
    all: (sql, params) => run(client, sql, params),
    change: (statement, rows, first) => change(client, statement, rows, first),
  });
}

/**
 * A primary whose wait for its standby was cut short says COMMIT all the same, and only warns: if it died now, the
 * transaction would be gone. So it counts as not known, and is run again. The server has no time limit for this wait, and
 * a connection that is dropped in the middle of it stays with the server: so it is us who cut it short.
 */
async function commit(client: PoolClient, endWait: () => Promise<void>, timeoutMs: number): Promise<void> {
  let warned = false;
  const onNotice = ({ code }: { code?: string | undefined }) => void (warned ||= code === "01000");
  client.on("notice", onNotice);
  const timer = setTimeout(() => void endWait().catch(() => {}), timeoutMs);
  try {
    const { command } = await client.query("COMMIT");
    if (warned) throw new StoreFault(unsure, "it is not known whether the transaction is durable");
    // PostgreSQL's answer to the COMMIT of a transaction in which something had failed.
    if (command !== "COMMIT") throw new StoreFault("40000", "the transaction was rolled back");
  } finally {
    clearTimeout(timer);
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
