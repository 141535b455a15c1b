// Connections to one server, each of which has shown that it can be written through.

import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool } from "pg";
import { types } from "./postgresTypes.ts";
import { refuseReadOnly } from "./probe.ts";
import { sessionName } from "./beside.ts";
import { migrations } from "./schema.ts";
import { switchesIn } from "./switches.ts";

const latest = migrations.at(-1)?.version ?? 0;

export type PoolOptions = { statementMs: number; silentMs: number; stream: () => Socket };

export function openPool(server: string, most: number, { statementMs, silentMs, stream }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: server,
    max: most,
    // Statements of one transaction that do not wait for each other share a round trip.
    pipeline: switchesIn(server).pipelining,
    connectionTimeoutMillis: 5000,
    statement_timeout: statementMs,
    // For a server that is gone without a word: then nobody sends the error of the time limit above.
    query_timeout: silentMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: sessionName(latest),
    types,
    stream,
    onConnect(client) {
      // One that breaks while it is in use tells those who wait for it, and tells here, too.
      client.on("error", () => {});
      return refuseReadOnly(client);
    },
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}

/** One connection, without a limit of time: for what is done once, beside all others. */
export function openSession(server: string): Client {
  const client = new Client({
    connectionString: server,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    application_name: sessionName(latest),
    types,
  });
  // One that breaks tells whoever waits for an answer.
  client.on("error", () => {});
  return client;
}

/** A pool that ends forgets those who wait for a connection; as long as it goes on, they at least hear of an error. */
export async function endPools(pools: readonly Pool[]): Promise<void> {
  for (let tries = 0; pools.some(({ waitingCount }) => waitingCount > 0) && tries < 120; tries++)
    await sleep(50);
  await Promise.allSettled(pools.map((pool) => pool.end()));
}
