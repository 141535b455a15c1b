// POST /__cc/inbound: reads the request, and passes a validated event to the pipeline.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, readBytes } from "../http/body.ts";
import { Late, within } from "../kernel/deadline.ts";
import type { Event } from "../kernel/event.ts";
import type { Exit, Received } from "../pipeline.ts";
import type { Site } from "../sites/directory.ts";
import { authenticate, type Admitted, type AuthenticateOptions } from "./authenticate.ts";
import { FieldFault, newEvent, readExtra, readFields, type Body } from "./fields.ts";
import { refusals, sendRefusal, type InboundRefusal } from "./refusals.ts";
import type { RejectedRequests } from "./rejectedRequests.ts";

export const inboundPath = "/__cc/inbound";

const maxBodyBytes = 64 * 1024;
/** Shares of the time limit for the answer: after the first no more results are awaited, at the second a hung store is given up. */
const relayShare = 0.96;
const answerShare = 0.98;

type InboundOptions = {
  authentication: AuthenticateOptions;
  relay: (received: Received, site: Site, deadline: number) => Promise<Exit>;
  countUse: (admitted: Admitted, now: number) => void;
  /** Makes the id of an event that is relayed at once: the relay releases it. */
  newId: (now: number) => string;
  answerMs: number;
  maxInFlight: number;
  now: () => number;
  rejectedRequests: RejectedRequests;
  /** One wide line per request. */
  log: (line: Record<string, unknown>) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

export function inboundRoute(app: FastifyInstance, options: InboundOptions): void {
  let inFlight = 0;
  // Answers before the framework looks at content type or body, which would change the order of the checks.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.method !== "POST") {
      options.rejectedRequests.addRejected(request.raw, refusals.methodNotAllowed, options.now());
      return sendRefusal(reply, refusals.methodNotAllowed);
    }
    const startedAt = options.now();
    const line: Record<string, unknown> = { msg: "inbound" };
    inFlight += 1;
    try {
      const answer = await answerTo(request.raw, startedAt, line);
      if (!("code" in answer)) {
        line.status = 200;
        return reply.type("application/json; charset=utf-8").send(answer.body);
      }
      line.status = answer.status;
      line.reason = answer.code;
      options.rejectedRequests.addRejected(request.raw, answer, startedAt);
      return sendRefusal(reply, answer);
    } finally {
      inFlight -= 1;
      line.ms = options.now() - startedAt;
      options.log(line);
    }
  };
  app.all(inboundPath, { onRequest }, (_request, reply) => sendRefusal(reply, refusals.methodNotAllowed));

  async function answerTo(
    request: IncomingMessage,
    now: number,
    line: Record<string, unknown>,
  ): Promise<InboundRefusal | { body: string }> {
    const admitted = await authenticate(request, options.authentication, now);
    if ("code" in admitted) return admitted;
    const { site, key } = admitted;
    line.site = site.id;
    line.key = key.id;
    options.countUse(admitted, now);
    if (inFlight > options.maxInFlight) return refusals.overloaded;

    const body = await readBody(request);
    if ("code" in body) return body;
    const fields = readFields(body, site.settings, now);
    if (fields instanceof FieldFault) return refusals.invalidField(fields.message);

    const extra = readExtra(body.fields, site);
    const event = newEvent(fields, {
      id: options.newId(now),
      siteId: site.id,
      keyId: key.id,
      mode: key.mode,
      receivedAt: now,
      extra,
    });
    line.event = event.id;
    line.name = event.name;
    line.mode = event.mode;
    const received = { event, eventTime: fields.eventTime, emailDomain: fields.emailDomain };
    try {
      const leftMs = now + options.answerMs - options.now();
      // The relay keeps its own deadline; this one holds even when the store hangs.
      const relayed = options.relay(received, site, now + options.answerMs * relayShare);
      const exit = await within(leftMs * answerShare, relayed, "the store did not answer in time", Late);
      line.exit = exit.exit;
      if (exit.exit === "duplicate") options.rejectedRequests.addDuplicate(site.id, now);
      // Only the codes: a detail may be the domain of a person.
      if (exit.exit === "filtered") line.reasons = [...new Set(exit.reasons.map(({ code }) => code))];
      if (exit.exit === "dispatched") line.results = exit.results;
      return { body: renderExit(exit, event) };
    } catch (error) {
      // The store did not take the event: the sender has to retry.
      options.onDefect(error, { event: event.id, site: site.id });
      line.exit = "unavailable";
      return refusals.unavailable;
    }
  }
}

async function readBody(request: IncomingMessage): Promise<Body | InboundRefusal> {
  const type = request.headers["content-type"];
  if (type === undefined || type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json") {
    return refusals.wrongContentType;
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refusals.contentEncoding;
  const bytes = await readBytes(request, maxBodyBytes);
  if (bytes === "too large") return refusals.tooLarge;
  return bytes === "cut" ? refusals.incompleteBody : parseBody(bytes);
}

function parseBody(bytes: Buffer): Body | InboundRefusal {
  if (!isUtf8(bytes)) return refusals.invalidUtf8;
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  if (text.trim() === "") return refusals.emptyBody;
  try {
    const fields: unknown = JSON.parse(text);
    return isJsonObject(fields) ? { fields, text } : refusals.notAnObject;
  } catch {
    return refusals.invalidJson;
  }
}

function renderExit(exit: Exit, event: Event): string {
  switch (exit.exit) {
    case "duplicate":
      return '{"ok":true,"deduped":true}';
    case "filtered":
      return '{"ok":true,"filtered":true}';
    case "dispatched":
      return JSON.stringify({ ok: true, event: event.name, results: exit.results });
  }
}
