// Google Ads: the Data Manager API, the parts of the Google Ads API that fill the pickers, and Google's sign-in.

import { adwordsScope, dataManagerScope, googleError, googleKnown, googleTokenError } from "./access.ts";
import { documentedErrors } from "./documented.ts";
import { googleThrottled, ingestEvents, statusRoute } from "./ingest.ts";
import { adsTokenError, listCustomers, searchStream, uploadClicks } from "./listing.ts";
import type { Standin } from "../shared/standin.ts";

export const googleAds = {
  id: "google_ads",
  known: googleKnown,
  tokens: [
    { token: googleKnown.accessToken, state: "valid" },
    { token: googleKnown.expiredToken, state: "expired" },
    { token: googleKnown.revokedToken, state: "revoked" },
    { token: googleKnown.adwordsOnlyToken, state: "valid", scopes: [adwordsScope] },
  ],
  secrets: ["developer-token"],
  oauth: {
    client: { id: googleKnown.clientId, secret: googleKnown.clientSecret },
    authorizePath: "/o/oauth2/v2/auth",
    tokenPath: "/token",
    revokePath: "/revoke",
    scopes: [dataManagerScope, adwordsScope, "openid", "email"],
    pkce: "supported",
    clientAuth: ["body", "basic"],
    tokenBody: "form",
    accessSeconds: 3600,
    refresh: "fixed",
    // Without both, Google issues a returning customer only an access token, which expires within the hour.
    offline: (query) => query.get("access_type") === "offline" && query.get("prompt") === "consent",
  },
  routes: [
    { kind: "events", method: "POST", path: "/v1/events:ingest", handle: ingestEvents },
    statusRoute,
    {
      kind: "listing",
      method: "GET",
      path: /^\/(?<version>v\d+)\/customers:listAccessibleCustomers$/,
      handle: listCustomers,
    },
    {
      kind: "listing",
      method: "POST",
      path: /^\/(?<version>v\d+)\/customers\/(?<customer>\d+)\/googleAds:searchStream$/,
      handle: searchStream,
    },
    {
      kind: "events",
      method: "POST",
      path: /^\/(?<version>v\d+)\/customers\/(?<customer>\d+):uploadClickConversions$/,
      handle: uploadClicks,
    },
  ],
  documentedErrors,
  errors: {
    notFound: () => googleError(404, "NOT_FOUND", "The requested URL was not found on this server."),
    throttled: googleThrottled,
    failed: (status) =>
      status === 503
        ? googleError(503, "UNAVAILABLE", "The service is currently unavailable.")
        : status === 504
          ? googleError(504, "DEADLINE_EXCEEDED", "Deadline exceeded.")
          : googleError(status, "INTERNAL", "Internal error encountered."),
    token: (state, { path, params }) =>
      path.startsWith("/v1/") ? googleTokenError(state) : adsTokenError(state, params.version ?? "", "fault"),
  },
} as const satisfies Standin;
