// What an answer of the inbound endpoint is compared as: status, content type and body, all of them exactly.

import type { Answer } from "../support/relay.ts";

export type Said = { status: number; type: string | undefined; text: string };

/** The comparable part of an answer. Browsers have no business here, so no answer may ever invite them. */
export function said(answer: Answer): Said {
  const invitation = Object.keys(answer.headers).find((name) => name.startsWith("access-control-"));
  if (invitation) throw new Error(`the answer has the CORS header ${invitation}`);
  return { status: answer.status, type: answer.headers["content-type"], text: answer.text };
}

const json = "application/json; charset=utf-8";

export const accepted = (event: string, results: Record<string, unknown> = {}): Said => ({
  status: 200,
  type: json,
  text: JSON.stringify({ ok: true, event, results }),
});

export const deduped: Said = { status: 200, type: json, text: '{"ok":true,"deduped":true}' };
export const filtered: Said = { status: 200, type: json, text: '{"ok":true,"filtered":true}' };

export const jsonError = (status: number, error: string): Said => ({
  status,
  type: json,
  text: JSON.stringify({ ok: false, error }),
});

export const plainText = (status: number, text: string): Said => ({
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
