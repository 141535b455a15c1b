// A simulated relay: the services of the product as `src/main.ts` starts them, and the inbound endpoint without a socket.

import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { createRateLimit } from "../../../src/http/rate.ts";
import { createLoad } from "../../../src/inbound/load.ts";
import { inboundRoute } from "../../../src/inbound/route.ts";
import { sourceRoute, sourceTokenOf } from "../../../src/inbound/sources/route.ts";
import { countWrongKeys } from "../../../src/inbound/wrongKeys.ts";
import type { Config } from "../../../src/installation/config.ts";
import type { Observability } from "../../../src/observability/observability.ts";
import { watchClockJumps } from "../../../src/observability/readiness.ts";
import { link } from "../../../src/kernel/ring.ts";
import { acceptBatch, relay, relayBatch } from "../../../src/pipeline.ts";
import { startServices, type Services } from "../../../src/server/services.ts";
import { createShutdown } from "../../../src/server/shutdown.ts";
import type { InFlightCommit } from "../../../src/store/engine/timed.ts";
import type { SimulatedProcess } from "../runtime/world.ts";

export type InboundAnswer = { status: number; body: string };

export type RelayNode = {
  process: SimulatedProcess;
  services: Services;
  /** Hands in a request that has arrived. `answer` is called with what the relay writes to the socket. */
  receive(request: InboundRequest, answer: (answer: InboundAnswer) => void): void;
  /** Ends in order, as on SIGTERM. */
  stop(): Promise<void>;
};

/** `headers` are those that prove who sent it. */
export type InboundRequest = { path: string; headers: Readonly<Record<string, string>>; body: string };

type NodeOptions = {
  config: Config;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** To be called inside of the process. */
export async function startNode(process: SimulatedProcess, { config, onDefect }: NodeOptions): Promise<RelayNode> {
  const now = () => process.clock();
  const observability = observe(onDefect, { now, elapsed: () => process.elapsed() });
  const shutdown = createShutdown({
    timeoutMs: config.answerMs + config.attemptMs + 2000,
    onLate: onDefect,
  });
  const services = await startServices({ config, log: silent, observability, shutdown, traces: null, now });
  const server = new EventEmitter();
  mountInbound(server, config, services, observability);
  const requests = countRequests();
  shutdown.add("requests", "requests", requests.ended);
  return {
    process,
    services,
    receive(request, answer) {
      if (requests.isClosed()) return;
      server.emit("request", toIncoming(request), toResponse(requests.count(answer)));
    },
    stop: () => shutdown.run(0),
  };
}

/** A relay that stops answers the requests that it has, and then closes all connections. */
function countRequests() {
  let open = 0;
  let isClosed = false;
  let onEnded = () => {};
  return {
    isClosed: () => isClosed,
    count(answer: (answer: InboundAnswer) => void): (answer: InboundAnswer) => void {
      open += 1;
      return (given) => {
        open -= 1;
        answer(given);
        if (open === 0) onEnded();
      };
    },
    ended: () =>
      new Promise<void>((resolve) => {
        onEnded = () => {
          isClosed = true;
          resolve();
        };
        if (open === 0) onEnded();
      }),
  };
}

const silent = { warn: () => {} } as unknown as Logger;

/** Metrics and log lines are left out. */
function observe(onDefect: NodeOptions["onDefect"], clocks: { now: () => number; elapsed: () => number }): Observability {
  const ignored = (): undefined => undefined;
  let onClockSet = () => {};
  watchClockJumps(clocks, () => onClockSet());
  const reported: Partial<Observability> = {
    onDefect: (error, about) => onDefect(error, about ?? {}),
    whenClockSet: (work) => void (onClockSet = work),
    readCommits: () => ({ count: 0, ms: 0 }),
    commitObserver: {
      inFlight: link<InFlightCommit>({ startedAt: 0 }),
      onCommit: ignored,
      onWrite: ignored,
      onDefect: (error) => onDefect(error, {}),
    },
  };
  const get = (_target: object, name: string) => reported[name as keyof Observability] ?? ignored;
  return new Proxy(reported, { get }) as Observability;
}

/** As `src/server/routes.ts` does it. */
function mountInbound(server: EventEmitter, config: Config, services: Services, observability: Observability): void {
  const { store, directory, lanes, links, openEvents, keyUses, ownHost, now, onDefect } = services;
  const { transport, answerMs, maxInFlight } = config;
  const { onPlanned } = observability;
  const parts = { store, lanes, now, onPlanned };
  const app = { server, routing: () => {}, all: () => {} } as unknown as FastifyInstance;
  const load = createLoad(maxInFlight);
  const reserveId = (at: number) => openEvents.reserveId(at);
  const sources = sourceRoute(app, {
    store,
    directory,
    links,
    ownHost,
    transport,
    acceptBatch: (batch, site, deadline) => acceptBatch(batch, site, deadline, parts),
    reserveId,
    countUse: (siteId, sourceId, at) => keyUses.count(siteId, sourceId, at),
    answerMs,
    load,
    observer: services.sourceObserver,
    now,
    log: observability.onSourceAnswered,
    onDefect,
  });
  const takeSource = (url: string, request: IncomingMessage, response: ServerResponse) => {
    const token = sourceTokenOf(url);
    if (token !== null) sources.answer(token, request, response);
    return token !== null;
  };
  const options: Parameters<typeof inboundRoute>[1] = {
    authentication: {
      directory,
      ownHost,
      transport,
      wrongKeys: countWrongKeys(store),
      rateLimit: createRateLimit(),
    },
    relay: (received, site, deadline) => relay(received, site, deadline, parts),
    relayBatch: (batch, site, deadline) => relayBatch(batch, site, deadline, parts),
    countUse: ({ site, key }, at) => keyUses.count(site.id, key.id, at),
    reserveId,
    answerMs,
    load,
    now,
    rejectedRequests: services.rejectedRequests,
    log: observability.onAnswered,
    onDefect,
  };
  inboundRoute(app, options, takeSource);
}

function toIncoming({ path, headers: given, body }: InboundRequest): IncomingMessage {
  const bytes = Buffer.from(body);
  const headers = {
    host: "localhost",
    "content-type": "application/json",
    "content-length": String(bytes.length),
    ...given,
  };
  const request = {
    method: "POST",
    url: path,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    socket: { remoteAddress: "127.0.0.1" },
    destroyed: false,
    on(event: string, listener: (part: Buffer) => void) {
      if (event === "data") queueMicrotask(() => listener(bytes));
      return request;
    },
  };
  return request as unknown as IncomingMessage;
}

function toResponse(answer: (answer: InboundAnswer) => void): ServerResponse {
  const response = {
    headersSent: false,
    statusCode: 0,
    writeHead(status: number) {
      response.headersSent = true;
      response.statusCode = status;
      return response;
    },
    end: (body: string) => answer({ status: response.statusCode, body }),
  };
  return response as unknown as ServerResponse;
}
