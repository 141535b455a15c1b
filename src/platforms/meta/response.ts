// Meta's responses: the code in the body says more than the HTTP status, and it applies to the whole request.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import {
  accepted,
  at,
  isSuccess,
  parseBody,
  parseJson,
  readStatus,
  rejected,
  retryAfterSeconds,
  retryLater,
  shorten,
  textAt,
  unauthorized,
  unreadable,
} from "../shared/response.ts";

const transientCodes = new Set([1, 2, 4, 17, 32, 341, 368, 613, 5000, 21009]);
const permanentCodes = new Set([3, 100]);
/** The API version is retired (2635, 12) or does not exist (2500, which names the part of the path). */
const versionCodes = new Set([12, 2500, 2635]);

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const reading = readWhole(response, conversions.length, now);
  return conversions.map(() => reading);
};

/** Reads the error of another call to the Graph API; null where there is none. */
export function readFault(response: PlatformResponse, now: number): Extract<Reading, { error: string }> | null {
  if (isSuccess(response.status) && at(parseBody(response), "error") === undefined) return null;
  const reading = readWhole(response, 0, now);
  return reading.outcome === "accepted" ? null : reading;
}

function readWhole(response: PlatformResponse, count: number, now: number): Reading {
  const { status, body } = response;
  // Meta answers in JSON, so a web page comes from a proxy.
  if (body.trimStart().startsWith("<") && !(status >= 300 && status < 400))
    return retryLater(`HTTP ${status}: a web page instead of an answer`, waitSeconds(response, now));
  const parsed = parseBody(response);
  const fault = at(parsed, "error");
  if (typeof fault !== "object" || fault === null) {
    if (!isSuccess(status)) return readStatus(response, now);
    const received = at(parsed, "events_received");
    if (typeof received !== "number") return unreadable(response, now);
    return received < count ? retryLater(`Meta received ${received} of ${count} events`) : accepted;
  }
  const code = Number(textAt(fault, "code"));
  const subcode = textAt(fault, "error_subcode");
  const message = textAt(fault, "error_user_msg") || textAt(fault, "message");
  const error = `Meta error ${code}${subcode && `/${subcode}`}: ${shorten(message)}`;
  // 33: the dataset does not exist or this token may not see it. 10 and 200 to 299: a permission is missing.
  const isPermission = code === 10 || (code >= 200 && code < 300) || (code === 100 && subcode === "33");
  if (code === 190 || code === 102 || isPermission) return unauthorized(error);
  // The events are valid: they wait, like those of an expired token, until another version is set.
  if (versionCodes.has(code)) return unauthorized(`${error}; correct api_version`);
  // 80000 to 80014: the rate limits of business use cases.
  const isThrottled = code >= 80_000 && code <= 80_014;
  if (at(fault, "is_transient") === true || transientCodes.has(code) || isThrottled)
    return retryLater(error, waitSeconds(response, now));
  if (permanentCodes.has(code) || status < 300) return rejected(error);
  return readStatus(response, now, error);
}

/** Retry-After, or the minutes that Meta's usage header estimates. */
function waitSeconds({ headers }: PlatformResponse, now: number): number | undefined {
  const retryAfter = retryAfterSeconds(headers["retry-after"], now);
  const usage = parseJson(headers["x-business-use-case-usage"] ?? "");
  const cases = typeof usage === "object" && usage !== null ? Object.values(usage).flat() : [];
  const minutes = cases.map((one) => Number(textAt(one, "estimated_time_to_regain_access")));
  const estimated = Math.max(0, ...minutes.filter(Number.isFinite)) * 60;
  return retryAfter ?? (estimated > 0 ? estimated : undefined);
}
