// Microsoft's customer with its account, tags and goals; the access checks of the Campaign Management API; and its error
// format.

import { bearerToken, type Answer, type Call, type Context } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

export const manageScope = "https://ads.microsoft.com/msads.manage";

/** Values of no real account. */
export const microsoftKnown = {
  clientId: "5f0a1b2c-0000-4000-8000-00000000c11e",
  clientSecret: "standin-microsoft-secret",
  developerToken: "STANDINDEVTOKEN01",
  /** The tag's token for the Conversions API; independent of the sign-in. */
  tagToken: "3f6c0a4e-1111-4a4a-9b9b-0000000000a1",
  expiredTagToken: "3f6c0a4e-1111-4a4a-9b9b-0000000000e2",
  revokedTagToken: "3f6c0a4e-1111-4a4a-9b9b-0000000000f3",
  /** The sign-in's token for the Campaign Management API. */
  accessToken: "EwStandinValid",
  expiredToken: "EwStandinExpired",
  revokedToken: "EwStandinRevoked",
  userId: "410001",
  customerId: "250001",
  accountId: "180001",
  uetTagId: "343000001",
  otherTagId: "343000002",
  eventGoal: "purchase",
  offlineGoal: "Offline purchase",
  /** Younger than two hours: accepts no conversions yet. */
  newOfflineGoal: "Offline lead",
} as const;

export const microsoftTags = [
  { Id: microsoftKnown.uetTagId, Name: "Example Shop", Description: "Main tag", TrackingStatus: "Active" },
  { Id: microsoftKnown.otherTagId, Name: "Example Blog", Description: "Blog", TrackingStatus: "Inactive" },
] as const;

export const microsoftGoals = [
  { Id: "7100001", Name: "purchase", Type: "Event", TagId: microsoftKnown.uetTagId, Status: "Active" },
  {
    Id: "7100002",
    Name: microsoftKnown.offlineGoal,
    Type: "OfflineConversion",
    TagId: null,
    Status: "Active",
  },
  {
    Id: "7100003",
    Name: microsoftKnown.newOfflineGoal,
    Type: "OfflineConversion",
    TagId: null,
    Status: "Active",
  },
] as const;

/** Rejects the whole request. Public clients have seen both lists: `Errors` from the gateway, `OperationErrors` from the operation. */
export function campaignError(
  status: number,
  code: number,
  errorCode: string,
  list: "Errors" | "OperationErrors" = "Errors",
): Answer {
  const error = { Code: code, Detail: null, ErrorCode: errorCode, Message: errorCode };
  return {
    status,
    body: { TrackingId: "standin", Type: "AdApiFaultDetail", [list]: [error] },
    rejected: [errorCode],
  };
}

export function campaignTokenError(state: Exclude<TokenState, "valid">): Answer {
  return state === "expired"
    ? campaignError(401, 109, "AuthenticationTokenExpired")
    : campaignError(401, 105, "InvalidCredentials");
}

/** The window is sixty seconds; the number of calls is not published, so this one is ours. */
const callsPerMinute = 600;

/** Null when the call has access. `account` requires the headers that name the account. */
export function accessError(call: Call, context: Context, { account }: { account: boolean }): Answer | null {
  const token = bearerToken(call);
  const state = context.tokens.state(token);
  if (state !== "valid") return campaignTokenError(state);
  if (!context.tokens.allows(token, manageScope)) return campaignTokenError("unknown");
  if (call.headers.developertoken !== microsoftKnown.developerToken) return campaignError(401, 105, "InvalidCredentials");
  const named =
    call.headers.customerid === microsoftKnown.customerId && call.headers.customeraccountid === microsoftKnown.accountId;
  if (account && !named) return campaignError(403, 106, "UserIsNotAuthorized");
  return context.useQuota("campaign", callsPerMinute, 60) ? campaignError(429, 117, "CallRateExceeded") : null;
}
