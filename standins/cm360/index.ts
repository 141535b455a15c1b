// Campaign Manager 360: the Data Manager API for Floodlight activities, with Google's sign-in. It shares the API with the
// stand-in of Google Ads, and has its own destinations and identifiers.

import { dataManagerScope, googleError, googleTokenError, type Destination, type FieldViolation } from "../google_ads/access.ts";
import { accountShape } from "../google_ads/event.ts";
import { googleThrottled, identifiers, ingestInto, statusRoute, type Product } from "../google_ads/ingest.ts";
import type { Standin } from "../shared/standin.ts";
import { documentedErrors } from "./documented.ts";

/** Values of no real account. */
const known = {
  clientId: "standin-cm360-client.apps.googleusercontent.example",
  clientSecret: "standin-cm360-secret",
  accessToken: "ya29.standin-cm360-valid",
  expiredToken: "ya29.standin-cm360-expired",
  revokedToken: "ya29.standin-cm360-revoked",
  /** Signed in for another Google API. */
  otherScopeToken: "ya29.standin-cm360-other-scope",
  configurationId: "8765432",
  /** Of an advertiser for which the user profile has no role with "Insert offline conversions". */
  deniedConfigurationId: "8765433",
  activityId: "4400001",
  secondActivityId: "4400002",
  archivedActivityId: "4400009",
} as const;

const active: readonly string[] = [known.activityId, known.secondActivityId];

/** The first that Google names; the reasons for a wrong activity are not documented, so the general ones are used. */
function destinationViolations(
  { operatingAccount, loginAccount, productDestinationId }: Destination,
  index: number,
): FieldViolation[] {
  const at = `destinations.destinations[${index}]`;
  const { accountId } = operatingAccount;
  if (loginAccount && loginAccount.accountId !== accountId)
    return [
      {
        field: at,
        description: "The login account must be the operating account.",
        reason: "OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH",
      },
    ];
  if (accountId !== known.configurationId)
    return [{ field: at, description: "No access to the account.", reason: "PERMISSION_DENIED" }];
  const field = `${at}.product_destination_id`;
  if (!/^\d+$/.test(productDestinationId))
    return [{ field, description: "String is not a valid number.", reason: "INVALID_NUMBER_FORMAT" }];
  return active.includes(productDestinationId)
    ? []
    : [{ field, description: "The Floodlight activity is not valid.", reason: "INVALID_ARGUMENT" }];
}

/** The identifiers that Campaign Manager 360 lists. */
const accepted = ["dclid", "gclid", "impressionId", "matchId", "mobileDeviceId"];

const product: Product = {
  account: accountShape("FLOODLIGHT_CONFIG", /^\d{1,20}$/),
  // The limit of Campaign Manager 360's own API. It is uncertain if this one enforces it at once: here it does.
  maxAgeSeconds: 28 * 86_400,
  destinationViolations,
  // The identifiers exclude each other in Campaign Manager 360's own API. It is uncertain if they do here: here they do.
  eventViolations({ adIdentifiers = {} }) {
    const given = identifiers.filter((name) => adIdentifiers[name] !== undefined);
    const isFit = given.every((name) => accepted.includes(name)) && given.length <= 1;
    const description = `Exactly one of ${accepted.join(", ")} may be set.`;
    return isFit ? [] : [{ field: "ad_identifiers", reason: "INVALID_EVENT", description }];
  },
};

export const cm360 = {
  id: "cm360",
  known,
  tokens: [
    { token: known.accessToken, state: "valid" },
    { token: known.expiredToken, state: "expired" },
    { token: known.revokedToken, state: "revoked" },
    {
      token: known.otherScopeToken,
      state: "valid",
      scopes: ["https://www.googleapis.com/auth/dfareporting"],
    },
  ],
  oauth: {
    client: { id: known.clientId, secret: known.clientSecret },
    authorizePath: "/o/oauth2/v2/auth",
    tokenPath: "/token",
    revokePath: "/revoke",
    scopes: [dataManagerScope, "openid", "email"],
    pkce: "supported",
    clientAuth: ["body", "basic"],
    tokenBody: "form",
    accessSeconds: 3600,
    refresh: "fixed",
    offline: (query) => query.get("access_type") === "offline" && query.get("prompt") === "consent",
  },
  routes: [{ kind: "events", method: "POST", path: "/v1/events:ingest", handle: ingestInto(product) }, statusRoute],
  documentedErrors,
  errors: {
    notFound: () => googleError(404, "NOT_FOUND", "The requested URL was not found on this server."),
    throttled: googleThrottled,
    failed: (status) => googleError(status, status === 503 ? "UNAVAILABLE" : "INTERNAL", "Internal error."),
    token: googleTokenError,
  },
} as const satisfies Standin;
