// The errors of Snapchat's Conversions API: any status but VALID is a failure, whatever the HTTP status.

import type { Answer, DocumentedError } from "../shared/standin.ts";

const answer = (status: number, body: unknown): Answer => ({ status, body });
const invalid = (reason: string, ...messages: string[]) => ({
  status: "INVALID",
  reason,
  errors: { codes: ["E1"], error_msgs: messages },
});
const log = (status: string, ...messages: string[]) => [
  { event: 0, status, errors: messages.length ? { codes: ["E1"], error_msgs: messages } : {}, warnings: [] },
];

export const documentedErrors: readonly DocumentedError[] = [
  { title: "400 no match keys", answer: answer(400, invalid("Insufficient PII")), means: "reject" },
  {
    title: "400 contact data is not hashed",
    answer: answer(400, invalid("Invalid request", "em is not hashed")),
    means: "reject",
  },
  { title: "200 INVALID", answer: answer(200, invalid("Invalid request", "bad currency")), means: "reject" },
  {
    title: "200 INVALID with the messages at the top",
    answer: answer(200, { status: "INVALID", error_msgs: ["bad currency"] }),
    means: "reject",
  },
  {
    title: "the log of a test event is INVALID, and the whole is VALID",
    answer: answer(200, { status: "VALID", test_event: true, event_logs: log("INVALID", "bad currency") }),
    means: "reject",
  },
  {
    title: "the log of a test event is VALID",
    answer: answer(200, { status: "VALID", test_event: true, event_logs: log("VALID") }),
    means: "accept",
  },
  { title: "400 a wrong token", answer: answer(400, invalid("Invalid access token")), means: "park" },
  { title: "401", answer: answer(401, invalid("Unauthorized")), means: "park" },
  { title: "429", answer: answer(429, invalid("Too many requests")), means: "retry" },
  { title: "500", answer: answer(500, invalid("Internal error")), means: "retry" },
  { title: "503", answer: answer(503, ""), means: "retry" },
];
