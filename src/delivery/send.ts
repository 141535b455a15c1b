// Makes every HTTP request to platforms, webhooks and hosts that are checked. Connections are pooled and kept alive; a call is
// bounded in time and its answer in size; redirects are not followed; errors are returned as values that contain no part of the
// request.

import { say, withoutMarksInJson } from "../kernel/messages/message.ts";
import { isIP, type LookupFunction } from "node:net";
import { Agent, type Dispatcher } from "undici";
import { clearCoarseTimeout, setCoarseTimeout, type CoarseTimeout } from "../kernel/coarseTimers.ts";
import { errorCode } from "../kernel/errorCode.ts";
import type { PlatformRequest, PlatformResponse } from "../platforms/platform.ts";
import {
  addressFault,
  bareHost,
  BlockedAddress,
  guardedLookup,
  lookupWith,
  resolveHost,
  type AllowList,
  type Resolve,
} from "./addresses.ts";

export type SendFailure = {
  ok: false;
  /**
   * `blocked`: the address is not allowed, so nothing was sent and a retry is useless. `certificate`: `error` says what is
   * wrong with it. `TLS`: every other failure of the handshake.
   */
  code: "blocked" | "certificate" | "TLS" | "timeout" | "not found" | "lookup failed" | "other";
  error: string;
};

/** What came back: the platform's response, or why there is none. */
export type Answer = { ok: true; response: PlatformResponse } | SendFailure;

/** Messages to devices are bytes, in place of the body. */
type OutgoingRequest = PlatformRequest & { bytes?: Buffer };

export type Sender = {
  send(request: OutgoingRequest, to: { platform: string; customerAddress: boolean }): Promise<Answer>;
  close(): Promise<void>;
};

export type SenderOptions = {
  connectMs: number;
  attemptMs: number;
  allow: AllowList;
  /** Platform id → origin to call instead of the platform's own. */
  origins: Readonly<Record<string, string>>;
  /** Resolves host names; as the system does by default. */
  resolve?: Resolve;
};

const maxResponseBytes = 1024 * 1024;

export function createSender({ connectMs, attemptMs, allow, origins, resolve = resolveHost }: SenderOptions): Sender {
  const pooled = (lookup: LookupFunction) =>
    new Agent({
      connections: 128,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      maxHeaderSize: 32 * 1024,
      // One deadline covers the whole call.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: connectMs, lookup },
    });
  const unguarded = pooled(lookupWith(resolve));
  const guarded = {
    https: pooled(guardedLookup(allow, true, resolve)),
    http: pooled(guardedLookup(allow, false, resolve)),
  };

  return {
    async send(request, { platform, customerAddress }) {
      if (request.url.startsWith("sandbox:")) return sandboxAnswer;
      const url = new URL(request.url);
      const override = origins[platform];
      if (override) {
        return call(unguarded, url, request, { origin: new URL(override).origin, attemptMs });
      }
      if (!customerAddress) return call(unguarded, url, request, { attemptMs });

      const secure = url.protocol === "https:";
      const host = bareHost(url.hostname);
      // An IP literal is never looked up, so it is checked here.
      const fault = isIP(host) ? addressFault(allow, secure, host, host) : null;
      if (fault) return { ok: false, code: "blocked", error: say("address_refused", { fault }) };
      return call(secure ? guarded.https : guarded.http, url, request, { attemptMs });
    },
    async close() {
      await Promise.all([unguarded, guarded.https, guarded.http].map((agent) => agent.destroy()));
    },
  };
}

const sandboxAnswer: Answer = {
  ok: true,
  response: {
    status: 200,
    headers: { "content-type": "application/json" },
    body: '{"accepted":true,"by":"sandbox"}',
  },
};

/** `origin` replaces that of the address. */
type CallOptions = { origin?: string; attemptMs: number };

function call(
  agent: Agent,
  url: URL,
  request: OutgoingRequest,
  { origin = url.origin, attemptMs }: CallOptions,
): Promise<Answer> {
  const options = {
    origin,
    path: url.pathname + withSecrets(url.search, request.secretQuery),
    method: request.method,
    headers: request.headers,
    body: request.method === "GET" ? null : (request.bytes ?? request.body),
  };
  return new Promise((resolve) => {
    agent.dispatch(options, new Call(resolve, attemptMs));
  });
}

/**
 * One call. It uses undici's own interface, because `agent.request` makes a stream of each answer, and these streams outlive
 * young garbage: its collection took ten milliseconds, and takes less than one without them.
 */
class Call implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #deadline: CoarseTimeout;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: Record<string, string> = {};
  #parts: Buffer[] = [];
  #size = 0;
  /** Set when the call was given up before it began. */
  #late: TooSlow | null = null;

  constructor(resolve: (answer: Answer) => void, attemptMs: number) {
    this.#resolve = resolve;
    this.#deadline = setCoarseTimeout(attemptMs, () => this.#giveUp(new TooSlow(attemptMs)));
  }

  #giveUp(late: TooSlow): void {
    if (this.#controller) return this.#controller.abort(late);
    this.#late = late;
    this.#end(toFailure(late));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#late) controller.abort(this.#late);
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    // Informational answers come before the final one.
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatten(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= maxResponseBytes) return;
    this.#respond();
    controller.abort(new Error("the answer is too long"));
  }

  onResponseEnd(): void {
    this.#respond();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(toFailure(error));
  }

  /** A megabyte is more than any platform answers to its largest batch; a longer answer is cut and marked. */
  #respond(): void {
    const isCut = this.#size > maxResponseBytes;
    const [first = Buffer.alloc(0)] = this.#parts;
    const bytes = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    const body = withoutMarksInJson(bytes.toString("utf8", 0, maxResponseBytes));
    const response = { status: this.#status, headers: this.#headers, body };
    this.#end({ ok: true, response: isCut ? { ...response, isCut } : response });
  }

  /** What follows the first end does not count. */
  #end(answer: Answer): void {
    clearCoarseTimeout(this.#deadline);
    this.#resolve(answer);
  }
}

/** The only place that puts secrets into an address. */
function withSecrets(search: string, secrets: PlatformRequest["secretQuery"]): string {
  if (!secrets) return search;
  return `${search}${search ? "&" : "?"}${new URLSearchParams(secrets).toString()}`;
}

class TooSlow extends Error {
  constructor(attemptMs: number) {
    super(say("no_answer_within", { seconds: attemptMs / 1000 }));
  }
}

type Headers = Record<string, string | string[] | undefined>;

function flatten(headers: Headers): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

const knownErrors: Readonly<Record<string, readonly [SendFailure["code"], text: string]>> = {
  ECONNREFUSED: ["other", "connection refused"],
  ECONNRESET: ["other", "connection reset"],
  EPIPE: ["other", "connection reset"],
  UND_ERR_SOCKET: ["other", "connection closed without an answer"],
  UND_ERR_CONNECT_TIMEOUT: ["timeout", "no connection in time"],
  ENOTFOUND: ["not found", "host name not found"],
  EAI_AGAIN: ["lookup failed", "host name could not be looked up"],
  EHOSTUNREACH: ["other", "host unreachable"],
  ENETUNREACH: ["other", "network unreachable"],
  ETIMEDOUT: ["timeout", "no connection in time"],
  CERT_HAS_EXPIRED: ["certificate", "the certificate has expired"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["certificate", "the certificate is self-signed"],
  SELF_SIGNED_CERT_IN_CHAIN: ["certificate", "the certificate is self-signed"],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["certificate", "the certificate cannot be verified"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["certificate", "the certificate belongs to another host"],
  UND_ERR_HEADERS_OVERFLOW: ["other", "the answer's headers are too large"],
};

/** Texts of our own: the runtime's messages can contain addresses and header values. */
export function toFailure(error: unknown): SendFailure {
  const failure = (code: SendFailure["code"], text: string) => ({ ok: false, code, error: text }) as const;
  // Several addresses of one host fail together in an AggregateError; the first error is enough.
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (cause instanceof TooSlow) return failure("timeout", cause.message);
  if (cause instanceof BlockedAddress) return failure("blocked", cause.message);
  // undici's parser errors have a name, but not always a code.
  if (cause instanceof Error && cause.name === "HTTPParserError") return failure("other", "the answer is not HTTP");
  const code = errorCode(cause);
  const known = knownErrors[code];
  if (known) return failure(...known);
  if (!/^[A-Z_]{3,40}$/.test(code)) return failure("other", "the request failed");
  const isTls = /CERT|ERR_SSL|ERR_TLS|EPROTO/.test(code);
  return failure(isTls ? "TLS" : "other", say("request_failed", { code }));
}
