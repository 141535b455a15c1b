// HubSpot: occurrences of custom events, up to 500 in a request. One invalid occurrence fails all of them.

import {
  also,
  describeProblem,
  isObject,
  isoTime,
  list,
  object,
  problemAt,
  readJson,
  text,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { hashed, maxAheadSeconds } from "../shared/contactChecks.ts";
import { bearerToken, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors, failure } from "./documented.ts";

/** Values of no real account. */
const hubspotKnown = {
  accessToken: "pat-standin-valid",
  expiredToken: "pat-standin-expired",
  revokedToken: "pat-standin-revoked",
  /** Of an app without the scope for custom events. */
  unscopedToken: "pat-standin-unscoped",
  hubId: "1234567",
  event: "pe1234567_conversion",
  /** The event's own properties, beside HubSpot's; the last is its custom matching ID. */
  properties: ["value", "currency", "order_id", "email_sha256"],
} as const;

const matchingProperty = "email_sha256";
const urlProperties = ["hs_page_url", "hs_referrer", "hs_link_href"];
const defaultProperties =
  `hs_asset_description hs_asset_type hs_browser hs_campaign_id hs_city hs_country hs_device_name hs_device_type
  hs_language hs_operating_system hs_page_content_type hs_page_id hs_page_title hs_region hs_touchpoint_source hs_user_agent
  hs_utm_campaign hs_utm_content hs_utm_medium hs_utm_source hs_utm_term`.split(/\s+/);

function propertyCheck(name: string): Check {
  if (name === matchingProperty) return hashed("email");
  return text({ max: urlProperties.includes(name) ? 1024 : 256 });
}

/** Values are texts. What HubSpot does with a property that the event does not have is not documented: the stricter rule. */
const properties: Check = (value, path) => {
  if (!isObject(value)) return problemAt("type", path, "must be an object");
  if (Object.keys(value).length > 50) return problemAt("count", path, "must not have more than 50 properties");
  const known = [...defaultProperties, ...urlProperties, ...hubspotKnown.properties];
  return Object.entries(value).flatMap(([name, one]) =>
    known.includes(name)
      ? propertyCheck(name)(one, `${path}.${name}`)
      : problemAt("unknown", `${path}.${name}`, "is not a property of the event"),
  );
};

const occurrence = (now: number): Check =>
  also(
    object(
      {
        eventName: text({ pattern: /^pe\d+_[a-z0-9_]+$/ }),
        occurredAt: isoTime({ now, maxAheadSeconds }),
        objectId: text({ pattern: /^\d+$/ }),
        utk: text({ pattern: /^[0-9a-f]{32}$/ }),
        uuid: text(),
        // HubSpot finds contacts by plain email too. The relay must not send any.
        email: (_, path) => problemAt("value", path, "is contact data in plain text"),
        properties,
      },
      { required: ["eventName"] },
    ),
    contactProblems,
  );

function contactProblems(one: Record<string, unknown>, path: string): Problem[] {
  const own = isObject(one.properties) ? one.properties[matchingProperty] : undefined;
  const isFound = [one.objectId, one.utk, own].some((id) => id !== undefined);
  return isFound ? [] : problemAt("missing", path, "needs an identifier of the record");
}

const requestShape = (now: number): Check =>
  object({ inputs: list(occurrence(now), { min: 1, max: 500 }) }, { required: ["inputs"] });

const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, "INVALID_AUTHENTICATION", state === "unknown" ? "The token is not valid" : `The token has been ${state}`);

function receiveEvents(call: Call, context: Context): Answer {
  const token = bearerToken(call);
  const state = context.tokens.state(token);
  if (state !== "valid") return tokenError(state);
  if (!context.tokens.allows(token, "analytics.behavioral_events.send"))
    return failure(403, "MISSING_SCOPES", "This app hasn't been granted all required scopes");
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "VALIDATION_ERROR", "Invalid input JSON");
  const problems = requestShape(context.now())(read.value, "");
  const [first] = problems;
  if (first)
    // Without the index: the invalid occurrence is found by halving.
    return failure(
      400,
      "VALIDATION_ERROR",
      `${first.path.replace(/^inputs\[\d+\]\.?/, "")} ${first.message}`.trim(),
      problems.map(describeProblem),
    );
  const inputs = read.value.inputs as { eventName: string; uuid?: string }[];
  if (inputs.some(({ eventName }) => eventName !== hubspotKnown.event))
    return failure(404, "OBJECT_NOT_FOUND", "The event does not exist");
  return {
    status: 204,
    // It is not documented that HubSpot recognises a uuid again, so it does not.
    accepted: inputs.map((event) => ({ id: event.uuid ?? null, name: event.eventName, windowSeconds: null, event })),
  };
}

function showAccount(call: Call, context: Context): Answer {
  const state = context.tokens.state(bearerToken(call));
  return state === "valid"
    ? { status: 200, body: { portalId: Number(hubspotKnown.hubId), accountType: "STANDARD", timeZone: "Europe/Berlin" } }
    : tokenError(state);
}

export const hubspot = {
  id: "hubspot",
  known: hubspotKnown,
  tokens: [
    { token: hubspotKnown.accessToken, state: "valid" },
    { token: hubspotKnown.expiredToken, state: "expired" },
    { token: hubspotKnown.revokedToken, state: "revoked" },
    { token: hubspotKnown.unscopedToken, state: "valid", scopes: ["oauth"] },
  ],
  routes: [
    { kind: "events", method: "POST", path: "/events/2026-03/send/batch", handle: receiveEvents },
    { kind: "listing", method: "GET", path: "/account-info/v3/details", handle: showAccount },
  ],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "OBJECT_NOT_FOUND", "Not found"),
    throttled: (seconds) => ({
      ...failure(429, "RATE_LIMITS", "You have reached your ten_secondly_rolling limit."),
      headers: { "retry-after": String(seconds) },
    }),
    failed: (status) => failure(status, "INTERNAL_ERROR", "internal error"),
    token: tokenError,
  },
} as const satisfies Standin;
