// The shared engine: any number of nodes on one PostgreSQL, which may have standbys that can take its place.

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
import { postgresDialect, readDialectFlags } from "./dialect.ts";
import {
  commitUnknown,
  isDataError,
  isServerSuspect,
  isStalePlan,
  isTransient,
  PostgresError,
  sqlState,
} from "./errors.ts";
import type { Connections } from "./pool.ts";
import { openPrimary } from "./primary.ts";
import { refuseOtherTimeline, type Timeline } from "./probe.ts";
import { serverUrls } from "./servers.ts";

/** How long a caller waits while there is no primary, or its transaction collides with others. */
const defaultTimeoutMs = 1900;
const minPauseMs = 20;
const maxPauseMs = 500;

export type PostgresOptions = {
  connections: number;
  /** The name under which other nodes see the connections. */
  sessionName?: string;
  /** How long a commit may wait for a standby. */
  commitTimeoutMs?: number;
  /** How often all of several servers are probed. */
  probeEveryMs?: number;
};

export function openPostgres(url: string, options: PostgresOptions): Database {
  const { commitTimeoutMs = 15_000, sessionName = "cleancast", ...rest } = options;
  const flags = readDialectFlags(url);
  const elapsed = () => performance.now();
  const primary = openPrimary({
    ...rest,
    sessionName,
    servers: serverUrls(url),
    random: Math.random,
    elapsed,
  });

  /** Runs `work` until it passes, on the server that is the primary by then. */
  async function withRetry<T>(
    pool: "readers" | "background" | "writers",
    work: (client: PoolClient, on: Connections, isUncertain: boolean) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T> {
    let by = elapsed() + (timeoutMs ?? defaultTimeoutMs);
    let wasSilent = false;
    let isUncertain = false;
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      // While there is no primary, no caller waits longer than those that came when it was lost.
      const waitUntil = timeoutMs === undefined ? Math.min(by, primary.lostSince() + defaultTimeoutMs) : by;
      const on = await primary.connections(waitUntil);
      let client: PoolClient | null = null;
      try {
        client = await on[pool].connect();
        const result = await work(client, on, isUncertain);
        client.release();
        return result;
      } catch (error) {
        if (client) await releaseFailed(client, error, pool === "writers");
        // A server that refuses connections may no longer be the primary, unless it is only full.
        const isRefused = client === null && sqlState(error) !== "53300";
        if (isRefused || isServerSuspect(error)) primary.suspect(on);
        // A read whose time passed while a server was silent may ask the next one, once.
        if (pool !== "writers" && isServerSuspect(error) && !wasSilent) {
          wasSilent = true;
          by = elapsed() + defaultTimeoutMs;
        }
        if (!(isRefused || isTransient(error)) || elapsed() + pauseMs >= by) throw error;
        isUncertain ||= sqlState(error) === commitUnknown;
      }
      // With jitter, so that transactions that collided do not collide again.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  const all = (sql: string, params?: readonly Value[]) =>
    withRetry("readers", (client) => query(client, sql, params));

  /** Null until the server was asked. */
  let sharded: boolean | null = flags.asSharded || null;
  const isSharded = async () =>
    (sharded ??= (await all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`)).length > 0);

  async function onDedicatedConnection<T>(work: (session: Query) => Promise<T>): Promise<T> {
    const { server } = await primary.connections(elapsed() + defaultTimeoutMs);
    const client = await openClient(server, sessionName);
    try {
      return await work({ all: (sql, params) => query(client, sql, params) });
    } finally {
      await client.end();
    }
  }

  return {
    ...postgresDialect,
    skipLocked: flags.skipLocked ? "FOR UPDATE SKIP LOCKED" : "",
    advisoryLocks: flags.advisoryLocks,
    onDedicatedConnection: flags.advisoryLocks ? onDedicatedConnection : null,
    isSharded,
    all,
    background: {
      all: (sql, params) => withRetry("background", (client) => query(client, sql, params)),
    },
    commitGroup: (siteId) => (sharded === false ? groupOf(siteId) : siteId),
    write: (work, { timeoutMs, confirmTimeline } = {}) =>
      withRetry(
        "writers",
        async (client, on, isUncertain) => {
          const result = await runTransaction(client, work, {
            isUncertain,
            timeline: confirmTimeline ? on.timeline : null,
          });
          await commit(client, () => on.cancelSyncWait(client), commitTimeoutMs);
          return result;
        },
        timeoutMs,
      ),
    promotions: () => primary.promotions(),
    isDataError,
    isOwnError: (error) => sqlState(error) !== "",
    close: () => primary.close(),
  };
}

/** The number of groups of sites whose commits share transactions. */
export const commitGroups = 4;

/** Ids are random, so any part of them divides sites evenly. */
const groupOf = (siteId: string) => String(siteId.charCodeAt(siteId.length - 1) % commitGroups);

async function releaseFailed(client: PoolClient, error: unknown, isInTransaction: boolean): Promise<void> {
  let isBroken = isServerSuspect(error) || isStalePlan(error);
  if (isInTransaction && !isBroken) await client.query("ROLLBACK").catch(() => (isBroken = true));
  client.release(isBroken);
}

/** Runs a transaction up to its commit. */
async function runTransaction<T>(
  client: PoolClient,
  work: (tx: RowQuery) => Promise<T>,
  { isUncertain, timeline }: { isUncertain: boolean; timeline: Timeline | null },
): Promise<T> {
  // BEGIN is not awaited: it travels with the first statement of `work`, which fails if it fails.
  client.query("BEGIN").catch(() => {});
  if (timeline) await refuseOtherTimeline(client, timeline);
  // A repeated transaction that finds its work done would write nothing, and its commit would not wait for the standby.
  if (isUncertain) await client.query("SELECT pg_logical_emit_message(true, 'cleancast', '')");
  return work({
    all: (sql, params) => query(client, sql, params),
    change: (statement, rows, first) => changeRows(client, statement, rows, first),
  });
}

/**
 * A primary whose wait for its standby was cancelled answers COMMIT all the same, with a warning: if it died now, the
 * transaction would be gone. So its outcome counts as unknown, and it is run again. The server has no time limit for this
 * wait, and keeps waiting when the connection is dropped: so we cancel the wait.
 */
async function commit(
  client: PoolClient,
  cancelSyncWait: () => Promise<void>,
  timeoutMs: number,
): Promise<void> {
  let warned = false;
  const onNotice = ({ code }: { code?: string | undefined }) => void (warned ||= code === "01000");
  client.on("notice", onNotice);
  const timer = setTimeout(() => void cancelSyncWait().catch(() => {}), timeoutMs);
  try {
    const { command } = await client.query("COMMIT");
    if (warned) throw new PostgresError(commitUnknown, "it is not known whether the transaction is durable");
    // PostgreSQL answers so to the COMMIT of a transaction in which a statement had failed.
    if (command !== "COMMIT") throw new PostgresError("40000", "the transaction was rolled back");
  } finally {
    clearTimeout(timer);
    client.off("notice", onNotice);
  }
}

const names = new Map<string, string>();

/** Names a statement by its text: each text is prepared once per connection. */
function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) {
    name = hash("sha1", sql);
    names.set(sql, name);
  }
  return name;
}

export async function query(
  on: Pool | PoolClient | Client,
  sql: string,
  params: readonly Value[] = [],
): Promise<Row[]> {
  const result = await on.query<Row>({ name: statementName(sql), text: sql, values: params as Value[] });
  return result.rows;
}

/** Sends the statements without waiting for each other, so that they share a round trip. */
export async function changeRows(
  client: PoolClient | Client,
  statement: RowStatement,
  rows: readonly (readonly Value[])[],
  first: readonly Value[] = [],
): Promise<boolean[]> {
  const returned = await Promise.all(
    [...chunks(rows)].map((some) =>
      query(client, statement.forMany(some.length), [...first, ...some.flat()]),
    ),
  );
  // By key and not by position: a sharded database returns rows in any order.
  const changed = new Set(returned.flat().map((row) => Object.values(row).join("\n")));
  return rows.map((row) => changed.has(statement.key.map((at) => row[at]).join("\n")));
}
