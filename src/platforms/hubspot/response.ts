// HubSpot's responses: 204 without a body, and errors with a message and a category. One invalid occurrence fails the whole
// request, and no error names it, so the batch is halved until it is found.

import { waitForSetting } from "../shared/batchRejection.ts";
import { listAt, textAt } from "../shared/json.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { errorText, isSuccess, parseBody, readBareSuccess, readStatus } from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  if (isSuccess(response.status)) return conversions.map(() => readBareSuccess(response, now));
  const detail = explain(response);
  const reading = readStatus(response, now, detail);
  // Conversions of one request have the same event, so its name is the setting at fault for all of them.
  return conversions.map((conversion) =>
    reading.kind === "rejected" && isAboutEvent(response, detail)
      ? waitForSetting(reading.error, conversion, settings, "default_event")
      : reading,
  );
};

/** The address is always the same, so only the event can be what is not found. */
function isAboutEvent({ status }: PlatformResponse, detail: string): boolean {
  return status === 404 || (status === 400 && /\bevent ?(?:name|type|definition)\b/i.test(detail));
}

function explain(response: PlatformResponse): string {
  const body = parseBody(response);
  const details = listAt(body, "errors").map((error) => textAt(error, "message"));
  return [textAt(body, "message") || errorText(response), ...details].filter(Boolean).join("; ");
}
