// Reading X's answers: all or nothing, with a list of every fault.

import type { Conversion, Reading } from "../../kernel/event.ts";
import { awaitSetting, blame, faultsByPlace } from "../shared/batchRejection.ts";
import type { ConnectionSettings, PlatformResponse } from "../platform.ts";
import { at, bodyOf, isSuccess, later, listAt, shorten, textAt, unreadable } from "../shared/readResponse.ts";

/** `conversions[2].identifiers`, should X name places at all. */
const place = /\bconversions[[./](\d{1,9})\b/;

/** `tagOf` is the event tag that a conversion goes to. */
export function readXAnswer(
  response: PlatformResponse,
  conversions: readonly Conversion[],
  settings: ConnectionSettings,
  tagOf: (conversion: Conversion) => string | null,
): Reading[] {
  const { status } = response;
  const body = bodyOf(response);
  const errors = listAt(body, "errors");
  const said = errors.map(describe).filter(Boolean);
  const detail = said.join("; ");
  const all = (reading: Reading): Reading[] => conversions.map(() => reading);
  if (isSuccess(status)) {
    const processed = at(body, "data", "conversions_processed");
    if (typeof processed !== "number") return all(unreadable(response));
    return all(
      processed < conversions.length
        ? later(`X processed ${processed} of ${conversions.length} conversions`)
        : { outcome: "accepted" },
    );
  }
  if (status === 423) return all(later(`HTTP 423${detail ? `: ${shorten(detail)}` : ""}`));

  const error = `HTTP ${status}: ${shorten(detail)}`;
  const isNotFound = (one: unknown) => textAt(one, "code") === "WEB_EVENT_TAG_NOT_FOUND";
  // The pixel stands in the address, so it is wrong for the whole connection.
  if (errors.some((one) => isNotFound(one) && textAt(one, "parameter") === "pixel_id"))
    return all({ outcome: "unauthorized", error: `${error}; correct pixel_id` });
  const tagFaults = errors.filter((one) => isNotFound(one) || isTagFault(one));
  if ((status === 400 || status === 404) && tagFaults.length > 0) {
    const named = tagFaults.map((one) => place.exec(textAt(one, "parameter"))?.[1]);
    // Those of the same tag are in the same case, wherever they stand; without a place all are.
    const tags = new Set(
      conversions.filter((_, index) => named.includes(String(index))).map((conversion) => tagOf(conversion)),
    );
    const isAll = tags.size === 0 || named.includes(undefined);
    return conversions.map((one) =>
      isAll || tags.has(tagOf(one))
        ? awaitSetting(error, one, settings, "default_event")
        : later(`HTTP ${status}: refused because of another event in the same request`, 1),
    );
  }
  return blame(withRetryAfter(response), conversions.length, faultsByPlace(said, place), detail);
}

/** The tag is not one of the pixel's, or not of the kind that takes single events. */
const isTagFault = (error: unknown) =>
  textAt(error, "code") === "INVALID_PARAMETER" && /(?:^|\.)event_id$/.test(textAt(error, "parameter"));

function describe(error: unknown): string {
  const parameter = textAt(error, "parameter");
  const said = [textAt(error, "code"), textAt(error, "message")].filter(Boolean).join(": ");
  return parameter ? `${said} (${parameter})` : said;
}

/** X says when its window begins anew, in Unix seconds, where others say how long to wait. */
function withRetryAfter(response: PlatformResponse): PlatformResponse {
  const { headers, status } = response;
  const reset = Number(headers["x-account-rate-limit-reset"] ?? headers["x-rate-limit-reset"]);
  if (status !== 429 || headers["retry-after"] || !(reset > 0 && reset < 8e12)) return response;
  return { ...response, headers: { ...headers, "retry-after": new Date(reset * 1000).toUTCString() } };
}
