// The statuses of Outbrain's server-to-server tracking. A success says nothing more; only a 5xx is worth another try.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (title: string, status: number, means: DocumentedError["means"], body?: string): DocumentedError => ({
  title,
  answer: { status, ...(body === undefined ? {} : { body }) },
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("204", 204, "accept"),
  documented("200 with a pixel", 200, "accept", "GIF89a"),
  documented("400", 400, "reject"),
  documented("404", 404, "reject"),
  documented("500", 500, "retry"),
  documented("503", 503, "retry"),
];
