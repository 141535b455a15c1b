// Spotify's responses: {"message":"SUCCESS"}, or an error whose body is not documented.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { accepted, errorText, isSuccess, parseBody, readStatus, textAt, unreadable } from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const reading = readWhole(response, now);
  return conversions.map(() => reading);
};

function readWhole(response: PlatformResponse, now: number): Reading {
  const body = parseBody(response);
  if (isSuccess(response.status)) return textAt(body, "message") === "SUCCESS" ? accepted : unreadable(response, now);
  // Spotify's support asks for this id.
  const trace = textAt(body, "sp_trace_id") || response.headers["sp-trace-id"];
  const detail = [errorText(response), trace && `sp_trace_id ${trace}`].filter(Boolean).join(", ");
  return readStatus(response, now, detail);
}
