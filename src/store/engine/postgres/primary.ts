// Finds the primary among the servers by probing them, and holds connections only to it.
//
// A caller that gets an error which makes the server suspect reports it. The server is then no longer used until all servers
// were probed again; new connections are opened to the primary, and the old ones are closed. Several servers are also
// probed from time to time: a standby may be promoted while the old primary still answers.

import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../../../kernel/deadline.ts";
import { admits } from "./client.ts";
import { isTransient, PostgresError } from "./errors.ts";
import { createConnections, type Connections } from "./pool.ts";
import {
  findPrimary,
  isOlderTimeline,
  isSameTimeline,
  isWorker,
  probeOncePerServer,
  probeTimeoutMs,
  type WritableServer,
} from "./probe.ts";
import { serverNames } from "./servers.ts";
import { watchSilence, type SilenceWatch } from "./silence.ts";

type PrimaryOptions = {
  servers: readonly string[];
  connections: number;
  sessionName: string;
  random: () => number;
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number;
  /** How often all of several servers are probed while one is the primary. */
  probeEveryMs?: number;
};

type Primary = {
  /** Returns connections to the primary. Without one it waits until `by`, unless waiting cannot help. */
  connections(by: number): Promise<Connections>;
  /** The time since which there is no primary; Infinity while there is one. */
  lostSince(): number;
  /** The primary; null while there is none. */
  server(): string | null;
  /** Counts the primaries with another timeline than the one before, which may lack its last commits. */
  promotions(): number;
  suspect(connections: Connections): void;
  /** Notes a statement to the primary, which is suspected when it is silent. Returns what to call when the statement has ended. */
  enter(): (hasAnswered: boolean) => void;
  close(): Promise<void>;
};

const minPauseMs = 50;
const maxPauseMs = 1000;
/** How long a server may take to answer for the first time, which a program that opens the database waits for. */
const firstAnswerMs = 10_000;
/** How long a silent server may take to admit a connection. */
const admitTimeoutMs = 3000;
/** How long statements on old connections to the same server may take to end. */
const lastAnswersMs = 2000;

export function createPrimary(options: PrimaryOptions): Primary {
  const { servers, elapsed, probeEveryMs = 5000 } = options;
  /** All connections that have not ended, with the current ones. */
  const opened = new Set<Connections>();
  const ending = new Set<Promise<unknown>>();
  const closing = new AbortController();
  const probeOnce = probeOncePerServer(() => (known ? probeTimeoutMs : firstAnswerMs));
  /** Workers of a cluster are never its coordinator, so they need not be probed again. */
  const workers = new Set<string>();
  const candidates = () => servers.filter((server) => !workers.has(server));

  /** Servers that have answered or refused a probe, or did not answer within its limit. */
  const probed = new Set<string>();

  async function probeServer(server: string): Promise<WritableServer> {
    const found = await probeOnce(server).finally(() => probed.add(server));
    if (isWorker(found)) workers.add(server);
    return found;
  }

  let current: Connections | null = null;
  let silence: SilenceWatch | null = null;
  let known: WritableServer | null = null;
  let promotions = 0;
  const openedAt = elapsed();
  let lostSince = openedAt;
  let failure: unknown = null;
  let awaited = createPromise();
  let searching = search();
  if (servers.length > 1) void watchForPromotion();

  /** Adds jitter, so that nodes that lost the same server do not return in step. */
  async function pause(ms: number, ref: boolean): Promise<void> {
    const jitter = 0.5 + options.random() / 2;
    await sleep(ms * jitter, null, { signal: closing.signal, ref }).catch(() => {});
  }

  /** Goes on until it finds a primary, also after callers have received an error that waiting cannot help. */
  async function search(): Promise<void> {
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        // A single server with an older timeline was restored on purpose.
        const found = await findPrimary(candidates(), servers.length > 1 ? known : null, undefined, probeServer);
        if (closing.signal.aborted) return;
        const isPromoted = known !== null && !isSameTimeline(known, found);
        if (isPromoted) promotions += 1;
        known = found;
        lostSince = Infinity;
        awaited.resolve((current = open(found, isPromoted)));
        return;
      } catch (error) {
        failure = error;
        if (!isTransient(error)) rejectWaiting();
      }
      await pause(pauseMs, true);
      if (closing.signal.aborted) return;
    }
  }

  /** Fails those that wait now; later callers wait for a new promise. */
  function rejectWaiting(): void {
    awaited.reject(failure);
    awaited = createPromise();
  }

  async function watchForPromotion(): Promise<void> {
    for (;;) {
      await pause(probeEveryMs, false);
      if (closing.signal.aborted) return;
      const [used, knownBefore] = [current, known];
      if (!used || !knownBefore) continue;
      if (candidates().length < 2) continue;
      const best = await findPrimary(candidates(), knownBefore, probeTimeoutMs).catch(() => null);
      if (best && isOlderTimeline(knownBefore, best)) suspect(used);
    }
  }

  function open({ server, ...timeline }: WritableServer, isPromoted: boolean): Connections {
    for (const old of opened) {
      // An answer of another server no longer counts, and the same name may point to another server by now. If it does not,
      // running statements get the time to end.
      if (old.server === server && !isPromoted) setTimeout(() => old.destroy(), lastAnswersMs).unref();
      else old.destroy();
    }
    const connections = createConnections(server, timeline, options.connections, options.sessionName);
    opened.add(connections);
    silence = watchSilence({
      answers: () => admits(server, admitTimeoutMs),
      onSilent() {
        suspect(connections);
        connections.destroy();
      },
      elapsed,
      random: options.random,
    });
    return connections;
  }

  function retire(old: Connections): void {
    const ended = old.end().finally(() => {
      opened.delete(old);
      ending.delete(ended);
    });
    ending.add(ended);
  }

  function suspect(suspected: Connections): void {
    if (suspected !== current || closing.signal.aborted) return;
    current = null;
    silence?.close();
    lostSince = elapsed();
    failure = null;
    awaited = createPromise();
    retire(suspected);
    searching = search();
  }

  async function waitUntil(by: number): Promise<Connections> {
    const leftMs = by - elapsed();
    const noPrimary = () => failure ?? new PostgresError("08001", `no server has answered yet (${serverNames(servers)})`);
    if (leftMs <= 0) throw noPrimary();
    return within(leftMs, awaited.promise, "late").catch(() => {
      throw noPrimary();
    });
  }

  return {
    async connections(by) {
      if (current) return current;
      // Waiting helps neither with a wrong password nor with a closed store.
      if (failure && (!isTransient(failure) || closing.signal.aborted)) throw failure;
      return waitUntil(by).catch((error: unknown) => {
        // A server that has neither answered nor refused may be busy or far away.
        if (known || probed.size === servers.length || closing.signal.aborted) throw error;
        return waitUntil(openedAt + firstAnswerMs);
      });
    },
    lostSince: () => lostSince,
    server: () => current?.server ?? null,
    promotions: () => promotions,
    suspect,
    enter: () => silence?.enter() ?? (() => {}),
    async close() {
      closing.abort();
      silence?.close();
      failure = new PostgresError("08003", "the store is closed");
      rejectWaiting();
      for (const old of opened) if (old !== current) old.destroy();
      if (current) retire(current);
      current = null;
      await Promise.allSettled([...ending, searching]);
    },
  };
}

/** Its rejection is handled even where no caller waits. */
function createPromise(): PromiseWithResolvers<Connections> {
  const created = Promise.withResolvers<Connections>();
  created.promise.catch(() => {});
  return created;
}
