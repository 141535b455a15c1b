// The answers of Klaviyo's Events API: 202 without a body, and errors in the form of JSON:API.

import type { Answer, DocumentedError } from "../shared/standin.ts";

/** An error of JSON:API. `pointer` names the field at fault. */
export const failure = (
  status: number,
  code: string,
  detail: string,
  { pointer = "/data/", reasons = [detail] }: { pointer?: string; reasons?: string[] } = {},
): Answer => ({
  status,
  body: { errors: [{ id: "standin", status, code, title: code, detail, source: { pointer }, links: {}, meta: {} }] },
  rejected: reasons,
});

const documented = (title: string, means: DocumentedError["means"], answer: Answer): DocumentedError => ({
  title,
  answer,
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("202", "accept", { status: 202 }),
  documented("400 invalid", "reject", failure(400, "invalid", "Invalid input.", { pointer: "/data/attributes/time" })),
  documented("400 parse_error", "reject", failure(400, "parse_error", "The payload is not JSON.")),
  documented("401 not_authenticated", "park", failure(401, "not_authenticated", "Missing or invalid private key.")),
  documented("403 permission_denied", "park", failure(403, "permission_denied", "The key lacks the scope events:write.")),
  documented("404 not_found", "reject", failure(404, "not_found", "The path could not be found.")),
  documented("409 conflict", "reject", failure(409, "duplicate", "A conflict.")),
  documented("410 revision retired", "reject", failure(410, "gone", "The revision has been retired.")),
  documented("413", "reject", failure(413, "too_large", "The payload is too large.")),
  documented("429 rate_limit_exceeded", "retry", failure(429, "rate_limit_exceeded", "The request was throttled.")),
  documented("500", "retry", failure(500, "error", "A server error occurred.")),
  documented("503", "retry", failure(503, "unavailable", "Unavailable.")),
];
