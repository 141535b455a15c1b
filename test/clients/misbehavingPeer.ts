// Answers as one behaviour of clients/behaviours.json says, also against the rules of HTTP.

import type { ServerResponse } from "node:http";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";

export type Step = {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Answers as a relay that takes everything. */
  accept?: true;
  /** Never answers. */
  hang?: true;
  /** Sends a byte of the body now and then, without end. */
  drip?: true;
  /** Closes the connection without an answer. */
  close?: true;
  /** Closes the connection in the middle of the body. */
  cut?: true;
  /** Repeats the key in the body. */
  echoKey?: true;
};

export async function startPeer(steps: readonly Step[]): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.behave = (request, response) => answer(steps[receiver.got.length - 1] ?? steps.at(-1) ?? {}, request, response);
  return receiver;
}

function answer(step: Step, request: ReceivedRequest, response: ServerResponse): void {
  if (step.hang) return;
  if (step.close) return void response.socket?.destroy();
  const headers = { "content-type": "application/json", ...step.headers };
  if (step.cut) {
    response.writeHead(200, { ...headers, "content-length": "100" }).write('{"ok":true');
    setTimeout(() => response.socket?.destroy(), 20);
    return;
  }
  if (step.drip) {
    response.writeHead(200, headers);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
    return;
  }
  if (step.accept) return void response.writeHead(200, headers).end(JSON.stringify(acceptance(request)));
  const body = step.echoKey ? `bad header: ${String(request.headers["x-cc-api-key"])}` : step.body;
  response.writeHead(step.status ?? 200, headers).end(typeof body === "string" ? body : JSON.stringify(body));
}

function acceptance({ path, text }: ReceivedRequest): unknown {
  const accepted = (event: unknown) => ({ ok: true, event, results: { sandbox: { ok: true } } });
  const body = JSON.parse(text) as { event?: string; events?: { event: string }[] };
  if (!path.endsWith("/batch")) return accepted(body.event);
  return { ok: true, results: (body.events ?? []).map(({ event }) => accepted(event)) };
}
