// TikTok's responses: nearly all of them are HTTP 200, and `code` in the body says what happened.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import {
  accepted,
  at,
  isSuccess,
  listAt,
  parseBody,
  readStatus,
  rejected,
  retryAfterSeconds,
  retryLater,
  shorten,
  textAt,
  unauthorized,
  unreadable,
} from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const parsed = parseBody(response);
  const reading = readCode(response, parsed, now);
  // Older batch calls named the failed events by index; should this one do so, only those are rejected.
  const failed = new Map(
    (reading.outcome === "accepted" ? listAt(parsed, "data", "failed_events") : []).map((one) => [
      at(one, "order_in_batch"),
      `TikTok error ${textAt(one, "error_code")}: ${shorten(textAt(one, "error_message"))}`,
    ]),
  );
  return conversions.map((_, i): Reading => {
    const error = failed.get(i);
    return error === undefined ? reading : rejected(error);
  });
};

function readCode(response: PlatformResponse, parsed: unknown, now: number): Reading {
  const { status } = response;
  const code = Number(textAt(parsed, "code") || Number.NaN);
  // Only TikTok's own JSON proves that the events were accepted.
  if (!Number.isInteger(code))
    return isSuccess(status) ? unreadable(response, now) : readStatus(response, now, textAt(parsed, "message"));
  // 20001 means partial success; other integrations count it as success.
  const isAccepted = code === 0 || code === 20001;
  if (isAccepted && status < 300) return accepted;
  const error = `TikTok error ${code}: ${shorten(textAt(parsed, "message"))}`;
  const wait = retryAfterSeconds(response.headers["retry-after"], now);
  // 40100: too many requests; 5xxxx and 60001: an error at TikTok.
  if (code === 40100 || code === 60_001 || (code >= 50_000 && code < 60_000)) return retryLater(error, wait);
  // 40001: no permission for this pixel; 40102 to 40106: the token is missing, wrong, expired or revoked.
  if (code === 40001 || (code >= 40_102 && code <= 40_106)) return unauthorized(error);
  if (isAccepted || status >= 300) return readStatus(response, now, error);
  return rejected(error);
}
