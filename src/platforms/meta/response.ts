// Reading Meta's answers: the code in the body tells more than HTTP's status, and what it says goes for the whole request.

import type { Reading } from "../../kernel/event.ts";
import type { PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  isSuccess,
  later,
  parseJson,
  readStatus,
  retryAfterSeconds,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

const transientCodes = new Set([1, 2, 4, 17, 32, 341, 368, 613, 5000, 21009]);
const permanentCodes = new Set([3, 100]);
/** The API version is retired (2635, 12) or does not exist (2500, which names the part of the path). */
const versionCodes = new Set([12, 2500, 2635]);

export function readMetaAnswer(response: PlatformResponse, count: number): Reading {
  const { status, body } = response;
  // A proxy's page, whatever its status: Meta itself answers in JSON.
  if (body.trimStart().startsWith("<") && !(status >= 300 && status < 400))
    return later(`HTTP ${status}: a web page instead of an answer`, waitSeconds(response));
  const parsed = bodyOf(response);
  const error = at(parsed, "error");
  if (typeof error !== "object" || error === null) {
    if (!isSuccess(status)) return readStatus(response);
    const received = at(parsed, "events_received");
    if (typeof received !== "number") return unreadable(response);
    return received < count ? later(`Meta received ${received} of ${count} events`) : { outcome: "accepted" };
  }
  const code = Number(textAt(error, "code"));
  const subcode = textAt(error, "error_subcode");
  const words = textAt(error, "error_user_msg") || textAt(error, "message");
  const said = `Meta error ${code}${subcode && `/${subcode}`}: ${shorten(words)}`;
  // 33: the dataset does not exist or this token may not see it. 10 and 200 to 299: a permission is missing.
  const isPermission = code === 10 || (code >= 200 && code < 300) || (code === 100 && subcode === "33");
  if (code === 190 || code === 102 || isPermission) return { outcome: "unauthorized", error: said };
  // Nothing is wrong with the events: they wait, like those of a dead token, until somebody sets another version.
  if (versionCodes.has(code)) return { outcome: "unauthorized", error: `${said}; correct api_version` };
  // 80000 to 80014: the limits of business use cases.
  const isThrottle = code >= 80_000 && code <= 80_014;
  if (at(error, "is_transient") === true || transientCodes.has(code) || isThrottle)
    return later(said, waitSeconds(response));
  if (permanentCodes.has(code) || status < 300) return { outcome: "rejected", error: said };
  return readStatus(response, said);
}

/** Retry-After, or the minutes that Meta's usage header estimates. */
function waitSeconds({ headers }: PlatformResponse): number | undefined {
  const asked = retryAfterSeconds(headers["retry-after"]);
  const usage = parseJson(headers["x-business-use-case-usage"] ?? "");
  const cases = typeof usage === "object" && usage !== null ? Object.values(usage).flat() : [];
  const minutes = cases.map((one) => Number(textAt(one, "estimated_time_to_regain_access")));
  const estimated = Math.max(0, ...minutes.filter(Number.isFinite)) * 60;
  return asked ?? (estimated > 0 ? estimated : undefined);
}
