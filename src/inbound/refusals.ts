// The catalogue of the inbound endpoint's refusals. Malformed requests are answered in plain text, everything else in
// JSON. The log and the metrics use `code`; the sender reads `message`.

import type { ServerResponse } from "node:http";
import { english, say } from "../kernel/messages/message.ts";
import { maxBatchEvents } from "../contract/inbound.ts";
import { writeAnswer } from "../http/reply.ts";

export type InboundRefusal = {
  code: string;
  status: number;
  /** A message, or a text. */
  message: string;
  format: "json" | "text";
  headers: Record<string, string>;
};

const refusalsIn =
  (format: InboundRefusal["format"]) =>
  (code: string, status: number, message: string, headers: Record<string, string> = {}): InboundRefusal => ({
    code,
    status,
    message,
    format,
    headers,
  });
const json = refusalsIn("json");
const text = refusalsIn("text");

const retryIn = (seconds: number) => ({ "retry-after": String(Math.max(1, Math.ceil(seconds))) });

// A sender without a key must not hold the connection open. The header replaces the one that Node would write.
const httpsRequired = (message: string) =>
  json("https required", 426, message, { upgrade: "TLS/1.2, HTTP/1.1", connection: "Upgrade, close" });

export const refusals = {
  methodNotAllowed: text("method", 405, "Send a POST request.", { allow: "POST" }),
  severalHosts: text("host", 400, "The request has more than one Host header.", { connection: "close" }),
  httpsRequired: httpsRequired("HTTPS required"),
  /** For a sender that no proxy is in front of: probably somebody who tries the relay out. */
  httpsRequiredDirectly: httpsRequired(
    "HTTPS required: use https://, a tunnel (ssh -L 8080:localhost:8080 SERVER), or CLEANCAST_ALLOW_HTTP_FROM for a private network",
  ),
  notEnabled: json("not enabled", 403, "Inbound webhook not enabled"),
  invalidKey: json("invalid key", 401, "Invalid API key"),
  tooManyWrongKeys: (seconds: number) => json("wrong keys", 429, "Too many failed authentication attempts", retryIn(seconds)),
  rateLimited: (seconds: number) => json("rate limit", 429, "Rate limit exceeded", retryIn(seconds)),
  overloaded: json("overloaded", 503, "Overloaded, retry", retryIn(1)),
  unavailable: json("unavailable", 503, "Temporarily unavailable, retry", retryIn(5)),
  siteMoving: json("site moving", 503, "Site is being moved, retry", retryIn(5)),
  siteMoved: json("site moved", 503, "Site was moved: route its host to the new server, retry", retryIn(60)),
  wrongContentType: text("content type", 415, "Content-Type must be application/json."),
  contentEncoding: text("content encoding", 415, "Send the body without Content-Encoding."),
  tooLarge: text("too large", 413, "The body is larger than 64 KiB."),
  batchTooLarge: text("too large", 413, "The body is larger than 2 MiB."),
  emptyBody: text("body", 400, "The body is empty; send a JSON object."),
  incompleteBody: text("body", 400, "The body ended early.", { connection: "close" }),
  invalidUtf8: text("body", 400, "The body is not valid UTF-8."),
  invalidJson: text("body", 400, "The body is not valid JSON."),
  notAnObject: text("body", 400, "The body must be a JSON object."),
  invalidBatch: json("field", 400, say("events_not_a_list", { max: maxBatchEvents })),
  eventNotAnObject: json("field", 400, "an event must be a JSON object"),
  invalidField: (message: string) => json("field", 400, message),
  internalError: text("defect", 500, "Internal error."),
};

/** The header holds the code in one word, so that programs need not read the sentence. */
export function sendRefusal(response: ServerResponse, { code, status, message, format, headers }: InboundRefusal): void {
  const body = format === "text" ? `${english(message)}\n` : JSON.stringify({ ok: false, error: english(message) });
  const named = { "x-cc-error": code.replaceAll(" ", "_"), ...headers };
  writeAnswer(response, status, body, { format, headers: named, afterBody: status === refusals.tooLarge.status });
}
