// X's pixel with its event tags, its access checks, and its error format.

import type { Answer, Call, Context } from "../shared/standin.ts";
import { readSignature, verifySignature, type Signed } from "./signature.ts";

/** Values of no real account. */
export const xKnown = {
  /** As created in Events Manager, for one pixel. */
  pixelToken: "x-standin-pixel-valid",
  revokedPixelToken: "x-standin-pixel-revoked",
  /** OAuth 1.0a. These tokens do not expire. */
  consumerKey: "standinXConsumerKey",
  consumerSecret: "standin-x-consumer-secret",
  accessToken: "1000001-standinXaccess",
  accessTokenSecret: "standin-x-token-secret",
  revokedAccessToken: "1000001-standinXrevoked",
  /** An application without access to the Ads API. */
  unapprovedConsumerKey: "standinXUnapproved",
  unapprovedConsumerSecret: "standin-x-unapproved-secret",
  accountId: "18ce54standin",
  pixelId: "o8z6j",
  purchaseEventId: "tw-o8z6j-o87ne",
  leadEventId: "tw-o8z6j-o87nf",
  /** Not a single event tag: events are rejected. */
  universalEventId: "tw-o8z6j-o87ng",
} as const;

type EventTag = { id: string; name: string; type: string; single: boolean };

/** By their short, base-36 ids. */
export const eventTags: readonly EventTag[] = [
  { id: "o87ne", name: "Purchase", type: "PURCHASE", single: true },
  { id: "o87nf", name: "Lead", type: "LEAD", single: true },
  { id: "o87ng", name: "Site visits", type: "SITE_VISIT", single: false },
];

export type XFault = { code: string; message: string; parameter?: string };

export const xError = (status: number, errors: readonly XFault[]): Answer => ({
  status,
  body: { errors, request: { params: {} } },
  rejected: errors.map(({ code, message, parameter }) => `${code}${parameter ? ` ${parameter}` : ""}: ${message}`),
});

/** X does not explain an invalid token or signature. */
export const xUnauthorized = (why: string): Answer => ({
  ...xError(401, [{ code: "UNAUTHORIZED_ACCESS", message: "This request is not properly authenticated" }]),
  rejected: [why],
});

export function xThrottled(retryAfterSeconds: number, now = Date.now()): Answer {
  const reset = String(Math.ceil(now / 1000) + retryAfterSeconds);
  return {
    ...xError(429, [{ code: "TOO_MANY_REQUESTS", message: "Rate limit exceeded" }]),
    headers: {
      "x-account-rate-limit-limit": "60000",
      "x-account-rate-limit-remaining": "0",
      "x-account-rate-limit-reset": reset,
      "x-rate-limit-reset": reset,
    },
  };
}

/** The secrets of tokens that a sign-in issued. */
export const tokenSecrets = (context: Context) => context.remember("x token secrets", () => new Map<string, string>());

function consumerSecret(key: string | undefined): string | null {
  if (key === xKnown.consumerKey) return xKnown.consumerSecret;
  return key === xKnown.unapprovedConsumerKey ? xKnown.unapprovedConsumerSecret : null;
}

/** The signed parameters when the signature is right, otherwise the error. */
export function readSigned(call: Call, context: Context, tokenSecret: string): { signed: Signed } | { answer: Answer } {
  const unauthorized = (why: string) => ({ answer: xUnauthorized(why) });
  const signed = readSignature(call);
  if (!signed) return unauthorized("there is no OAuth 1.0a header");
  const secret = consumerSecret(signed.oauth_consumer_key);
  if (secret === null) return unauthorized("the consumer key is not known");
  const fault = verifySignature(call, signed, secret, tokenSecret, context);
  if (fault !== null) return unauthorized(fault);
  if (signed.oauth_consumer_key === xKnown.unapprovedConsumerKey)
    return {
      answer: xError(403, [
        {
          code: "UNAUTHORIZED_CLIENT_APPLICATION",
          message: "The client application making this request does not have access to the Ads API",
        },
      ]),
    };
  return { signed };
}

/** Null when the call is signed for a user. */
export function signatureError(call: Call, context: Context): Answer | null {
  const token = readSignature(call)?.oauth_token;
  if (token === undefined) return xUnauthorized("there is no OAuth 1.0a header with a token");
  const secret =
    token === xKnown.accessToken || token === xKnown.revokedAccessToken
      ? xKnown.accessTokenSecret
      : tokenSecrets(context).get(token);
  if (secret === undefined) return xUnauthorized("the access token is not known");
  const read = readSigned(call, context, secret);
  if ("answer" in read) return read.answer;
  const state = context.tokens.state(token);
  return state === "valid" && context.tokens.allows(token, "account") ? null : xUnauthorized(`the access token is ${state}`);
}

/**
 * Null when the call may send to the pixel: with its token, or signed. The token is uncertain for the web: X documents
 * it for apps, and several senders use it for both.
 */
export function senderError(call: Call, context: Context): Answer | null {
  const token = call.headers["x-pixel-token"];
  if (token === undefined) return signatureError(call, context);
  const state = context.tokens.state(token);
  return state === "valid" && context.tokens.allows(token, "pixel") ? null : xUnauthorized(`the pixel token is ${state}`);
}
