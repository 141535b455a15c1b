// The answers of Axon's Conversion API: 200, 400 and 401, without bodies. The reason of an error is in headers.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (title: string, status: number, means: DocumentedError["means"], reason = ""): DocumentedError => ({
  title,
  answer: { status, headers: reason ? { "x-al-error-message": reason } : {} },
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("200", 200, "accept"),
  documented("400 without a reason", 400, "reject"),
  documented("400 with the reason in a header", 400, "reject", "event_time is missing"),
  documented("401", 401, "park", "Authentication failed"),
  documented("429", 429, "retry"),
  documented("500", 500, "retry"),
  documented("503", 503, "retry"),
];
