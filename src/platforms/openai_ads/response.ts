// OpenAI's responses: all or nothing. The body of a success is not documented; errors are a text or an object with a message.

import type { Platform } from "../platform.ts";
import { waitUntilCorrected } from "../shared/batchRejection.ts";
import { readAllOrNothing } from "../shared/readers.ts";
import { errorText, shorten, unauthorized } from "../shared/response.ts";

const readOthers = readAllOrNothing(errorText);

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  if (response.status !== 404) return readOthers(response, conversions, settings, now);
  const detail = errorText(response);
  // Only the pixel, or the feature of the account, can be missing at this URL. Without OpenAI's text it may be a proxy's answer.
  const reading = detail
    ? unauthorized(`HTTP 404: ${shorten(detail)}; correct pixel_id`)
    : waitUntilCorrected("HTTP 404", "pixel_id");
  return conversions.map(() => reading);
};
