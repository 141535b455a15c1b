// Meta: the Conversions API on the Graph API, the edges that fill the pickers, and Facebook's sign-in.

import { isObject, readJson } from "../shared/checks.ts";
import { documentedErrors } from "./documented.ts";
import {
  metaError,
  metaFailed,
  metaKnown,
  metaScopes,
  metaThrottled,
  metaToken,
  metaTokenError,
  accessError,
  unknownObject,
} from "./access.ts";
import { requestShape, toMetaFault, warnings } from "./event.ts";
import { listEdge, readObject, readQuality } from "./listing.ts";
import { oauthRoutes, usedCodeMessage } from "../shared/oauth.ts";
import type { OAuth, Answer, Call, Context, Standin } from "../shared/standin.ts";

const dedupSeconds = 48 * 3600;
const shortSeconds = 2 * 3600;
const longSeconds = 60 * 86_400;

function receiveEvents(call: Call, context: Context): Answer {
  const fault = accessError(call, context, ["ads_management"]);
  if (fault) return fault;
  const pixel = call.params.pixel ?? "";
  if (pixel === metaKnown.foreignPixelId)
    return metaError({
      status: 403,
      message: "(#200) You do not have permission to send events to this dataset",
      code: 200,
    });
  if (pixel !== metaKnown.pixelId && pixel !== metaKnown.otherPixelId) return unknownObject("POST", pixel);
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value))
    return metaError({ message: "(#100) The parameter data is required.", code: 100 });
  // The first fault of any event rejects all events. Meta's rate limit is not known.
  const problems = requestShape(context.now())(read.value, "");
  const [first] = problems;
  if (first)
    return {
      ...metaError(toMetaFault(first)),
      rejected: problems.map(({ path, message }) => `${path} ${message}`),
    };

  const events = read.value.data as Record<string, unknown>[];
  return {
    status: 200,
    body: {
      events_received: events.length,
      messages: events.flatMap(warnings),
      fbtrace_id: context.nextId(),
    },
    accepted: events.map((event) => ({
      id: typeof event.event_id === "string" ? event.event_id : null,
      name: String(event.event_name),
      key: `${pixel}/${String(event.event_name)}/${String(event.event_id)}`,
      windowSeconds: dedupSeconds,
      event,
    })),
    // It is uncertain if test events count for measurement; the stricter assumption is that they do.
    ...(read.value.test_event_code === undefined ? {} : { tested: true }),
  };
}

const oauth: OAuth = {
  client: { id: metaKnown.appId, secret: metaKnown.appSecret },
  authorizePath: /^\/v\d+\.0\/dialog\/oauth$/,
  tokenPath: /^\/v\d+\.0\/oauth\/access_token$/,
  tokenMethods: ["GET", "POST"],
  scopes: metaScopes,
  scopeSeparator: ",",
  pkce: "supported",
  clientAuth: ["body"],
  tokenBody: "query",
  // Facebook Login for Business has a configuration (config_id) instead of scopes.
  omits: ["grant_type", "scope"],
  authorizeFault: (query) =>
    query.get("scope") || query.get("config_id") === metaKnown.configId ? null : "scope or config_id is missing",
  accessSeconds: shortSeconds,
  refresh: "none",
  tokenAnswer: ({ accessToken, expiresInSeconds }) => ({
    status: 200,
    body: { access_token: accessToken, token_type: "bearer", expires_in: expiresInSeconds },
  }),
  tokenError: (fault, description) =>
    fault === "invalid_client"
      ? metaError({ message: "Error validating client secret.", code: 1 })
      : metaError({
          message:
            description === usedCodeMessage
              ? "This authorization code has been used."
              : `Invalid verification code format: ${description}.`,
          code: 100,
          subcode: description === usedCodeMessage ? 36_009 : 36_007,
        }),
};
const exchangeCode = oauthRoutes(oauth).find(({ kind }) => kind === "token");

/** Exchanges a code for a token of two hours, and that for one of sixty days. Parameters in the query or a form. */
function issueToken(call: Call, context: Context): Answer {
  const form = /^application\/x-www-form-urlencoded\b/i.test(call.headers["content-type"] ?? "");
  const query = new URLSearchParams([...call.query, ...(form ? new URLSearchParams(call.text) : [])]);
  const asked = { ...call, query };
  if (query.get("grant_type") !== "fb_exchange_token")
    return exchangeCode?.handle(asked, context) ?? metaError({ message: "Unknown path", code: 2500 });
  if (query.get("client_id") !== metaKnown.appId || query.get("client_secret") !== metaKnown.appSecret)
    return metaError({ message: "Error validating client secret.", code: 1 });
  const short = query.get("fb_exchange_token") ?? "";
  const state = context.tokens.state(short);
  if (state !== "valid") return metaTokenError(state);
  const scopes = metaScopes.filter((scope) => context.tokens.allows(short, scope));
  return {
    status: 200,
    body: {
      access_token: context.tokens.issueAccess(scopes, longSeconds, short),
      token_type: "bearer",
      expires_in: longSeconds,
    },
  };
}

/** Describes a token. Requires the application's own token: `<app id>|<app secret>`. */
function debugToken(call: Call, context: Context): Answer {
  if (metaToken(call) !== `${metaKnown.appId}|${metaKnown.appSecret}`)
    return metaError({ message: "(#100) You must provide an app access token", code: 100 });
  const token = call.query.get("input_token");
  return {
    status: 200,
    body: {
      data: {
        app_id: metaKnown.appId,
        is_valid: context.tokens.state(token) === "valid",
        scopes: metaScopes.filter((scope) => context.tokens.allows(token, scope)),
      },
    },
  };
}

const version = String.raw`\/(?<version>v\d+\.0)`;

export const meta = {
  id: "meta",
  known: metaKnown,
  tokens: [
    { token: metaKnown.accessToken, state: "valid" },
    { token: metaKnown.expiredToken, state: "expired" },
    { token: metaKnown.revokedToken, state: "revoked" },
    { token: metaKnown.readOnlyToken, state: "valid", scopes: ["ads_read"] },
  ],
  secrets: ["fb_exchange_token", "input_token"],
  oauth,
  routes: [
    {
      kind: "events",
      method: "POST",
      path: new RegExp(String.raw`^${version}\/(?<pixel>\d+)\/events$`),
      handle: receiveEvents,
    },
    // Before the usual token call, which has no such exchange.
    { kind: "token", method: "GET", path: oauth.tokenPath, handle: issueToken },
    { kind: "token", method: "POST", path: oauth.tokenPath, handle: issueToken },
    {
      kind: "listing",
      method: "GET",
      path: new RegExp(String.raw`^${version}\/debug_token$`),
      handle: debugToken,
    },
    {
      kind: "listing",
      method: "GET",
      path: new RegExp(String.raw`^${version}\/dataset_quality$`),
      handle: readQuality,
    },
    {
      kind: "listing",
      method: "GET",
      path: new RegExp(
        String.raw`^${version}\/(?<id>me|act_\d+|\d+)\/(?<edge>(?:adspixels|businesses|adaccounts|assigned_ad_accounts|owned_pixels|client_pixels|owned_ad_accounts|client_ad_accounts))$`,
      ),
      handle: listEdge,
    },
    {
      kind: "listing",
      method: "GET",
      path: new RegExp(String.raw`^${version}\/(?<id>me|act_\d+|\d+)$`),
      handle: readObject,
    },
  ],
  documentedErrors,
  errors: {
    notFound: (call) => metaError({ message: `Unknown path components: ${call.path}`, code: 2500 }),
    throttled: metaThrottled,
    failed: metaFailed,
    token: metaTokenError,
  },
} as const satisfies Standin;
