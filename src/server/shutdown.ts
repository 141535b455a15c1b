// Stops the relay within a deadline: a supervisor kills a process that takes too long, and then nothing ends in order.
// Every started thing is registered once, with the phase in which it stops. Nothing that was accepted is left behind:
//
//   drain        /readyz answers 503 and connections end with their next answer; requests are still accepted
//   requests     the port closes, requests in flight are answered
//   worker       no more deliveries are claimed
//   lanes        deliveries in flight are settled
//   counters     counts in memory are written
//   watchers     timers end
//   clients      connections to platforms and receivers close
//   database, process
//
// Background work serves no request: it begins to stop with the drain, and ends before the clients close.

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { within } from "../kernel/deadline.ts";
import { append, link, nodesOf, remove, type RingNode } from "../kernel/ring.ts";
import { onEveryRequest } from "./server.ts";

const phasesBeforeClients = ["requests", "worker", "lanes", "counters", "watchers"] as const;
const lastPhases = ["clients", "database", "process"] as const;

type Phase = "drain" | "background" | (typeof phasesBeforeClients)[number] | (typeof lastPhases)[number];

/** A function that stops something, or an object that has one. `timeoutMs`: how long the shutdown waits for it. */
type Stoppable = ((timeoutMs: number) => unknown) | { stop(): unknown } | { close(): unknown };

export type Shutdown = ReturnType<typeof createShutdown>;

type ShutdownOptions = {
  /** The maximum time for the last requests and deliveries after the drain. */
  timeoutMs: number;
  /** Something did not stop in time, or failed to stop. */
  onLate: (error: unknown, about: { stopping: string }) => void;
};

/** Flushing and closing at the end is quick, but gets this long even where the deadline has passed. */
const minMs = 1000;

export function createShutdown({ timeoutMs, onLate }: ShutdownOptions) {
  const registered: { phase: Phase; name: string; started: Stoppable }[] = [];

  /** Stops the members of a phase in parallel. One that hangs or fails is reported, and does not hold up the others. */
  async function stopPhase(phase: Phase, ms: number): Promise<void> {
    const members = registered.filter((one) => one.phase === phase);
    await Promise.all(
      members.map(async ({ name, started }) => {
        try {
          await within(ms, stop(started, ms), "did not stop in time");
        } catch (error) {
          onLate(error, { stopping: name });
        }
      }),
    );
  }

  return {
    /** Registers something that was started, and returns it. */
    add<T extends Stoppable>(phase: Phase, name: string, started: T): T {
      registered.push({ phase, name, started });
      return started;
    },

    /** Requests are still accepted for `drainMs` after /readyz has begun to answer 503. */
    async run(drainMs: number): Promise<void> {
      const latest = performance.now() + drainMs + timeoutMs;
      const leftMs = () => Math.max(latest - performance.now(), minMs);
      const draining = stopPhase("drain", minMs);
      const background = stopPhase("background", leftMs());
      await draining;
      if (drainMs > 0) await sleep(drainMs);
      for (const phase of phasesBeforeClients) await stopPhase(phase, leftMs());
      await background;
      for (const phase of lastPhases) await stopPhase(phase, leftMs());
    },
  };
}

async function stop(started: Stoppable, ms: number): Promise<void> {
  if (typeof started === "function") await started(ms);
  else if ("stop" in started) await started.stop();
  else await started.close();
}

interface TrackedResponse extends RingNode<TrackedResponse> {
  response: ServerResponse | null;
}

type TrackedRequests = {
  /** Answers that are not complete yet. */
  listOpen(): ServerResponse[];
  /** From now on every answer closes its connection, so that the client, or a proxy, opens the next one elsewhere. */
  closeAfterAnswer(): void;
};

export function trackRequests(app: FastifyInstance): TrackedRequests {
  const open = link<TrackedResponse>({ response: null });
  const tracked = Symbol("tracked");
  let isClosing = false;

  function track(response: ServerResponse & { [tracked]?: true }): void {
    if (response[tracked]) return;
    response[tracked] = true;
    const own = link<TrackedResponse>({ response });
    append(open, own);
    // Also when the client disconnects before the answer.
    response.on("close", () => remove(own));
    if (isClosing) closeAfter(response);
  }

  const listOpen = () => Array.from(nodesOf(open)).flatMap(({ response }) => response ?? []);

  onEveryRequest(app, (_request, response) => track(response));
  return {
    listOpen,
    closeAfterAnswer() {
      isClosing = true;
      listOpen().forEach(closeAfter);
    },
  };
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("connection", "close");
}

/**
 * Stops listening, answers every request that arrived whole, and closes all other connections: neither an idle connection
 * nor a client that stopped in the middle of a request delays a shutdown. Waits at most `timeoutMs` for the answers.
 */
export async function closeServer(
  app: FastifyInstance,
  { listOpen }: Pick<TrackedRequests, "listOpen">,
  timeoutMs: number,
): Promise<void> {
  const latest = performance.now() + timeoutMs;
  const closed = app.close();
  while (listOpen().some(({ req }) => req.complete) && performance.now() < latest) await sleep(20);
  app.server.closeAllConnections();
  await closed;
}
