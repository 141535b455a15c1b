// Spotify: the Conversions API. Error bodies are not documented; they have a message and a trace id here.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import { bearerToken, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors } from "./documented.ts";
import { requestShape } from "./event.ts";

/** Values of no real account. */
const spotifyKnown = {
  accessToken: "spotify-standin-token",
  expiredToken: "spotify-standin-expired",
  revokedToken: "spotify-standin-revoked",
  connectionId: "9eb0bb5f-0000-4000-8000-00000000abcd",
  /** A connection of another business. */
  foreignConnectionId: "9eb0bb5f-0000-4000-8000-0000000000ff",
} as const;

/** The window is not documented; two days are usual. */
const dedupSeconds = 2 * 86_400;

const failure = (status: number, message: string, reasons: string[] = [message]): Answer => ({
  status,
  body: { message, sp_trace_id: "standin0trace" },
  rejected: reasons,
});

const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, state === "unknown" ? "Invalid access token" : `The access token has been ${state}`);

function receiveEvents(call: Call, context: Context): Answer {
  const state = context.tokens.state(bearerToken(call));
  if (state !== "valid") return tokenError(state);
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "The body is not JSON");
  const problems = requestShape(context.now())(read.value, "");
  const [first] = problems;
  if (first)
    // Without the index: what Spotify says of a batch with an invalid event is not known.
    return failure(
      400,
      `${first.path.replace(/^conversion_events\.events\[\d+\]\.?/, "")} ${first.message}`.trim(),
      problems.map(describeProblem),
    );
  const { capi_connection_id: connection, events } = read.value.conversion_events as {
    capi_connection_id: string;
    events: Record<string, unknown>[];
  };
  if (connection !== spotifyKnown.connectionId)
    return failure(403, "The connection does not belong to the business of the token");
  return {
    status: 200,
    body: { message: "SUCCESS" },
    accepted: events.map((event) => ({
      id: String(event.event_id),
      name: String(event.event_name),
      windowSeconds: dedupSeconds,
      event,
    })),
  };
}

export const spotify = {
  id: "spotify",
  known: spotifyKnown,
  tokens: [
    { token: spotifyKnown.accessToken, state: "valid" },
    { token: spotifyKnown.expiredToken, state: "expired" },
    { token: spotifyKnown.revokedToken, state: "revoked" },
  ],
  routes: [{ kind: "events", method: "POST", path: "/capi-direct/events/", handle: receiveEvents }],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "Not found"),
    throttled: (seconds) => ({
      ...failure(429, "Too many requests"),
      headers: { "retry-after": String(seconds) },
    }),
    failed: (status) => failure(status, "Service unavailable"),
    token: tokenError,
  },
} as const satisfies Standin;
