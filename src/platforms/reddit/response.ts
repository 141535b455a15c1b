// Reddit's responses: errors come in three shapes, and not always with an error's status.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { messagesByIndex, readNamed, resendable } from "../shared/batchRejection.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import {
  accepted,
  isSuccess,
  parseBody,
  platformBusy,
  readStatus,
  rejected,
  retryLater,
  shorten,
  unauthorized,
  unreadable,
} from "../shared/response.ts";
import { dedupId } from "../shared/settings.ts";
import { joinReadings } from "../shared/targets.ts";
import { eventsOf } from "./request.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  const all = (reading: Reading): Reading[] => conversions.map(() => reading);
  const sent = eventsOf(conversions, settings);
  const body = parseBody(response);
  const [detail, reasons] = explain(body, response.body);
  const corrected = withRealStatus(response, body);
  const reading = isAboutField(corrected.status, detail)
    ? rejected(`HTTP ${corrected.status}: ${shorten(detail)}`)
    : readStatus(corrected, now, detail);
  // Only the pixel can be missing at this URL, and the pixel is a setting of the whole connection.
  if (corrected.status === 404 && /pixel|not[ _]found/i.test(detail))
    return all(unauthorized(`HTTP 404: ${shorten(detail)}; correct pixel_id`));
  const invalid = [...listAt(body, "data", "invalid_events"), ...listAt(body, "invalid_events")];
  if (invalid.length > 0 && (reading.kind === "accepted" || reading.kind === "rejected")) {
    const ids = conversions.map((conversion) => dedupId(conversion, settings));
    return readInvalid(invalid, ids, corrected.status);
  }
  if (reading.kind === "rejected")
    return joinReadings(conversions, sent, readNamed(corrected.status, sent.length, reasons, reading));
  if (reading.kind === "retry" && corrected !== response) return all(platformBusy(reading.error, reading.retryAfterSeconds));
  if (reading.kind !== "accepted") return all(reading);
  const success = textAt(body, "data", "message") || textAt(body, "message");
  const processed = /processed (\d{1,9})\b/i.exec(success)?.[1];
  if (processed !== undefined && Number(processed) < sent.length)
    return all(retryLater(`Reddit processed ${processed} of ${sent.length} events`));
  return all(success ? reading : unreadable(response, now));
};

/** True for a 403 that names a field of an event: Reddit does not allow its value, and the token is fine. */
function isAboutField(status: number, detail: string): boolean {
  const isAboutAccess = /pixel|token|account|authori[sz]|permission/i.test(detail);
  if (status !== 403) return false;
  return /\bevents[[./]\d/i.test(detail) || (!isAboutAccess && /\bfield\b/i.test(detail));
}

/** Some errors come with HTTP 200; then the status in the body counts. */
function withRealStatus(response: PlatformResponse, body: unknown): PlatformResponse {
  const isError = at(body, "success") === false || (at(body, "error") ?? null) !== null;
  if (!isError || !isSuccess(response.status)) return response;
  const code = Number(textAt(body, "error", "code"));
  const isUnauthorized = /^unauthorized$/i.test(textAt(body, "error", "reason"));
  return { ...response, status: code >= 400 && code <= 599 ? code : isUnauthorized ? 401 : 400 };
}

/**
 * Returns the error in Reddit's words, and the rejected events. There are three shapes: `{error: {code, message, fields}}`,
 * `{success: false, error: {reason, explanation}}`, and a bare text.
 */
function explain(body: unknown, text: string): [detail: string, reasons: Map<number, string>] {
  const fields = listAt(body, "error", "fields").map(describe).filter(Boolean);
  const parts = [
    textAt(body, "error"),
    textAt(body, "error", "reason"),
    textAt(body, "error", "message"),
    textAt(body, "error", "explanation"),
    ...fields,
    typeof body === "string" ? body : "",
    // Gateways answer with web pages, whose markup explains nothing.
    body === undefined && !text.trimStart().startsWith("<") ? text : "",
  ];
  return [parts.filter(Boolean).join(": "), messagesByIndex(fields, /\bevents[[./](\d{1,9})\b/)];
}

function describe(field: unknown): string {
  if (typeof field !== "object" || field === null) return typeof field === "string" ? field : "";
  return Object.values(field)
    .filter((part) => typeof part === "string")
    .join(": ");
}

/**
 * Reads the list of events that Reddit left out, which are found by the conversion id in its messages. With a success the
 * others were accepted, with a 400 they were not. Where one is not found, all are rejected, so that delivery sends them
 * separately: Reddit recognises the accepted ones by their ids.
 */
function readInvalid(invalid: readonly unknown[], ids: readonly string[], status: number): Reading[] {
  const indexes = invalid.map((one) => ids.findIndex((id) => JSON.stringify(one).includes(JSON.stringify(id))));
  const rejection = (one: unknown): Reading =>
    rejected(`HTTP ${status}: ${shorten(textAt(one, "error_message") || "an event was invalid")}`);
  if (indexes.includes(-1)) return ids.map((_, i) => rejection(invalid[i] ?? invalid[0]));
  const other = isSuccess(status) ? accepted : resendable(status);
  return ids.map((_, i) => (indexes.includes(i) ? rejection(invalid[indexes.indexOf(i)]) : other));
}
