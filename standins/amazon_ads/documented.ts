// The answers of the Amazon Ads Events API: 207 with a result for each event, or an error with a code and a message.

import type { DocumentedError } from "../shared/standin.ts";

const documented = (
  title: string,
  status: number,
  body: unknown,
  means: DocumentedError["means"],
  headers: Record<string, string> = {},
): DocumentedError => ({ title, answer: { status, headers, body }, means });

const failed = (code: string, index = 0) => ({
  success: [],
  error: [{ index, errors: [{ code, fieldLocation: "events[0].countryCode", message: "not valid" }] }],
});

export const documentedErrors: readonly DocumentedError[] = [
  documented("207 with a success", 207, { success: [{ index: 0, event: {} }], error: [] }, "accept"),
  documented("207 counted from one", 207, { success: [{ index: 1 }], error: [] }, "accept"),
  documented("207 with an error", 207, failed("INVALID_ARGUMENT"), "reject"),
  documented("207 with an error counted from one", 207, failed("INVALID_ARGUMENT", 1), "reject"),
  documented("207 with an internal error", 207, failed("INTERNAL_ERROR"), "retry"),
  documented("400", 400, { code: "BAD_REQUEST", message: "events must not be empty" }, "reject"),
  documented("401", 401, { message: "Unauthorized" }, "park"),
  documented("403", 403, { message: "Insufficient permissions to process request" }, "park"),
  documented("429", 429, { code: "429", message: "Too Many Requests" }, "retry", { "retry-after": "5" }),
  documented("500", 500, { code: "INTERNAL_ERROR", message: "Internal error" }, "retry"),
  documented("503", 503, "", "retry"),
];
