// OpenAI's responses: all or nothing. The body of a success is not documented; errors are a text or an object with a message.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import { messagesByIndex, readBatchRejection, waitUntilCorrected } from "../shared/batchRejection.ts";
import { errorText, isSuccess, readBareSuccess, shorten, unauthorized } from "../shared/response.ts";

/** `events[2].timestamp_ms` or `events.2.timestamp_ms`, should OpenAI name indexes at all. */
const indexPattern = /\bevents(?:\[|\.)(\d{1,9})\b/;

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const all = (reading: Reading): Reading[] => conversions.map(() => reading);
  if (isSuccess(response.status)) return all(readBareSuccess(response, now));
  const detail = errorText(response);
  // Only the pixel, or the feature of the account, can be missing at this URL. Without OpenAI's text it may be a proxy's answer.
  if (response.status === 404)
    return all(
      detail ? unauthorized(`HTTP 404: ${shorten(detail)}; correct pixel_id`) : waitUntilCorrected("HTTP 404", "pixel_id"),
    );
  const reasons = messagesByIndex(detail ? [detail] : [], indexPattern);
  return readBatchRejection(response, conversions.length, reasons, detail, now);
};
