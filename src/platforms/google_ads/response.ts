// What the Data Manager API says of a request: nothing of it was taken when any event in it was refused.

import type { Conversion, Reading } from "../../kernel/event.ts";
import { awaitSetting, blame } from "../shared/batchRejection.ts";
import type { ConnectionSettings, PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  later,
  listAt,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

/** What only a person can put right in the Google Ads account; the events are good and wait for it. */
const accountFault = /^(?:TERMS_AND_CONDITIONS_NOT_SIGNED|INVALID_DESTINATION|DESTINATION_ACCOUNT_\w+)$/;
const passingFault = /^(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL|ABORTED)$/;

/** The errors of Google's APIs: a status word, and details that may name the events that are at fault. */
export function readGoogleAnswer(
  response: PlatformResponse,
  conversions: readonly Conversion[],
  settings: ConnectionSettings,
): Reading[] {
  const all = (one: Reading): Reading[] => conversions.map(() => one);
  const body = bodyOf(response);
  const error = at(body, "error");
  const details = listAt(error, "details");
  const violations = details.flatMap((detail) => listAt(detail, "fieldViolations"));
  const detail = textAt(violations[0], "description") || textAt(error, "message");
  const reading = readStatus(response, detail);
  // Every request that was taken in has an id.
  if (reading.outcome === "accepted") return all(textAt(body, "requestId") ? reading : unreadable(response));
  if (
    reading.outcome === "retry" ||
    (reading.outcome === "rejected" && passingFault.test(textAt(error, "status")))
  )
    return all(later(errorOf(reading), waitOf(reading, details)));
  if (reading.outcome !== "rejected") return all(reading);

  const reasons = [...details, ...violations].map((one) => textAt(one, "reason"));
  const fault = reasons.find((reason) => accountFault.test(reason));
  if (fault) return all({ outcome: "unauthorized", error: shorten(`${errorOf(reading)} (${fault})`) });
  const misdirected = violations.find((one) => /^destinations\b/.test(textAt(one, "field")));
  if (misdirected) return readDestination(misdirected, response, conversions, settings);

  const guilty = new Map<number, string>();
  for (const violation of violations) {
    // `events[0].currency`, and also `events.events[0].currency`.
    const index = /^(?:events\.)?events(?:\[|\.)(\d+)/.exec(textAt(violation, "field"))?.[1];
    const words = [textAt(violation, "description"), textAt(violation, "reason")].filter(Boolean).join(" ");
    if (index !== undefined && !guilty.has(Number(index))) guilty.set(Number(index), words);
  }
  return blame(response, conversions.length, guilty, detail);
}

/** The conversion action is chosen for each event, the accounts are those of the whole connection. */
function readDestination(
  violation: unknown,
  { status }: PlatformResponse,
  conversions: readonly Conversion[],
  settings: ConnectionSettings,
): Reading[] {
  const words = [textAt(violation, "description"), textAt(violation, "reason")].filter(Boolean).join(" ");
  const error = `HTTP ${status}: ${shorten(words)}`;
  const isAccount = /account/i.test(textAt(violation, "field"));
  return conversions.map((conversion) =>
    isAccount
      ? { outcome: "unauthorized", error }
      : awaitSetting(error, conversion, settings, "conversion_action"),
  );
}

const errorOf = (reading: Reading) => ("error" in reading ? reading.error : "");

/** Google's `retryDelay` is a text like 37s or 1.5s. */
function waitOf(reading: Reading, details: readonly unknown[]): number | undefined {
  const asked = "retryAfterSeconds" in reading ? reading.retryAfterSeconds : undefined;
  const delay = details.map((detail) => textAt(detail, "retryDelay")).find(Boolean) ?? "";
  const seconds = /^\d{1,9}(?:\.\d+)?s$/.test(delay) ? Math.ceil(Number.parseFloat(delay)) : 0;
  return asked ?? (seconds || undefined);
}
