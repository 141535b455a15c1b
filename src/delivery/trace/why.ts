// Answers "what became of this order at this platform, and what can I do": one sentence, the evidence, and the next step. A pure
// function over what is stored, so that command line, API, assistants and dashboard give the same answer.

import type { ConfirmationReason } from "../../kernel/confirmation.ts";
import { orderListSource, refundedReason, type CorrectionState } from "../../kernel/correction.ts";
import { describeFilterReason, unselectedReason, type Attribution, type FilterReason } from "../../kernel/event.ts";
import { codeOf, say, type MessageCode } from "../../kernel/messages/message.ts";
import type { RowClass } from "../../kernel/reconciliation.ts";
import { timeText } from "../../kernel/text.ts";
import { whyMessages, whyOutcomes, type WhyOutcome } from "../../kernel/messages/why.ts";
import { repeatedStageReason } from "../../identity/leadStages.ts";
import { platformOf } from "../../platforms/index.ts";
import { usualEventOf } from "../../platforms/shared/eventNames.ts";
import { skipRulesOf } from "../../platforms/shared/skips.ts";
import { amountText } from "../../platforms/shared/values.ts";
import { backfillReason } from "../../store/deliveries/backfills.ts";
import { replayedReason } from "../../store/deliveries/delivery.ts";
import type { Order } from "../../store/reconciliation/orders.ts";
import type { RunRow } from "../../store/reconciliation/runs.ts";
import type { Trace } from "./trace.ts";

export type Explained = {
  /** As it was asked for. */
  subject: { orderId: string } | { eventId: string };
  /** Null where nothing was received. */
  event: WhyEvent | "damaged" | null;
  /** The platform of the answer; null where it is about no platform. */
  platform: string | null;
  /** Null where the event has none at the platform. `reasonPersists`: a replay would end the same way. */
  delivery: (WhyDelivery & { reasonPersists: boolean }) | null;
  /** The site has a connection to the platform; without a platform, to any. */
  isConnected: boolean;
  /** From the customer's own list. */
  listed: Pick<Order, "status" | "value" | "currency"> | null;
  /** From the newest reconciliation that covers it. */
  compared: (ComparedRow & { at: number }) | null;
  timeZone: string;
};

type WhyEvent = Pick<Trace, "event" | "mode" | "status" | "receivedAt" | "releasedAt" | "filterReasons" | "currency"> & {
  attribution: Pick<Attribution, "withheld" | "clickIds">;
};
type WhyDelivery = Pick<
  Trace["deliveries"][number],
  "state" | "reason" | "nextTryAt" | "confirmation" | "correction" | "sentAs"
> & {
  log: Pick<Trace["deliveries"][number]["log"][number], "number" | "startedAt" | "state" | "reason" | "httpStatus">[];
};
type ComparedRow = Pick<
  RunRow,
  "class" | "events" | "orderValue" | "orderCurrency" | "orderStatus" | "eventValue" | "eventCurrency"
>;

type Explanation = { outcome: WhyOutcome; answer: string; evidence: string[]; actions: string[] };

export function explain(found: Explained): Explanation {
  const { platform, delivery } = found;
  const outcome = outcomeOf(found);
  const parameters = {
    subject: nameSubject(found),
    platform: nameOf(platform),
    reason: withoutStop(outcome === "order_not_due" ? (found.listed?.status ?? "") : (delivery?.reason ?? "")),
  };
  const notes = notesOf(found);
  const own = actionsFor(outcome, found);
  const codes = [...own.filter((code) => code !== "do_nothing"), ...notes.map(({ action }) => action)];
  const actions = [...new Set(codes.filter((code) => code !== null))];
  return {
    outcome,
    answer: say(`why_${outcome}`, parameters),
    evidence: [
      ...evidenceOf(found, whyMessages[`why_${outcome}`].includes("{reason}")),
      ...notes.map(({ evidence }) => evidence),
    ],
    actions: (actions.length ? actions : (["do_nothing"] as const)).map((code) => say(code, { platform: parameters.platform })),
  };
}

/** An order may have several events, such as a refund: all but the purchase itself are named. */
function nameSubject({ subject, event }: Explained) {
  if ("eventId" in subject) return say("why_event", { id: subject.eventId });
  const { orderId: id } = subject;
  const name = event === null || event === "damaged" ? null : event.event;
  return name === null || usualEventOf(name) === "purchase"
    ? say("why_order", { id })
    : say("why_order_event", { id, event: name });
}

const nameOf = (platform: string | null) => (platform === null ? "" : (platformOf(platform)?.name ?? platform));

/** A reason of a platform may end with a full stop, as the sentence around it does. */
const withoutStop = (text: string) => text.replace(/[.\s]+$/, "");

const filterOutcomes = {
  "blocked domain": "blocked_domain",
  "disposable domain": "disposable_domain",
  "blocked person": "blocked_person",
  "only bot visits": "only_bot_visits",
  "late verdict": "only_bot_visits",
} as const satisfies Record<FilterReason["code"], WhyOutcome>;

function outcomeOf({ event, delivery, platform, isConnected, listed, compared }: Explained): WhyOutcome {
  if (event === "damaged") return "event_damaged";
  if (event === null) {
    if (compared?.class === "not_due" || (listed && listed.status !== "paid")) return "order_not_due";
    return listed || compared ? "order_missing" : "unknown";
  }
  if (delivery) return outcomeOfDelivery(delivery, event, platform ?? "");
  const [filtered] = event.releasedAt === null ? event.filterReasons : [];
  if (filtered) return filterOutcomes[filtered.code];
  if (isConnected && platform !== null) return "connected_later";
  return platform === null ? "no_connection" : "not_connected";
}

function outcomeOfDelivery(delivery: WhyDelivery, event: WhyEvent, platform: string): WhyOutcome {
  const { state, reason } = delivery;
  switch (state) {
    case "sent":
      return event.mode === "test" ? "accepted_as_test" : outcomeOfAccepted(delivery);
    case "queued":
      return queuedOutcome(delivery);
    case "parked":
      return reason === "paused" ? "paused" : "needs_reconnection";
    case "expired":
      return "expired";
    case "rejected":
      return isDefect(reason) ? "relay_defect" : "rejected";
    case "skipped":
      return skippedOutcome(platform, reason ?? "");
  }
}

const isDefect = (reason: string | null) => reason === "internal error of the relay" || reason === "the stored event is damaged";

function queuedOutcome({ reason, confirmation, log }: WhyDelivery): WhyOutcome {
  if (reason === replayedReason) return "replayed";
  if (reason === backfillReason) return "backfilling";
  if (confirmation?.state === "not counted" && log.some(({ state }) => state === "sent")) return "sent_again";
  return reason === null ? "waiting" : "retrying";
}

const notCounted = {
  duplicate: "counted_already",
  "click too new": "not_counted_click_too_new",
  "platform error": "not_counted_platform_error",
  "no ad click": "not_counted_no_ad_click",
  consent: "not_counted_consent",
  "too old": "not_counted_too_old",
  "bad id": "not_counted_bad_id",
  "bad data": "not_counted_bad_data",
  settings: "not_counted_settings",
  other: "not_counted_other",
  "several reasons": "not_counted_other",
  "no answer": "not_counted_other",
} as const satisfies Record<ConfirmationReason, WhyOutcome>;

function outcomeOfAccepted({ confirmation }: WhyDelivery): WhyOutcome {
  if (!confirmation) return "accepted";
  const { state, reason, updatedAt } = confirmation;
  if (updatedAt === null) return "unanswered";
  if (state === "confirmed") return reason === "duplicate" ? "counted_already" : "counted";
  if (state === "not counted") return notCounted[reason ?? "other"];
  if (reason === "several reasons") return "unclear_several_reasons";
  return reason === "no answer" ? "unclear_no_answer" : "unclear_other";
}

const skipReasons: Readonly<Record<string, WhyOutcome>> = {
  [unselectedReason]: "not_selected",
  [refundedReason]: "refunded",
  [repeatedStageReason]: "stage_repeated",
  disconnected: "disconnected",
  "person erased": "person_erased",
  cancelled: "cancelled",
  "this version does not know the platform": "platform_unknown",
};

function skippedOutcome(platform: string, reason: string): WhyOutcome {
  const usual = Object.hasOwn(skipReasons, reason) ? skipReasons[reason] : undefined;
  if (usual) return usual;
  if (codeOf(reason) === "too_old") return "too_old";
  const known = platformOf(platform);
  const rule = known && skipRulesOf(known).find((one) => one.reason === reason);
  return whyOutcomes.find((one) => one === rule?.code) ?? "skipped";
}

type Action = Extract<MessageCode, `do_${string}`>;

const actionsOf = {
  unknown: ["do_check_id"],
  order_missing: ["do_send_missing"],
  order_not_due: ["do_nothing"],
  event_damaged: ["do_restore_event"],
  blocked_domain: ["do_unblock"],
  disposable_domain: ["do_release"],
  blocked_person: ["do_unblock"],
  only_bot_visits: ["do_release"],
  no_connection: ["do_connect_any"],
  not_connected: ["do_connect"],
  connected_later: ["do_backfill"],
  waiting: ["do_wait"],
  replayed: ["do_wait"],
  backfilling: ["do_wait"],
  retrying: ["do_wait"],
  sent_again: ["do_wait"],
  paused: ["do_resume"],
  needs_reconnection: ["do_reconnect"],
  accepted: ["do_check_platform"],
  accepted_as_test: ["do_nothing"],
  unanswered: ["do_wait"],
  counted: ["do_nothing"],
  counted_already: ["do_nothing"],
  not_counted_click_too_new: ["do_replay"],
  not_counted_platform_error: ["do_replay"],
  not_counted_no_ad_click: ["do_capture_clicks"],
  not_counted_consent: ["do_ask_consent"],
  not_counted_too_old: ["do_send_earlier"],
  not_counted_bad_id: ["do_check_click"],
  not_counted_bad_data: ["do_check_data"],
  not_counted_settings: ["do_check_account"],
  not_counted_other: ["do_check_platform"],
  unclear_several_reasons: ["do_check_platform"],
  unclear_no_answer: ["do_check_platform"],
  unclear_other: ["do_check_platform"],
  rejected: ["do_check_data", "do_replay_after"],
  relay_defect: ["do_report_defect"],
  expired: ["do_send_sooner"],
  not_selected: ["do_select_event"],
  too_old: ["do_send_sooner"],
  disconnected: ["do_connect"],
  person_erased: ["do_nothing"],
  cancelled: ["do_replay"],
  refunded: ["do_nothing"],
  stage_repeated: ["do_nothing"],
  platform_unknown: ["do_update_relay"],
  no_test_mode: ["do_test_elsewhere"],
  no_test_code: ["do_set_test_code"],
  opted_out: ["do_ask_consent"],
  no_consent: ["do_ask_consent"],
  no_refunds: ["do_use_corrections"],
  no_target: ["do_set_target"],
  no_name: ["do_set_target"],
  no_match_key: ["do_send_contact"],
  no_visit: ["do_capture_clicks"],
  no_order_id: ["do_send_order_id"],
  no_value: ["do_send_value"],
  not_set_up: ["do_set_target"],
  skipped: ["do_replay_after"],
} as const satisfies Record<WhyOutcome, readonly Action[]>;

/** These lie in the connection: once it was changed, a replay is all that is left to do. */
const afterReplay: ReadonlySet<WhyOutcome> = new Set([
  "not_selected",
  "no_test_code",
  "no_target",
  "no_name",
  "not_set_up",
] satisfies WhyOutcome[]);

/** Most outcomes have one next step. Some depend on what the platform can use, or on what is known already. */
function actionsFor(outcome: WhyOutcome, { event, delivery, platform }: Explained): readonly Action[] {
  const known = platformOf(platform ?? "");
  const clicks = event && event !== "damaged" ? event.attribution.clickIds : {};
  if (delivery?.state === "skipped" && !delivery.reasonPersists && afterReplay.has(outcome)) return ["do_replay"];
  if (outcome === "no_match_key" && !/\b(?:email|phone)\b/.test(delivery?.reason ?? "")) return ["do_capture_clicks"];
  if (outcome === "not_counted_no_ad_click" && known?.ids?.some((id) => Object.hasOwn(clicks, id))) return ["do_check_click"];
  if (outcome === "no_refunds" && !known?.corrections) return ["do_nothing"];
  // The sandbox has no reports.
  if (outcome === "accepted" && platform === "sandbox") return ["do_nothing"];
  return actionsOf[outcome];
}

/** `isReasonSaid`: the answer has the recorded reason in it. */
function evidenceOf({ subject, event, delivery, listed, platform, timeZone }: Explained, isReasonSaid: boolean): string[] {
  const evidence: string[] = [];
  if (event === null) evidence.push(say("evidence_searched", { id: "orderId" in subject ? subject.orderId : subject.eventId }));
  if (event === "damaged") evidence.push(say("evidence_damaged"));
  const at = (ms: number) => timeText(ms, timeZone);
  if (event !== null && event !== "damaged") {
    evidence.push(say("evidence_received", { time: at(event.receivedAt), event: event.event }));
    if (event.filterReasons.length > 0)
      evidence.push(say("evidence_filter", { reasons: event.filterReasons.map(describeFilterReason) }));
    if (event.releasedAt !== null) evidence.push(say("evidence_released", { time: at(event.releasedAt) }));
  }
  if (listed) evidence.push(say("evidence_listed", { status: listed.status, value: moneyText(listed.value, listed.currency) }));
  if (event === null || event === "damaged" || !delivery) return evidence;

  const { state, reason, log, nextTryAt, confirmation } = delivery;
  const last = log.at(-1);
  if (last)
    evidence.push(
      last.httpStatus === null
        ? say("evidence_attempt_failed", { number: last.number, time: at(last.startedAt) })
        : say("evidence_attempt", { number: last.number, time: at(last.startedAt), status: last.httpStatus }),
    );
  if (last?.state === "sent" && last.reason !== null)
    evidence.push(say("evidence_warning", { warning: withoutStop(last.reason) }));
  if (state !== "sent" && reason !== null && !isReasonSaid)
    evidence.push(say("evidence_reason", { reason: withoutStop(reason) }));
  if (delivery.sentAs !== null) evidence.push(say("evidence_value", { value: delivery.sentAs }));
  if (nextTryAt !== null) evidence.push(say("evidence_next", { time: at(nextTryAt) }));
  if (confirmation?.updatedAt) {
    const { detail } = confirmation;
    const said = { time: at(confirmation.updatedAt), state: confirmation.state };
    evidence.push(detail === null ? say("evidence_confirmed", said) : say("evidence_confirmed_because", { ...said, detail }));
  }
  if (state === "sent" && platformOf(platform ?? "")?.acceptsEverything)
    evidence.push(say("evidence_accepts_everything", { platform: nameOf(platform) }));
  const names = Object.keys(event.attribution.clickIds);
  if (event.attribution.withheld === null)
    evidence.push(names.length > 0 ? say("evidence_clicks", { names }) : say("evidence_no_click"));
  return evidence;
}

const moneyText = (value: number | null, currency: string | null) =>
  value === null ? "–" : currency === null ? String(value) : `${amountText(value, currency)} ${currency}`;

/** What is true besides the outcome, and what to do about it: consent, a refund, and the last reconciliation. */
type Note = { evidence: string; action: Action | null };

function notesOf({ event, delivery, platform, compared, timeZone }: Explained): Note[] {
  const notes: Note[] = [];
  const name = nameOf(platform);
  const { withheld = null } = event && event !== "damaged" ? event.attribution : {};
  if (withheld !== null) notes.push(withheldNotes[withheld]);
  if (delivery?.correction && event && event !== "damaged") {
    const { state, reason, value, source } = delivery.correction;
    const own = moneyText(value, event.currency);
    const parameters = {
      cause: say(source === orderListSource ? "why_cause_list" : "why_cause_refund"),
      platform: name,
      value: delivery.sentAs === null || value === 0 ? own : say("why_before_rule", { value: own }),
      reason: withoutStop(reason ?? ""),
    };
    const { evidence, action } = correctionNotes[state];
    notes.push({ evidence: say(evidence, parameters), action });
  }
  if (compared) {
    const { evidence, action } = rowNotes[compared.class];
    const parameters = {
      time: timeText(compared.at, timeZone),
      listed: moneyText(compared.orderValue, compared.orderCurrency),
      received: moneyText(compared.eventValue, compared.eventCurrency),
      count: compared.events,
      status: compared.orderStatus ?? "",
    };
    notes.push({ evidence: say(evidence, parameters), action });
  }
  return notes;
}

const withheldNotes: Record<NonNullable<Attribution["withheld"]>, Note> = {
  "opted out": { evidence: say("evidence_opted_out"), action: null },
  "no consent": { evidence: say("evidence_no_consent"), action: "do_ask_consent" },
  "consent unreadable": { evidence: say("evidence_consent_unreadable"), action: null },
};

const correctionNotes = {
  waiting: { evidence: "evidence_correction_waiting", action: null },
  corrected: { evidence: "evidence_correction_corrected", action: null },
  applied: { evidence: "evidence_correction_applied", action: null },
  "nothing to correct": { evidence: "evidence_correction_nothing", action: null },
  rejected: { evidence: "evidence_correction_rejected", action: "do_correct_by_hand" },
  "cannot be taken back": { evidence: "evidence_correction_impossible", action: "do_correct_by_hand" },
} as const satisfies Record<CorrectionState, { evidence: MessageCode; action: Action | null }>;

const rowNotes = {
  matched: { evidence: "evidence_row_matched", action: null },
  value_differs: { evidence: "evidence_row_value_differs", action: "do_correct" },
  currency_differs: { evidence: "evidence_row_currency_differs", action: "do_check_currency" },
  duplicate: { evidence: "evidence_row_duplicate", action: "do_check_duplicates" },
  status_changed: { evidence: "evidence_row_status_changed", action: "do_correct" },
  missing_here: { evidence: "evidence_row_missing_here", action: null },
  not_due: { evidence: "evidence_row_not_due", action: null },
  extra_here: { evidence: "evidence_row_extra_here", action: "do_check_list" },
} as const satisfies Record<RowClass, { evidence: MessageCode; action: Action | null }>;
