// Which of the servers is written to, found out by asking them, and connections to it alone.
//
// Whoever meets an error that puts the server in doubt says so. Then nobody uses it any more until all servers were
// asked again; new connections are opened to the one that can be written to, and the old ones are thrown away. Where there
// are several, they are also asked from time to time: a standby may be promoted while the old primary still answers.

import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../../../kernel/deadline.ts";
import { isPassing, StoreFault } from "./errors.ts";
import { openConnections, type Connections } from "./pool.ts";
import { askOnce, isBefore, probeMs, writableAmong, type Found } from "./probe.ts";
import { namesOf } from "./servers.ts";

export type PrimaryOptions = {
  servers: readonly string[];
  connections: number;
  random: () => number;
  /** Milliseconds that passed, whatever happens to the clock. */
  elapsed: () => number;
  /** How often all of several servers are asked, while one is written to. */
  roundMs?: number;
};

export type Primary = {
  /** Connections to the server that is written to. Without one it waits until `by`, unless waiting is of no use. */
  connections(by: number): Promise<Connections>;
  /** Since when there is no server; Infinity while there is one. */
  lostAt(): number;
  doubt(connections: Connections): void;
  close(): Promise<void>;
};

const minPauseMs = 50;
const maxPauseMs = 1000;
const lastAnswersMs = 2000;

export function openPrimary(options: PrimaryOptions): Primary {
  const { servers, elapsed, roundMs = 5000 } = options;
  /** Not yet ended; the current ones too. */
  const opened = new Set<Connections>();
  const ending = new Set<Promise<unknown>>();
  const closing = new AbortController();
  const ask = askOnce();
  let current: Connections | null = null;
  let known: Found | null = null;
  let lostAt = elapsed();
  let failure: unknown = null;
  let awaited = promised();
  let search = look();
  if (servers.length > 1) void lookAround();

  /** With jitter: nodes that lost the same server do not come back in step. */
  async function pause(ms: number, ref: boolean): Promise<void> {
    const jitter = 0.5 + options.random() / 2;
    await sleep(ms * jitter, null, { signal: closing.signal, ref }).catch(() => {});
  }

  /** Goes on until it has found one, also when those who wait were told that waiting is of no use. */
  async function look(): Promise<void> {
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        // Where there is no other, somebody has put it back to what it was, and meant it.
        const found = await writableAmong(servers, servers.length > 1 ? known : null, undefined, ask);
        if (closing.signal.aborted) return;
        known = found;
        lostAt = Infinity;
        awaited.resolve((current = open(found.server)));
        return;
      } catch (error) {
        failure = error;
        if (!isPassing(error)) turnAway();
      }
      await pause(pauseMs, true);
      if (closing.signal.aborted) return;
    }
  }

  /** Those who wait hear of the failure; those who come later wait for something else. */
  function turnAway(): void {
    awaited.reject(failure);
    awaited = promised();
  }

  async function lookAround(): Promise<void> {
    for (;;) {
      await pause(roundMs, false);
      if (closing.signal.aborted) return;
      const [was, knownBefore] = [current, known];
      if (!was || !knownBefore) continue;
      const best = await writableAmong(servers, knownBefore, probeMs).catch(() => null);
      if (best && isBefore(knownBefore, best)) doubt(was);
    }
  }

  function open(server: string): Connections {
    for (const old of opened) {
      // What still waits for an answer of another server will not get one that counts. The same name may stand for
      // another machine by now; if it does not, what is under way comes to its end.
      if (old.server === server) setTimeout(() => old.cut(), lastAnswersMs).unref();
      else old.cut();
    }
    const connections = openConnections(server, options.connections);
    opened.add(connections);
    return connections;
  }

  function retire(old: Connections): void {
    const ended = old.end().finally(() => {
      opened.delete(old);
      ending.delete(ended);
    });
    ending.add(ended);
  }

  function doubt(doubted: Connections): void {
    if (doubted !== current || closing.signal.aborted) return;
    current = null;
    lostAt = elapsed();
    failure = null;
    awaited = promised();
    retire(doubted);
    search = look();
  }

  return {
    async connections(by) {
      if (current) return current;
      // A wrong password does not pass by waiting, nor does a store that is closed.
      if (failure && (!isPassing(failure) || closing.signal.aborted)) throw failure;
      const leftMs = by - elapsed();
      const none = () =>
        failure ?? new StoreFault("08001", `no server has answered yet (${namesOf(servers)})`);
      if (leftMs <= 0) throw none();
      return within(leftMs, awaited.promise, "late").catch(() => {
        throw none();
      });
    },
    lostAt: () => lostAt,
    doubt,
    async close() {
      closing.abort();
      failure = new StoreFault("08003", "the store is closed");
      turnAway();
      for (const old of opened) if (old !== current) old.cut();
      if (current) retire(current);
      current = null;
      await Promise.allSettled([...ending, search]);
    },
  };
}

/** It may be that nobody waits for it. */
function promised(): PromiseWithResolvers<Connections> {
  const made = Promise.withResolvers<Connections>();
  made.promise.catch(() => {});
  return made;
}
