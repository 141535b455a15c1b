// Which of the servers is written to, found out by asking them, and connections to it alone.
//
// Whoever meets an error that puts the server in doubt says so. Then nobody uses it any more until all servers were
// asked again; new connections are opened to the one that can be written to, and the old ones are thrown away.

import { setTimeout as sleep } from "node:timers/promises";
import { Socket } from "node:net";
import type { Pool } from "pg";
import { within } from "../deadline.ts";
import { isPassing, StoreFault } from "./postgresErrors.ts";
import { endPools, openPool } from "./pool.ts";
import { writableAmong } from "./probe.ts";
import { namesOf } from "./servers.ts";

export type Connections = { server: string; readers: Pool; writers: Pool };

export type PrimaryOptions = {
  servers: readonly string[];
  connections: number;
  random: () => number;
  /** Milliseconds that passed, whatever happens to the clock. */
  elapsed: () => number;
};

export type Primary = {
  /**
   * Connections to the server that is written to. Without one it waits: `patienceMs` since the caller began, and no
   * longer than that since the server was lost, unless the caller is `patient`.
   */
  connections(wait: { patienceMs: number; heldMs: number; patient: boolean }): Promise<Connections>;
  doubt(connections: Connections): void;
  close(): Promise<void>;
};

const shortestPauseMs = 50;
const longestPauseMs = 1000;
const lastAnswersMs = 2000;
const readMs = 5000;
const writeMs = 15_000;

export function openPrimary({ servers, connections, random, elapsed }: PrimaryOptions): Primary {
  const sockets = new Map<Connections, Set<Socket>>();
  const retiring = new Set<Promise<unknown>>();
  let current: Connections | null = null;
  let closed = false;
  const wake = new AbortController();
  let lostAt = elapsed();
  let failure: unknown = null;
  let search = startSearch();

  function startSearch(): Promise<Connections> {
    lostAt = elapsed();
    failure = null;
    const hopeless = Promise.withResolvers<never>();
    const found = Promise.race([look(hopeless.reject), hopeless.promise]);
    // Those who wait hear of it; it may be that nobody does.
    found.catch(() => {});
    return found;
  }

  /** Goes on until it has found one, also when those who wait were told that waiting is of no use. */
  async function look(giveUp: (error: unknown) => void): Promise<Connections> {
    for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const server = await writableAmong(servers);
        if (!closed) return (current = open(server));
      } catch (error) {
        failure = error;
        if (!isPassing(error)) giveUp(error);
      }
      // With jitter: nodes that lost the same server do not come back in step.
      await sleep(pauseMs * (0.5 + random() / 2), null, { signal: wake.signal }).catch(() => {});
      if (closed) throw new StoreFault("08003", "the store is closed");
    }
  }

  function open(server: string): Connections {
    const mine = new Set<Socket>();
    const stream = () => {
      const socket = new Socket();
      mine.add(socket);
      return socket.once("close", () => mine.delete(socket));
    };
    // Two pools: reads that hang (a locked table) must not keep events from being accepted.
    const forReads = Math.max(1, Math.floor(connections / 2));
    const opened = {
      server,
      readers: openPool(server, forReads, { statementMs: readMs, silentMs: readMs + 1000, stream }),
      writers: openPool(server, Math.max(1, connections - forReads), {
        statementMs: writeMs,
        // A statement may wait for those before it.
        silentMs: 2 * writeMs,
        stream,
      }),
    };
    for (const [old, held] of sockets) {
      const destroy = () => held.forEach((socket) => socket.destroy());
      // What still waits for an answer of another server will not get one that counts. The same name may stand for
      // another machine by now; if it does not, what is under way comes to its end.
      if (old.server === server) setTimeout(destroy, lastAnswersMs).unref();
      else destroy();
    }
    sockets.set(opened, mine);
    return opened;
  }

  function retire(old: Connections): void {
    const ended = endPools([old.readers, old.writers]).finally(() => {
      sockets.delete(old);
      retiring.delete(ended);
    });
    retiring.add(ended);
  }

  return {
    async connections({ patienceMs, heldMs, patient }) {
      if (current) return current;
      const leftMs = patienceMs - (patient ? heldMs : Math.max(heldMs, elapsed() - lostAt));
      const because = () => (servers.length === 1 && failure ? failure : noneOf(servers, failure));
      // A wrong password does not pass by waiting.
      if (leftMs <= 0 || (failure && !isPassing(failure))) throw because();
      return within(leftMs, search, "late").catch(() => {
        throw because();
      });
    },
    doubt(doubted) {
      if (doubted !== current || closed) return;
      current = null;
      retire(doubted);
      search = startSearch();
    },
    async close() {
      closed = true;
      wake.abort();
      for (const [old, held] of sockets) if (old !== current) held.forEach((socket) => socket.destroy());
      if (current) retire(current);
      current = null;
      await Promise.allSettled([...retiring, search]);
    },
  };
}

function noneOf(servers: readonly string[], failure: unknown): StoreFault {
  const reason = failure instanceof Error && failure.message ? `: ${failure.message}` : "";
  return new StoreFault("08001", `no server can be written to (${namesOf(servers)})${reason}`, failure);
}
