// Amazon Ads: the Events API with its multi-status answers, the list of profiles, and Login with Amazon.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import { bearerToken, type AcceptedInput, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors } from "./documented.ts";
import { eventShape } from "./event.ts";

/** Values of no real account. */
const amazonKnown = {
  clientId: "amzn1.application-oa2-client.standin",
  clientSecret: "amzn1.oa2-cs.v1.standin",
  accessToken: "Atza|standin-valid",
  expiredToken: "Atza|standin-expired",
  revokedToken: "Atza|standin-revoked",
  advertiserId: "5790000000000001",
  /** An advertiser in Europe, whose events need a consent. */
  europeanId: "5790000000000002",
  /** An advertiser of another account. */
  foreignId: "5790000000000099",
} as const;

const scope = "advertising::campaign_management";
const maxEvents = 500;
/** The latest event of an id is kept, whenever it comes. */
const dedupSeconds = 400 * 86_400;

const failure = (status: number, code: string, message: string): Answer => ({
  status,
  body: { code, message },
  rejected: [message],
});

const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, "UNAUTHORIZED", state === "unknown" ? "Not authorized" : `The token has been ${state}`);

function accessError(call: Call, context: Context, clientHeader: string): Answer | null {
  const token = bearerToken(call);
  const state = context.tokens.state(token);
  if (state !== "valid") return tokenError(state);
  if (!context.tokens.allows(token, scope)) return failure(403, "FORBIDDEN", `The scope ${scope} is missing`);
  return call.headers[clientHeader] === amazonKnown.clientId ? null : failure(401, "UNAUTHORIZED", "The client id is not known");
}

function receiveEvents(call: Call, context: Context): Answer {
  const fault = accessError(call, context, "amazon-ads-clientid");
  if (fault) return fault;
  const account = call.headers["amazon-ads-accountid"] ?? "";
  if (account !== amazonKnown.advertiserId && account !== amazonKnown.europeanId)
    return failure(403, "FORBIDDEN", "Insufficient permissions to process request");
  const read = readJson(call);
  const events = "fault" in read || !isObject(read.value) ? null : read.value.events;
  if (!Array.isArray(events) || events.length === 0 || events.length > maxEvents)
    return failure(400, "BAD_REQUEST", `events must be a list of 1 to ${maxEvents} events`);
  const check = eventShape(context.now(), account === amazonKnown.europeanId);
  const problems = events.map((event) => check(event, "").map(describeProblem));
  const valid = events.flatMap((event: Record<string, unknown>, index) =>
    problems[index]?.length === 0 ? [{ index, event }] : [],
  );
  return {
    status: 207,
    body: {
      success: valid,
      error: problems.flatMap((found, index) =>
        found.length === 0 ? [] : [{ index, errors: found.map((message) => ({ code: "INVALID_ARGUMENT", message })) }],
      ),
    },
    accepted: valid.map(({ event }) => toAccepted(event)),
    rejected: problems.flatMap((found, index) => found.map((problem) => `events[${index}].${problem}`)),
  };
}

function toAccepted(event: Record<string, unknown>): AcceptedInput {
  const { name } = event.eventDescription as { name: string };
  const id = typeof event.eventId === "string" ? event.eventId : null;
  return { id, name, windowSeconds: dedupSeconds, event };
}

const listProfiles = (call: Call, context: Context): Answer =>
  accessError(call, context, "amazon-advertising-api-clientid") ?? {
    status: 200,
    body: [{ profileId: 1, countryCode: "US", accountInfo: { id: "ENTITY1", type: "agency", name: "Shop" } }],
  };

export const amazonAds = {
  id: "amazon_ads",
  known: amazonKnown,
  tokens: [
    { token: amazonKnown.accessToken, state: "valid" },
    { token: amazonKnown.expiredToken, state: "expired" },
    { token: amazonKnown.revokedToken, state: "revoked" },
  ],
  oauth: {
    client: { id: amazonKnown.clientId, secret: amazonKnown.clientSecret },
    authorizePath: "/ap/oa",
    tokenPath: "/auth/o2/token",
    scopes: [scope],
    pkce: "none",
    clientAuth: ["body"],
    tokenBody: "form",
    accessSeconds: 3600,
    refresh: "fixed",
  },
  routes: [
    { kind: "events", method: "POST", path: "/adsApi/v1/create/events", handle: receiveEvents },
    { kind: "listing", method: "GET", path: "/v2/profiles", handle: listProfiles },
  ],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "NOT_FOUND", "Not found"),
    throttled: (seconds) => ({
      ...failure(429, "429", "Too Many Requests"),
      headers: { "retry-after": String(seconds) },
    }),
    failed: (status) => failure(status, "INTERNAL_ERROR", "Internal error"),
    token: tokenError,
  },
} as const satisfies Standin;
