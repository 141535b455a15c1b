// Nextdoor: the Conversion API, one event in a request. Its error bodies are not documented; the usual form is used.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import { bearerToken, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors } from "./documented.ts";
import { eventShape } from "./event.ts";

/** Values of no real account. */
const nextdoorKnown = {
  accessToken: "nextdoor-standin-token",
  expiredToken: "nextdoor-standin-expired",
  revokedToken: "nextdoor-standin-revoked",
  dataSourceId: "fe411d2f-0000-4000-8000-00000000abcd",
  /** A pixel of another account. */
  foreignSourceId: "fe411d2f-0000-4000-8000-0000000000ff",
} as const;

/** The window is not documented; two days are usual. */
const dedupSeconds = 2 * 86_400;

const failure = (status: number, message: string, reasons: string[] = [message]): Answer => ({
  status,
  body: { message },
  rejected: reasons,
});

const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, state === "unknown" ? "Unauthorized" : `The token has been ${state}.`);

function receiveEvent(call: Call, context: Context): Answer {
  const state = context.tokens.state(bearerToken(call));
  if (state !== "valid") return tokenError(state);
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "The request body is not valid JSON.");
  const event = read.value;
  const problems = eventShape(context.now())(event, "").map(describeProblem);
  if (problems.length > 0) return failure(400, problems[0] ?? "", problems);
  if (event.data_source_id === nextdoorKnown.foreignSourceId) return failure(403, "No access to the data source.");
  if (event.data_source_id !== nextdoorKnown.dataSourceId) return failure(400, "data_source_id is not known");
  const id = String(event.event_id);
  const name = String(event.event_name);
  return {
    status: 200,
    body: { message: "ok" },
    ...(event.test_event === "true"
      ? { tested: true }
      : { accepted: [{ id, name, key: `${name}/${id}`, windowSeconds: dedupSeconds, event }] }),
  };
}

function showAccount(call: Call, context: Context): Answer {
  const state = context.tokens.state(bearerToken(call));
  return state === "valid" ? { status: 200, body: { id: "877420622915830837", email: "owner@shop.example" } } : tokenError(state);
}

export const nextdoor = {
  id: "nextdoor",
  known: nextdoorKnown,
  tokens: [
    { token: nextdoorKnown.accessToken, state: "valid" },
    { token: nextdoorKnown.expiredToken, state: "expired" },
    { token: nextdoorKnown.revokedToken, state: "revoked" },
  ],
  routes: [
    { kind: "events", method: "POST", path: "/v2/api/conversions/track", handle: receiveEvent },
    { kind: "listing", method: "GET", path: "/v2/api/me", handle: showAccount },
  ],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "Not Found"),
    throttled: (seconds) => ({
      ...failure(429, "Too Many Requests"),
      headers: { "retry-after": String(seconds) },
    }),
    failed: (status) => failure(status, "Internal Server Error"),
    token: tokenError,
  },
} as const satisfies Standin;
