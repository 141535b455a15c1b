// Pinterest's responses: 200 lists a status for each event, in order, and Pinterest drops only the failed ones. A 422 has
// the same list in its details, or none: then delivery sends the events separately, whose ids keep them from counting twice.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import { readByIndex } from "../shared/readers.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import {
  accepted,
  isSuccess,
  parseBody,
  readWithoutBody,
  rejected,
  retryLater,
  shorten,
  unauthorized,
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
    const reading = readWithoutBody(response, now, detail);
    // The ad account of the connection is not there: its events are valid, and wait for a person.
    if (status === 404) return conversions.map(() => unauthorized(reading.kind === "accepted" ? detail : reading.error));
    return conversions.map(() => reading);
  }
  return readByIndex(conversions.length, results.map(readResult).entries(), leftOut);
};

// Sending it again is safe: its event id is the same.
const leftOut = retryLater("Pinterest's answer left this event out");

function readResult(one: unknown): Reading {
  const result = textAt(one, "status");
  if (result === "processed") return accepted;
  if (result !== "failed") return leftOut;
  return rejected(shorten(textAt(one, "error_message") || textAt(one, "warning_message")) || "Pinterest gave no reason");
}

/** The details of an error, whose form Pinterest does not document. */
function detailsOf(parsed: unknown): string {
  const details = at(parsed, "details");
  if (typeof details === "object" && details !== null) return shorten(JSON.stringify(details));
  return textAt(parsed, "details");
}
