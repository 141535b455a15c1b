// The answers of OpenAI's Conversions API: errors are a text, or an object with a message. Bodies of a success are not documented.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (
  title: string,
  status: number,
  body: unknown,
  means: DocumentedError["means"],
  headers: Record<string, string> = {},
): DocumentedError => ({ title, answer: { status, headers, body }, means });

export const documentedErrors: readonly DocumentedError[] = [
  documented("200 without a body", 200, undefined, "accept"),
  documented("202 with a count", 202, { accepted_events: 1 }, "accept"),
  documented("400 with a message", 400, { error: { message: "timestamp_ms is too old" } }, "reject"),
  documented("400 with a text", 400, { error: "Invalid request" }, "reject"),
  documented("400 that names the event", 400, { error: { message: "events[0].id is missing" } }, "reject"),
  documented("422", 422, { error: { message: "data.type does not match the event" } }, "reject"),
  documented("401", 401, { error: { message: "Incorrect API key provided." } }, "park"),
  documented("403", 403, { error: "Forbidden" }, "park"),
  documented("404 for the pixel or the feature", 404, { error: { message: "Not found" } }, "park"),
  documented("404 without a body", 404, undefined, "wait"),
  documented("404 with a page", 404, "<html><body>Not Found</body></html>", "wait"),
  documented("429", 429, { error: { message: "Rate limit reached." } }, "retry", { "retry-after": "7" }),
  documented("500", 500, { error: "The server had an error." }, "retry"),
  documented("503", 503, "upstream connect error", "retry"),
];
