// The shared engine: any number of nodes on one PostgreSQL.

import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, types as pgTypes, type Client, type CustomTypesConfig, type PoolClient } from "pg";
import { chunks, type Database, type Row, type RowQuery, type RowStatement, type Value } from "./database.ts";

/** Failures that pass: serialisation, deadlock, a lost or shutting-down server, no primary for the moment. */
const passing = new Set(["40001", "40P01", "08000", "08003", "08006", "57P01", "57P02", "57P03", "25006"]);
const lostConnection = new Set(["ECONNRESET", "EPIPE", "ECONNREFUSED", "ETIMEDOUT"]);
const retryDelaysMs = [20, 100, 500];

/** Times and counts are `bigint`; all of ours fit a JavaScript number. */
export const types: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pgTypes.builtins.INT8 ? Number : pgTypes.getTypeParser(oid, format),
};

export function openPostgres(url: string, options: { connections: number }): Database {
  // Two pools: reads that hang (a locked table) must not keep events from being accepted.
  const forReads = Math.max(1, Math.floor(options.connections / 2));
  const readers = openPool(url, forReads, 5_000);
  const writers = openPool(url, Math.max(1, options.connections - forReads), 15_000);

  return {
    engine: "postgres",
    skipLocked: "FOR UPDATE SKIP LOCKED",
    all: (sql, params) => retried(() => run(readers, sql, params)),
    commitGroup: (siteId) => siteId,
    write: (work) => retried(() => transaction(writers, work)),
    blamesData: (error) => /^(22|23|54)/.test(sqlState(error)),
    isOwnError: (error) => sqlState(error) !== "",
    close: async () => {
      await Promise.all([readers.end(), writers.end()]);
    },
  };
}

function openPool(url: string, connections: number, statementMs: number): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // Statements of one transaction that do not wait for each other share a round trip.
    pipeline: true,
    connectionTimeoutMillis: 5_000,
    statement_timeout: statementMs,
    application_name: "cleancast",
    types,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
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
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (const delay of retryDelaysMs) {
    try {
      return await work();
    } catch (error) {
      if (!passing.has(sqlState(error)) && !lostConnection.has(sqlState(error))) throw error;
      await sleep(delay);
    }
  }
  return work();
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

function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // The driver has no code for a connection that the server or the network ended.
  if (/^Connection terminated|Client has encountered a connection error/.test(error.message)) return "08006";
  return "code" in error ? String(error.code) : "";
}
