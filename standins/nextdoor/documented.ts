// The statuses of Nextdoor's Conversion API. Its reference has 200 and 400, without bodies; the others are those of HTTP.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (title: string, status: number, means: DocumentedError["means"], body?: unknown): DocumentedError => ({
  title,
  answer: { status, ...(body === undefined ? {} : { body }) },
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("200 without a body", 200, "accept"),
  documented("200 with a body", 200, "accept", { message: "ok" }),
  documented("400 without a body", 400, "reject"),
  documented("400 with a message", 400, "reject", { message: "event_name is not valid" }),
  documented("401", 401, "park", { message: "Unauthorized" }),
  documented("403", 403, "park", { message: "Forbidden" }),
  documented("429", 429, "retry"),
  documented("500", 500, "retry"),
  documented("503", 503, "retry"),
];
