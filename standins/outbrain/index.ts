// Outbrain: server-to-server tracking, a GET with everything in its query. Unknown click ids and names are not reported.

import { amountText, currency, describeProblem, object, text } from "../shared/checks.ts";
import { plainId } from "../shared/contactChecks.ts";
import type { Answer, Call, Standin } from "../shared/standin.ts";
import { documentedErrors } from "./documented.ts";

/** The click id of no real click. Outbrain finds the account by it, so there is nothing else to know. */
const outbrainKnown = { clickId: "v1-standin-click" } as const;

/** Not documented: an order id is supposed to count once for a month. */
const dedupSeconds = 30 * 86_400;

const call = object(
  {
    ob_click_id: plainId,
    name: text({ max: 200 }),
    orderId: text(),
    orderValue: amountText(),
    currency,
  },
  { required: ["ob_click_id", "name"] },
);

const empty = (status: number, reasons: string[] = []): Answer => ({
  status,
  ...(reasons.length > 0 ? { rejected: reasons } : {}),
});

function receive({ query }: Call): Answer {
  const given = Object.fromEntries(query);
  const problems = call(given, "").map(describeProblem);
  if (query.size !== Object.keys(given).length) problems.push("a parameter was given twice");
  // What Outbrain answers to an invalid call is not documented: the stricter status.
  if (problems.length > 0) return empty(400, problems);
  const id = given.orderId ?? null;
  const name = given.name ?? "";
  return {
    status: 204,
    accepted: [{ id, name, key: `${name}/${String(id)}`, windowSeconds: dedupSeconds, event: given }],
  };
}

export const outbrain = {
  id: "outbrain",
  known: outbrainKnown,
  tokens: [],
  routes: [{ kind: "events", method: "GET", path: "/unifiedPixel", handle: receive }],
  documentedErrors,
  errors: {
    notFound: () => empty(404),
    throttled: (seconds) => ({ ...empty(429), headers: { "retry-after": String(seconds) } }),
    failed: (status) => empty(status),
    // There are no credentials; nothing can be unauthorised.
    token: () => empty(400, ["there are no tokens"]),
  },
} as const satisfies Standin;
