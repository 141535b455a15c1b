// Axon's responses: all or nothing. The reason of an error is in headers; bodies are not documented.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { messagesByIndex, readBatchRejection } from "../shared/batchRejection.ts";
import { errorText, isSuccess, readBareSuccess } from "../shared/response.ts";

/** `events[2].event_time`, should Axon name indexes at all. */
const indexPattern = /\bevents(?:\[|\.)(\d{1,9})\b/;

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const all = (reading: Reading): Reading[] => conversions.map(() => reading);
  if (isSuccess(response.status)) return all(readBareSuccess(response, now));
  const detail = explain(response);
  const reasons = messagesByIndex(detail ? [detail] : [], indexPattern);
  return readBatchRejection(response, conversions.length, reasons, detail, now);
};

function explain(response: PlatformResponse): string {
  const { "x-al-error-code": code = "", "x-al-error-message": message = "" } = response.headers;
  return [code, message || errorText(response)].filter(Boolean).join(": ");
}
