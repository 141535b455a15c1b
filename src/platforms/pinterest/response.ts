// Pinterest's responses: 200 and 422 list a status for each event, in order, and Pinterest drops only the failed ones.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import {
  accepted,
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
  const results = listAt(parsed, "events");
  const isListed = results.length > 0 && (isSuccess(status) || status === 422);
  if (!isListed) {
    const code = textAt(parsed, "code");
    const detail = [code && `code ${code}`, textAt(parsed, "message")].join(" ").trim();
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
