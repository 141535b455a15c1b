// LinkedIn: conversion events (one or a batch), the finders that fill the pickers, and the sign-in.

import { eventIndex, isObject, list, object, readJson } from "../shared/checks.ts";
import { documentedErrors } from "./documented.ts";
import { accountUrn, linkedinError, linkedinKnown, linkedinThrottled, linkedinTokenError, accessError, rules } from "./access.ts";
import { eventShape, toLinkedInMessage } from "./event.ts";
import type { AcceptedInput, Answer, Call, Context, Standin } from "../shared/standin.ts";

const maxBatch = 5000;
// Uncertain: no window is documented. Ninety days, because nothing older is accepted anyway.
const dedupSeconds = 90 * 86_400;

function receiveEvents(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "rw_conversions");
  if (fault) return fault;
  // 300 or 600 a minute, 300 or 500 thousand a day, by source: uncertain, so the lower ones.
  if (context.useQuota("application", 300, 60) || context.useQuota("application", 300_000, 86_400)) return linkedinThrottled();
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return linkedinError(400, "BAD_REQUEST", "Request body cannot be parsed");
  const body = read.value;
  const method = call.headers["x-restli-method"]?.toUpperCase();
  if (method !== undefined && method !== "BATCH_CREATE" && method !== "CREATE")
    return linkedinError(400, "ILLEGAL_ARGUMENT", `Invalid X-RestLi-Method ${method}`);
  const isBatch = method === "BATCH_CREATE";

  const event = eventShape(context.now(), call.headers["linkedin-version"] ?? "");
  if (isBatch && Array.isArray(body.elements) && body.elements.length > maxBatch)
    return linkedinError(400, "BAD_REQUEST", `The batch has more than ${maxBatch} elements`);
  const shape = isBatch ? object({ elements: list(event, { min: 1 }) }, { required: ["elements"] }) : event;
  const problems = shape(body, "");
  // One invalid element fails all; the message names every element by its index.
  if (problems.length > 0) {
    const message = toLinkedInMessage(problems, isBatch);
    return {
      status: 422,
      body: { message, status: 422 },
      rejected: problems.map(({ path, message: why }) => `${eventIndex(path) ?? 0}: ${path} ${why}`),
    };
  }
  const events = (isBatch ? body.elements : [body]) as Record<string, unknown>[];
  const wrong = events.map(ruleError).find((one) => one !== null);
  if (wrong) return wrong;
  return isBatch
    ? {
        status: 200,
        body: { elements: events.map(() => ({ status: 201 })) },
        accepted: events.map(toAccepted),
      }
    : { status: 201, accepted: events.map(toAccepted) };
}

const ruleId = (event: Record<string, unknown>) => String(event.conversion).split(":").at(-1);

function ruleError(event: Record<string, unknown>): Answer | null {
  const rule = rules.find(({ id }) => id === ruleId(event));
  if (!rule) return linkedinError(403, "ACCESS_DENIED", `No access to the conversion ${String(event.conversion)}`, 100);
  if (rule.conversionMethod !== "CONVERSIONS_API")
    return linkedinError(400, "BAD_REQUEST", `The conversion method of ${rule.id} is not CONVERSIONS_API`);
  // LinkedIn's response for a disabled rule is uncertain; only enabled rules count events.
  return rule.enabled ? null : linkedinError(400, "BAD_REQUEST", `The conversion rule ${rule.id} is not enabled`);
}

const toAccepted = (event: Record<string, unknown>): AcceptedInput => ({
  id: typeof event.eventId === "string" ? event.eventId : null,
  name: String(event.conversion),
  key: `${ruleId(event)}/${String(event.eventId)}`,
  windowSeconds: dedupSeconds,
  event,
});

/** A page of a finder. */
function found(elements: unknown[], call: Call): Answer {
  const start = Number(call.query.get("start") ?? 0) || 0;
  const count = Number(call.query.get("count") ?? 10) || 10;
  return {
    status: 200,
    body: {
      elements: elements.slice(start, start + count),
      paging: { start, count, total: elements.length, links: [] },
    },
  };
}

const account = {
  id: Number(linkedinKnown.accountId),
  name: "Example Shop",
  currency: "EUR",
  type: "BUSINESS",
  status: "ACTIVE",
};

function listAccounts(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "r_ads");
  if (fault) return fault;
  return call.query.get("q") === "search" ? found([account], call) : linkedinError(400, "ILLEGAL_ARGUMENT", "q must be search");
}

function listAccountUsers(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "r_ads");
  if (fault) return fault;
  return call.query.get("q") === "authenticatedUser"
    ? found([{ account: accountUrn, role: "ACCOUNT_MANAGER", user: "urn:li:person:standin" }], call)
    : linkedinError(400, "ILLEGAL_ARGUMENT", "q must be authenticatedUser");
}

function readAccount(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "r_ads");
  if (fault) return fault;
  return call.params.account === linkedinKnown.accountId
    ? { status: 200, body: account }
    : linkedinError(404, "RESOURCE_NOT_FOUND", "Could not find entity");
}

function listRules(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "rw_conversions");
  if (fault) return fault;
  if (call.query.get("q") !== "account") return linkedinError(400, "ILLEGAL_ARGUMENT", "q must be account");
  if (call.query.get("account") !== accountUrn)
    return linkedinError(403, "ACCESS_DENIED", "Not enough permissions to access the account", 100);
  return found(
    rules.map((rule) => ({
      ...rule,
      id: Number(rule.id),
      account: accountUrn,
      postClickAttributionWindowSize: 30,
      viewThroughAttributionWindowSize: 7,
      attributionType: "LAST_TOUCH_BY_CAMPAIGN",
    })),
    call,
  );
}

export const linkedin = {
  id: "linkedin",
  known: linkedinKnown,
  tokens: [
    { token: linkedinKnown.accessToken, state: "valid" },
    { token: linkedinKnown.expiredToken, state: "expired" },
    { token: linkedinKnown.revokedToken, state: "revoked" },
    { token: linkedinKnown.adsOnlyToken, state: "valid", scopes: ["r_ads"] },
  ],
  oauth: {
    client: { id: linkedinKnown.clientId, secret: linkedinKnown.clientSecret },
    authorizePath: "/oauth/v2/authorization",
    tokenPath: "/oauth/v2/accessToken",
    scopes: ["rw_conversions", "r_ads", "r_ads_reporting", "r_liteprofile"],
    // The server flow has no PKCE; a challenge is ignored.
    pkce: "none",
    clientAuth: ["body"],
    tokenBody: "form",
    accessSeconds: 60 * 86_400,
    // The refresh token is valid for a year from the sign-in, however often it is used.
    refresh: "fixed",
    refreshSeconds: 365 * 86_400,
    // Without token_type, as LinkedIn documents it; it is uncertain if it is there by now.
    tokenAnswer: ({ accessToken, expiresInSeconds, refreshToken, refreshExpiresInSeconds, scopes }) => ({
      status: 200,
      body: {
        access_token: accessToken,
        expires_in: expiresInSeconds,
        ...(refreshToken === undefined ? {} : { refresh_token: refreshToken, refresh_token_expires_in: refreshExpiresInSeconds }),
        scope: scopes.join(","),
      },
    }),
  },
  routes: [
    { kind: "events", method: "POST", path: "/rest/conversionEvents", handle: receiveEvents },
    { kind: "listing", method: "GET", path: "/rest/adAccounts", handle: listAccounts },
    { kind: "listing", method: "GET", path: "/rest/adAccountUsers", handle: listAccountUsers },
    { kind: "listing", method: "GET", path: /^\/rest\/adAccounts\/(?<account>\d+)$/, handle: readAccount },
    { kind: "listing", method: "GET", path: "/rest/conversions", handle: listRules },
  ],
  documentedErrors,
  errors: {
    notFound: (call) => linkedinError(404, "RESOURCE_NOT_FOUND", `No virtual resource found for ${call.method} ${call.path}`),
    throttled: linkedinThrottled,
    failed: (status) => linkedinError(status, "INTERNAL_SERVER_ERROR", "Internal Server Error"),
    token: linkedinTokenError,
  },
} as const satisfies Standin;
