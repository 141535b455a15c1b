// One case for every outcome, and for everything that is said besides it: consent, corrections and the last reconciliation.

import { describe, expect, test } from "vitest";
import { confirmationReasons, type ConfirmationReason, type ConfirmationState } from "../../kernel/confirmation.ts";
import { correctionStates, refundedReason, type CorrectionState } from "../../kernel/correction.ts";
import { filterCodes, unselectedReason, type DeliveryState } from "../../kernel/event.ts";
import { english, say } from "../../kernel/messages/message.ts";
import { rowClasses, type RowClass } from "../../kernel/reconciliation.ts";
import { whyOutcomes, type WhyOutcome } from "../../kernel/messages/why.ts";
import { repeatedStageReason } from "../../identity/leadStages.ts";
import { platforms } from "../../platforms/index.ts";
import { skipRulesOf } from "../../platforms/shared/skips.ts";
import { backfillReason } from "../../store/deliveries/backfills.ts";
import { explain, type Explained } from "./why.ts";

const at = Date.UTC(2026, 10, 16, 9, 30);

const event: Exclude<Explained["event"], null | "damaged"> = {
  event: "purchase",
  mode: "live",
  status: "accepted",
  receivedAt: at,
  releasedAt: null,
  filterReasons: [],
  currency: "EUR",
  attribution: { withheld: null, clickIds: { gclid: { value: "g-1", seenAt: at } } },
};

const delivery = (
  state: DeliveryState,
  reason: string | null = null,
  more: Partial<NonNullable<Explained["delivery"]>> = {},
): NonNullable<Explained["delivery"]> => ({
  state,
  reason,
  nextTryAt: null,
  confirmation: null,
  correction: null,
  sentAs: null,
  reasonPersists: true,
  log: [],
  ...more,
});

const confirmed = (state: ConfirmationState, reason: ConfirmationReason | null, updatedAt: number | null = at) =>
  delivery("sent", null, { confirmation: { state, reason, detail: null, updatedAt } });

const found = (more: Partial<Explained>): Explained => ({
  subject: { orderId: "1001" },
  event,
  platform: "google_ads",
  delivery: null,
  isConnected: true,
  listed: null,
  compared: null,
  timeZone: "UTC",
  ...more,
});

const filtered = (code: (typeof filterCodes)[number]) =>
  found({ event: { ...event, status: "filtered", filterReasons: [{ code, detail: "x.example" }] }, platform: null });
const skipped = (reason: string, platform = "google_ads") => found({ platform, delivery: delivery("skipped", reason) });
const notReceived = { event: null, platform: null } as const;
const paid = { status: "paid", value: 62, currency: "EUR" } as const;

/** Finds a platform with such a rule, and its sentence. */
function ruled(code: WhyOutcome): Explained {
  for (const platform of platforms)
    for (const rule of skipRulesOf(platform)) if (rule.code === code) return skipped(rule.reason, platform.id);
  throw new Error(`no platform skips because of ${code}`);
}

const cases: Record<WhyOutcome, [Explained, answer: string, action: string]> = {
  unknown: [found(notReceived), "Order 1001 was never received, and is not in your list of orders.", "Check the order id"],
  order_missing: [
    found({ ...notReceived, listed: paid }),
    "Order 1001 is in your list of orders, but no event of it was received.",
    "Send what is missing",
  ],
  order_not_due: [
    found({ ...notReceived, listed: { ...paid, status: "pending" } }),
    "Order 1001 was not received and need not be: in your list it is pending.",
    "Nothing to do.",
  ],
  event_damaged: [found({ event: "damaged" }), "its row in the database is damaged", "Restore the event"],
  blocked_domain: [filtered("blocked domain"), "the domain of its email is blocked", "remove the domain or person"],
  disposable_domain: [filtered("disposable domain"), "a disposable address", "release the event"],
  blocked_person: [filtered("blocked person"), "its person is blocked", "remove the domain or person"],
  only_bot_visits: [filtered("only bot visits"), "looks like a bot", "release the event as not a bot"],
  no_connection: [found({ platform: null, isConnected: false }), "the site had no connection", "Connect a platform."],
  not_connected: [
    found({ isConnected: false }),
    "Order 1001 was not sent to Google Ads: the site has no connection to it.",
    "Connect Google Ads.",
  ],
  connected_later: [found({}), "which was connected after it was received", "Start a backfill"],
  waiting: [found({ delivery: delivery("queued") }), "Order 1001 is about to be sent to Google Ads.", "goes on by itself"],
  replayed: [found({ delivery: delivery("queued", "replayed") }), "was replayed", "goes on by itself"],
  backfilling: [found({ delivery: delivery("queued", backfillReason) }), "part of a backfill", "goes on by itself"],
  retrying: [
    found({ delivery: delivery("queued", "HTTP 503: busy.") }),
    "could not be delivered to Google Ads yet, and is tried again: HTTP 503: busy.",
    "goes on by itself",
  ],
  sent_again: [
    found({
      delivery: {
        ...confirmed("not counted", "click too new"),
        state: "queued",
        reason: "not counted yet",
        log: [{ number: 1, startedAt: at, state: "sent", reason: null, httpStatus: 200 }],
      },
    }),
    "accepted by Google Ads but not counted yet, and is sent again",
    "goes on by itself",
  ],
  paused: [found({ delivery: delivery("parked", "paused") }), "is paused", "Resume the connection."],
  needs_reconnection: [
    found({ delivery: delivery("parked", say("needs_reconnection", { reason: "HTTP 401" })) }),
    "because the connection to Google Ads needs reconnection: HTTP 401.",
    "Reconnect it",
  ],
  accepted: [found({ platform: "meta", delivery: delivery("sent") }), "which does not say whether it counts", "own reports"],
  accepted_as_test: [
    found({ event: { ...event, mode: "test" }, delivery: delivery("sent") }),
    "Order 1001 is a test event: Google Ads accepted it and does not count it.",
    "Nothing to do.",
  ],
  unanswered: [found({ delivery: confirmed("unknown", null, null) }), "has not said yet whether it counts", "goes on by itself"],
  counted: [found({ delivery: confirmed("confirmed", null) }), "was accepted by Google Ads and counts there.", "Nothing to do."],
  counted_already: [found({ delivery: confirmed("confirmed", "duplicate") }), "counts once at Google Ads", "Nothing to do."],
  not_counted_click_too_new: [found({ delivery: confirmed("not counted", "click too new") }), "too recent", "Replay"],
  not_counted_platform_error: [found({ delivery: confirmed("not counted", "platform error") }), "an error there", "Replay"],
  not_counted_no_ad_click: [
    found({ delivery: confirmed("not counted", "no ad click") }),
    "no ad click",
    "whose ads were clicked",
  ],
  not_counted_consent: [found({ delivery: confirmed("not counted", "consent") }), "consent was missing", "your banner"],
  not_counted_too_old: [found({ delivery: confirmed("not counted", "too old") }), "came too late", "Send conversions sooner"],
  not_counted_bad_id: [
    found({ delivery: confirmed("not counted", "bad id") }),
    "does not know the click id",
    "whose ads were clicked",
  ],
  not_counted_bad_data: [found({ delivery: confirmed("not counted", "bad data") }), "could not use the data", "Check what"],
  not_counted_settings: [
    found({ delivery: confirmed("not counted", "settings") }),
    "a setting of the account",
    "Check the conversion's settings at Google Ads",
  ],
  not_counted_other: [found({ delivery: confirmed("not counted", "other") }), "does not know", "own reports"],
  unclear_several_reasons: [found({ delivery: confirmed("unknown", "several reasons") }), "which of them", "own reports"],
  unclear_no_answer: [found({ delivery: confirmed("unknown", "no answer") }), "never said", "own reports"],
  unclear_other: [found({ delivery: confirmed("unknown", "other") }), "not clear", "own reports"],
  rejected: [
    found({ delivery: delivery("rejected", "currency is unknown.") }),
    "Order 1001 was rejected by Google Ads: currency is unknown.",
    "Remove the cause, then replay the delivery.",
  ],
  relay_defect: [found({ delivery: delivery("rejected", "internal error of the relay") }), "a fault of the relay", "Report it"],
  expired: [
    found({ delivery: delivery("expired", say("too_old_to_retry", { reason: "HTTP 503" })) }),
    "before it became too old: too old to try again; last: HTTP 503.",
    "Send conversions as soon as they happen",
  ],
  not_selected: [skipped(unselectedReason), "does not take this event", "Add the event"],
  too_old: [
    skipped(say("too_old", { days: 90, platform: "Google Ads" })),
    "it is older than the 90 days that Google Ads takes.",
    "Send conversions as soon as they happen",
  ],
  disconnected: [skipped("disconnected"), "the connection was removed", "Connect Google Ads."],
  person_erased: [skipped("person erased"), "the person was erased", "Nothing to do."],
  cancelled: [skipped("cancelled"), "the delivery was cancelled", "Replay the delivery."],
  refunded: [skipped(refundedReason), "refunded in full before", "Nothing to do."],
  stage_repeated: [skipped(repeatedStageReason), "reached this stage before", "Nothing to do."],
  platform_unknown: [skipped("this version does not know the platform", "myspace"), "not sent to myspace", "Update the relay"],
  no_test_mode: [ruled("no_test_mode"), "which has no test mode", "Test with a live event"],
  no_test_code: [ruled("no_test_code"), "the connection has no test code", "Set the test code"],
  opted_out: [ruled("opted_out"), "the person has not agreed", "your banner"],
  no_consent: [ruled("no_consent"), "which requires a recorded consent", "your banner"],
  no_refunds: [ruled("no_refunds"), "which takes no refunds", "Turn on the site's corrections"],
  no_target: [ruled("no_target"), "has no target for this event", "Choose a target"],
  no_name: [ruled("no_name"), "has no name for", "Choose a target or a name"],
  no_match_key: [ruled("no_match_key"), "nothing that it can match was known", "Install the tag"],
  no_visit: [ruled("no_visit"), "no visit with its page", "Install the tag"],
  no_order_id: [ruled("no_order_id"), "no order id", "Send the order id"],
  no_value: [ruled("no_value"), "which requires a value", "Send a value"],
  not_set_up: [ruled("not_set_up"), "offline conversions are not set up", "Choose a target"],
  skipped: [skipped("a rule of an older version"), "not sent to Google Ads: a rule of an older version.", "Remove the cause"],
};

const inWords = (explained: Explained) => {
  const { outcome, answer, evidence, actions } = explain(explained);
  return { outcome, answer: english(answer), evidence: evidence.map(english), actions: actions.map(english) };
};

test.each(whyOutcomes)("%s has its answer and what to do", (outcome) => {
  const [explained, answer, action] = cases[outcome];
  const why = inWords(explained);
  expect(why.outcome).toBe(outcome);
  expect(why.answer).toContain(answer);
  expect(why.actions.join(" ")).toContain(action);
  expect(why.evidence).not.toEqual([]);
  for (const text of [why.answer, ...why.evidence, ...why.actions]) expect(text).toMatch(/^[^{}]+[^.{}]\.$/);
});

test("every rule by which a platform skips has an answer of its own", () => {
  const unnamed = platforms.flatMap((platform) =>
    skipRulesOf(platform)
      .filter(({ reason }) => explain(skipped(reason, platform.id)).outcome === "skipped")
      .map(({ code }) => `${platform.id} ${code}`),
  );
  expect(unnamed).toEqual([]);
});

test.each(confirmationReasons)("a conversion that was not counted because of %s has an answer", (reason) => {
  expect(explain(found({ delivery: confirmed("not counted", reason) })).outcome).toMatch(/^(?:not_)?counted_/);
});

test("a filter is the answer also where a platform is asked for, and a release ends it", () => {
  const one = { ...filtered("only bot visits"), platform: "google_ads" };
  expect(explain(one).outcome).toBe("only_bot_visits");
  const released = { ...event, ...(one.event as object), releasedAt: at };
  const why = inWords({ ...one, event: released, delivery: confirmed("confirmed", null) });
  expect(why.outcome).toBe("counted");
  expect(why.evidence).toContain("Released as not a bot 2026-11-16 09:30 UTC.");
});

test("a cause in the connection that is gone leaves a replay to do", () => {
  const gone = { ...skipped(unselectedReason), delivery: delivery("skipped", unselectedReason, { reasonPersists: false }) };
  expect(inWords(gone).actions).toEqual(["Replay the delivery."]);
});

test.each([
  [
    "a platform that matches contact data asks for it",
    skipped("no email, phone, fbclid, _fbc or _fbp", "meta"),
    "Send email, phone",
  ],
  ["one that needs a click asks for the tag", skipped("no gclid, wbraid or gbraid"), "Install the tag"],
  [
    "a conversion without a click id asks for the tag",
    found({
      event: { ...event, attribution: { withheld: null, clickIds: {} } },
      delivery: confirmed("not counted", "no ad click"),
    }),
    "Install the tag",
  ],
  ["a conversion at the sandbox asks for nothing", found({ platform: "sandbox", delivery: delivery("sent") }), "Nothing to do."],
  [
    "a refund where it can be taken back asks for corrections",
    skipped("Google Ads takes no refunds; with corrections=on, the purchase is corrected"),
    "Turn on the site's corrections",
  ],
  ["a refund where it cannot asks for nothing", skipped("Meta takes no refunds", "meta"), "Nothing to do."],
] as const)("%s", (_name, explained, action) => {
  expect(inWords(explained).actions.join(" ")).toContain(action);
});

test("an answer says which event of the order it is about, and a reason once", () => {
  const why = inWords({ ...skipped("a rule of an older version"), event: { ...event, event: "refund" } });
  expect(why.answer).toBe("Order 1001 (refund) was not sent to Google Ads: a rule of an older version.");
  expect(why.evidence.join(" ")).not.toContain("Recorded reason");
  expect(inWords(skipped(unselectedReason)).evidence).toContain("Recorded reason: event not selected.");
  expect(inWords({ ...skipped(unselectedReason), event: { ...event, event: "Order Completed" } }).answer).toMatch(
    /^Order 1001 was/,
  );
});

test("the evidence is what is recorded, in the site's time zone", () => {
  const log = [{ number: 2, startedAt: at, state: "queued", reason: "HTTP 503", httpStatus: 503 } as const];
  const waits = delivery("queued", "HTTP 503", { log, nextTryAt: at + 60_000 });
  expect(inWords(found({ delivery: waits, listed: paid, timeZone: "Europe/Berlin" })).evidence).toEqual([
    "Received 2026-11-16 10:30 Europe/Berlin as purchase.",
    "Your list of orders has it: paid, 62.00 EUR.",
    "Attempt 2, 2026-11-16 10:30 Europe/Berlin: HTTP 503.",
    "Next attempt 2026-11-16 10:31 Europe/Berlin.",
    "Click ids: gclid.",
  ]);
});

test("a warning of the platform, an unanswered attempt, and an answer that proves little are evidence", () => {
  const attempt = { number: 1, startedAt: at, state: "sent", reason: "item id is missing", httpStatus: 200 } as const;
  expect(inWords(found({ delivery: delivery("sent", null, { log: [attempt] }) })).evidence).toContain(
    "The platform warned: item id is missing.",
  );
  const failed = { ...attempt, state: "queued", httpStatus: null } as const;
  expect(inWords(found({ delivery: delivery("queued", "timeout", { log: [failed] }) })).evidence).toContain(
    "Attempt 1, 2026-11-16 09:30 UTC: no response.",
  );
  expect(inWords(found({ platform: "outbrain", delivery: delivery("sent") })).evidence.join(" ")).toContain(
    "answers every request alike",
  );
  const sentAs = say("sent_as", { value: "12.40 EUR", rule: "20%", original: "62.00 EUR" });
  expect(inWords(found({ delivery: delivery("sent", null, { sentAs }) })).evidence).toContain(
    "Value rule: sent as 12.40 EUR (20% of 62.00 EUR).",
  );
  const detail = { confirmation: { state: "not counted", reason: "bad id", detail: "INVALID_GCLID", updatedAt: at } } as const;
  expect(inWords(found({ delivery: delivery("sent", null, detail) })).evidence).toContain(
    "The platform said 2026-11-16 09:30 UTC: not counted (INVALID_GCLID).",
  );
  const unclicked = { ...event, attribution: { withheld: null, clickIds: {} } };
  expect(inWords(found({ event: unclicked, delivery: delivery("sent") })).evidence).toContain(
    "No click id of the person is known.",
  );
});

test.each([
  ["opted out", "The person opted out", "Nothing to do."],
  ["no consent", "No consent of the person is recorded", "your banner"],
  ["consent unreadable", "consent could not be read", "Nothing to do."],
] as const)("identifiers withheld because of %s are said", (withheld, evidence, action) => {
  const why = inWords(
    found({ event: { ...event, attribution: { withheld, clickIds: {} } }, delivery: confirmed("confirmed", null) }),
  );
  expect(why.evidence.join(" ")).toContain(evidence);
  expect(why.evidence.join(" ")).not.toContain("click id");
  expect(why.actions.join(" ")).toContain(action);
});

describe("a refund", () => {
  const texts: Record<CorrectionState, [evidence: string, action: string]> = {
    waiting: ["The order was refunded; Google Ads is told that its value is 20.00 EUR", "Nothing to do."],
    corrected: ["Google Ads was told that its value is 20.00 EUR", "Nothing to do."],
    applied: ["refunded before; Google Ads was sent 20.00 EUR", "Nothing to do."],
    "nothing to correct": ["there is nothing to correct: why", "Nothing to do."],
    rejected: ["rejected the correction: why", "Correct the value at Google Ads by hand."],
    "cannot be taken back": ["cannot be taken back: why", "Correct the value at Google Ads by hand."],
  };
  test.each(correctionStates)("whose correction is %s is said", (state) => {
    const correction = { state, value: 20, reason: "why", source: "01j", updatedAt: at };
    const why = inWords(found({ delivery: { ...confirmed("confirmed", null), correction } }));
    expect(why.evidence.join(" ")).toContain(texts[state][0]);
    expect(why.actions).toEqual([texts[state][1]]);
  });
});

test("a correction that follows from a list is no refund, and a value rule is said with it", () => {
  const correction = { state: "corrected", value: 70, reason: null, source: "order list", updatedAt: at } as const;
  const sentAs = say("sent_as", { value: "12.40 EUR", rule: "20%", original: "62.00 EUR" });
  const evidence = inWords(found({ delivery: { ...confirmed("confirmed", null), correction, sentAs } })).evidence.join(" ");
  expect(evidence).not.toContain("refunded");
  expect(evidence).toContain(
    "Your list of orders, or somebody by hand, gave it another value; Google Ads was told that its value is 70.00 EUR before the value rule.",
  );
});

describe("the last reconciliation", () => {
  const texts: Record<RowClass, [evidence: string, action: string]> = {
    matched: ["the event agrees with your list", "Nothing to do."],
    value_differs: ["your list says 70.00 EUR, the event 62.00 USD", "Correct the orders"],
    currency_differs: ["the currencies differ: your list says 70.00 EUR, the event 62.00 USD", "Check the currency"],
    duplicate: ["2 events of the order were accepted", "Check the senders"],
    status_changed: ["your list says refunded", "Correct the orders"],
    missing_here: ["no event of the order was found", "Send what is missing"],
    not_due: ["the order is not paid (refunded)", "Nothing to do."],
    extra_here: ["your list has no such order", "Check that your list is complete"],
  };
  test.each(rowClasses)("that says %s is said", (rowClass) => {
    const compared = {
      class: rowClass,
      events: 2,
      orderValue: 70,
      orderCurrency: "EUR",
      orderStatus: "refunded",
      eventValue: 62,
      eventCurrency: "USD",
      at,
    } as const;
    const isMissing = rowClass === "missing_here" || rowClass === "not_due";
    const why = inWords(found(isMissing ? { ...notReceived, compared } : { compared, delivery: confirmed("confirmed", null) }));
    expect(why.evidence.join(" ")).toContain(`Reconciliation 2026-11-16 09:30 UTC: ${texts[rowClass][0]}`);
    expect(why.actions.join(" ")).toContain(texts[rowClass][1]);
  });
});
