// TikTok: the Events API 2.0, the calls that fill the pickers, and the sign-in of API for Business. Nearly every
// response is HTTP 200; `code` in the body says what happened.

import { isObject, readJson } from "../shared/checks.ts";
import type { Answer, Call, Context, Standin } from "../shared/standin.ts";
import { documentedErrors } from "./documented.ts";
import { toTikTokMessage, requestShape } from "./event.ts";
import type { TokenState } from "../shared/tokens.ts";

/** Values of no real account. */
const tiktokKnown = {
  appId: "7000000000000000001",
  appSecret: "standin-tiktok-secret",
  /** As created in Events Manager. */
  accessToken: "tiktok-standin-valid",
  expiredToken: "tiktok-standin-expired",
  revokedToken: "tiktok-standin-revoked",
  /** Signed in without the permission to send. */
  readOnlyToken: "tiktok-standin-readonly",
  advertiserId: "7100000000000000001",
  pixelId: "7200000000000000001",
  pixelCode: "C0STANDINPIXEL0001",
  otherPixelCode: "C0STANDINPIXEL0002",
  testEventCode: "TEST54321",
} as const;

const scopes = ["events", "listing"];
const dedupSeconds = 48 * 3600;
/** The token of a sign-in does not expire. */
const unlimitedSeconds = 10 * 365 * 86_400;

let requests = 0;

function envelope(code: number, message: string, data: unknown = {}, status = 200): Answer {
  const requestId = `2026111410000001${String(++requests).padStart(16, "0")}`;
  return {
    status,
    headers: { "x-tt-logid": requestId },
    body: { code, message, request_id: requestId, data },
    ...(code === 0 ? {} : { rejected: [`${code}: ${message}`] }),
  };
}

/** It is uncertain if expired tokens have their own code; TikTok's tokens do not expire. */
const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  envelope(
    40_105,
    state === "unknown"
      ? "Access token is incorrect or has been revoked."
      : state === "expired"
        ? "Access token is incorrect: it has expired."
        : "Access token is incorrect or has been revoked: the advertiser revoked it.",
  );

/** The response does not give the wait. */
const throttled = (): Answer => envelope(40_100, "Too many requests. Please retry in some time.");

function accessError(call: Call, context: Context, scope: string): Answer | null {
  // Only this header: a Bearer token does not count.
  const token = call.headers["access-token"] ?? null;
  const state = context.tokens.state(token);
  if (state !== "valid") return tokenError(state);
  return context.tokens.allows(token, scope)
    ? null
    : envelope(40_001, "The application does not have permission to operate this resource.");
}

function track(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "events");
  if (fault) return fault;
  if (context.useQuota("app", 1000, 1) || context.useQuota("app", 600_000, 60) || context.useQuota("app", 86_400_000, 86_400))
    return throttled();
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return envelope(40_002, "Invalid JSON body.");
  const body = read.value;
  const problems = requestShape(context.now(), body.event_source)(body, "");
  const [first] = problems;
  // It is uncertain if the valid events of such a batch are kept; here none is.
  if (first) return { ...envelope(40_002, toTikTokMessage(first)), rejected: problems.map(toTikTokMessage) };
  const source = String(body.event_source_id);
  if (source !== tiktokKnown.pixelCode && source !== tiktokKnown.otherPixelCode)
    return envelope(40_001, `You do not have permission to operate the event source ${source}.`);

  const events = body.data as Record<string, unknown>[];
  const tested = body.test_event_code !== undefined;
  return {
    ...envelope(0, "OK"),
    ...(tested
      ? { tested }
      : {
          accepted: events.map((event) => ({
            id: typeof event.event_id === "string" ? event.event_id : null,
            name: String(event.event),
            key: `${source}/${String(event.event)}/${String(event.event_id)}`,
            windowSeconds: dedupSeconds,
            event,
          })),
        }),
  };
}

function listAdvertisers(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "listing");
  if (fault) return fault;
  if (call.query.get("app_id") !== tiktokKnown.appId || call.query.get("secret") !== tiktokKnown.appSecret)
    return envelope(40_002, "app_id: The app id or the secret is wrong.");
  return envelope(0, "OK", {
    list: [{ advertiser_id: tiktokKnown.advertiserId, advertiser_name: "Example Shop" }],
  });
}

function listPixels(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "listing");
  if (fault) return fault;
  const advertiser = call.query.get("advertiser_id");
  if (advertiser === null) return envelope(40_002, "advertiser_id: Missing data for required field.");
  if (advertiser !== tiktokKnown.advertiserId)
    return envelope(40_001, `You do not have permission to operate advertiser ${advertiser}.`);
  const pixels = [
    { pixel_id: tiktokKnown.pixelId, pixel_code: tiktokKnown.pixelCode, pixel_name: "Shop pixel" },
    {
      pixel_id: "7200000000000000002",
      pixel_code: tiktokKnown.otherPixelCode,
      pixel_name: "Outlet pixel",
    },
  ];
  const size = Number(call.query.get("page_size") ?? 10);
  const page = Number(call.query.get("page") ?? 1);
  if (!Number.isInteger(size) || size < 1 || size > 20 || !Number.isInteger(page) || page < 1)
    return envelope(40_002, "page_size: Must be from 1 to 20.");
  return envelope(0, "OK", {
    pixels: pixels.slice((page - 1) * size, page * size),
    page_info: {
      page,
      page_size: size,
      total_number: pixels.length,
      total_page: Math.ceil(pixels.length / size),
    },
  });
}

export const tiktok = {
  id: "tiktok",
  known: tiktokKnown,
  tokens: [
    { token: tiktokKnown.accessToken, state: "valid" },
    { token: tiktokKnown.expiredToken, state: "expired" },
    { token: tiktokKnown.revokedToken, state: "revoked" },
    { token: tiktokKnown.readOnlyToken, state: "valid", scopes: ["listing"] },
  ],
  // The list of advertisers has the application's secret in its query.
  secrets: ["secret"],
  oauth: {
    client: { id: tiktokKnown.appId, secret: tiktokKnown.appSecret },
    // Uncertain: the URL of the page comes from third parties.
    authorizePath: "/portal/auth",
    tokenPath: "/open_api/v1.3/oauth2/access_token/",
    scopes,
    pkce: "none",
    clientAuth: ["body"],
    tokenBody: "json",
    names: { client_id: "app_id", client_secret: "secret", code: "auth_code" },
    omits: ["response_type", "grant_type", "redirect_uri", "scope"],
    accessSeconds: unlimitedSeconds,
    refresh: "none",
    tokenAnswer: ({ accessToken }) =>
      envelope(0, "OK", {
        access_token: accessToken,
        advertiser_ids: [tiktokKnown.advertiserId],
        scope: [4, 26],
      }),
    tokenError: (reason, description) =>
      reason === "invalid_client"
        ? envelope(40_002, "app_id: The app id or the secret is wrong.")
        : reason === "invalid_grant"
          ? envelope(40_110, `Auth code is not valid: ${description}.`)
          : envelope(40_002, `${description}.`),
  },
  routes: [
    { kind: "events", method: "POST", path: "/open_api/v1.3/event/track/", handle: track },
    {
      kind: "listing",
      method: "GET",
      path: "/open_api/v1.3/oauth2/advertiser/get/",
      handle: listAdvertisers,
    },
    { kind: "listing", method: "GET", path: "/open_api/v1.3/pixel/list/", handle: listPixels },
  ],
  documentedErrors,
  errors: {
    notFound: () => ({ status: 404, body: "404 page not found" }),
    throttled,
    // The body has a 5xxxx code, and the HTTP status is the script's; 200 is the usual one.
    failed: (status) => envelope(50_000, "System error. Please retry later.", {}, status),
    token: tokenError,
  },
} as const satisfies Standin;
