// Pools of connections to one server. Each connection is checked to be writable before it is used.

import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, type ClientBase } from "pg";
import { noteClient, types } from "./client.ts";
import { readDialectFlags } from "./dialect.ts";
import { PostgresError } from "./errors.ts";
import { refuseOtherTimeline, refuseReadOnly, type Timeline } from "./probe.ts";

export type Connections = {
  server: string;
  timeline: Timeline;
  readers: Pool;
  /** For periodic queries over all sites; the same as `readers` where there are few connections. */
  background: Pool;
  writers: Pool;
  /**
   * For the lease of the node, which must not end while writes that hang have all connections; the same as `writers` where there
   * are few connections.
   */
  leases: Pool;
  /** Makes the server stop waiting for a standby in a commit; it then warns that the commit may not be durable. */
  cancelSyncWait(client: ClientBase): Promise<void>;
  /** Closes all connections at once, also those that are yet to be opened. */
  destroy(): void;
  /** Closes the connections when they are no longer in use. */
  end(): Promise<void>;
};

const readTimeoutMs = 5000;
const backgroundTimeoutMs = 3000;
/** Longer than the pause between two periodic queries: on Citus a new connection costs more than a query. */
const backgroundIdleMs = 60_000;
/** With fewer connections, background reads share those of the others. */
const minForBackground = 6;
const maxBackground = 2;
/** With fewer connections, leases share those of other writes. */
const minForLeases = 8;
const writeTimeoutMs = 15_000;

/** How many of the connections to a server read for requests. */
export function countReaders(maxConnections: number): number {
  // Taken from the readers: commits need theirs more.
  const others = countForBackground(maxConnections) + countForLeases(maxConnections);
  return countForReads(maxConnections) - others || 1;
}

const countForReads = (maxConnections: number) => Math.max(1, Math.floor(maxConnections / 2));
const countForBackground = (maxConnections: number) => (maxConnections >= minForBackground ? maxBackground : 0);
const countForLeases = (maxConnections: number) => (maxConnections >= minForLeases ? 1 : 0);

export function createConnections(
  server: string,
  timeline: Timeline,
  maxConnections: number,
  sessionName: string,
  /** A statement that each connection begins with. */
  setUp = "",
): Connections {
  const sockets = new Set<Socket>();
  let isDestroyed = false;
  function stream(): Socket {
    const socket = isDestroyed ? new RefusedSocket() : new Socket();
    sockets.add(socket);
    return socket.once("close", () => sockets.delete(socket));
  }
  const pids = new WeakMap<ClientBase, number>();
  const { pipelining, transactionPooler } = readDialectFlags(server);
  async function onConnect(client: ClientBase): Promise<void> {
    // A connection that breaks fails its current query. The driver also emits the error here, and would end the process
    // without a listener.
    client.on("error", () => {});
    noteClient(client, server, pipelining);
    pids.set(client, await refuseReadOnly(client));
    await refuseOtherTimeline(client, timeline);
    // A pooler may give each transaction another session, and this one to another client.
    if (setUp && !transactionPooler) await client.query(setUp);
  }
  function open(max: number, statementTimeoutMs: number, silenceTimeoutMs: number, idleTimeoutMs = 10_000) {
    const pool = new Pool({
      connectionString: server,
      max,
      // Statements of one transaction that do not wait for each other share a round trip.
      pipeline: pipelining,
      connectionTimeoutMillis: 5000,
      idleTimeoutMillis: idleTimeoutMs,
      // A pooler refuses it, or gives it to the transactions of others. There only the next limit counts.
      ...(transactionPooler ? {} : { statement_timeout: statementTimeoutMs }),
      // A server that is gone cannot send the error of the time limit above.
      query_timeout: silenceTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: sessionName,
      types,
      stream,
      onConnect(client) {
        return onConnect(client);
      },
    });
    // The pool replaces an idle connection that breaks; without a listener it would end the process.
    pool.on("error", () => {});
    return pool;
  }
  // Several pools: reads that hang, such as on a locked table, must not keep events from being accepted, and queries over all sites
  // must not keep requests from reading.
  const forBackground = countForBackground(maxConnections);
  const forLeases = countForLeases(maxConnections);
  const readers = open(countReaders(maxConnections), readTimeoutMs, readTimeoutMs + 1000);
  const background = forBackground
    ? open(forBackground, backgroundTimeoutMs, backgroundTimeoutMs + 1000, backgroundIdleMs)
    : readers;
  // A pipelined statement may wait for those before it.
  const createForWrites = (max: number) => open(max, writeTimeoutMs, 2 * writeTimeoutMs);
  const writers = createForWrites(Math.max(1, maxConnections - countForReads(maxConnections)));
  const leases = forLeases ? createForWrites(forLeases) : writers;
  return {
    server,
    timeline,
    readers,
    background,
    writers,
    leases,
    async cancelSyncWait(client) {
      const pid = pids.get(client);
      // A pooler in between assigns process ids of its own, so the real one is unknown.
      if (pid === undefined || pid !== (client as { processID?: number }).processID) return;
      await readers.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'`, [pid]);
    },
    destroy() {
      isDestroyed = true;
      for (const socket of sockets) socket.destroy();
    },
    end: () => endPools([...new Set([readers, background, writers, leases])]),
  };
}

/** Fails at once for those that still wait for a connection to a server that was given up. */
class RefusedSocket extends Socket {
  override connect(): this {
    return this.destroy(new PostgresError("08006", "another server is the primary"));
  }
}

/** Waits for queued requests first: a pool that ends drops them without an answer, an open pool at least fails them. */
async function endPools(pools: readonly Pool[]): Promise<void> {
  for (let checks = 0; pools.some(({ waitingCount }) => waitingCount > 0) && checks < 120; checks++) await sleep(50);
  await Promise.allSettled(pools.map((pool) => pool.end()));
}
