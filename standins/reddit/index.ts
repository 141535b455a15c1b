// Reddit: the Conversions API v3, the lists that fill the pickers, and the sign-in. Errors have three formats: an
// object with the invalid fields of the request, one with a reason for denied access, and bare text.

import { describeProblem, isObject, readJson, type Problem } from "../shared/checks.ts";
import { documentedErrors } from "./documented.ts";
import { requestShape } from "./event.ts";
import { bearerToken, type AcceptedInput, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

/** Values of no real account. */
const redditKnown = {
  clientId: "standin-reddit-client",
  clientSecret: "standin-reddit-secret",
  /** As created in Events Manager: does not expire, sends conversions. */
  conversionToken: "reddit-standin-conversion",
  /** Issued by a sign-in, with every permission. */
  accessToken: "reddit-standin-valid",
  expiredToken: "reddit-standin-expired",
  revokedToken: "reddit-standin-revoked",
  /** Signed in for the pickers only: may not send events. */
  readOnlyToken: "reddit-standin-readonly",
  businessId: "6a1b2c3d-0000-4000-8000-000000000001",
  adAccountId: "a2_standinshop",
  pixelId: "a2_standinshop",
  foreignPixelId: "a2_foreign",
  testId: "t2_standintest",
} as const;

const dedupSeconds = 2 * 86_400;

const invalid = (message: string, problems: readonly Problem[] = []): Answer => ({
  status: 400,
  body: {
    error: {
      code: 400,
      message,
      fields: problems.map((problem) => ({ field: problem.path, message: problem.message })),
    },
  },
  rejected: problems.length > 0 ? problems.map(describeProblem) : [message],
});

const denied = (status: number, reason: string, explanation: string): Answer => ({
  status,
  body: { success: false, error: { reason, explanation } },
  rejected: [`${reason}: ${explanation}`],
});

const bare = (status: number, words: string): Answer => ({ status, body: words, rejected: [words] });

const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  denied(401, "UNAUTHORIZED", state === "unknown" ? "The access token is not valid." : `The access token has been ${state}.`);

function accessError(call: Call, context: Context, scope: string): Answer | null {
  const token = bearerToken(call);
  const state = context.tokens.state(token);
  if (state !== "valid") return tokenError(state);
  return context.tokens.allows(token, scope) ? null : denied(403, "FORBIDDEN", `The access token lacks the scope ${scope}.`);
}

function receiveEvents(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "adsconversions");
  if (fault) return fault;
  const pixel = call.params.pixel ?? "";
  if (pixel === redditKnown.foreignPixelId) return denied(403, "FORBIDDEN", "No access to the pixel.");
  if (pixel !== redditKnown.pixelId) return denied(404, "NOT_FOUND", "The pixel does not exist.");
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return invalid("The request body is not valid JSON.");
  const data = isObject(read.value.data) ? read.value.data : {};
  const amount = Array.isArray(data.events) ? data.events.length : 0;
  // Two sources differ (5000 a minute, 1000 a second): uncertain, so the lower one, for calls and for events.
  if (context.useQuota(`calls of ${pixel}`, 5000, 60) || context.useQuota(`events of ${pixel}`, 250_000, 60, amount))
    return bare(429, "Too Many Requests");
  const problems = requestShape(context.now())(read.value, "");
  if (problems.length > 0) return invalid("One or more conversion events are not valid.", problems);

  const events = data.events as Record<string, unknown>[];
  return {
    status: 200,
    body: { data: { message: `Successfully processed ${events.length} conversion events.` } },
    ...(data.test_id === undefined ? { accepted: events.map((event) => toAccepted(event, pixel)) } : { tested: true }),
  };
}

function toAccepted(event: Record<string, unknown>, pixel: string): AcceptedInput {
  const type = event.type as { tracking_type: string; custom_event_name?: string };
  const id = isObject(event.metadata) ? event.metadata.conversion_id : undefined;
  const name = type.custom_event_name ?? type.tracking_type;
  return {
    id: typeof id === "string" ? id : null,
    name,
    key: `${pixel}/${type.tracking_type}/${name}/${String(id)}`,
    windowSeconds: dedupSeconds,
    event,
  };
}

const listed = (data: unknown[]): Answer => ({
  status: 200,
  body: { data, pagination: { next_url: null, previous_url: null } },
});

const listMe = (call: Call, context: Context): Answer =>
  accessError(call, context, "adsread") ?? {
    status: 200,
    body: { data: { id: "t2_standin", name: "example" } },
  };

const listBusinesses = (call: Call, context: Context): Answer =>
  accessError(call, context, "adsread") ?? listed([{ id: redditKnown.businessId, name: "Example Shop Ltd" }]);

const listAdAccounts = (call: Call, context: Context): Answer =>
  accessError(call, context, "adsread") ??
  (call.params.business === redditKnown.businessId
    ? listed([{ id: redditKnown.adAccountId, name: "Example Shop", currency: "EUR" }])
    : denied(403, "FORBIDDEN", "No access to the business."));

const listPixels = (call: Call, context: Context): Answer =>
  accessError(call, context, "adsread") ??
  (call.params.account === redditKnown.adAccountId
    ? listed([{ id: redditKnown.pixelId, name: "Shop pixel", business_id: redditKnown.businessId }])
    : denied(403, "FORBIDDEN", "No access to the ad account."));

/** The default user agents of HTTP libraries. */
const usualAgents = /^(?:node|undici|axios|got|python-requests|curl|okhttp|java|go-http-client)\b/i;

export const reddit = {
  id: "reddit",
  known: redditKnown,
  tokens: [
    { token: redditKnown.conversionToken, state: "valid", scopes: ["adsconversions"] },
    { token: redditKnown.accessToken, state: "valid" },
    { token: redditKnown.expiredToken, state: "expired" },
    { token: redditKnown.revokedToken, state: "revoked" },
    { token: redditKnown.readOnlyToken, state: "valid", scopes: ["adsread"] },
  ],
  oauth: {
    client: { id: redditKnown.clientId, secret: redditKnown.clientSecret },
    authorizePath: "/api/v1/authorize",
    tokenPath: "/api/v1/access_token",
    scopes: ["adsconversions", "adsread"],
    pkce: "none",
    clientAuth: ["basic"],
    tokenBody: "form",
    // An hour or a day, by source: uncertain, so the hour.
    accessSeconds: 3600,
    refresh: "fixed",
    // A temporary sign-in gets no refresh token.
    offline: (query) => query.get("duration") === "permanent",
    tokenCallError: ({ headers }) =>
      headers["user-agent"] && !usualAgents.test(headers["user-agent"]) ? null : bare(429, "Too Many Requests"),
    tokenError: (fault) =>
      fault === "invalid_client"
        ? { status: 401, body: { message: "Unauthorized", error: 401 } }
        : { status: 400, body: { error: fault } },
  },
  routes: [
    {
      kind: "events",
      method: "POST",
      path: /^\/api\/v3\/pixels\/(?<pixel>\w+)\/conversion_events$/,
      handle: receiveEvents,
    },
    { kind: "listing", method: "GET", path: "/api/v3/me", handle: listMe },
    { kind: "listing", method: "GET", path: "/api/v3/me/businesses", handle: listBusinesses },
    {
      kind: "listing",
      method: "GET",
      path: /^\/api\/v3\/businesses\/(?<business>[\w-]+)\/ad_accounts$/,
      handle: listAdAccounts,
    },
    {
      kind: "listing",
      method: "GET",
      path: /^\/api\/v3\/ad_accounts\/(?<account>\w+)\/pixels$/,
      handle: listPixels,
    },
  ],
  documentedErrors,
  errors: {
    notFound: () => bare(404, "Not Found"),
    // No header with the wait is known.
    throttled: () => bare(429, "Too Many Requests"),
    failed: (status) => bare(status, status === 503 ? "upstream connect error" : "Internal Server Error"),
    token: tokenError,
  },
} as const satisfies Standin;
