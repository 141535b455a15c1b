// X: web conversions, the Ads API calls that fill the pickers, and the sign-in of OAuth 1.0a.

import { isObject, readJson } from "../shared/checks.ts";
import type { Answer, Call, Context, Standin } from "../shared/standin.ts";
import { documentedErrors } from "./documented.ts";
import { eventTags, senderError, signatureError, xError, xKnown, xThrottled, xUnauthorized } from "./access.ts";
import { requestShape, shortEventId, toXFault } from "./event.ts";
import { xSignInRoutes } from "./signIn.ts";

const dedupSeconds = 48 * 3600;

function receiveConversions(call: Call, context: Context): Answer {
  const fault = senderError(call, context);
  if (fault) return fault;
  if (call.params.pixel !== xKnown.pixelId)
    return xError(404, [{ code: "WEB_EVENT_TAG_NOT_FOUND", message: "The pixel was not found", parameter: "pixel_id" }]);
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value))
    return xError(400, [{ code: "INVALID_PARAMETER", message: "The body is not JSON", parameter: "body" }]);
  const problems = requestShape(context.now())(read.value, "");
  if (problems.length > 0) return xError(400, problems.map(toXFault));

  const conversions = read.value.conversions as Record<string, unknown>[];
  const wait = context.useQuota("account", 60_000, 900, conversions.length);
  if (wait) return xThrottled(wait, context.now());
  return {
    status: 200,
    body: {
      request: { params: { pixel_id: call.params.pixel } },
      data: { conversions_processed: conversions.length, debug_id: context.nextId() },
    },
    accepted: conversions.map((conversion) => ({
      id: typeof conversion.conversion_id === "string" ? conversion.conversion_id : null,
      name: String(conversion.event_id),
      // Both forms of the event tag's id are the same tag.
      key: `${shortEventId(String(conversion.event_id))}/${String(conversion.conversion_id)}`,
      windowSeconds: dedupSeconds,
      event: conversion,
    })),
  };
}

const listed = (data: unknown[], params: Record<string, string> = {}): Answer => ({
  status: 200,
  body: { request: { params }, next_cursor: null, data, total_count: data.length },
});

/** The pixel's token gives access to the pixel only. */
const listAccounts = (call: Call, context: Context): Answer =>
  signatureError(call, context) ??
  listed([{ id: xKnown.accountId, name: "Example Shop", timezone: "Europe/Berlin", deleted: false }]);

const listEventTags = (call: Call, context: Context): Answer =>
  signatureError(call, context) ??
  (call.params.account === xKnown.accountId
    ? listed(
        eventTags.map(({ id, name, type, single }) => ({
          id,
          name,
          type,
          website_tag_id: xKnown.pixelId,
          status: "TRACKING",
          deleted: false,
          tag_type: single ? "SINGLE_EVENT" : "UNIVERSAL",
        })),
        { account_id: xKnown.accountId },
      )
    : xError(404, [{ code: "NOT_FOUND", message: "The account was not found", parameter: "account_id" }]));

export const x = {
  id: "x",
  known: xKnown,
  tokens: [
    { token: xKnown.pixelToken, state: "valid", scopes: ["pixel"] },
    { token: xKnown.revokedPixelToken, state: "revoked", scopes: ["pixel"] },
    { token: xKnown.accessToken, state: "valid", scopes: ["account"] },
    { token: xKnown.revokedAccessToken, state: "revoked", scopes: ["account"] },
  ],
  secrets: ["oauth_token", "oauth_verifier", "oauth_token_secret"],
  routes: [
    {
      kind: "events",
      method: "POST",
      path: /^\/12\/measurement\/conversions\/(?<pixel>\w+)$/,
      handle: receiveConversions,
    },
    { kind: "listing", method: "GET", path: "/12/accounts", handle: listAccounts },
    {
      kind: "listing",
      method: "GET",
      path: /^\/12\/accounts\/(?<account>\w+)\/web_event_tags$/,
      handle: listEventTags,
    },
    ...xSignInRoutes,
  ],
  documentedErrors,
  errors: {
    notFound: () => xError(404, [{ code: "ROUTE_NOT_FOUND", message: "The requested resource was not found" }]),
    throttled: (retryAfterSeconds) => xThrottled(retryAfterSeconds),
    failed: (status) =>
      status === 503
        ? xError(503, [{ code: "SERVICE_UNAVAILABLE", message: "Service unavailable" }])
        : xError(status, [{ code: "INTERNAL_ERROR", message: "Internal error" }]),
    token: (state) => xUnauthorized(`the token is ${state}`),
  },
} as const satisfies Standin;
