// Every way in which the inbound endpoint says no. Malformed requests get plain text, everything else JSON.

export type Refusal = { status: number; headers: Record<string, string>; body: string };

function json(status: number, error: string, headers: Record<string, string> = {}): Refusal {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify({ ok: false, error }),
  };
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Refusal {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body: `${text}\n` };
}

const retryIn = (seconds: number) => ({ "retry-after": String(Math.max(1, Math.ceil(seconds))) });

export const refusals = {
  methodNotAllowed: plain(405, "Send a POST request.", { allow: "POST" }),
  httpsRequired: json(426, "HTTPS required", { upgrade: "TLS/1.2, HTTP/1.1", connection: "Upgrade" }),
  notEnabled: json(403, "Inbound webhook not enabled"),
  invalidKey: json(401, "Invalid API key"),
  tooManyWrongKeys: (seconds: number) =>
    json(429, "Too many failed authentication attempts", retryIn(seconds)),
  rateLimited: (seconds: number) => json(429, "Rate limit exceeded", retryIn(seconds)),
  overloaded: json(503, "Overloaded, retry", retryIn(1)),
  unavailable: json(503, "Temporarily unavailable, retry", retryIn(5)),
  wrongContentType: plain(415, "Content-Type must be application/json."),
  encoded: plain(415, "Send the body without Content-Encoding."),
  tooLarge: plain(413, "The body is larger than 64 KiB."),
  emptyBody: plain(400, "The body is empty; send a JSON object."),
  cutBody: plain(400, "The body ended early.", { connection: "close" }),
  invalidUtf8: plain(400, "The body is not valid UTF-8."),
  invalidJson: plain(400, "The body is not valid JSON."),
  notAnObject: plain(400, "The body must be a JSON object."),
  field: (error: string) => json(400, error),
};
