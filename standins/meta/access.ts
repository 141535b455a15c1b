// Meta's business with its ad accounts and datasets, its access checks, and its error format.

import { createHmac } from "node:crypto";
import { isObject, readJson } from "../shared/checks.ts";
import { bearerToken, type Answer, type Call, type Context } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

/** Values of no real account. */
export const metaKnown = {
  appId: "1000000000000001",
  appSecret: "standin-meta-secret",
  /** As created in Events Manager: long-lived, with every permission. */
  accessToken: "EAAstandinvalid",
  expiredToken: "EAAstandinexpired",
  revokedToken: "EAAstandinrevoked",
  /** Signed in without the permission to send. */
  readOnlyToken: "EAAstandinreadonly",
  businessId: "2000000000000001",
  adAccountId: "3000000000000001",
  otherAdAccountId: "3000000000000002",
  pixelId: "4000000000000001",
  otherPixelId: "4000000000000002",
  /** Exists, and belongs to another business. */
  foreignPixelId: "4000000000000009",
  testEventCode: "TEST12345",
  configId: "5000000000000001",
  apiVersion: "v26.0",
} as const;

export const metaScopes = ["ads_management", "ads_read", "business_management", "public_profile", "email"];

/** v24.0 is valid until 18 Feb 2028. Older ones are uncertain, so they are retired here. */
const supported = ["v24.0", "v25.0", "v26.0"];

export type MetaFault = {
  status?: number;
  message: string;
  type?: "OAuthException" | "GraphMethodException" | "FacebookApiException";
  code: number;
  subcode?: number;
  transient?: boolean;
  title?: string;
  userMessage?: string;
};

let traces = 0;

export function metaError(fault: MetaFault): Answer {
  const { status = 400, message, type = "OAuthException", code, subcode, transient, title } = fault;
  return {
    status,
    // Meta repeats the error in a header, for every kind of error.
    headers: {
      "www-authenticate": `OAuth "Facebook Platform" "invalid_request" "${message.replace(/[^\x20-\x7e]|"/g, "?")}"`,
    },
    body: {
      error: {
        message,
        type,
        code,
        ...(subcode === undefined ? {} : { error_subcode: subcode }),
        ...(transient === undefined ? {} : { is_transient: transient }),
        ...(title === undefined ? {} : { error_user_title: title }),
        ...(fault.userMessage === undefined ? {} : { error_user_msg: fault.userMessage }),
        fbtrace_id: `Astandin${String(++traces).padStart(6, "0")}`,
      },
    },
    rejected: [`${code}${subcode === undefined ? "" : `/${subcode}`}: ${fault.userMessage ?? message}`],
  };
}

/** Meta answers 400, not 401: only the code shows that the token is at fault. */
export function metaTokenError(state: Exclude<TokenState, "valid">): Answer {
  if (state === "unknown") return metaError({ message: "Invalid OAuth access token - Cannot parse access token", code: 190 });
  return state === "expired"
    ? metaError({
        message: "Error validating access token: Session has expired.",
        code: 190,
        subcode: 463,
      })
    : metaError({
        message:
          "Error validating access token: The session has been invalidated because the user changed their password " +
          "or Facebook has changed the session for security reasons.",
        code: 190,
        subcode: 460,
      });
}

export function metaThrottled(retryAfterSeconds: number): Answer {
  const minutes = Math.max(1, Math.ceil(retryAfterSeconds / 60));
  const usage = { call_count: 100, total_cputime: 25, total_time: 25 };
  const answer = metaError({
    status: 403,
    message: "(#4) Application request limit reached",
    code: 4,
    transient: true,
  });
  return {
    ...answer,
    headers: {
      ...answer.headers,
      "x-app-usage": JSON.stringify(usage),
      // Only this header gives the wait, in minutes. There is no Retry-After.
      "x-business-use-case-usage": JSON.stringify({
        [metaKnown.businessId]: [{ type: "ads_management", ...usage, estimated_time_to_regain_access: minutes }],
      }),
    },
  };
}

export function metaFailed(status: number): Answer {
  return status === 503
    ? metaError({
        status,
        message: "(#2) Service temporarily unavailable",
        type: "FacebookApiException",
        code: 2,
        transient: true,
      })
    : metaError({ status, message: "An unknown error has occurred.", code: 1, transient: true });
}

export const unknownObject = (method: string, id: string): Answer =>
  metaError({
    message:
      `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to ` +
      "missing permissions, or does not support this operation",
    type: "GraphMethodException",
    code: 100,
    subcode: 33,
  });

/** Meta accepts the token in the query, the header or the body. */
export function metaToken(call: Call): string | null {
  const read = call.method === "POST" ? readJson(call) : { fault: "" };
  const inBody = "value" in read && isObject(read.value) ? read.value.access_token : undefined;
  return call.query.get("access_token") ?? bearerToken(call) ?? (typeof inBody === "string" ? inBody : null);
}

/** Null when the token has one of these permissions. */
export function accessError(call: Call, context: Context, permissions: readonly string[]): Answer | null {
  const version = call.params.version ?? "";
  if (!supported.includes(version))
    return Number(version.slice(1)) < 24
      ? metaError({
          message: `(#2635) You are calling a deprecated version of the Ads API. Please update to the latest version: ${metaKnown.apiVersion}.`,
          code: 2635,
        })
      : metaError({ message: `Unknown path components: /${version}`, code: 2500 });
  const token = metaToken(call);
  if (token === null)
    return metaError({
      message: "An access token is required to request this resource.",
      code: 104,
    });
  const state = context.tokens.state(token);
  if (state !== "valid") return metaTokenError(state);
  const proof = call.query.get("appsecret_proof");
  if (proof !== null && proof !== createHmac("sha256", metaKnown.appSecret).update(token).digest("hex"))
    return metaError({
      message: "Invalid appsecret_proof provided in the API argument",
      type: "GraphMethodException",
      code: 100,
    });
  return permissions.some((permission) => context.tokens.allows(token, permission))
    ? null
    : metaError({
        status: 403,
        message: `(#200) Requires ${permissions.join(" or ")} permission to manage the object`,
        code: 200,
      });
}
