// The errors of Reddit's Conversions API, in its three formats.

import type { Answer, DocumentedError } from "../shared/standin.ts";

type Means = DocumentedError["means"];

const documented = (title: string, status: number, body: unknown, means: Means): DocumentedError => ({
  title,
  answer: { status, body } satisfies Answer,
  means,
});
const error = (code: number, message: string, fields?: unknown[]) => ({
  error: { code, message, ...(fields && { fields }) },
});
const denied = (reason: string, explanation: string) => ({ success: false, error: { reason, explanation } });
const processed = (count: number) => `Successfully processed ${count} conversion events.`;
const tooOld = { error_message: "event_at is older than 7 days" };

export const documentedErrors: readonly DocumentedError[] = [
  documented("200 with the message below data", 200, { data: { message: processed(1) } }, "accept"),
  documented("200 with the message at the top", 200, { message: processed(1) }, "accept"),
  documented("200 with invalid_events", 200, { data: { message: processed(0), invalid_events: [tooOld] } }, "reject"),
  documented("200 with invalid_events at the top", 200, { message: processed(0), invalid_events: [tooOld] }, "reject"),
  documented("400 with invalid_events", 400, { message: "1 invalid event", invalid_events: [tooOld] }, "reject"),
  documented(
    "400 with a field",
    400,
    error(400, "invalid request", [{ field: "data.events[0].event_at", message: "too old" }]),
    "reject",
  ),
  documented("400 in the second format", 400, denied("BAD_REQUEST", "unknown field"), "reject"),
  documented("400 as a bare text", 400, "Bad Request", "reject"),
  documented("401 in the second format", 401, denied("UNAUTHORIZED", "The token is not valid."), "park"),
  documented("401 as a bare text", 401, "Authorization Required", "park"),
  documented("403 for the pixel", 403, error(403, "You're not authorized to post conversions to this pixel."), "park"),
  documented(
    "403 for a field",
    403,
    error(403, "forbidden", [{ field: "data.events[0].metadata.currency", message: "is not allowed" }]),
    "reject",
  ),
  documented("404 for the pixel", 404, denied("NOT_FOUND", "The pixel does not exist."), "park"),
  documented("422", 422, error(422, "unprocessable"), "reject"),
  documented("429", 429, error(429, "Too many requests/events within timeframe."), "retry"),
  documented("500", 500, "Internal Server Error", "retry"),
  documented("503", 503, "upstream connect error", "retry"),
];
