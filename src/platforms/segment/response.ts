// Segment's responses; RudderStack answers with the bare word OK.

import { readForAll } from "../shared/readers.ts";
import { at, parseJson, textAt } from "../shared/json.ts";
import { isSuccess, readStatus, rejected, retryLater, shorten, unreadable } from "../shared/response.ts";

export const readResponse = readForAll((response, now) => {
  if (response.isCut && isSuccess(response.status)) return unreadable(response, now);
  const body = parseJson(response.body);
  const message = textAt(body, "message") || textAt(body, "error") || textAt(body, "code");
  const reading = readStatus(response, now, message);
  if (reading.kind === "accepted" && at(body, "success") === false)
    return rejected(shorten(message) || "the answer says that it failed");
  if (reading.kind !== "retry" || reading.retryAfterSeconds !== undefined) return reading;
  return retryLater(reading.error, secondsUntil(response.headers["x-ratelimit-reset"], now));
});

/** Reads milliseconds or seconds since 1970, or a number of seconds: Segment does not document which it sends. */
function secondsUntil(reset: string | undefined, now: number): number | undefined {
  const number = /^\d{1,15}$/.test(reset ?? "") ? Number(reset) : 0;
  const seconds = number > 1e11 ? (number - now) / 1000 : number > 1e8 ? number - now / 1000 : number;
  return seconds > 0 ? Math.ceil(seconds) : undefined;
}
