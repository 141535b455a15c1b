// X's responses: all or nothing, with a list of every fault.

import type { Reading } from "../../kernel/event.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import { messagesByIndex, readBatchRejection, resendable, waitForSetting } from "../shared/batchRejection.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { accepted, isSuccess, parseBody, retryLater, shorten, unauthorized, unreadable } from "../shared/response.ts";
import { joinReadings, type Target } from "../shared/targets.ts";
import { taggedOf } from "./request.ts";

/** `conversions[2].identifiers`, should X name indexes at all. */
const indexPattern = /\bconversions[[./](\d{1,9})\b/;

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  const sent = taggedOf(conversions, settings);
  return joinReadings(conversions, sent, readTagged(response, sent, settings, now));
};

function readTagged(response: PlatformResponse, sent: readonly Target[], settings: ConnectionSettings, now: number): Reading[] {
  const { status } = response;
  const body = parseBody(response);
  const faults = listAt(body, "errors");
  const messages = faults.map(describe).filter(Boolean);
  const detail = messages.join("; ");
  const all = (reading: Reading): Reading[] => sent.map(() => reading);
  if (isSuccess(status)) {
    const processed = at(body, "data", "conversions_processed");
    if (typeof processed !== "number") return all(unreadable(response, now));
    return all(processed < sent.length ? retryLater(`X processed ${processed} of ${sent.length} conversions`) : accepted);
  }
  if (status === 423) return all(retryLater(`HTTP 423${detail ? `: ${shorten(detail)}` : ""}`));

  const error = `HTTP ${status}: ${shorten(detail)}`;
  const isNotFound = (one: unknown) => textAt(one, "code") === "WEB_EVENT_TAG_NOT_FOUND";
  // The pixel is part of the URL, so it is wrong for the whole connection.
  if (faults.some((one) => isNotFound(one) && textAt(one, "parameter") === "pixel_id"))
    return all(unauthorized(`${error}; correct pixel_id`));
  const tagFaults = faults.filter((one) => isNotFound(one) || isTagFault(one));
  if ((status === 400 || status === 404) && tagFaults.length > 0) {
    const named = tagFaults.map((one) => indexPattern.exec(textAt(one, "parameter"))?.[1]);
    // The fault applies to every conversion of the same tag; where no index is named, to all.
    const tags = new Set(sent.filter((_, index) => named.includes(String(index))).map(({ target }) => target));
    const isAll = tags.size === 0 || named.includes(undefined);
    return sent.map(({ conversion, target }) =>
      isAll || tags.has(target) ? waitForSetting(error, conversion, settings, "default_event") : resendable(status),
    );
  }
  const reasons = messagesByIndex(messages, indexPattern);
  return readBatchRejection(withRetryAfter(response), { count: sent.length, reasons, detail }, now);
}

/** True if the tag is not one of the pixel's, or is not a single event tag. */
const isTagFault = (fault: unknown) =>
  textAt(fault, "code") === "INVALID_PARAMETER" && /(?:^|\.)event_id$/.test(textAt(fault, "parameter"));

function describe(fault: unknown): string {
  const parameter = textAt(fault, "parameter");
  const message = [textAt(fault, "code"), textAt(fault, "message")].filter(Boolean).join(": ");
  return parameter ? `${message} (${parameter})` : message;
}

/** X sends the time at which its window resets, in Unix seconds; others send the seconds to wait. */
function withRetryAfter(response: PlatformResponse): PlatformResponse {
  const { headers, status } = response;
  const reset = Number(headers["x-account-rate-limit-reset"] ?? headers["x-rate-limit-reset"]);
  if (status !== 429 || headers["retry-after"] || !(reset > 0 && reset < 8e12)) return response;
  return { ...response, headers: { ...headers, "retry-after": new Date(reset * 1000).toUTCString() } };
}
