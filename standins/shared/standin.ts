// A stand-in is our strict double of one platform's API, for tests and the demo. It is written from the platform's
// documentation and never from our connectors, so that a mistake in one is not repeated in the other; for the same reason
// nothing here imports from src/. Where the documentation is uncertain the stricter rule is used, and a comment says so.
//
// All hosts of a platform (API, token host, sign-in pages) share one origin and differ by path.

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
  /** Text is sent as it is, anything else as JSON, undefined as no body. */
  body?: unknown;
  /** Events that the platform accepted, for the ledger. */
  accepted?: AcceptedInput[];
  /** The reasons for which events were not accepted. May come with `accepted`, or with a silent 204. */
  rejected?: string[];
  /** A dry run: valid, and nothing was recorded. */
  tested?: boolean;
};

export type AcceptedInput = {
  /** The id that the sender gave the event; null where there is none, and then nothing can be a duplicate. */
  id: string | null;
  name?: string;
  /** The key by which the platform finds duplicates; the id by default. */
  key?: string;
  /** Repeats are recognised for this long. Null: the platform does not deduplicate. */
  windowSeconds: number | null;
  event: unknown;
};

/**
 * `events` receives conversions, `status` says what became of them, `listing` fills pickers, the others are OAuth. A fault hits
 * one kind.
 */
export const routeKinds = ["events", "status", "listing", "authorize", "token"] as const;
export type RouteKind = (typeof routeKinds)[number];

export type Route = {
  kind: RouteKind;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Named groups become `call.params`. */
  path: string | RegExp;
  handle(call: Call, context: Context): Answer;
};

/** Given to a handler with the call: time, tokens, quotas, and the state of the stand-in until a reset. */
export type Context = {
  now(): number;
  tokens: Tokens;
  /** A new id in the order of the calls, for request and trace ids. */
  nextId(): string;
  /** Uses a quota of a fixed window; returns 0 when there was enough, otherwise the seconds until the window ends. */
  useQuota(quota: string, limit: number, seconds: number, amount?: number): number;
  /** State that lasts until a reset, created on first use: `context.remember("orders", () => new Map<string, Order>())`. */
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
  /** Every scope of the platform; others are rejected. */
  scopes: readonly string[];
  scopeSeparator?: string;
  /** `required` rejects a sign-in without a challenge; `supported` checks one that is given. */
  pkce: "required" | "supported" | "none";
  /** Where the client's id and secret may be. */
  clientAuth: readonly ("body" | "basic")[];
  tokenBody: "form" | "json" | "query";
  /** The platform's names for OAuth's own, at both endpoints: `{ client_id: "app_id" }`. */
  names?: Partial<Record<"client_id" | "client_secret" | "code" | "redirect_uri" | "scope" | "refresh_token", string>>;
  /** Parameters that this platform's sign-in or token call does not have. */
  omits?: readonly ("response_type" | "grant_type" | "redirect_uri" | "scope")[];
  accessSeconds: number;
  refresh: "none" | "fixed" | "rotating";
  refreshSeconds?: number;
  /** True when this sign-in asks for a refresh token; always by default. */
  offline?(query: URLSearchParams): boolean;
  /** The platform's own grant types, by name: Meta's fb_exchange_token. The client has been checked. */
  otherGrants?: Readonly<Record<string, (fields: ReadonlyMap<string, string>, context: Context) => Answer>>;
  /** Further checks of the sign-in; a message when one fails. */
  authorizeFault?(query: URLSearchParams): string | null;
  /** Further checks of the token call: Reddit requires a custom User-Agent. */
  tokenCallError?(call: Call): Answer | null;
  tokenAnswer?(issued: Issued, context: Context): Answer;
  tokenError?(fault: OAuthFault, description: string, context: Context): Answer;
};

/** An answer that the platform documents for other cases than its own rules produce here, and what it means to a sender. */
export type DocumentedError = {
  /** Names it in a scripted fault: `{ kind: "documented", title }`. */
  title: string;
  answer: Answer;
  /**
   * `retry`: the same request may succeed later. `wait`: these events wait until a setting of theirs is corrected. `park`: the
   * whole connection waits until a person acts. `reject`: the event can never be accepted. `accept`: it was accepted.
   */
  means: "retry" | "wait" | "park" | "reject" | "accept";
};

export type Standin = {
  /** The platform's id, and the name of the stand-in's folder. */
  id: string;
  /** The ids and credentials that tests and the demo use. Values of no real account. */
  known: Readonly<Record<string, string | number | readonly string[]>>;
  /** Access tokens that are valid, expired or revoked from the start. */
  tokens: readonly { token: string; state: Exclude<TokenState, "unknown">; scopes?: readonly string[] }[];
  /** Names of headers, query and body fields beyond the usual ones whose values no log may show. */
  secrets?: readonly string[];
  oauth?: OAuth;
  routes: readonly Route[];
  /** Every error of the platform's documentation, as the answer to a request with one event. */
  documentedErrors?: readonly DocumentedError[];
  /** The platform's own error responses, which scripted faults use. The call tells which of its APIs answers. */
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
  // Without the colon it is invalid: Segment would not find the write key.
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
