// POST /__cc/inbound. Knows HTTP, and hands a validated event to the pipeline.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Late, within } from "../kernel/deadline.ts";
import type { Event } from "../kernel/event.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type { Exit, Received } from "../pipeline.ts";
import type { Site } from "../sites/directory.ts";
import { authenticate, type Admitted, type Gate } from "./authenticate.ts";
import { readBody } from "./body.ts";
import { refusals, type Refusal } from "./errors.ts";
import { extraIn } from "./extra.ts";
import { FieldFault, readFields, type Fields } from "./fields.ts";
import { reasonOf } from "./reasons.ts";
import type { Unseen } from "./rejectedRequests.ts";

export const inboundPath = "/__cc/inbound";

/** Of the time that an answer may take: for results that come in time, and for a refusal if nothing does. */
const relayShare = 0.96;
const answerShare = 0.98;

export type InboundOptions = {
  gate: Gate;
  relay: (received: Received, site: Site, deadline: number) => Promise<Exit>;
  countUse: (admitted: Admitted, now: number) => void;
  answerMs: number;
  maxInFlight: number;
  now: () => number;
  /** Counts what leaves no event behind. */
  unseen: Unseen;
  /** One wide line per request. */
  log: (line: Record<string, unknown>) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

export function inboundRoute(app: FastifyInstance, options: InboundOptions): void {
  let inFlight = 0;
  // Answered before the framework looks at content type or body: our own order of checks holds.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.method !== "POST") {
      options.unseen.refused(request.raw, refusals.methodNotAllowed, options.now());
      return refuse(reply, refusals.methodNotAllowed);
    }
    const startedAt = options.now();
    const line: Record<string, unknown> = { msg: "inbound" };
    inFlight += 1;
    try {
      const answer = await answerTo(request.raw, startedAt, line);
      line.status = "status" in answer ? answer.status : 200;
      if ("status" in answer) {
        line.reason = reasonOf(answer);
        options.unseen.refused(request.raw, answer, startedAt);
      }
      return "status" in answer
        ? refuse(reply, answer)
        : reply.type("application/json; charset=utf-8").send(answer.body);
    } finally {
      inFlight -= 1;
      line.ms = options.now() - startedAt;
      options.log(line);
    }
  };
  app.all(inboundPath, { onRequest }, (_request, reply) => refuse(reply, refusals.methodNotAllowed));

  async function answerTo(
    request: IncomingMessage,
    now: number,
    line: Record<string, unknown>,
  ): Promise<Refusal | { body: string }> {
    const admitted = await authenticate(request, options.gate, now);
    if ("status" in admitted) return admitted;
    const { site, key } = admitted;
    line.site = site.id;
    line.key = key.id;
    options.countUse(admitted, now);
    if (inFlight > options.maxInFlight) return refusals.overloaded;

    const body = await readBody(request);
    if ("status" in body) return body;
    const fields = readFields(body, site.settings, now);
    if (fields instanceof FieldFault) return refusals.field(fields.message);

    const event = { ...eventOf(fields, admitted, now), extra: extraIn(body, site) };
    line.event = event.id;
    line.name = event.name;
    line.mode = event.mode;
    const received = { event, eventTime: fields.eventTime, emailDomain: fields.emailDomain };
    try {
      const leftMs = now + options.answerMs - options.now();
      // The relay keeps its deadline on its own; a store that hangs must not hold the sender longer than promised.
      const relayed = options.relay(received, site, now + options.answerMs * relayShare);
      const exit = await within(leftMs * answerShare, relayed, "the store did not answer in time", Late);
      line.exit = exit.exit;
      if (exit.exit === "duplicate") options.unseen.duplicate(site.id, now);
      // Their kinds alone: what stands behind the colon may be somebody's domain.
      if (exit.exit === "filtered") line.reasons = exit.reasons.map((one) => one.split(":", 1)[0]);
      if (exit.exit === "dispatched") line.results = exit.results;
      return { body: bodyOf(exit, event) };
    } catch (error) {
      // The store did not take the event: the sender must know, and try again.
      options.onDefect(error, { event: event.id, site: site.id });
      line.exit = "unavailable";
      return refusals.unavailable;
    }
  }
}

export function refuse(reply: FastifyReply, { status, headers, body }: Refusal): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}

function eventOf(fields: Fields, { site, key }: Admitted, now: number): Omit<Event, "extra"> {
  return {
    id: uuidv7(now),
    siteId: site.id,
    keyId: key.id,
    mode: key.mode,
    name: fields.event,
    value: fields.value,
    currency: fields.currency,
    orderId: fields.orderId,
    time: fields.eventTime ?? now,
    receivedAt: now,
    person: fields.person,
  };
}

function bodyOf(exit: Exit, event: Event): string {
  switch (exit.exit) {
    case "duplicate":
      return '{"ok":true,"deduped":true}';
    case "filtered":
      return '{"ok":true,"filtered":true}';
    case "dispatched":
      return JSON.stringify({ ok: true, event: event.name, results: exit.results });
  }
}
