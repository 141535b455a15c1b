// Answers of the inbound endpoint, compared exactly: status, content type and body.

import type { Answer } from "../support/relay.ts";

type Summary = { status: number; type: string | undefined; text: string };

/** The comparable part of an answer. The endpoint is not for browsers, so no answer may have a CORS header. */
export function summarize(answer: Answer): Summary {
  const corsHeader = Object.keys(answer.headers).find((name) => name.startsWith("access-control-"));
  if (corsHeader) throw new Error(`the answer has the CORS header ${corsHeader}`);
  return { status: answer.status, type: answer.headers["content-type"], text: answer.text };
}

const json = "application/json; charset=utf-8";

export const accepted = (event: string, results: Record<string, unknown> = {}): Summary => ({
  status: 200,
  type: json,
  text: JSON.stringify({ ok: true, event, results }),
});

export const deduped: Summary = { status: 200, type: json, text: '{"ok":true,"deduped":true}' };
export const filtered: Summary = { status: 200, type: json, text: '{"ok":true,"filtered":true}' };

export const jsonError = (status: number, error: string): Summary => ({
  status,
  type: json,
  text: JSON.stringify({ ok: false, error }),
});

export const plainText = (status: number, text: string): Summary => ({
  status,
  type: "text/plain; charset=utf-8",
  text: `${text}\n`,
});

let events = 0;

/** A valid event that no other test sends; `changes` replace its fields. */
export function freshEvent(changes: Record<string, unknown> = {}): Record<string, unknown> {
  events += 1;
  return { email: "ada@example.com", event: "purchase", orderId: `fresh-${events}`, ...changes };
}
