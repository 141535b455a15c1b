// Reading Reddit's answers: errors come in three shapes, and not always with an error's status.

import type { Reading } from "../../kernel/event.ts";
import { blame, faultsByPlace } from "../shared/batchRejection.ts";
import type { PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  later,
  listAt,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

/** `ids` are the conversion ids of the request, in order. */
export function readRedditAnswer(response: PlatformResponse, ids: readonly string[]): Reading[] {
  const body = bodyOf(response);
  const [detail, faults] = explain(body, response.body);
  const answer = truthful(response, body);
  const reading = readStatus(answer, detail);
  // Nothing but the pixel can be missing at this address, and the pixel is a setting of the whole connection.
  if (answer.status === 404 && /pixel|not[ _]found/i.test(detail))
    return ids.map(() => ({
      outcome: "unauthorized",
      error: `HTTP 404: ${shorten(detail)}; correct pixel_id`,
    }));
  if (reading.outcome === "rejected") return blame(answer, ids.length, faults, detail);
  if (reading.outcome !== "accepted") return ids.map(() => reading);
  const invalid = [...listAt(body, "data", "invalid_events"), ...listAt(body, "invalid_events")];
  if (invalid.length > 0) return readInvalid(invalid, ids, response.status);
  const success = textAt(body, "data", "message");
  const processed = /processed (\d{1,9})\b/i.exec(success)?.[1];
  if (processed !== undefined && Number(processed) < ids.length)
    return ids.map(() => later(`Reddit processed ${processed} of ${ids.length} events`));
  return ids.map(() => (success ? reading : unreadable(response)));
}

/** Errors also come with HTTP 200; what they say of themselves counts then. */
function truthful(response: PlatformResponse, body: unknown): PlatformResponse {
  const failed = at(body, "success") === false || (at(body, "error") ?? null) !== null;
  if (!failed || response.status < 200 || response.status > 299) return response;
  const code = Number(textAt(body, "error", "code"));
  const isUnauthorised = /^unauthorized$/i.test(textAt(body, "error", "reason"));
  return { ...response, status: code >= 400 && code <= 599 ? code : isUnauthorised ? 401 : 400 };
}

/**
 * What went wrong, in Reddit's words, and for which events. Three shapes: `{error: {code, message, fields}}`,
 * `{success: false, error: {reason, explanation}}`, and a bare text.
 */
function explain(body: unknown, text: string): [detail: string, faults: Map<number, string>] {
  const named = listAt(body, "error", "fields").map(describe).filter(Boolean);
  const said = [
    textAt(body, "error"),
    textAt(body, "error", "reason"),
    textAt(body, "error", "message"),
    textAt(body, "error", "explanation"),
    ...named,
    typeof body === "string" ? body : "",
    // Gateways answer with pages, whose markup explains nothing.
    body === undefined && !text.trimStart().startsWith("<") ? text : "",
  ];
  return [said.filter(Boolean).join(": "), faultsByPlace(named, /\bevents[[./](\d{1,9})\b/)];
}

function describe(field: unknown): string {
  if (typeof field !== "object" || field === null) return typeof field === "string" ? field : "";
  return Object.values(field)
    .filter((part) => typeof part === "string")
    .join(": ");
}

/**
 * A success that left some out. Those are found by the conversion id in what Reddit says of them; where that fails all
 * are refused, so that delivery sends them apart: Reddit knows the ones that it has by their ids.
 */
function readInvalid(invalid: unknown[], ids: readonly string[], status: number): Reading[] {
  const places = invalid.map((one) =>
    ids.findIndex((id) => JSON.stringify(one).includes(JSON.stringify(id))),
  );
  const refusal = (one: unknown): Reading => ({
    outcome: "rejected",
    error: `HTTP ${status}: ${shorten(textAt(one, "error_message") || "an event was invalid")}`,
  });
  if (places.includes(-1)) return ids.map((_, i) => refusal(invalid[i] ?? invalid[0]));
  return ids.map((_, i) =>
    places.includes(i) ? refusal(invalid[places.indexOf(i)]) : { outcome: "accepted" },
  );
}
