// The answers of Spotify's Conversions API. Bodies of errors are not documented; a 5xx has a trace id.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (title: string, status: number, body: unknown, means: DocumentedError["means"]): DocumentedError => ({
  title,
  answer: { status, body },
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("200", 200, { message: "SUCCESS" }, "accept"),
  documented("400 for a category that is not in the taxonomy", 400, { message: "content_category" }, "reject"),
  documented("400 without JSON", 400, "Bad Request", "reject"),
  documented("401", 401, { message: "Invalid access token" }, "park"),
  documented("403 for a connection of another business", 403, { message: "Forbidden" }, "park"),
  documented("422", 422, { message: "event_name is not valid" }, "reject"),
  documented("429", 429, "", "retry"),
  documented("500 with a trace id", 500, { message: "Internal error", sp_trace_id: "a1b2" }, "retry"),
  documented("503", 503, "", "retry"),
];
