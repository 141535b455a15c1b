// Google's accounts with their conversion actions, its access checks, and its error format.

import { bearerToken, type Answer, type Call, type Context } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

export const dataManagerScope = "https://www.googleapis.com/auth/datamanager";
export const adwordsScope = "https://www.googleapis.com/auth/adwords";

/** Values of no real account. */
export const googleKnown = {
  clientId: "standin-client.apps.googleusercontent.example",
  clientSecret: "standin-google-secret",
  accessToken: "ya29.standin-valid",
  expiredToken: "ya29.standin-expired",
  revokedToken: "ya29.standin-revoked",
  /** Signed in for the pickers only: may not send events. */
  adwordsOnlyToken: "ya29.standin-adwords-only",
  developerToken: "standin-developer-token",
  managerId: "9876543210",
  /** Managed by the manager above; has enhanced conversions for leads. */
  customerId: "1234567890",
  conversionActionId: "7700000001",
  onePerClickActionId: "7700000002",
  webpageActionId: "7700000003",
  removedActionId: "7700000004",
  secondActionId: "7700000005",
  /** Accessed directly, without a manager; without enhanced conversions for leads. */
  directCustomerId: "2345678901",
  directConversionActionId: "7700000011",
} as const;

type ConversionAction = {
  id: string;
  name: string;
  type: "UPLOAD_CLICKS" | "WEBPAGE";
  status: "ENABLED" | "REMOVED";
  countingType: "MANY_PER_CLICK" | "ONE_PER_CLICK";
  category: string;
};

export type GoogleAccount = {
  id: string;
  name: string;
  managers: readonly string[];
  isManager: boolean;
  enhancedForLeads: boolean;
  actions: readonly ConversionAction[];
};

const action = (id: string, name: string, changes: Partial<ConversionAction> = {}): ConversionAction => ({
  id,
  name,
  type: "UPLOAD_CLICKS",
  status: "ENABLED",
  countingType: "MANY_PER_CLICK",
  category: "PURCHASE",
  ...changes,
});

export const googleAccounts: readonly GoogleAccount[] = [
  {
    id: "9876543210",
    name: "Example Manager",
    managers: [],
    isManager: true,
    enhancedForLeads: false,
    actions: [],
  },
  {
    id: "1234567890",
    name: "Example Shop",
    managers: ["9876543210"],
    isManager: false,
    enhancedForLeads: true,
    actions: [
      action("7700000001", "Purchase (upload)"),
      action("7700000002", "Lead (upload)", { countingType: "ONE_PER_CLICK", category: "SUBMIT_LEAD_FORM" }),
      action("7700000003", "Purchase (tag)", { type: "WEBPAGE" }),
      action("7700000004", "Old purchase", { status: "REMOVED" }),
      action("7700000005", "Order (upload)"),
    ],
  },
  {
    id: "2345678901",
    name: "Example Direct",
    managers: [],
    isManager: false,
    enhancedForLeads: false,
    actions: [action("7700000011", "Purchase (upload)")],
  },
];

export type Destination = {
  reference?: string;
  operatingAccount: { accountId: string };
  loginAccount?: { accountId: string };
  productDestinationId: string;
};

export function findAction(destination: Destination): { owner?: GoogleAccount; action?: ConversionAction } {
  const owner = googleAccounts.find(({ id }) => id === destination.operatingAccount.accountId);
  const found = owner?.actions.find(({ id }) => id === destination.productDestinationId);
  return { ...(owner ? { owner } : {}), ...(found ? { action: found } : {}) };
}

/** Google may leave the field out. */
export type FieldViolation = { field?: string; description: string; reason: string };

/** google.rpc.Status as JSON. */
export function googleError(
  code: number,
  status: string,
  message: string,
  { reason = status, requestId, violations }: { reason?: string; requestId?: string; violations?: FieldViolation[] } = {},
): Answer {
  const type = (name: string) => `type.googleapis.com/google.rpc.${name}`;
  return {
    status: code,
    body: {
      error: {
        code,
        message,
        status,
        details: [
          {
            "@type": type("ErrorInfo"),
            reason,
            domain: "datamanager.googleapis.com",
            ...(requestId ? { metadata: { requestId } } : {}),
          },
          ...(requestId ? [{ "@type": type("RequestInfo"), requestId }] : []),
          ...(violations ? [{ "@type": type("BadRequest"), fieldViolations: violations }] : []),
        ],
      },
    },
    rejected: violations?.map(({ field, reason: why, description }) => `${field ?? "the request"}: ${why}, ${description}`) ?? [
      `${reason}: ${message}`,
    ],
  };
}

/** Google answers 401 to revoked and expired tokens alike; only a refresh tells them apart. */
export function googleTokenError(state: Exclude<TokenState, "valid">): Answer {
  return googleError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", {
    reason: state === "expired" ? "ACCESS_TOKEN_EXPIRED" : "ACCESS_TOKEN_TYPE_UNSUPPORTED",
  });
}

/** Null when the token has this scope. An API key is never enough. */
export function accessError(call: Call, context: Context, scope: string): Answer | null {
  const token = bearerToken(call);
  const state = context.tokens.state(token);
  if (state !== "valid") return googleTokenError(state);
  return context.tokens.allows(token, scope)
    ? null
    : googleError(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.", {
        reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
      });
}
