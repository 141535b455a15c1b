// Taboola: server-to-server tracking. The postback URL checks its parameters; the bulk endpoint answers 204 to everything
// that has the right form, and drops invalid actions silently.

import { describeProblem, epoch, isObject, list, number, object, readJson, text, type Check } from "../shared/checks.ts";
import { maxAheadSeconds, plainId } from "../shared/contactChecks.ts";
import type { AcceptedInput, Answer, Call, Context, Standin } from "../shared/standin.ts";
import { documentedErrors } from "./documented.ts";

/** Values of no real account. */
const taboolaKnown = {
  accountId: "1234567",
  eventNames: [
    ..."make_purchase lead complete_registration add_to_cart add_to_wishlist start_checkout".split(" "),
    ..."add_payment_info search view_content".split(" "),
  ],
} as const;

const maxActions = 1000;
const currencies = "AUD BRL CAD CNY EUR GBP HKD ILS INR JPY KRW MXN NZD RUB SGD THB TRY USD ZAR".split(" ");
/** Not documented: an order id is supposed to count once for a month. */
const dedupSeconds = 30 * 86_400;

const empty = (status: number, reasons: string[] = []): Answer => ({
  status,
  ...(reasons.length > 0 ? { rejected: reasons } : {}),
});

const actionShape = (now: number): Check =>
  object(
    {
      "click-id": plainId,
      // A maximum age is not documented.
      timestamp: epoch("milliseconds", { now, maxAheadSeconds }),
      name: text(),
      revenue: number({ min: 0 }),
      currency: text({ oneOf: currencies }),
      orderid: text(),
      quantity: number({ integer: true, min: 1 }),
    },
    { required: ["click-id", "timestamp", "name"] },
  );

function receiveBulk(call: Call, context: Context): Answer {
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return empty(400, ["the body is not JSON"]);
  const anyList: Check = list(() => [], { min: 1, max: maxActions });
  const faults = object({ actions: anyList }, { required: ["actions"] })(read.value, "").map(describeProblem);
  if (faults.length > 0) return empty(400, faults);
  const check = actionShape(context.now());
  const actions = read.value.actions as unknown[];
  const problems = actions.map((action, index) => check(action, `actions[${index}]`).map(describeProblem));
  // An account that does not exist is not reported either.
  const isKnown = call.params.account === taboolaKnown.accountId;
  const valid = actions.filter((_, index) => isKnown && problems[index]?.length === 0);
  return {
    ...empty(204, isKnown ? problems.flat() : ["the account is not known"]),
    accepted: valid.map((action) => toAccepted(action as Record<string, unknown>)),
  };
}

/** `GET …/s2s-action?click-id=…&name=…`, which the relay does not use; it shows what Taboola checks there. */
function receivePostback(call: Call, context: Context): Answer {
  const action: Record<string, unknown> = { ...Object.fromEntries(call.query), timestamp: context.now() };
  for (const name of ["revenue", "quantity"]) if (action[name] !== undefined) action[name] = Number(action[name]);
  const problems = actionShape(context.now())(action, "").map(describeProblem);
  return problems.length > 0 ? empty(400, problems) : { status: 204, accepted: [toAccepted(action)] };
}

function toAccepted(action: Record<string, unknown>): AcceptedInput {
  const name = String(action.name);
  const id = typeof action.orderid === "string" ? action.orderid : null;
  return { id, name, key: `${name}/${String(id)}`, windowSeconds: dedupSeconds, event: action };
}

export const taboola = {
  id: "taboola",
  known: taboolaKnown,
  tokens: [],
  routes: [
    {
      kind: "events",
      method: "POST",
      path: /^\/(?<account>[^/]+)\/log\/3\/bulk-s2s-action$/,
      handle: receiveBulk,
    },
    { kind: "events", method: "GET", path: "/actions-handler/log/3/s2s-action", handle: receivePostback },
    { kind: "events", method: "POST", path: "/actions-handler/log/3/s2s-action", handle: receivePostback },
  ],
  documentedErrors,
  errors: {
    // A misspelled endpoint is 400, not 404.
    notFound: () => empty(400, ["no such endpoint"]),
    throttled: (seconds) => ({ ...empty(429), headers: { "retry-after": String(seconds) } }),
    failed: (status) => empty(status),
    // There are no credentials; nothing can be unauthorised.
    token: () => empty(400, ["there are no tokens"]),
  },
} as const satisfies Standin;
