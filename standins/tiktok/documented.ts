// The codes of TikTok's Events API. Nearly all of them come with HTTP 200.

import type { Answer, DocumentedError } from "../shared/standin.ts";

const answer = (code: number, message: string, status = 200): Answer => ({
  status,
  body: { code, message, request_id: "202611140000000000000000000STANDIN", data: {} },
});

const codes: readonly [code: number, message: string, means: DocumentedError["means"]][] = [
  [0, "OK", "accept"],
  // Other senders take it for success; its meaning is uncertain.
  [20_001, "Partial success", "accept"],
  [40_001, "No permission to operate the pixel", "park"],
  [40_002, "data.0.event_id: Not a valid string.", "reject"],
  [40_100, "Too many requests", "retry"],
  [40_105, "Access token is incorrect or has been revoked", "park"],
  [50_000, "System error", "retry"],
  [50_002, "Internal service error", "retry"],
  [60_001, "Service is busy", "retry"],
];

export const documentedErrors: readonly DocumentedError[] = [
  ...codes.map(([code, message, means]) => ({ title: `${code}`, answer: answer(code, message), means })),
  { title: "50000 with HTTP 500", answer: answer(50_000, "System error", 500), means: "retry" },
];
