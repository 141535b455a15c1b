// The answers of HubSpot's endpoint for custom events: 204 without a body, and errors with a message and a category. Which error
// an unknown event gets is not documented: 404 and its category are what other endpoints of HubSpot answer.

import type { Answer, DocumentedError } from "../shared/standin.ts";

export const failure = (status: number, category: string, message: string, reasons: string[] = [message]): Answer => ({
  status,
  body: { status: "error", message, correlationId: "standin", category },
  rejected: reasons,
});

const documented = (title: string, means: DocumentedError["means"], answer: Answer): DocumentedError => ({
  title,
  answer,
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("204", "accept", { status: 204 }),
  documented("400 VALIDATION_ERROR", "reject", failure(400, "VALIDATION_ERROR", "Invalid input JSON")),
  documented("400 about the event", "wait", failure(400, "VALIDATION_ERROR", "Unknown event definition pe1_x")),
  documented("401 INVALID_AUTHENTICATION", "park", failure(401, "INVALID_AUTHENTICATION", "The token is not valid")),
  documented("403 MISSING_SCOPES", "park", failure(403, "MISSING_SCOPES", "This app hasn't been granted all required scopes")),
  documented("404 OBJECT_NOT_FOUND", "wait", failure(404, "OBJECT_NOT_FOUND", "The event does not exist")),
  documented("423", "reject", failure(423, "LOCKED", "Large volumes within a short period")),
  documented("429 RATE_LIMITS", "retry", failure(429, "RATE_LIMITS", "You have reached your ten_secondly_rolling limit.")),
  documented("477 migration", "reject", failure(477, "MIGRATION_IN_PROGRESS", "The account is moving to another data centre")),
  documented("500", "retry", failure(500, "INTERNAL_ERROR", "internal error")),
  documented("502", "retry", failure(502, "INTERNAL_ERROR", "Bad gateway")),
  documented("503", "retry", failure(503, "INTERNAL_ERROR", "Unavailable")),
];
