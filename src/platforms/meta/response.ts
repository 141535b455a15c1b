// Meta's responses: the code in the body says more than the HTTP status, and it applies to the whole request.

import type { Reading } from "../../kernel/event.ts";
import type { PlatformResponse } from "../platform.ts";
import { type Codes, readByCode, readForAll } from "../shared/readers.ts";
import { at, parseJson, textAt } from "../shared/json.ts";
import {
  accepted,
  isSuccess,
  parseBody,
  readWithoutBody,
  retryAfterSeconds,
  retryLater,
  shorten,
  unauthorized,
} from "../shared/response.ts";

/** 10 and 200 to 299: a permission is missing. 104: a signature is. 803: the id in the path names nothing. 80000 to 80014: the rate limits of business use cases. */
const codes: Codes = {
  unauthorized: [10, 102, 104, 190, [200, 299], 803],
  retry: [1, 2, 4, 17, 32, 341, 368, 613, 5000, 21_009, [80_000, 80_014]],
  rejected: [3, 100],
};
/** The API version is retired (2635, 12) or does not exist (2500, which names the part of the path). */
const versionCodes = new Set([12, 2500, 2635]);

export const readResponse = readForAll(readWhole);

/** Reads the error of another call to the Graph API; null where there is none. */
export function readFault(response: PlatformResponse, now: number): Extract<Reading, { error: string }> | null {
  if (isSuccess(response.status) && at(parseBody(response), "error") === undefined) return null;
  const reading = readWhole(response, now, 0);
  return reading.kind === "accepted" ? null : reading;
}

function readWhole(response: PlatformResponse, now: number, count: number): Reading {
  const { status, body } = response;
  // Meta answers in JSON, so a web page comes from a proxy.
  if (body.trimStart().startsWith("<") && !(status >= 300 && status < 400))
    return retryLater(`HTTP ${status}: a web page instead of an answer`, waitSeconds(response, now));
  const parsed = parseBody(response);
  const fault = at(parsed, "error");
  if (typeof fault !== "object" || fault === null) {
    const received = at(parsed, "events_received");
    if (!isSuccess(status) || typeof received !== "number") return readWithoutBody(response, now);
    return received < count ? retryLater(`Meta received ${received} of ${count} events`) : accepted;
  }
  const code = Number(textAt(fault, "code"));
  const subcode = textAt(fault, "error_subcode");
  const message = textAt(fault, "error_user_msg") || textAt(fault, "message");
  const error = `Meta error ${code}${subcode && `/${subcode}`}: ${shorten(message)}`;
  // The dataset does not exist, or this token may not see it.
  if (code === 100 && subcode === "33") return unauthorized(error);
  // The events are valid: they wait, like those of an expired token, until another version is set.
  if (versionCodes.has(code)) return unauthorized(`${error}; correct api_version`);
  const isTransient = at(fault, "is_transient") === true;
  const known = isTransient ? { ...codes, retry: [code] } : codes;
  return readByCode(code, error, known, { response, now, waitSeconds: waitSeconds(response, now) });
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
