// Microsoft Advertising: the UET Conversions API with its token per tag, offline conversions with a sign-in, and the
// lists behind the pickers.

import { applyAdjustments } from "./adjustments.ts";
import { documentedErrors } from "./documented.ts";
import { campaignError, campaignTokenError, manageScope, microsoftKnown, microsoftTags } from "./access.ts";
import { receiveEvents, unauthorized } from "./events.ts";
import { applyConversions, queryGoals, queryTags, queryTagToken, queryUser, searchAccounts } from "./offline.ts";
import { queryReport } from "./reports.ts";
import type { Call, Standin } from "../shared/standin.ts";

const tagScopes = [`tag:${microsoftTags[0].Id}`];
const campaign = "/CampaignManagement/v13";
const customer = "/CustomerManagement/v13";
const isCampaign = ({ path }: Call) => path.startsWith(campaign) || path.startsWith(customer);

export const microsoftAds = {
  id: "microsoft_ads",
  known: microsoftKnown,
  tokens: [
    { token: microsoftKnown.tagToken, state: "valid", scopes: tagScopes },
    { token: microsoftKnown.expiredTagToken, state: "expired", scopes: tagScopes },
    { token: microsoftKnown.revokedTagToken, state: "revoked", scopes: tagScopes },
    { token: microsoftKnown.accessToken, state: "valid", scopes: [manageScope] },
    { token: microsoftKnown.expiredToken, state: "expired", scopes: [manageScope] },
    { token: microsoftKnown.revokedToken, state: "revoked", scopes: [manageScope] },
  ],
  secrets: ["developertoken"],
  oauth: {
    client: { id: microsoftKnown.clientId, secret: microsoftKnown.clientSecret },
    authorizePath: /^\/(?:common|consumers|organizations)\/oauth2\/v2\.0\/authorize$/,
    tokenPath: /^\/(?:common|consumers|organizations)\/oauth2\/v2\.0\/token$/,
    scopes: [manageScope, "offline_access", "openid", "profile"],
    pkce: "supported",
    clientAuth: ["body", "basic"],
    tokenBody: "form",
    accessSeconds: 3600,
    refresh: "rotating",
    refreshSeconds: 90 * 86_400,
    offline: (query) => query.get("scope")?.split(" ").includes("offline_access") ?? false,
    tokenError: (fault, description, context) => ({
      status: fault === "invalid_client" ? 401 : 400,
      body: {
        error: fault,
        error_description: `AADSTS70000: ${description}`,
        error_codes: [70_000],
        timestamp: new Date(context.now()).toISOString(),
        trace_id: context.nextId(),
        correlation_id: context.nextId(),
      },
    }),
  },
  routes: [
    { kind: "events", method: "POST", path: /^\/v1\/(?<tag>[^/]+)\/events$/, handle: receiveEvents },
    {
      kind: "events",
      method: "POST",
      path: `${campaign}/OfflineConversions/Apply`,
      handle: applyConversions,
    },
    {
      kind: "events",
      method: "POST",
      path: `${campaign}/OfflineConversionAdjustments/Apply`,
      handle: applyAdjustments,
    },
    {
      kind: "status",
      method: "POST",
      path: `${campaign}/OfflineConversionReport/QueryByGoalIds`,
      handle: queryReport,
    },
    { kind: "listing", method: "POST", path: `${campaign}/UetTagAuthKey/Query`, handle: queryTagToken },
    { kind: "listing", method: "POST", path: `${campaign}/UetTags/QueryByIds`, handle: queryTags },
    { kind: "listing", method: "POST", path: `${campaign}/ConversionGoals/QueryByIds`, handle: queryGoals },
    {
      kind: "listing",
      method: "POST",
      path: `${campaign}/ConversionGoals/QueryByTagIds`,
      handle: queryGoals,
    },
    { kind: "listing", method: "POST", path: `${customer}/User/Query`, handle: queryUser },
    { kind: "listing", method: "POST", path: `${customer}/Accounts/Search`, handle: searchAccounts },
  ],
  documentedErrors,
  errors: {
    notFound: () => ({ status: 404, body: "", rejected: ["no such URL"] }),
    // The Conversions API publishes no limit and has only HTTP's own header; the Campaign Management API answers 117, and
    // its window is always sixty seconds.
    throttled: (seconds, call) =>
      isCampaign(call)
        ? campaignError(429, 117, "CallRateExceeded")
        : {
            status: 429,
            headers: { "retry-after": String(seconds) },
            body: { error: { code: "TooManyRequests", message: "Too many requests." } },
          },
    failed: (status, call) =>
      isCampaign(call)
        ? campaignError(status, 0, "InternalError")
        : { status, body: { error: { code: "InternalServerError", message: "Something went wrong." } } },
    token: (state, call) => (isCampaign(call) ? campaignTokenError(state) : unauthorized()),
  },
} as const satisfies Standin;
