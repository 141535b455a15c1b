// The four shapes of answers: one for all conversions; a code in the body; a list by index; all or nothing, with messages that may
// name the conversions at fault.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { messagesByIndex, readBatchRejection } from "./batchRejection.ts";
import {
  errorText,
  isSuccess,
  platformBusy,
  readBareSuccess,
  readStatus,
  rejected,
  retryAfterSeconds,
  unauthorized,
} from "./response.ts";

type ReadResponse = Platform["readResponse"];

/** For platforms whose answer is about the whole request. */
export const readForAll =
  (read: (response: PlatformResponse, now: number, count: number) => Reading): ReadResponse =>
  (response, conversions, _settings, now) => {
    const reading = read(response, now, conversions.length);
    return conversions.map(() => reading);
  };

/** For platforms that document statuses and no bodies. */
export const readBareResponse = readForAll((response, now) =>
  isSuccess(response.status) ? readBareSuccess(response, now) : readStatus(response, now, errorText(response)),
);

/** For platforms that take all events or none, and document no body of a success. `events[2].time` in a message names an event. */
export const readAllOrNothing =
  (explain: (response: PlatformResponse) => string): ReadResponse =>
  (response, conversions, _settings, now) => {
    if (isSuccess(response.status)) return conversions.map(() => readBareSuccess(response, now));
    const detail = explain(response);
    const reasons = messagesByIndex(detail ? [detail] : [], /\bevents(?:\[|\.)(\d{1,9})\b/);
    return readBatchRejection(response, { count: conversions.length, reasons, detail }, now);
  };

/** For platforms that list conversions by index: those that are not in the list have the reading `rest`. */
export const readByIndex = (count: number, listed: Iterable<readonly [unknown, Reading]>, rest: Reading): Reading[] => {
  const found = new Map(listed);
  return Array.from({ length: count }, (_, index) => found.get(index) ?? rest);
};

/** The meaning of a platform's codes: single ones, and ranges with both ends. Those of `retry` are about no event. */
export type Codes = {
  readonly [Outcome in "unauthorized" | "retry" | "rejected"]?: readonly (number | readonly [number, number])[];
};

/** For platforms with a code in the body, which says more than the status. The status decides on a code that is not listed. */
export function readByCode(
  code: number,
  error: string,
  codes: Codes,
  { response, now, waitSeconds }: { response: PlatformResponse; now: number; waitSeconds?: number | undefined },
): Reading {
  const isListed = (kind: keyof Codes) =>
    codes[kind]?.some((one) => (typeof one === "number" ? one === code : code >= one[0] && code <= one[1]));
  if (isListed("unauthorized")) return unauthorized(error);
  if (isListed("retry")) return platformBusy(error, waitSeconds ?? retryAfterSeconds(response.headers["retry-after"], now));
  const reading = readStatus(response, now, error);
  return isListed("rejected") || reading.kind === "accepted" ? rejected(error) : reading;
}
