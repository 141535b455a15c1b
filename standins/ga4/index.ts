// The Measurement Protocol of Google Analytics 4. `/mp/collect` answers 204 to everything, so only the log shows
// if a hit was lost; `/debug/mp/collect` explains, and records nothing.

import { googleTokenError } from "../google_ads/access.ts";
import { documentedErrors } from "./documented.ts";
import { hitProblems, validationMessages } from "./hit.ts";
import { keepPurchase, readScope, runReport } from "./report.ts";
import { describeProblem, readJson } from "../shared/checks.ts";
import { gatewayPage } from "../shared/pages.ts";
import type { Answer, Call, Context, Standin } from "../shared/standin.ts";

/** Values of no real account. */
const known = {
  measurementId: "G-STANDIN001",
  apiSecret: "standin-ga4-secret",
  /** Deleted in the stream's settings. */
  revokedSecret: "standin-ga4-deleted",
  firebaseAppId: "1:100000000001:android:standin",
  clientId: "standin-ga4-client.apps.googleusercontent.example",
  clientSecret: "standin-ga4-client-secret",
  accessToken: "ya29.standin-ga4-valid",
  expiredToken: "ya29.standin-ga4-expired",
  revokedToken: "ya29.standin-ga4-revoked",
  propertyId: "300000001",
} as const;

const maxBytes = 130_000;

function collect(call: Call, context: Context): Answer {
  const silent = (...rejected: string[]): Answer => ({ status: 204, rejected });
  const stream = call.query.get("measurement_id") ?? call.query.get("firebase_app_id");
  if (stream !== known.measurementId && stream !== known.firebaseAppId) return silent("the stream is not known");
  if (context.tokens.state(call.query.get("api_secret")) !== "valid") return silent("the API secret is not known");
  if (call.bytes >= maxBytes) return silent("the body is too large");
  const read = readJson(call);
  if ("fault" in read) return silent(read.fault);
  const problems = hitProblems(read.value, { now: context.now(), app: stream === known.firebaseAppId });
  if (problems.length > 0) return silent(...problems.map(describeProblem));

  const hit = read.value as { events: { name: string; params?: Record<string, unknown> }[] };
  for (const { name, params } of hit.events) if (name === "purchase") keepPurchase(textOf(params?.transaction_id), context);
  return {
    status: 204,
    accepted: hit.events.map((event) => ({
      id: textOf(event.params?.transaction_id) ?? textOf(event.params?.event_id),
      name: event.name,
      key: `${event.name}/${String(event.params?.transaction_id ?? event.params?.event_id)}`,
      // It is not documented that purchases are deduplicated by their transaction id, so here they count every time.
      windowSeconds: null,
      event: { ...hit, events: [event] },
    })),
  };
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);

/** The validation server checks neither secret nor stream. */
function debug(call: Call, context: Context): Answer {
  const read = readJson(call);
  const value = "value" in read ? read.value : undefined;
  const problems = hitProblems(value, { now: context.now(), app: call.query.has("firebase_app_id") });
  return {
    status: 200,
    body: { validationMessages: validationMessages(problems) },
    ...(problems.length ? { rejected: problems.map(describeProblem) } : { tested: true }),
  };
}

export const ga4 = {
  id: "ga4",
  known,
  tokens: [
    { token: known.apiSecret, state: "valid" },
    { token: known.revokedSecret, state: "revoked" },
    { token: known.accessToken, state: "valid", scopes: [readScope] },
    { token: known.expiredToken, state: "expired", scopes: [readScope] },
    { token: known.revokedToken, state: "revoked", scopes: [readScope] },
  ],
  oauth: {
    client: { id: known.clientId, secret: known.clientSecret },
    authorizePath: "/o/oauth2/v2/auth",
    tokenPath: "/token",
    revokePath: "/revoke",
    scopes: [readScope, "openid", "email"],
    pkce: "supported",
    clientAuth: ["body", "basic"],
    tokenBody: "form",
    accessSeconds: 3600,
    refresh: "fixed",
    offline: (query) => query.get("access_type") === "offline" && query.get("prompt") === "consent",
  },
  routes: [
    { kind: "events", method: "POST", path: "/mp/collect", handle: collect },
    { kind: "events", method: "POST", path: "/debug/mp/collect", handle: debug },
    {
      kind: "status",
      method: "POST",
      path: /^\/v1beta\/properties\/(?<property>\d+):runReport$/,
      handle: (call, context) => runReport(call, context, known.propertyId),
    },
  ],
  documentedErrors,
  errors: {
    notFound: () => gatewayPage(404),
    // Only the status is documented. The header is HTTP's own.
    throttled: (seconds) => ({ ...gatewayPage(429), headers: { "retry-after": String(seconds) } }),
    failed: (status) => gatewayPage(status),
    token: (state, { path }) =>
      path.startsWith("/v1beta/") ? googleTokenError(state) : { status: 204, rejected: ["the API secret is not known"] },
  },
} as const satisfies Standin;
