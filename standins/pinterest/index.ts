// Pinterest: the Conversions API of v5, the lists that fill the pickers, and the sign-in.

import { eventIndex, describeProblem, isObject, readJson } from "../shared/checks.ts";
import { type OAuthFault, bearerToken, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import { documentedErrors } from "./documented.ts";
import { isSchemaProblem, matchProblems, requestShape } from "./event.ts";

/** Values of no real account. */
const pinterestKnown = {
  clientId: "1500001",
  clientSecret: "standin-pinterest-secret",
  /** As created in Ads Manager: may only send conversions. */
  conversionToken: "pinc_standin-valid",
  expiredToken: "pinc_standin-expired",
  revokedToken: "pinc_standin-revoked",
  /** Issued by a sign-in, with every permission. */
  accessToken: "pina_standin-valid",
  /** Signed in for the pickers only: may not send events. */
  readOnlyToken: "pina_standin-readonly",
  adAccountId: "549755000001",
  otherAdAccountId: "549755000002",
  /** A tag is not an ad account and does not belong in the URL. */
  tagId: "2612000000001",
} as const;

const dedupSeconds = 3600;
const accounts = [
  { id: pinterestKnown.adAccountId, name: "Example Shop" },
  { id: pinterestKnown.otherAdAccountId, name: "Example Outlet" },
];

const error = (status: number, code: number, message: string): Answer => ({
  status,
  body: { code, message },
  rejected: [`${code}: ${message}`],
});

/** Pinterest's response is the same for every invalid token. */
const tokenError = (): Answer => error(401, 2, "Authentication failed.");
const forbidden = (): Answer => error(403, 29, "You are not permitted to access that resource.");

function throttled(retryAfterSeconds: number): Answer {
  return {
    ...error(429, 8, "You have exceeded your rate limit. Try again later."),
    headers: {
      "x-ratelimit-limit": "5000, 5000;w=60",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(retryAfterSeconds),
    },
  };
}

function accessError(call: Call, context: Context, scope: string): Answer | null {
  const token = bearerToken(call);
  if (context.tokens.state(token) !== "valid") return tokenError();
  if (!context.tokens.allows(token, scope)) return forbidden();
  const account = call.params.account;
  return account === undefined || accounts.some(({ id }) => id === account) ? null : forbidden();
}

function receiveEvents(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "ads:write");
  if (fault) return fault;
  const account = call.params.account ?? "";
  const wait = context.useQuota(`account ${account}`, 5000, 60);
  if (wait) return throttled(wait);
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return error(400, 4196, "The request body is not valid JSON.");
  const test = call.query.get("test");
  if (test !== null && test !== "true" && test !== "false") return error(400, 4196, "'test' is not a boolean.");

  const shapeProblems = requestShape(context.now())(read.value, "");
  const schema = shapeProblems.find(isSchemaProblem);
  if (schema)
    return {
      ...error(400, 4196, `Invalid request: ${describeProblem(schema)}`),
      rejected: shapeProblems.map(describeProblem),
    };
  const events = read.value.data as Record<string, unknown>[];
  const problems = [...shapeProblems, ...events.flatMap((event, index) => matchProblems(event, `data[${index}]`))];
  const faults = new Map<number, string>();
  for (const problem of problems) {
    const index = eventIndex(problem.path) ?? 0;
    faults.set(index, faults.get(index) ?? describeProblem(problem));
  }
  const good = events.filter((_, index) => !faults.has(index));
  const results = {
    num_events_received: events.length,
    num_events_processed: good.length,
    events: events.map((_, index) => {
      const message = faults.get(index);
      return {
        status: message === undefined ? "processed" : "failed",
        error_message: message ?? "",
        warning_message: "",
      };
    }),
  };
  return {
    // It is uncertain if a partial failure can also be a 200, and what the details of a 422 hold.
    status: faults.size > 0 ? 422 : 200,
    body: faults.size > 0 ? { code: 422, message: "Not all events were successfully processed.", details: results } : results,
    rejected: problems.map(describeProblem),
    ...(test === "true"
      ? { tested: true }
      : {
          accepted: good.map((event) => ({
            id: String(event.event_id),
            name: String(event.event_name),
            key: `${account}/${String(event.event_name)}/${String(event.event_id)}`,
            // The window is uncertain (an hour to two days); offline events are never compared.
            windowSeconds: event.action_source === "offline" ? null : dedupSeconds,
            event,
          })),
        }),
  };
}

function page(items: readonly (Record<string, unknown> & { id: string })[], call: Call): Answer {
  const size = Number(call.query.get("page_size") ?? 25);
  if (!Number.isInteger(size) || size < 1 || size > 250) return error(400, 1, "'page_size' must be from 1 to 250.");
  const bookmark = call.query.get("bookmark");
  const start = bookmark === null ? 0 : items.findIndex(({ id }) => id === bookmark) + 1;
  const shown = items.slice(start, start + size);
  const more = start + size < items.length;
  return { status: 200, body: { items: shown, bookmark: more ? (shown.at(-1)?.id ?? null) : null } };
}

function listAccounts(call: Call, context: Context): Answer {
  return (
    accessError(call, context, "ads:read") ??
    page(
      accounts.map((account) => ({
        ...account,
        owner: { username: "example" },
        country: "DE",
        currency: "EUR",
        permissions: ["OWNER"],
      })),
      call,
    )
  );
}

function listTags(call: Call, context: Context): Answer {
  return (
    accessError(call, context, "ads:read") ??
    page([{ id: pinterestKnown.tagId, ad_account_id: call.params.account, name: "Shop tag", status: "ACTIVE" }], call)
  );
}

function readScores(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "ads:read");
  if (fault) return fault;
  const period = call.query.get("lookback_period");
  if (period !== "1d" && period !== "14d") return error(400, 1, "'lookback_period' must be 1d or 14d.");
  return {
    status: 200,
    body: [
      {
        overall_status: "FAIR",
        ingestion_source: call.query.get("ingestion_source") ?? "CONVERSIONS_API",
        source_platform: call.query.get("source_platform") ?? "WEB",
        lookback_period: period,
        quality_components: {
          hashed_email: { checkout: { coverage: 98, issues: [] } },
          click_id_epik: { checkout: { coverage: 12.5, issues: ["LOW_COVERAGE"] } },
        },
      },
    ],
  };
}

/** Exchanges the token of a sign-in for a long-lived one that can only send. */
function makeConversionToken(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "ads:write");
  if (fault) return fault;
  const token = context.tokens.issueAccess(["ads:write"], 10 * 365 * 86_400, bearerToken(call) ?? "");
  return { status: 200, body: { access_token: token, token_type: "conversion" } };
}

export const pinterest = {
  id: "pinterest",
  known: pinterestKnown,
  tokens: [
    { token: pinterestKnown.conversionToken, state: "valid", scopes: ["ads:write"] },
    { token: pinterestKnown.expiredToken, state: "expired" },
    { token: pinterestKnown.revokedToken, state: "revoked" },
    { token: pinterestKnown.accessToken, state: "valid" },
    { token: pinterestKnown.readOnlyToken, state: "valid", scopes: ["ads:read"] },
  ],
  oauth: {
    client: { id: pinterestKnown.clientId, secret: pinterestKnown.clientSecret },
    authorizePath: "/oauth/",
    tokenPath: "/v5/oauth/token",
    scopes: ["ads:read", "ads:write", "user_accounts:read"],
    scopeSeparator: ",",
    pkce: "none",
    clientAuth: ["basic"],
    tokenBody: "form",
    accessSeconds: 30 * 86_400,
    refresh: "rotating",
    refreshSeconds: 60 * 86_400,
    // The application was made before 2025-09-25, and the year-long refresh tokens of such applications have ended: it has
    // to ask for those that are replaced at each use.
    tokenCallError: ({ text }) => {
      const fields = new URLSearchParams(text);
      const isCode = fields.get("grant_type") === "authorization_code";
      return isCode && fields.get("continuous_refresh") !== "true"
        ? error(400, 1, "continuous_refresh must be true for this application.")
        : null;
    },
    tokenAnswer: ({ accessToken, expiresInSeconds, refreshToken, refreshExpiresInSeconds, scopes }) => ({
      status: 200,
      body: {
        access_token: accessToken,
        refresh_token: refreshToken,
        response_type: "authorization_code",
        token_type: "bearer",
        expires_in: expiresInSeconds,
        refresh_token_expires_in: refreshExpiresInSeconds,
        scope: scopes.join(","),
      },
    }),
    // The numbers are uncertain; the format is Pinterest's usual one.
    tokenError: (reason: OAuthFault, description: string) =>
      reason === "invalid_client" ? tokenError() : error(400, 1, `${reason}: ${description}`),
  },
  routes: [
    {
      kind: "events",
      method: "POST",
      path: /^\/v5\/ad_accounts\/(?<account>\d+)\/events$/,
      handle: receiveEvents,
    },
    { kind: "token", method: "POST", path: "/v5/oauth/conversion_token", handle: makeConversionToken },
    { kind: "listing", method: "GET", path: "/v5/ad_accounts", handle: listAccounts },
    {
      kind: "listing",
      method: "GET",
      path: /^\/v5\/ad_accounts\/(?<account>\d+)\/conversion_tags$/,
      handle: listTags,
    },
    {
      kind: "listing",
      method: "GET",
      path: /^\/v5\/ad_accounts\/(?<account>\d+)\/conversion_eqs$/,
      handle: readScores,
    },
  ],
  documentedErrors,
  errors: {
    notFound: () => error(404, 1, "Not found."),
    throttled,
    failed: (status) =>
      status === 503
        ? error(503, 4197, "The endpoint has been ramped down and is currently not accepting any traffic.")
        : error(status, 0, "An unexpected error occurred."),
    token: tokenError,
  },
} as const satisfies Standin;
