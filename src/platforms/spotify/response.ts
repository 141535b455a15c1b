// Spotify's responses: {"message":"SUCCESS"}, or an error whose body is not documented.

import { readForAll } from "../shared/readers.ts";
import { textAt } from "../shared/json.ts";
import { accepted, errorText, isSuccess, parseBody, readWithoutBody } from "../shared/response.ts";

export const readResponse = readForAll((response, now) => {
  const body = parseBody(response);
  if (isSuccess(response.status) && textAt(body, "message") === "SUCCESS") return accepted;
  // Spotify's support asks for this id.
  const trace = textAt(body, "sp_trace_id") || response.headers["sp-trace-id"];
  const detail = [errorText(response), trace && `sp_trace_id ${trace}`].filter(Boolean).join(", ");
  return readWithoutBody(response, now, detail);
});
