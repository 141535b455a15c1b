// OpenAI Ads: the Conversions API. It accepts all events of a request or none, and does not say which one is invalid.

import { describeProblem, isObject, readJson, type Problem } from "../shared/checks.ts";
import { bearerToken, type AcceptedInput, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors } from "./documented.ts";
import { requestShape } from "./event.ts";

/** Values of no real account. */
const openaiKnown = {
  apiKey: "openai-standin-conversions-key",
  expiredKey: "openai-standin-expired-key",
  revokedKey: "openai-standin-revoked-key",
  pixelId: "2atj5meStandinPixel",
  /** A pixel of another account. */
  foreignPixelId: "9zzForeignPixel",
} as const;

/** The window is not published; a week covers every event that may still be sent. */
const dedupSeconds = 7 * 86_400;

const failure = (status: number, message: string, reasons: string[] = [message]): Answer => ({
  status,
  body: { error: { message } },
  rejected: reasons,
});

const keyError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, state === "unknown" ? "Incorrect API key provided." : `The API key has been ${state}.`);

/** As a message without the index: the event is found by halving. */
const withoutIndex = ({ path, message }: Problem) => `${path.replace(/^events\[\d+\]\.?/, "")} ${message}`.trim();

function receiveEvents(call: Call, context: Context): Answer {
  const state = context.tokens.state(bearerToken(call));
  if (state !== "valid") return keyError(state);
  const pixel = call.query.get("pid") ?? "";
  if (pixel === openaiKnown.foreignPixelId) return failure(403, "You do not have access to this pixel.");
  if (pixel !== openaiKnown.pixelId) return failure(404, "Not found");
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "The request body is not valid JSON.");
  const [first, ...others] = requestShape(context.now())(read.value, "");
  if (first) {
    // One of the two forms of an error that clients have seen.
    const status = first.kind === "value" ? 422 : 400;
    return failure(status, withoutIndex(first), [first, ...others].map(describeProblem));
  }
  const events = read.value.events as Record<string, unknown>[];
  return {
    status: 200,
    // Seen in a client's test; OpenAI documents no body.
    body: { accepted_events: events.length },
    ...(read.value.validate_only === true ? { tested: true } : { accepted: events.map((event) => toAccepted(event, pixel)) }),
  };
}

function toAccepted(event: Record<string, unknown>, pixel: string): AcceptedInput {
  const name = String(event.custom_event_name ?? event.type);
  return {
    id: String(event.id),
    name,
    key: `${pixel}/${String(event.type)}/${name}/${String(event.id)}`,
    windowSeconds: dedupSeconds,
    event,
  };
}

export const openaiAds = {
  id: "openai_ads",
  known: openaiKnown,
  tokens: [
    { token: openaiKnown.apiKey, state: "valid" },
    { token: openaiKnown.expiredKey, state: "expired" },
    { token: openaiKnown.revokedKey, state: "revoked" },
  ],
  routes: [{ kind: "events", method: "POST", path: "/v1/events", handle: receiveEvents }],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "Not found"),
    throttled: (seconds) => ({
      ...failure(429, "Rate limit reached."),
      headers: { "retry-after": String(seconds) },
    }),
    // The other form of an error.
    failed: (status) => ({
      status,
      body: { error: "The server had an error." },
      rejected: ["The server had an error."],
    }),
    token: keyError,
  },
} as const satisfies Standin;
