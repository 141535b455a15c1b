// The errors of Pinterest's Conversions API. Its description says that a 422 has details, and does not say which.

import type { Answer, DocumentedError } from "../shared/standin.ts";

const error = (status: number, code: number, message: string, details?: unknown): Answer => ({
  status,
  body: { code, message, ...(details !== undefined && { details }) },
});
const partly = "Not all events were successfully processed.";
const failed = {
  num_events_received: 1,
  num_events_processed: 0,
  events: [{ status: "failed", error_message: "event_time is not valid", warning_message: "" }],
};

export const documentedErrors: readonly DocumentedError[] = [
  { title: "200 with a failed event", answer: { status: 200, body: failed }, means: "reject" },
  { title: "422 with the list at the top", answer: { status: 422, body: failed }, means: "reject" },
  { title: "422 with the list in the details", answer: error(422, 422, partly, failed), means: "reject" },
  { title: "422 with other details", answer: error(422, 422, partly, { failed: 1 }), means: "reject" },
  { title: "422 with a text as details", answer: error(422, 422, partly, "1 event failed"), means: "reject" },
  { title: "400 code 4196", answer: error(400, 4196, "Invalid conversion events request."), means: "reject" },
  { title: "401 code 2", answer: error(401, 2, "Authentication failed."), means: "park" },
  {
    title: "403 code 29",
    answer: error(403, 29, "You are not permitted to access that resource."),
    means: "park",
  },
  { title: "429 code 8", answer: error(429, 8, "This request exceeded a rate limit."), means: "retry" },
  { title: "503 code 4197", answer: error(503, 4197, "The service is being ramped down."), means: "retry" },
];
