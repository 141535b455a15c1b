// Responses of the Data Manager API: Google accepts all events of a request or none. An error has a status word, and
// details that may name the invalid events.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import { readBatchRejection, waitForSetting } from "../shared/batchRejection.ts";
import {
  at,
  listAt,
  parseBody,
  readStatus,
  retryLater,
  shorten,
  textAt,
  unauthorized,
  unreadable,
} from "../shared/response.ts";

/** Only a person can correct these, in the Google Ads account; the events are valid and wait for it. */
const accountReasons = /^(?:TERMS_AND_CONDITIONS_NOT_SIGNED|INVALID_DESTINATION|DESTINATION_ACCOUNT_\w+)$/;
const transientStatuses = /^(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL|ABORTED)$/;

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  const all = (one: Reading): Reading[] => conversions.map(() => one);
  const body = parseBody(response);
  const fault = at(body, "error");
  const details = listAt(fault, "details");
  const violations = details.flatMap((detail) => listAt(detail, "fieldViolations"));
  const detail = textAt(violations[0], "description") || textAt(fault, "message");
  const reading = readStatus(response, now, detail);
  // Every accepted request has an id.
  if (reading.outcome === "accepted")
    return all(textAt(body, "requestId") ? reading : unreadable(response, now));
  const isTransient = transientStatuses.test(textAt(fault, "status"));
  if (reading.outcome === "retry" || (reading.outcome === "rejected" && isTransient))
    return all(retryLater(reading.error, waitSeconds(reading, details)));
  if (reading.outcome !== "rejected") return all(reading);

  const reasons = [...details, ...violations].map((one) => textAt(one, "reason"));
  const accountReason = reasons.find((reason) => accountReasons.test(reason));
  if (accountReason) return all(unauthorized(shorten(`${reading.error} (${accountReason})`)));
  const destination = violations.find((one) => /^destinations\b/.test(textAt(one, "field")));
  if (destination) {
    const error = `HTTP ${response.status}: ${shorten(describe(destination))}`;
    // The accounts belong to the whole connection, the conversion action is chosen for each event.
    if (/account/i.test(textAt(destination, "field"))) return all(unauthorized(error));
    return conversions.map((one) => waitForSetting(error, one, settings, "conversion_action"));
  }

  const messages = new Map<number, string>();
  for (const violation of violations) {
    // `events[0].currency`, and also `events.events[0].currency`.
    const index = /^(?:events\.)?events(?:\[|\.)(\d+)/.exec(textAt(violation, "field"))?.[1];
    if (index !== undefined && !messages.has(Number(index))) messages.set(Number(index), describe(violation));
  }
  return readBatchRejection(response, conversions.length, messages, detail, now);
};

const describe = (violation: unknown) =>
  [textAt(violation, "description"), textAt(violation, "reason")].filter(Boolean).join(" ");

/** Retry-After, or Google's `retryDelay`, a text like 37s or 1.5s. */
function waitSeconds(reading: Reading, details: readonly unknown[]): number | undefined {
  const retryAfter = "retryAfterSeconds" in reading ? reading.retryAfterSeconds : undefined;
  const delay = details.map((detail) => textAt(detail, "retryDelay")).find(Boolean) ?? "";
  const seconds = /^\d{1,9}(?:\.\d+)?s$/.test(delay) ? Math.ceil(Number.parseFloat(delay)) : 0;
  return retryAfter ?? (seconds || undefined);
}
