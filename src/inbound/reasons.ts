// A refusal in one word or two, for the log and the metrics: a closed set, whatever the sentence says.

import { refusals, type Refusal } from "./errors.ts";

const known = new Map<unknown, string>([
  [refusals.methodNotAllowed, "method"],
  [refusals.httpsRequired, "https required"],
  [refusals.notEnabled, "not enabled"],
  [refusals.invalidKey, "invalid key"],
  [refusals.overloaded, "overloaded"],
  [refusals.unavailable, "unavailable"],
  [refusals.wrongContentType, "content type"],
  [refusals.encoded, "content encoding"],
  [refusals.tooLarge, "too large"],
]);

export function reasonOf(refusal: Refusal): string {
  const reason = known.get(refusal);
  if (reason) return reason;
  if (refusal.status === 429) return refusal.body.includes("Rate limit") ? "rate limit" : "wrong keys";
  if (refusal.status !== 400) return "other";
  return refusal.headers["content-type"]?.startsWith("application/json") ? "field" : "body";
}
