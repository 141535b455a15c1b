// Klaviyo: the Events API, one event in a request.

import { describeProblem, isObject, readJson } from "../shared/checks.ts";
import type { Answer, Call, Context, Standin } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";
import { documentedErrors, failure } from "./documented.ts";
import { requestShape } from "./event.ts";

/** Values of no real account. */
const klaviyoKnown = {
  apiKey: "pk_standin_valid",
  expiredKey: "pk_standin_expired",
  revokedKey: "pk_standin_revoked",
  /** It may read accounts, and not write events. */
  readOnlyKey: "pk_standin_read_only",
  accountId: "StAnD1",
} as const;

const revision = /^20\d\d-\d\d-\d\d$/;

/** How long Klaviyo knows a unique id is not documented. */
const dedupSeconds = 365 * 86_400;

const keyError = (state: Exclude<TokenState, "valid">): Answer =>
  failure(401, "not_authenticated", state === "unknown" ? "Missing or invalid private key." : `The key has been ${state}.`);

/** Checks what every call needs; null where nothing is wrong. */
function callError(call: Call, context: Context, scope: string): Answer | null {
  const key = /^Klaviyo-API-Key (\S+)$/.exec(call.headers.authorization ?? "")?.[1] ?? null;
  const state = context.tokens.state(key);
  if (state !== "valid") return keyError(state);
  if (!context.tokens.allows(key, scope)) return failure(403, "permission_denied", `The key lacks the scope ${scope}.`);
  // Klaviyo would take another revision. The relay must name the one that it was written for.
  return revision.test(call.headers.revision ?? "") ? null : failure(400, "invalid", "The header revision is missing.");
}

function receiveEvent(call: Call, context: Context): Answer {
  const error = callError(call, context, "events:write");
  if (error) return error;
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return failure(400, "parse_error", "The payload is not JSON.");
  const problems = requestShape(context.now())(read.value, "");
  const [first] = problems;
  if (first)
    return failure(400, "invalid", first.message, {
      pointer: `/${first.path.replaceAll(".", "/")}`,
      reasons: problems.map(describeProblem),
    });
  const { attributes } = (read.value as { data: { attributes: Record<string, unknown> } }).data;
  const {
    metric,
    profile,
    unique_id: id,
  } = attributes as {
    metric: { data: { attributes: { name: string } } };
    profile: { data: unknown };
    unique_id: string;
  };
  const { name } = metric.data.attributes;
  const key = JSON.stringify([profile.data, name, id]);
  return { status: 202, accepted: [{ id, name, key, windowSeconds: dedupSeconds, event: attributes }] };
}

function listAccounts(call: Call, context: Context): Answer {
  const error = callError(call, context, "accounts:read");
  return error ?? { status: 200, body: { data: [{ type: "account", id: klaviyoKnown.accountId, attributes: {} }] } };
}

export const klaviyo = {
  id: "klaviyo",
  known: klaviyoKnown,
  tokens: [
    { token: klaviyoKnown.apiKey, state: "valid" },
    { token: klaviyoKnown.expiredKey, state: "expired" },
    { token: klaviyoKnown.revokedKey, state: "revoked" },
    { token: klaviyoKnown.readOnlyKey, state: "valid", scopes: ["accounts:read"] },
  ],
  routes: [
    { kind: "events", method: "POST", path: "/api/events", handle: receiveEvent },
    { kind: "listing", method: "GET", path: "/api/accounts", handle: listAccounts },
  ],
  documentedErrors,
  errors: {
    notFound: () => failure(404, "not_found", "The path could not be found."),
    throttled: (seconds) => ({
      ...failure(429, "rate_limit_exceeded", "The request was throttled."),
      headers: { "retry-after": String(seconds) },
    }),
    failed: (status) => failure(status, "error", "A server error occurred."),
    token: keyError,
  },
} as const satisfies Standin;
