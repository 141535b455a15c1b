// What a stand-in is: our strict double of one platform's API, for tests and the demo. It is written from what the
// platform documents and never from our connectors, so that a misreading in one is not repeated in the other; for
// the same reason nothing here imports from src/. Where a documented point is uncertain the stricter reading is
// taken, and a comment says so.
//
// All hosts of a platform (API, token host, sign-in pages) share one origin and are told apart by path.

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
  rejected?: string[];
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
  handle(call: Call, context: Context): Answer;
};

/** What a handler knows besides the call: time, tokens, allowance, and whatever the stand-in remembers until a reset. */
export type Context = {
  now(): number;
  tokens: Tokens;
  /** A new id in the order of the calls, for request and trace ids. */
  nextId(): string;
  /** Uses up an allowance per fixed window; 0 when there was enough, otherwise the seconds until there is more. */
  useQuota(allowance: string, limit: number, seconds: number, amount?: number): number;
  /** Something to remember until a reset, made on first use: `context.recall("orders", () => new Map<string, Order>())`. */
  remember<Memory>(name: string, make: () => Memory): Memory;
};

export type OAuthFault =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "unauthorized_client"
  | "unsupported_grant_type";

export type Issued = {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken?: string;
  refreshExpiresInSeconds?: number;
  scopes: readonly string[];
};

export type OAuth = {
  client: { id: string; secret: string };
  authorizePath: string | RegExp;
  tokenPath: string | RegExp;
  tokenMethods?: readonly ("GET" | "POST")[];
  revokePath?: string;
  /** Every scope that the platform knows; asking for another is rejected. */
  scopes: readonly string[];
  scopeSeparator?: string;
  /** `required` rejects a sign-in without a challenge; `supported` checks one that is given. */
  pkce: "required" | "supported" | "none";
  /** Where the client's id and secret may stand. */
  clientAuth: readonly ("body" | "basic")[];
  tokenBody: "form" | "json" | "query";
  /** The platform's names for OAuth's own, at both endpoints: `{ client_id: "app_id" }`. */
  names?: Partial<
    Record<"client_id" | "client_secret" | "code" | "redirect_uri" | "scope" | "refresh_token", string>
  >;
  /** Says that the sign-in has no `response_type`, or the token call no `grant_type` or `redirect_uri`. */
  omits?: readonly ("response_type" | "grant_type" | "redirect_uri" | "scope")[];
  accessSeconds: number;
  refresh: "none" | "fixed" | "rotating";
  refreshSeconds?: number;
  /** Whether this sign-in asks for a refresh token; always unless given. */
  offline?(query: URLSearchParams): boolean;
  /** Grant types of the platform's own, by name: Meta's fb_exchange_token. The client has been checked. */
  otherGrants?: Readonly<Record<string, (fields: ReadonlyMap<string, string>, context: Context) => Answer>>;
  /** What else the sign-in must have; a sentence when it lacks it. */
  authorizeFault?(query: URLSearchParams): string | null;
  /** What else the token call must have: Reddit wants an own User-Agent. */
  tokenCallError?(call: Call): Answer | null;
  tokenAnswer?(issued: Issued, context: Context): Answer;
  tokenError?(fault: OAuthFault, description: string, context: Context): Answer;
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
