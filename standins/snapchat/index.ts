// Snapchat: the Conversions API v3, the Ads API calls that fill the pickers, and the sign-in.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import { documentedErrors } from "./documented.ts";
import { requestShape, unmatchedMessage } from "./event.ts";
import { bearerToken, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

/** Values of no real account. */
const snapchatKnown = {
  clientId: "a1000000-0000-4000-8000-000000000001",
  clientSecret: "standin-snapchat-secret",
  /** As created in Business Manager: long-lived, sends conversions. */
  accessToken: "snap-standin-valid",
  expiredToken: "snap-standin-expired",
  revokedToken: "snap-standin-revoked",
  organizationId: "b2000000-0000-4000-8000-000000000001",
  adAccountId: "c3000000-0000-4000-8000-000000000001",
  pixelId: "d4000000-0000-4000-8000-000000000001",
  /** Belongs to another organisation. */
  foreignPixelId: "d4000000-0000-4000-8000-000000000009",
  testEventCode: "TEST99",
} as const;

const scope = "snapchat-marketing-api";
const dedupSeconds = 48 * 3600;

/** Any status but VALID is a failure, whatever the HTTP status. */
function invalid(status: number, reason: string, codes: string[], messages: string[]): Answer {
  return {
    status,
    body: { status: "INVALID", reason, errors: { codes, error_msgs: messages } },
    rejected: messages,
  };
}

/** An unknown token is a bad request and not a 401, as a sender has seen. Uncertain. */
const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  state === "unknown"
    ? invalid(400, "Invalid access token", ["INVALID_ACCESS_TOKEN"], ["The access token is not valid."])
    : invalid(401, "Unauthorized", ["UNAUTHORIZED"], [`The access token has been ${state}.`]);

/** Neither the limits nor a header with the wait are documented. */
const throttled = (): Answer => invalid(429, "Too many requests", ["RATE_LIMITED"], ["Too many requests. Try again later."]);

type Checked = { answer: Answer } | { events: Record<string, unknown>[]; hasTestCode: boolean };

function checkRequest(call: Call, context: Context): Checked {
  // The documentation has it in the query; a header is not mentioned, so it is ignored.
  const state = context.tokens.state(call.query.get("access_token"));
  if (state !== "valid") return { answer: tokenError(state) };
  const pixel = call.params.pixel;
  if (pixel !== snapchatKnown.pixelId)
    return {
      answer: invalid(400, "Permission denied", ["PERMISSION_DENIED"], ["The access token has no access to the pixel."]),
    };
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value))
    return { answer: invalid(400, "Invalid request", ["INVALID_JSON"], ["The body is not JSON."]) };
  // One invalid event rejects the request.
  const problems = requestShape(context.now())(read.value, "");
  if (problems.length > 0) {
    const isUnmatched = problems.some(({ message }) => message === unmatchedMessage);
    return {
      answer: invalid(
        400,
        isUnmatched ? "Insufficient PII" : "Invalid request",
        problems.map(({ kind }) => (kind === "hash" ? "UNHASHED_PII" : "INVALID_FIELD")),
        problems.map(describeProblem),
      ),
    };
  }
  return {
    events: read.value.data as Record<string, unknown>[],
    hasTestCode: read.value.test_event_code !== undefined,
  };
}

function receiveEvents(call: Call, context: Context): Answer {
  const checked = checkRequest(call, context);
  if ("answer" in checked) return checked.answer;
  return {
    status: 200,
    body: { status: "VALID", reason: "Events have been processed successfully.", errors: {} },
    accepted: checked.events.map((event) => ({
      id: typeof event.event_id === "string" ? event.event_id : null,
      name: String(event.event_name),
      key: `${call.params.pixel}/${String(event.event_id)}`,
      // Purchases are reported to be compared by order id for 30 days too: uncertain, and not done here.
      windowSeconds: dedupSeconds,
      event,
    })),
    // It is uncertain if events with a test code count; the stricter assumption is that they do.
    ...(checked.hasTestCode ? { tested: true } : {}),
  };
}

function validateEvents(call: Call, context: Context): Answer {
  const checked = checkRequest(call, context);
  if ("answer" in checked) return checked.answer;
  return {
    status: 200,
    body: {
      status: "VALID",
      test_event: true,
      reason: "Events have been validated successfully.",
      event_logs: checked.events.map((_, event) => ({ event, status: "VALID", errors: {}, warnings: [] })),
    },
    tested: true,
  };
}

const adsError = (context: Context, status: number, code: string, message: string): Answer => ({
  status,
  body: {
    request_status: "ERROR",
    request_id: context.nextId(),
    debug_message: message,
    display_message: message,
    error_code: code,
  },
  rejected: [`${code}: ${message}`],
});

function accessError(call: Call, context: Context): Answer | null {
  const token = bearerToken(call);
  return context.tokens.state(token) === "valid" && context.tokens.allows(token, scope)
    ? null
    : adsError(context, 401, "E1001", "The access token is invalid or has expired.");
}

/** Every entity is inside its own envelope. */
const listed = (context: Context, plural: string, single: string, entities: Record<string, unknown>[]): Answer => ({
  status: 200,
  body: {
    request_status: "SUCCESS",
    request_id: context.nextId(),
    paging: {},
    [plural]: entities.map((entity) => ({ sub_request_status: "SUCCESS", [single]: entity })),
  },
});

const adAccount = {
  id: snapchatKnown.adAccountId,
  name: "Example Shop",
  organization_id: snapchatKnown.organizationId,
  currency: "EUR",
  status: "ACTIVE",
};

function listOrganizations(call: Call, context: Context): Answer {
  const withAccounts = call.query.get("with_ad_accounts") === "true";
  return (
    accessError(call, context) ??
    listed(context, "organizations", "organization", [
      {
        id: snapchatKnown.organizationId,
        name: "Example Shop Ltd",
        type: "ENTERPRISE",
        ...(withAccounts ? { ad_accounts: [adAccount] } : {}),
      },
    ])
  );
}

function listAdAccounts(call: Call, context: Context): Answer {
  const fault = accessError(call, context);
  if (fault) return fault;
  return call.params.organization === snapchatKnown.organizationId
    ? listed(context, "adaccounts", "adaccount", [adAccount])
    : adsError(context, 403, "E3002", "Not authorised for the organization.");
}

function listPixels(call: Call, context: Context): Answer {
  const fault = accessError(call, context);
  if (fault) return fault;
  return call.params.account === snapchatKnown.adAccountId
    ? listed(context, "pixels", "pixel", [
        {
          id: snapchatKnown.pixelId,
          name: "Shop pixel",
          ad_account_id: snapchatKnown.adAccountId,
          status: "ACTIVE",
        },
      ])
    : adsError(context, 404, "E3003", "The ad account was not found.");
}

/** The names of the fields could not be read; these follow the other lists of the API. Uncertain. */
function readScores(call: Call, context: Context): Answer {
  const fault = accessError(call, context);
  if (fault) return fault;
  if (call.params.pixel !== snapchatKnown.pixelId) return adsError(context, 404, "E3003", "The pixel was not found.");
  const recommendations = [{ priority: "P1", description: "Send hashed phone numbers." }];
  return listed(context, "event_quality_scores", "event_quality_score", [
    { event_type: "PURCHASE", action_source: "WEB", score: 7.2, recommendations },
  ]);
}

export const snapchat = {
  id: "snapchat",
  known: snapchatKnown,
  tokens: [
    { token: snapchatKnown.accessToken, state: "valid" },
    { token: snapchatKnown.expiredToken, state: "expired" },
    { token: snapchatKnown.revokedToken, state: "revoked" },
  ],
  oauth: {
    client: { id: snapchatKnown.clientId, secret: snapchatKnown.clientSecret },
    authorizePath: "/login/oauth2/authorize",
    tokenPath: "/login/oauth2/access_token",
    scopes: [scope],
    pkce: "supported",
    clientAuth: ["body"],
    tokenBody: "form",
    accessSeconds: 3600,
    // It is uncertain if the refresh token changes. A client that keeps the newest one is right in both cases.
    refresh: "rotating",
  },
  routes: [
    { kind: "events", method: "POST", path: /^\/v3\/(?<pixel>[\w-]+)\/events$/, handle: receiveEvents },
    {
      kind: "events",
      method: "POST",
      path: /^\/v3\/(?<pixel>[\w-]+)\/events\/validate$/,
      handle: validateEvents,
    },
    { kind: "listing", method: "GET", path: "/v1/me/organizations", handle: listOrganizations },
    {
      kind: "listing",
      method: "GET",
      path: /^\/v1\/organizations\/(?<organization>[\w-]+)\/adaccounts$/,
      handle: listAdAccounts,
    },
    {
      kind: "listing",
      method: "GET",
      path: /^\/v1\/adaccounts\/(?<account>[\w-]+)\/pixels$/,
      handle: listPixels,
    },
    {
      kind: "listing",
      method: "GET",
      path: /^\/v1\/pixels\/(?<pixel>[\w-]+)\/event_quality_scores$/,
      handle: readScores,
    },
  ],
  documentedErrors,
  errors: {
    notFound: () => ({ status: 404, body: "Not Found" }),
    throttled,
    failed: (status) => invalid(status, "Internal error", ["INTERNAL_ERROR"], ["Something went wrong."]),
    token: tokenError,
  },
} as const satisfies Standin;
