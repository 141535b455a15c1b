// The errors of X's Conversion API.

import type { DocumentedError } from "../shared/standin.ts";
import { xError } from "./access.ts";

type Means = DocumentedError["means"];

function documented(status: number, code: string, means: Means, parameter?: string): DocumentedError {
  return {
    title: [status, code, parameter].filter(Boolean).join(" "),
    answer: xError(status, [{ code, message: code.toLowerCase(), ...(parameter && { parameter }) }]),
    means,
  };
}

export const documentedErrors: readonly DocumentedError[] = [
  documented(400, "INVALID_PARAMETER", "reject", "conversions[0].identifiers[0].hashed_email"),
  documented(400, "MISSING_PARAMETER", "reject", "conversions[0].identifiers"),
  documented(400, "INVALID_PARAMETER", "reject", "conversions"),
  documented(400, "INVALID_PARAMETER", "wait", "conversions[0].event_id"),
  documented(404, "WEB_EVENT_TAG_NOT_FOUND", "wait", "conversions[0].event_id"),
  documented(404, "WEB_EVENT_TAG_NOT_FOUND", "park", "pixel_id"),
  documented(401, "UNAUTHORIZED_ACCESS", "park"),
  documented(403, "UNAUTHORIZED_CLIENT_APPLICATION", "park"),
  documented(408, "REQUEST_TIMEOUT", "retry"),
  documented(423, "LOCKED", "retry"),
  documented(429, "TOO_MANY_REQUESTS", "retry"),
  documented(500, "INTERNAL_ERROR", "retry"),
  documented(503, "SERVICE_UNAVAILABLE", "retry"),
];
