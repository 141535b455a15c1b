// TikTok's responses: nearly all of them are HTTP 200, and `code` in the body says what happened.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { type Codes, readByCode, readByIndex } from "../shared/readers.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { accepted, parseBody, readWithoutBody, rejected, shorten } from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const parsed = parseBody(response);
  const reading = readCode(response, parsed, now);
  // Older batch calls named the failed events by index; should this one do so, only those are rejected.
  const failed = reading.kind === "accepted" ? listAt(parsed, "data", "failed_events") : [];
  return readByIndex(
    conversions.length,
    failed.map((one) => [at(one, "order_in_batch"), rejected(errorOf(textAt(one, "error_code"), textAt(one, "error_message")))]),
    reading,
  );
};

const errorOf = (code: string, message: string) => `TikTok error ${code}: ${shorten(message)}`;

/**
 * 40100 and 40133: too many requests; 5xxxx, 60001 and 61000: an error at TikTok. 40001: no permission for this pixel; 40101: the app
 * is unknown; 40102 to 40106: the token is missing, wrong, expired or revoked. TikTok's table does not explain 40133 and 61000. They
 * are not about the event, so it is tried again.
 */
const codes: Codes = { retry: [40_100, 40_133, 60_001, 61_000, [50_000, 59_999]], unauthorized: [40_001, [40_101, 40_106]] };

function readCode(response: PlatformResponse, parsed: unknown, now: number): Reading {
  const code = Number(textAt(parsed, "code") || Number.NaN);
  const message = textAt(parsed, "message");
  // Only TikTok's own JSON proves that the events were accepted.
  if (!Number.isInteger(code)) return readWithoutBody(response, now, message);
  // 20001 means partial success; other integrations count it as success.
  if ((code === 0 || code === 20_001) && response.status < 300) return accepted;
  return readByCode(code, errorOf(String(code), message), codes, { response, now });
}
