// Reading TikTok's answers: nearly all of them are HTTP 200, and `code` in the body says what happened.

import type { Reading } from "../../kernel/event.ts";
import type { PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  isSuccess,
  later,
  listAt,
  readStatus,
  retryAfterSeconds,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

export function readTikTokAnswer(response: PlatformResponse, count: number): Reading[] {
  const parsed = bodyOf(response);
  const reading = readCode(response, parsed);
  // Older batch calls named the events that failed by their place; should this one do so, only those are refused.
  const failed = new Map(
    (reading.outcome === "accepted" ? listAt(parsed, "data", "failed_events") : []).map((one) => [
      at(one, "order_in_batch"),
      `TikTok error ${textAt(one, "error_code")}: ${shorten(textAt(one, "error_message"))}`,
    ]),
  );
  return Array.from({ length: count }, (_, i): Reading => {
    const error = failed.get(i);
    return error === undefined ? reading : { outcome: "rejected", error };
  });
}

function readCode(response: PlatformResponse, parsed: unknown): Reading {
  const { status } = response;
  const code = Number(textAt(parsed, "code") || Number.NaN);
  // Only TikTok's own JSON says that events were taken.
  if (!Number.isInteger(code))
    return isSuccess(status) ? unreadable(response) : readStatus(response, textAt(parsed, "message"));
  // 20001 speaks of partial success; others who meet it count it as success.
  const isTaken = code === 0 || code === 20001;
  if (isTaken && status < 300) return { outcome: "accepted" };
  const said = `TikTok error ${code}: ${shorten(textAt(parsed, "message"))}`;
  const wait = retryAfterSeconds(response.headers["retry-after"]);
  if (code === 40100 || (code >= 50_000 && code < 60_000)) return later(said, wait);
  // 40001: no permission for this pixel; 40102 to 40106: the token is missing, wrong, expired or revoked.
  if (code === 40001 || (code >= 40_102 && code <= 40_106)) return { outcome: "unauthorized", error: said };
  if (isTaken || status >= 300) return readStatus(response, said);
  return { outcome: "rejected", error: said };
}
