// Responses of the Data Manager API: Google accepts all events of a request or none. An error has a status word, and
// details that may name the invalid events. The reason decides, wherever it stands: in the ErrorInfo, in a field violation
// with or without a field, and with any status.

import type { Reading } from "../../../kernel/event.ts";
import type { Platform } from "../../platform.ts";
import { readBatchRejection, waitForSetting } from "../batchRejection.ts";
import { at, listAt, parseJson, textAt } from "../json.ts";
import { parseBody, readStatus, retryLater, shorten, unauthorized, unreadable } from "../response.ts";

/** Only a person can correct these, in the account or in its settings here; the events are valid and wait for it. */
const accountReasons =
  /^(?:TERMS_AND_CONDITIONS_NOT_SIGNED|INVALID_DESTINATION|DESTINATION_ACCOUNT_\w+|OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH|NOT_ALLOWLISTED|EVENT_SOURCE_AND_DESTINATION_MISMATCH|INVALID_MERCHANT_ID|INVALID_MERCHANT_FEED_LANGUAGE_CODE|ACCOUNT_INELIGIBLE_FOR_STORE_SALES|EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED)$/;
/** The conversion action is wrong, or not the kind that imports clicks; Google may name an event instead of the action. */
const actionReasons = /^INVALID_CONVERSION_ACTION_(?:ID|TYPE)$/;
/** Google accepts events for a new conversion action only after some hours. */
const newActionReason = "CONVERSION_ACTION_TOO_RECENTLY_CREATED";
const newActionRetrySeconds = 3600;
const transientStatuses = /^(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL|ABORTED)$/;

/** `targetSetting` holds the conversion actions or activities of events without their own. */
export const readIngested =
  (targetSetting: string): Platform["readResponse"] =>
  (...given) =>
    readAnswer(targetSetting, ...given);

function readAnswer(
  targetSetting: string,
  ...[response, conversions, settings, now]: Parameters<Platform["readResponse"]>
): Reading[] {
  const all = (one: Reading): Reading[] => conversions.map(() => one);
  const body = parseBody(response);
  const fault = at(body, "error");
  const details = listAt(fault, "details");
  const violations = details.flatMap((detail) => listAt(detail, "fieldViolations"));
  const detail = textAt(violations[0], "description") || textAt(fault, "message");
  const reading = readStatus(response, now, detail);
  // Every accepted request has an id.
  if (reading.kind === "accepted") return all(textAt(body, "requestId") ? reading : unreadable(response, now));
  const isTransient = transientStatuses.test(textAt(fault, "status"));
  if (reading.kind === "retry" || (reading.kind === "rejected" && isTransient))
    return all(retryLater(reading.error, waitSeconds(reading, details)));

  const given = [...violations, ...details];
  const found = (pattern: RegExp) => given.find((one) => pattern.test(textAt(one, "reason")));
  const inAccount = found(accountReasons);
  if (inAccount) return all(unauthorized(errorOf(inAccount)));
  // All events of a request have the same actions, so a wrong action stops all of them, whichever event is named.
  const inAction = found(actionReasons);
  if (inAction) return waitForAction(errorOf(inAction));
  const tooNew = given.find((one) => textAt(one, "reason") === newActionReason);
  if (tooNew) return all(retryLater(errorOf(tooNew), newActionRetrySeconds));
  if (reading.kind !== "rejected") return all(reading);

  const destination = violations.find((one) => /^destinations\b/.test(textAt(one, "field")));
  if (destination) {
    // The accounts belong to the whole connection, the conversion action is chosen for each event.
    if (/account/i.test(textAt(destination, "field"))) return all(unauthorized(errorOf(destination)));
    return waitForAction(errorOf(destination));
  }

  // Only the account or the action can be missing at this URL: the events are valid, also without a reason.
  if (response.status === 404) return waitForAction(reading.error);

  const messages = new Map<number, string>();
  for (const violation of violations) {
    // `events[0].currency`, and also `events.events[0].currency`.
    const index = /^(?:events\.)?events(?:\[|\.)(\d+)/.exec(textAt(violation, "field"))?.[1];
    if (index !== undefined && !messages.has(Number(index))) messages.set(Number(index), describe(violation));
  }
  return readBatchRejection(response, { count: conversions.length, reasons: messages, detail }, now);

  function waitForAction(error: string): Reading[] {
    return conversions.map((one) => waitForSetting(error, one, settings, targetSetting));
  }

  /** An ErrorInfo has only a reason; the message of the whole error explains it. */
  function errorOf(one: unknown): string {
    const text = textAt(one, "description") || textAt(fault, "message");
    return `HTTP ${response.status}: ${shorten([text, textAt(one, "reason")].filter(Boolean).join(" "))}`;
  }
}

/** Google ignores a field, and takes the event: `fieldWarnings` of the answer. */
export function ingestWarnings(answer: string): string | null {
  const warnings = listAt(parseJson(answer), "fieldWarnings").map((one) =>
    [textAt(one, "field"), describe(one)].filter(Boolean).join(": "),
  );
  return warnings.length ? shorten(`warning: ${warnings.join("; ")}`) : null;
}

const describe = (violation: unknown) =>
  [textAt(violation, "description"), textAt(violation, "reason")].filter(Boolean).join(" ");

/** Retry-After, or Google's `retryDelay`, a text like 37s or 1.5s. */
function waitSeconds(reading: Reading, details: readonly unknown[]): number | undefined {
  const retryAfter = "retryAfterSeconds" in reading ? reading.retryAfterSeconds : undefined;
  const delay = details.map((detail) => textAt(detail, "retryDelay")).find(Boolean) ?? "";
  const seconds = /^\d{1,9}(?:\.\d+)?s$/.test(delay) ? Math.ceil(Number.parseFloat(delay)) : 0;
  return retryAfter ?? (seconds || undefined);
}
