// Connections to one server, each of which has shown that it can be written through.

import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, type ClientBase } from "pg";
import { StoreFault } from "./errors.ts";
import { types } from "./columnTypes.ts";
import { refuseReadOnly } from "./probe.ts";
import { sessionName } from "../../schema/compatibility.ts";
import { migrations } from "../../schema/schema.ts";
import { switchesIn } from "./dialectFlags.ts";

/** By it other nodes see that this one is there. */
export const nodeName = sessionName(migrations.at(-1)?.version ?? 0);

export type Connections = {
  server: string;
  readers: Pool;
  writers: Pool;
  /** Has the server give up a commit's wait for a standby: it then answers that it cannot vouch for it. */
  endWait(client: ClientBase): Promise<void>;
  /** Ends all connections at once, also those that are yet to be opened. */
  cut(): void;
  /** When nobody uses them any more. */
  end(): Promise<void>;
};

const readMs = 5000;
const writeMs = 15_000;

export function openConnections(server: string, most: number): Connections {
  const sockets = new Set<Socket>();
  let isCut = false;
  function stream(): Socket {
    const socket = isCut ? new NoSocket() : new Socket();
    sockets.add(socket);
    return socket.once("close", () => sockets.delete(socket));
  }
  const pids = new WeakMap<ClientBase, number>();
  const onConnect = async (client: ClientBase) => {
    // One that breaks while it is in use fails the query of whoever uses it. The driver tells it here as well, and would
    // end the process if nobody listened.
    client.on("error", () => {});
    pids.set(client, await refuseReadOnly(client));
  };
  const open = (connections: number, statementMs: number, silentMs: number) =>
    openPool(server, connections, { statementMs, silentMs, stream, onConnect });
  // Two pools: reads that hang (a locked table) must not keep events from being accepted.
  const forReads = Math.max(1, Math.floor(most / 2));
  const readers = open(forReads, readMs, readMs + 1000);
  // A statement may wait for those before it.
  const writers = open(Math.max(1, most - forReads), writeMs, 2 * writeMs);
  return {
    server,
    readers,
    writers,
    async endWait(client) {
      const pid = pids.get(client);
      // A pooler in between gives numbers of its own: then nobody knows which process it is.
      if (pid === undefined || pid !== (client as { processID?: number }).processID) return;
      await readers.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'`,
        [pid],
      );
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    end: () => endPools([readers, writers]),
  };
}

/** Those who still wait for a connection hear at once that there will be none. */
class NoSocket extends Socket {
  override connect(): this {
    return this.destroy(new StoreFault("08006", "another server is written to"));
  }
}

type PoolOptions = {
  statementMs: number;
  silentMs: number;
  stream: () => Socket;
  onConnect: (client: ClientBase) => Promise<void>;
};

function openPool(server: string, most: number, options: PoolOptions): Pool {
  const { statementMs, silentMs, stream, onConnect } = options;
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
    application_name: nodeName,
    types,
    stream,
    onConnect(client) {
      return onConnect(client);
    },
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}

/** A pool that ends forgets those who wait for a connection; as long as it goes on, they at least hear of an error. */
async function endPools(pools: readonly Pool[]): Promise<void> {
  for (let tries = 0; pools.some(({ waitingCount }) => waitingCount > 0) && tries < 120; tries++)
    await sleep(50);
  await Promise.allSettled(pools.map((pool) => pool.end()));
}
