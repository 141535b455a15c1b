// The few errors of Segment, and those of RudderStack.

import type { DocumentedError } from "../shared/standin.ts";

export const documentedErrors: readonly DocumentedError[] = [
  { title: "Segment 200", answer: { status: 200, body: { success: true } }, means: "accept" },
  { title: "RudderStack 200", answer: { status: 200, body: "OK" }, means: "accept" },
  {
    title: "Segment 400 too large or no JSON",
    answer: { status: 400, body: { success: false, message: "malformed JSON", code: "invalid_request" } },
    means: "reject",
  },
  {
    title: "Segment 429",
    answer: { status: 429, headers: { "retry-after": "1", "x-ratelimit-reset": "1" }, body: "" },
    means: "retry",
  },
  { title: "RudderStack 429", answer: { status: 429, body: "Too many requests" }, means: "retry" },
  { title: "RudderStack 401", answer: { status: 401, body: "Invalid Write Key" }, means: "park" },
  { title: "500", answer: { status: 500, body: "" }, means: "retry" },
];
