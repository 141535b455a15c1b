// The statuses of Taboola's server-to-server tracking: 204, 400, and those of HTTP. There are no bodies.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (status: number, means: DocumentedError["means"]): DocumentedError => ({
  title: String(status),
  answer: { status },
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented(204, "accept"),
  documented(200, "accept"),
  documented(400, "reject"),
  documented(429, "retry"),
  documented(500, "retry"),
  documented(503, "retry"),
];
