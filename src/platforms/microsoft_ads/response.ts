// Microsoft's responses. Those of the two APIs have nothing in common, so the shape shows which one answered.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { waitUntilCorrected } from "../shared/batchRejection.ts";
import { readByIndex } from "../shared/readers.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import {
  parseBody,
  platformBusy,
  readStatus,
  rejected,
  retryLater,
  shorten,
  unauthorized,
  unreadable,
} from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  const body = parseBody(response);
  const faults = [...listAt(body, "Errors"), ...listAt(body, "OperationErrors")];
  const rows = [...listAt(body, "PartialErrors"), ...listAt(body, "BatchErrors")];
  // The list of failed rows is there also when none failed.
  const isOffline = faults.length > 0 || rows.length > 0 || at(body, "PartialErrors") !== undefined;
  if (!isOffline) return readConversionsApi(response, body, conversions.length, now);

  const goalSetting = settings.offline_goals ? "offline_goals" : "offline_goal";
  // A fault of the whole request, or a list of the rows that failed: the others were accepted.
  const whole = faults[0] === undefined ? readStatus(response, now) : readCode(faults[0]);
  const listed = faults.length === 0 ? rows.map((row) => [at(row, "Index"), readCode(row)] as const) : [];
  return readByIndex(conversions.length, listed, whole);

  function readCode(fault: unknown): Reading {
    const code = textAt(fault, "Code");
    const error = shorten([code, textAt(fault, "ErrorCode"), textAt(fault, "Message")].filter(Boolean).join(" "));
    if (tokenCodes.has(code)) return unauthorized(error);
    if (goalCodes.has(code)) return waitUntilCorrected(error, goalSetting);
    const wait = transientCodes.get(code);
    if (code === callRateCode) return platformBusy(error, wait);
    if (wait !== undefined) return retryLater(error, wait || undefined);
    const reading = readStatus(response, now, error);
    return reading.kind === "accepted" ? rejected(error) : reading;
  }
};

export const tokenCodes = new Set(["105", "106", "109"]);
/** Too many calls in the last minute. */
const callRateCode = "117";
/** Seconds to wait; 0 for the usual time. */
export const transientCodes = new Map([
  // An internal error.
  ["0", 0],
  [callRateCode, 60],
  ["5612", 0],
  // The time is in the future: the relay accepts it up to five minutes ahead, and must send the same on every attempt.
  ["5614", 300],
  // The goal is less than two hours old.
  ["5615", 7200],
]);
/** The goal has no name, is unknown, or accepts no offline conversions: the event is valid and waits for the setting. */
const goalCodes = new Set(["5605", "5606", "5613"]);

/** Invalid events are left out and the rest is accepted; only the first ten errors and warnings are listed. */
function readConversionsApi(response: PlatformResponse, body: unknown, count: number, now: number): Reading[] {
  const all = (reading: Reading) => readByIndex(count, [], reading);
  const reasons = new Map<number, string>();
  for (const detail of listAt(body, "error", "details")) {
    const index = at(detail, "index");
    if (typeof index !== "number" || index < 0 || index >= count || at(detail, "isWarning") === true) continue;
    const message = textAt(detail, "errorMessage") || textAt(detail, "errorCode");
    if (!reasons.has(index)) reasons.set(index, message);
  }
  const reading = readStatus(response, now, textAt(body, "error", "message"));
  if (reading.kind !== "accepted" && reading.kind !== "rejected") return all(reading);

  const received = at(body, "eventsReceived");
  if (reading.kind === "accepted" && typeof received !== "number") return all(unreadable(response, now));
  const rejection = (error: string): Reading => rejected(shorten(error));
  // More were left out than are named. All are rejected, so that delivery halves the batch until it finds each; the event
  // id keeps the accepted ones from counting twice.
  const isUnnamed = typeof received === "number" && received < count - reasons.size;
  const rest = isUnnamed ? rejection(`Microsoft accepted ${received} of ${count} events and did not name the others`) : reading;
  const named = [...reasons].map(([index, message]) => [index, rejection(`HTTP ${response.status}: ${message}`)] as const);
  return readByIndex(count, named, rest);
}
