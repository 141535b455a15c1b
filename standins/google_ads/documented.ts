// The errors of the Data Manager API that no rule here produces, and the places where Google puts their reasons.

import type { Answer, DocumentedError } from "../shared/standin.ts";
import { googleError } from "./access.ts";

const problem = "There was a problem with the request.";

/** The same reason in every place in which it may stand. */
function everywhere(reason: string, means: DocumentedError["means"]): DocumentedError[] {
  const description = `${reason.toLowerCase().replaceAll("_", " ")}.`;
  const invalid = (field?: string) =>
    googleError(400, "INVALID_ARGUMENT", problem, {
      requestId: "t-1",
      violations: [{ description, reason, ...(field && { field }) }],
    });
  const places: [string, Answer][] = [
    ["in the ErrorInfo", googleError(400, "INVALID_ARGUMENT", description, { reason })],
    ["without a field", invalid()],
    ["on an event", invalid("events.events[0]")],
    ["on a field of an event", invalid("events[0].destination_references[0]")],
    ["on a destination", invalid("destinations.destinations[0]")],
    ["with 404", googleError(404, "NOT_FOUND", description, { reason })],
    ["with 403", googleError(403, "PERMISSION_DENIED", description, { reason })],
  ];
  return places.map(([place, answer]) => ({ title: `${reason} ${place}`, answer, means }));
}

const onEvent = (reason: string, means: DocumentedError["means"]): DocumentedError => ({
  title: `${reason} on a field`,
  answer: googleError(400, "INVALID_ARGUMENT", problem, {
    violations: [{ field: "events.events[0].currency", description: reason, reason }],
  }),
  means,
});

const status = (code: number, word: string, means: DocumentedError["means"], reason = word) => ({
  title: `${code} ${reason}`,
  answer: googleError(code, word, word.toLowerCase(), { reason }),
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  ...["INVALID_CONVERSION_ACTION_ID", "INVALID_CONVERSION_ACTION_TYPE"].flatMap((reason) => everywhere(reason, "wait")),
  ...everywhere("CONVERSION_ACTION_TOO_RECENTLY_CREATED", "retry"),
  ...[
    "OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH",
    "NOT_ALLOWLISTED",
    "TERMS_AND_CONDITIONS_NOT_SIGNED",
    "DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS",
    "DESTINATION_ACCOUNT_ENHANCED_CONVERSIONS_TERMS_NOT_SIGNED",
    "DESTINATION_ACCOUNT_DATA_POLICY_PROHIBITS_ENHANCED_CONVERSIONS",
  ].flatMap((reason) => everywhere(reason, "park")),
  ...[
    "INVALID_CURRENCY_CODE",
    "EVENT_TIME_INVALID",
    "NO_IDENTIFIERS_PROVIDED",
    "INVALID_SHA256_FORMAT",
    "TOO_MANY_USER_IDENTIFIERS",
  ].map((reason) => onEvent(reason, "reject")),
  status(400, "INVALID_ARGUMENT", "reject"),
  status(401, "UNAUTHENTICATED", "park"),
  {
    title: "404 without a reason",
    answer: {
      status: 404,
      body: { error: { code: 404, message: "Requested entity was not found.", status: "NOT_FOUND" } },
    },
    means: "wait",
  },
  { title: "404 without a body", answer: { status: 404 }, means: "wait" },
  status(403, "PERMISSION_DENIED", "park"),
  status(403, "PERMISSION_DENIED", "park", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
  status(403, "PERMISSION_DENIED", "park", "SERVICE_DISABLED"),
  status(429, "RESOURCE_EXHAUSTED", "retry"),
  status(500, "INTERNAL", "retry"),
  status(503, "UNAVAILABLE", "retry"),
  status(504, "DEADLINE_EXCEEDED", "retry"),
];
