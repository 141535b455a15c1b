// Serves one stand-in over HTTP on loopback: finds the route, applies scripted faults, and records the call.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createFaultPlan, isProcessed, readFaults, type Fault, type FaultPlan } from "./faults.ts";
import { oauthRoutes } from "./oauth.ts";
import { gatewayPage } from "./pages.ts";
import { createRecord, verdictOf, type CallRecord } from "./record.ts";
import type { Answer, Call, Context, Route, Standin } from "./standin.ts";
import { createTokens, type Tokens } from "./tokens.ts";

type ServerOptions = {
  port: number;
  now: () => number;
  /** Off for load tests that exceed the platform's limits. */
  rateLimits: boolean;
  redirectUris: readonly string[];
};

export type StandinServer = {
  origin: string;
  record: CallRecord;
  faults: FaultPlan;
  tokens(): Tokens;
  /** Clears calls, events, faults, tokens and all other state since the start. */
  reset(): void;
  close(): Promise<void>;
};

/** No platform accepts more in one request; a broken sender must not fill the memory. */
const maxBytes = 32 * 1024 * 1024;

export async function serveStandin(standin: Standin, options: ServerOptions): Promise<StandinServer> {
  const record = createRecord(standin.secrets);
  const faults = createFaultPlan();
  const routes = [...standin.routes, ...(standin.oauth ? oauthRoutes(standin.oauth, options.redirectUris) : [])];
  const closing = new AbortController();
  let context = createContext(standin, options);

  const handle = (route: Route, call: Call, reasons: string[] = []): Answer => {
    const answer = handleSafely(route, call, context);
    if (answer.accepted) record.addAccepted(answer.accepted, options.now());
    record.logCall(call, route.kind, options.now(), answer.status, verdictOf(route.kind, answer), [
      ...(answer.rejected ?? []),
      ...reasons,
    ]);
    return answer;
  };

  const respond = async (call: Call, response: ServerResponse): Promise<void> => {
    if (call.path.startsWith("/__standin/")) return send(response, answerControl(call, server));
    const matched = findRoute(routes, call);
    if (!matched) {
      const answer = standin.errors.notFound(call);
      record.logCall(call, "unknown", options.now(), answer.status, "rejected", ["no such URL"]);
      return send(response, answer);
    }
    const { route, called } = matched;
    const fault = faults.next(route.kind);
    if (!fault) return send(response, handle(route, called));

    const reasons = [`fault: ${fault.kind}`];
    const delay = fault.ms ?? (fault.kind === "slow" ? 1000 : 0);
    // Processed before the delay: the hard case is a sender that has given up although its call arrived.
    const answer = isProcessed(fault) ? handle(route, called, reasons) : null;
    if (delay > 0) await wait(delay, undefined, { signal: closing.signal });
    if (fault.kind === "slow") {
      if (answer) return send(response, answer);
      return response.destroyed ? undefined : send(response, handle(route, called, reasons));
    }
    const given = faultAnswer(standin, fault, called);
    if (!answer) record.logCall(called, route.kind, options.now(), given?.status ?? null, "rejected", reasons);
    if (given) send(response, given);
    else response.destroy();
  };

  const http = createServer((request, response) => {
    readCall(request)
      .then(async (call) => {
        if (call) await respond(call, response);
        else response.writeHead(413).end();
      })
      .catch(() => response.destroy());
  });
  http.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(options.port, "127.0.0.1", resolve);
  });

  const server: StandinServer = {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    record,
    faults,
    tokens: () => context.tokens,
    reset() {
      record.clear();
      faults.clear();
      context = createContext(standin, options);
    },
    async close() {
      closing.abort();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

/** A defect of a stand-in must not look like an error of its platform. */
function handleSafely(route: Route, call: Call, context: Context): Answer {
  try {
    return route.handle(call, context);
  } catch (error) {
    const reason = `defect in the stand-in: ${error instanceof Error ? error.stack : String(error)}`;
    return { status: 599, body: reason, rejected: [reason] };
  }
}

/** Null: the connection is cut. */
function faultAnswer(standin: Standin, fault: Fault, call: Call): Answer | null {
  switch (fault.kind) {
    case "throttle":
      return standin.errors.throttled(fault.retryAfterSeconds ?? 1, call);
    case "server_error":
      return standin.errors.failed(fault.status ?? 500, call);
    case "expired_token":
      return standin.errors.token("expired", call);
    case "revoked_token":
      return standin.errors.token("revoked", call);
    case "malformed_json":
      return { status: 200, headers: { "content-type": "application/json" }, body: '{"result":{"id":' };
    case "html":
      return gatewayPage(fault.status ?? 502);
    case "documented": {
      const found = standin.documentedErrors?.find(({ title }) => title === fault.title);
      return found?.answer ?? { status: 599, body: `the stand-in has no documented error ${fault.title}` };
    }
    case "slow":
    case "reset":
    case "answer_lost":
      return null;
  }
}

function createContext(standin: Standin, { now, rateLimits }: ServerOptions): Context {
  const windows = new Map<string, { until: number; used: number }>();
  const memory = new Map<string, unknown>();
  let calls = 0;
  return {
    now,
    tokens: createTokens(standin.tokens, now),
    nextId: () => `${standin.id}-${String(++calls).padStart(6, "0")}`,
    useQuota(quota, limit, seconds, amount = 1) {
      if (!rateLimits) return 0;
      const key = `${quota}/${seconds}`;
      let window = windows.get(key);
      if (!window || window.until <= now()) {
        window = { until: now() + seconds * 1000, used: 0 };
        windows.set(key, window);
      }
      if (window.used + amount > limit) return Math.max(1, Math.ceil((window.until - now()) / 1000));
      window.used += amount;
      return 0;
    },
    remember<Memory>(name: string, make: () => Memory): Memory {
      if (!memory.has(name)) memory.set(name, make());
      return memory.get(name) as Memory;
    },
  };
}

function findRoute(routes: readonly Route[], call: Call): { route: Route; called: Call } | null {
  for (const route of routes) {
    if (route.method !== call.method) continue;
    if (typeof route.path === "string") {
      if (route.path === call.path) return { route, called: call };
      continue;
    }
    const found = route.path.exec(call.path);
    if (found) return { route, called: { ...call, params: { ...found.groups } } };
  }
  return null;
}

async function readCall(request: IncomingMessage): Promise<Call | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) return null;
    parts.push(part);
  }
  const url = new URL(request.url ?? "/", "http://standin");
  return {
    method: request.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
    ),
    text: Buffer.concat(parts).toString(),
    bytes,
    params: {},
  };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  const isText = typeof body === "string";
  response.writeHead(status, {
    ...(body === undefined || isText ? {} : { "content-type": "application/json; charset=utf-8" }),
    ...headers,
  });
  response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
}

/**
 * Lets tests and the demo control a stand-in in another process:
 *   POST /__standin/fault   a fault or a list of them       DELETE /__standin/fault   no more faults
 *   POST /__standin/tokens  {"state":"expired"|"revoked"}   for every token issued so far
 *   GET  /__standin/log     calls and accepted events       POST /__standin/reset     as after the start
 */
function answerControl(call: Call, server: StandinServer): Answer {
  const done: Answer = { status: 200, body: { ok: true } };
  const wrong = (error: string): Answer => ({ status: 400, body: { ok: false, error } });
  switch (`${call.method} ${call.path}`) {
    case "GET /__standin/log":
      return { status: 200, body: { received: server.record.received, accepted: server.record.accepted } };
    case "POST /__standin/reset":
      server.reset();
      return done;
    case "DELETE /__standin/fault":
      server.faults.clear();
      return done;
    case "POST /__standin/fault": {
      const faults = readFaults(parse(call.text));
      if (typeof faults === "string") return wrong(faults);
      server.faults.add(faults);
      return done;
    }
    case "POST /__standin/tokens": {
      const state = (parse(call.text) as { state?: unknown } | null)?.state;
      if (state === "expired") server.tokens().expireAll();
      else if (state === "revoked") server.tokens().revokeAll();
      else return wrong("state must be expired or revoked");
      return done;
    }
    default:
      return { status: 404, body: { ok: false, error: "no such control" } };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
