// Klaviyo's responses: 202 without a body, and errors in the form of JSON:API.

import { listAt, textAt } from "../shared/json.ts";
import { readForAll } from "../shared/readers.ts";
import { errorText, isSuccess, parseBody, readBareSuccess, readStatus } from "../shared/response.ts";
import type { PlatformResponse } from "../platform.ts";

export const readResponse = readForAll((response, now) =>
  isSuccess(response.status) ? readBareSuccess(response, now) : readStatus(response, now, explain(response)),
);

/** `source.pointer` names the field at fault: /data/attributes/time. */
function explain(response: PlatformResponse): string {
  const [error] = listAt(parseBody(response), "errors");
  const detail = textAt(error, "detail") || textAt(error, "title");
  const field = textAt(error, "source", "pointer").replace(/^\/data\/?(?:attributes\/?)?/, "");
  return [field, detail].filter(Boolean).join(": ") || errorText(response);
}
