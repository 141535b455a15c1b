// The answers of Quora's Conversion API: rejected conversions are listed inside of HTTP 200, and four kinds of status are retried.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (title: string, status: number, body: unknown, means: DocumentedError["means"]): DocumentedError => ({
  title,
  answer: { status, body },
  means,
});

const failed = { index: 0, status: "ERROR", error_code: "INVALID_EVENT", error_message: "unknown event" };

export const documentedErrors: readonly DocumentedError[] = [
  documented(
    "200 with every event",
    200,
    { events_received: 1, events_errored: 0, events: [{ index: 0, status: "OK" }] },
    "accept",
  ),
  documented("200 without the events", 200, { events_received: 1, events_errored: 0, events: [] }, "accept"),
  documented("200 with an error inside", 200, { events_received: 1, events_errored: 1, events: [failed] }, "reject"),
  documented("200 with an error that is only counted", 200, { events_received: 1, events_errored: 1, events: [] }, "reject"),
  documented("400", 400, { message: "account_id is missing" }, "reject"),
  documented("401", 401, { message: "Unauthorized" }, "park"),
  documented("403", 403, { message: "Forbidden" }, "park"),
  documented("408", 408, "", "retry"),
  documented("423", 423, "", "retry"),
  documented("429", 429, "", "retry"),
  documented("500", 500, "", "retry"),
  documented("503", 503, "", "retry"),
];
