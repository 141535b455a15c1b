// What a stand-in is: our strict double of one platform's API, for tests and the demo. It is written from what the
// platform documents and never from our connectors, so that a misreading in one is not repeated in the other; for
// the same reason nothing here imports from src/. Where a documented point is uncertain the stricter reading is
// taken, and a comment says so.
//
// All hosts of a platform (API, token host, sign-in pages) share one origin and are told apart by path.

import type { OAuth } from "./oauth.ts";
import type { Tokens, TokenState } from "./tokens.ts";

export type Call = {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  text: string;
  bytes: number;
  /** The named groups of the route's path. */
  params: Readonly<Record<string, string>>;
};

export type Answer = {
  status: number;
  headers?: Record<string, string>;
  /** Text goes out as it is, anything else as JSON, undefined as no body at all. */
  body?: unknown;
  /** Events that the platform took, for the ledger. */
  accepted?: AcceptedInput[];
  /** Why something was not taken, in plain words. May stand beside `accepted`, or behind a silent 204. */
  refused?: string[];
  /** A dry run: valid, and nothing was recorded. */
  tested?: boolean;
};

export type AcceptedInput = {
  /** The id that the sender gave the event; null where there is none, and then nothing can be a duplicate. */
  id: string | null;
  name?: string;
  /** What the platform compares to find duplicates; the id unless it takes more into account. */
  key?: string;
  /** How long a repeat is recognised. Null: the platform does not look for duplicates at all. */
  windowSeconds: number | null;
  event: unknown;
};

/** `events` takes conversions, `listing` fills pickers, the others are OAuth. Faults are aimed at a kind. */
export const routeKinds = ["events", "listing", "authorize", "token"] as const;
export type RouteKind = (typeof routeKinds)[number];

export type Route = {
  kind: RouteKind;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Named groups become `call.params`. */
  path: string | RegExp;
  handle(call: Call, desk: Desk): Answer;
};

/** What a handler knows besides the call: time, tokens, allowance, and whatever the stand-in remembers until a reset. */
export type Desk = {
  now(): number;
  tokens: Tokens;
  /** A new id in the order of the calls, for request and trace ids. */
  nextId(): string;
  /** Uses up an allowance per fixed window; 0 when there was enough, otherwise the seconds until there is more. */
  spend(allowance: string, limit: number, seconds: number, amount?: number): number;
  /** Something to remember until a reset, made on first use: `desk.recall("orders", () => new Map<string, Order>())`. */
  recall<Memory>(name: string, make: () => Memory): Memory;
};

export type Standin = {
  /** The platform's id, and the name of the stand-in's file. */
  id: string;
  /** What tests and the demo sign in with. Values of no real account. */
  known: Readonly<Record<string, string | number | readonly string[]>>;
  /** Access tokens that are good, run out or taken back from the start. */
  tokens: readonly { token: string; state: Exclude<TokenState, "unknown">; scopes?: readonly string[] }[];
  /** Names of headers, query and body fields beyond the usual ones whose values no log may show. */
  secrets?: readonly string[];
  oauth?: OAuth;
  routes: readonly Route[];
  /** The platform's own way to say what can go wrong anywhere; scripted faults use it. The call tells which of its APIs speaks. */
  errors: {
    notFound(call: Call): Answer;
    throttled(retryAfterSeconds: number, call: Call): Answer;
    failed(status: number, call: Call): Answer;
    token(state: Exclude<TokenState, "valid">, call: Call): Answer;
  };
};

/** `Authorization: Bearer …`, or null. */
export function bearerToken(call: Call): string | null {
  return /^Bearer ([\x21-\x7e]+)$/i.exec(call.headers.authorization ?? "")?.[1] ?? null;
}

/** User name and password of `Authorization: Basic …`, or null. */
export function basicCredentials(call: Call): { user: string; password: string } | null {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(call.headers.authorization ?? "")?.[1];
  if (!encoded) return null;
  const text = Buffer.from(encoded, "base64").toString();
  const colon = text.indexOf(":");
  // Without the colon it is no user and password; Segment's write key is lost that way.
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
