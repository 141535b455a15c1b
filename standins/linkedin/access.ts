// LinkedIn's ad account with its conversion rules, its access checks, and its error format.

import { bearerToken, type Answer, type Call, type Context } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

/** Values of no real account. */
export const linkedinKnown = {
  clientId: "standin-linkedin-client",
  clientSecret: "standin-linkedin-secret",
  accessToken: "linkedin-standin-valid",
  expiredToken: "linkedin-standin-expired",
  revokedToken: "linkedin-standin-revoked",
  /** Signed in for the pickers only: may not send events. */
  adsOnlyToken: "linkedin-standin-ads-only",
  accountId: "512345678",
  purchaseRuleId: "555001",
  leadRuleId: "555002",
  /** Fed by the Insight Tag: events are rejected. */
  insightTagRuleId: "555003",
  disabledRuleId: "555004",
  apiVersion: "202609",
} as const;

type Rule = {
  id: string;
  name: string;
  type: string;
  conversionMethod: "CONVERSIONS_API" | "INSIGHT_TAG";
  enabled: boolean;
};

export const rules: readonly Rule[] = [
  {
    id: linkedinKnown.purchaseRuleId,
    name: "Purchase (CAPI)",
    type: "PURCHASE",
    conversionMethod: "CONVERSIONS_API",
    enabled: true,
  },
  {
    id: linkedinKnown.leadRuleId,
    name: "Lead (CAPI)",
    type: "LEAD",
    conversionMethod: "CONVERSIONS_API",
    enabled: true,
  },
  {
    id: linkedinKnown.insightTagRuleId,
    name: "Purchase (tag)",
    type: "PURCHASE",
    conversionMethod: "INSIGHT_TAG",
    enabled: true,
  },
  {
    id: linkedinKnown.disabledRuleId,
    name: "Old purchase",
    type: "PURCHASE",
    conversionMethod: "CONVERSIONS_API",
    enabled: false,
  },
];

export const accountUrn = `urn:li:sponsoredAccount:${linkedinKnown.accountId}`;

/** 202511 is retired on 16 November 2026; the others are valid for at least a year. Later ones do not exist here. */
const versions = "202511 202512 202601 202602 202603 202604 202605 202606 202607 202608 202609".split(" ");
const firstRetirement = { version: "202511", at: Date.parse("2026-11-16T00:00:00Z") };

export function linkedinError(status: number, code: string, message: string, serviceErrorCode?: number): Answer {
  return {
    status,
    headers: { "x-restli-protocol-version": "2.0.0" },
    body: { status, ...(serviceErrorCode === undefined ? {} : { serviceErrorCode }), code, message },
    rejected: [message],
  };
}

/** Uncertain for an expired token: as far as is known the same as for a wrong one. */
export function linkedinTokenError(state: Exclude<TokenState, "valid">): Answer {
  return state === "revoked"
    ? linkedinError(401, "REVOKED_ACCESS_TOKEN", "The token used in the request has been revoked by the user", 65_601)
    : linkedinError(401, "INVALID_ACCESS_TOKEN", "Invalid access token", 65_600);
}

/** Null when the call has access. The version is checked before the token. */
export function accessError(call: Call, context: Context, scope: string): Answer | null {
  const version = call.headers["linkedin-version"];
  if (version === undefined)
    return linkedinError(
      400,
      "VERSION_MISSING",
      "A version must be present. Please specify a version by adding the LinkedIn-Version header.",
    );
  const retired = version === firstRetirement.version && context.now() >= firstRetirement.at;
  if (!versions.includes(version) || retired)
    return linkedinError(426, "NONEXISTENT_VERSION", `Requested version ${version} is not active`);
  // It is uncertain if sending works without it; every documented call has it.
  if (call.headers["x-restli-protocol-version"] !== "2.0.0")
    return linkedinError(400, "ILLEGAL_ARGUMENT", "X-RestLi-Protocol-Version must be 2.0.0");
  const token = bearerToken(call);
  const state = context.tokens.state(token);
  if (state !== "valid") return linkedinTokenError(state);
  return context.tokens.allows(token, scope)
    ? null
    : linkedinError(
        403,
        "ACCESS_DENIED",
        `Not enough permissions to access: ${call.method} ${call.path.replace("/rest", "")}`,
        100,
      );
}

/** No header gives the wait. */
export const linkedinThrottled = (): Answer =>
  linkedinError(
    429,
    "TOO_MANY_REQUESTS",
    "Resource level throttle APPLICATION MINUTE limit for calls to this resource is reached.",
    101,
  );
