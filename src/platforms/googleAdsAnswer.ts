// What the Data Manager API says of a request: nothing of it was taken when any event in it was refused.

import type { Reading } from "../event.ts";
import { blame } from "./blame.ts";
import type { PlatformResponse } from "./platform.ts";
import { at, later, listAt, parseJson, readStatus, shorten, textAt } from "./reading.ts";

/** What only a person can put right in the Google Ads account; the events are good and wait for it. */
const accountFault = /^(?:TERMS_AND_CONDITIONS_NOT_SIGNED|INVALID_DESTINATION|DESTINATION_ACCOUNT_\w+)$/;
const passingFault = /^(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL|ABORTED)$/;

/** The errors of Google's APIs: a status word, and details that may name the events that are at fault. */
export function readGoogleAnswer(response: PlatformResponse, count: number): Reading[] {
  const error = at(parseJson(response.body), "error");
  const details = listAt(error, "details");
  const violations = details.flatMap((detail) => listAt(detail, "fieldViolations"));
  const detail = textAt(violations[0], "description") || textAt(error, "message");
  const reading = readStatus(response, detail);
  const all = (one: Reading): Reading[] => Array.from({ length: count }, () => one);
  if (reading.said === "later" || (reading.said === "refused" && passingFault.test(textAt(error, "status"))))
    return all(later(errorOf(reading), waitOf(reading, details)));
  if (reading.said !== "refused") return all(reading);

  const reasons = [...details, ...violations].map((one) => textAt(one, "reason"));
  const fault = reasons.find((reason) => accountFault.test(reason));
  if (fault) return all({ said: "unauthorised", error: shorten(`${errorOf(reading)} (${fault})`) });

  const guilty = new Map<number, string>();
  for (const violation of violations) {
    const index = /^events(?:\[|\.)(\d+)/.exec(textAt(violation, "field"))?.[1];
    const words = [textAt(violation, "description"), textAt(violation, "reason")].filter(Boolean).join(" ");
    if (index !== undefined && !guilty.has(Number(index))) guilty.set(Number(index), words);
  }
  return blame(response, count, guilty, detail);
}

const errorOf = (reading: Reading) => ("error" in reading ? reading.error : "");

/** Google's `retryDelay` is a text like 37s or 1.5s. */
function waitOf(reading: Reading, details: readonly unknown[]): number | undefined {
  const asked = "retryAfterSeconds" in reading ? reading.retryAfterSeconds : undefined;
  const delay = details.map((detail) => textAt(detail, "retryDelay")).find(Boolean) ?? "";
  const seconds = /^\d{1,9}(?:\.\d+)?s$/.test(delay) ? Math.ceil(Number.parseFloat(delay)) : 0;
  return asked ?? (seconds || undefined);
}
