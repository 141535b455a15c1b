// AppLovin Axon: the Conversion API. It drops a whole request for one invalid event, and explains errors in headers only.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import type { Answer, Call, Context, Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors } from "./documented.ts";
import { requestShape, type Website } from "./event.ts";

/** Values of no real account. */
const axonKnown = {
  apiKey: "axon-standin-conversion-key",
  expiredKey: "axon-standin-expired-key",
  revokedKey: "axon-standin-revoked-key",
  /** The pixels of a shop, of a site for lead generation, and of a restricted one. */
  eventKey: "axon-standin-shop",
  leadsKey: "axon-standin-leads",
  restrictedKey: "axon-standin-restricted",
} as const;

const websites = new Map<string, Website>([
  [axonKnown.eventKey, "shop"],
  [axonKnown.leadsKey, "leads"],
  [axonKnown.restrictedKey, "restricted"],
]);

const dedupSeconds = 5 * 60;

const failure = (status: number, code: string, message: string, reasons: string[] = [message]): Answer => ({
  status,
  headers: { "x-al-error-code": code, "x-al-error-message": message, "x-trace-id": "standin" },
  rejected: reasons,
});

const keyError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, "UNAUTHORIZED", state === "unknown" ? "Authentication failed" : `The key has been ${state}`);

function receiveEvents(call: Call, context: Context): Answer {
  // The key stands alone in the header: with "Bearer" it is an unknown key.
  const state = context.tokens.state(call.headers.authorization ?? null);
  if (state !== "valid") return keyError(state);
  const pixel = call.query.get("pixel_id") ?? "";
  const website = websites.get(pixel);
  // It is uncertain which status an unknown pixel gets: 401 is the one for wrong credentials.
  if (!website) return failure(401, "UNKNOWN_PIXEL", "The pixel does not belong to the key");
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "BAD_REQUEST", "The body is not JSON");
  const problems = requestShape(context.now(), website)(read.value, "");
  const [first] = problems;
  if (first)
    // Without the index: the invalid event is found by halving.
    return failure(
      400,
      "INVALID_EVENT",
      `${first.path.replace(/^events\[\d+\]\.?/, "")} ${first.message}`.trim(),
      problems.map(describeProblem),
    );
  const events = read.value.events as Record<string, unknown>[];
  return {
    status: 200,
    accepted: events.map((event) => ({
      id: String(event.dedupe_id),
      name: String(event.name),
      key: `${pixel}/${String(event.dedupe_id)}`,
      windowSeconds: dedupSeconds,
      event,
    })),
  };
}

export const axon = {
  id: "axon",
  known: axonKnown,
  tokens: [
    { token: axonKnown.apiKey, state: "valid" },
    { token: axonKnown.expiredKey, state: "expired" },
    { token: axonKnown.revokedKey, state: "revoked" },
  ],
  routes: [{ kind: "events", method: "POST", path: "/v1/event", handle: receiveEvents }],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "NOT_FOUND", "Not found"),
    throttled: (seconds) => {
      const answer = failure(429, "THROTTLED", "Too many requests");
      return { ...answer, headers: { ...answer.headers, "retry-after": String(seconds) } };
    },
    failed: (status) => failure(status, "INTERNAL", "Internal error"),
    token: keyError,
  },
} as const satisfies Standin;
