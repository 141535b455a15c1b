// Quora: the Conversion API. It answers 200 also when it rejects conversions, and lists those by their index.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import { bearerToken, type AcceptedInput, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors } from "./documented.ts";
import { itemShape } from "./event.ts";

/** Values of no real account. */
const quoraKnown = {
  accessToken: "quora-standin-token",
  expiredToken: "quora-standin-expired",
  revokedToken: "quora-standin-revoked",
  accountId: "1234567890",
} as const;

const maxItems = 1000;
/** Each conversion of a list counts. */
const maxPerMinute = 1000;
/** The window is not documented; two days are usual. */
const dedupSeconds = 2 * 86_400;

const failure = (status: number, message: string): Answer => ({
  status,
  body: { message },
  rejected: [message],
});

const throttled = (seconds: number): Answer => ({
  ...failure(429, "Too Many Requests"),
  headers: { "retry-after": String(seconds) },
});

const tokenError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, state === "unknown" ? "Unauthorized" : `The token has been ${state}.`);

function receiveList(call: Call, context: Context): Answer {
  return receive(call, context, (body) => body.data);
}

function receiveOne(call: Call, context: Context): Answer {
  return receive(call, context, ({ account_id: _account, ...item }) => [item]);
}

function receive(call: Call, context: Context, itemsOf: (body: Record<string, unknown>) => unknown): Answer {
  const state = context.tokens.state(bearerToken(call));
  if (state !== "valid") return tokenError(state);
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "The body is not JSON.");
  const { account_id: account } = read.value;
  if (typeof account !== "number") return failure(400, "account_id must be a number.");
  if (String(account) !== quoraKnown.accountId) return failure(403, "The token belongs to another account.");
  const items = itemsOf(read.value);
  if (!Array.isArray(items) || items.length === 0 || items.length > maxItems)
    return failure(400, `data must be a list of 1 to ${maxItems} conversions.`);
  const wait = context.useQuota(`account ${account}`, maxPerMinute, 60, items.length);
  if (wait) return throttled(wait);

  const check = itemShape(context.now());
  const problems = items.map((item) => check(item, "").map(describeProblem));
  const valid = items.filter((_, index) => problems[index]?.length === 0) as Record<string, unknown>[];
  return {
    status: 200,
    body: {
      events_received: items.length,
      events_errored: items.length - valid.length,
      // Those that were accepted are not always listed; here they never are.
      events: problems.flatMap(([first], index) =>
        first === undefined ? [] : [{ index, status: "ERROR", error_code: "INVALID_FIELD", error_message: first }],
      ),
    },
    accepted: valid.map(toAccepted),
    rejected: problems.flatMap((found, index) => found.map((problem) => `data[${index}].${problem}`)),
  };
}

function toAccepted(item: Record<string, unknown>): AcceptedInput {
  const { event_id: id, event_name: name } = item.conversion as Record<string, unknown>;
  return {
    id: typeof id === "string" ? id : null,
    name: String(name),
    key: `${String(name)}/${String(id)}`,
    windowSeconds: dedupSeconds,
    event: item,
  };
}

export const quora = {
  id: "quora",
  known: quoraKnown,
  tokens: [
    { token: quoraKnown.accessToken, state: "valid" },
    { token: quoraKnown.expiredToken, state: "expired" },
    { token: quoraKnown.revokedToken, state: "revoked" },
  ],
  routes: [
    { kind: "events", method: "POST", path: "/ads/v0/conversions", handle: receiveList },
    { kind: "events", method: "POST", path: "/ads/v0/conversion", handle: receiveOne },
  ],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "Not Found"),
    throttled,
    failed: (status) => failure(status, "Internal Server Error"),
    token: tokenError,
  },
} as const satisfies Standin;
