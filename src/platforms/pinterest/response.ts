// Pinterest's responses: 200 lists a status for each event, in order, and Pinterest drops only the failed ones. A 422 has
// the same list in its details, or none: then delivery sends the events separately, whose ids keep them from counting twice.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import {
  accepted,
  at,
  isSuccess,
  listAt,
  parseBody,
  readStatus,
  rejected,
  retryLater,
  shorten,
  textAt,
  unreadable,
} from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const { status } = response;
  const parsed = parseBody(response);
  const results = [...listAt(parsed, "events"), ...listAt(parsed, "details", "events")];
  const isListed = results.length > 0 && (isSuccess(status) || status === 422);
  if (!isListed) {
    const code = textAt(parsed, "code");
    const message = [textAt(parsed, "message"), detailsOf(parsed)].filter(Boolean).join(" ");
    const detail = [code && `code ${code}`, message].join(" ").trim();
    const reading = isSuccess(status) ? unreadable(response, now) : readStatus(response, now, detail);
    return conversions.map(() => reading);
  }
  return conversions.map((_, i): Reading => {
    const result = textAt(results[i], "status");
    if (result === "processed") return accepted;
    const message = shorten(textAt(results[i], "error_message") || textAt(results[i], "warning_message"));
    if (result === "failed") return rejected(message || "Pinterest gave no reason");
    // Sending it again is safe: its event id is the same.
    return retryLater("Pinterest's answer left this event out");
  });
};

/** The details of an error, whose form Pinterest does not document. */
function detailsOf(parsed: unknown): string {
  const details = at(parsed, "details");
  if (typeof details === "object" && details !== null) return shorten(JSON.stringify(details));
  return textAt(parsed, "details");
}
