// POST /__cc/inbound: reads the request, and passes a validated event to the pipeline.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, readBytes } from "../http/body.ts";
import { tickMs } from "../kernel/coarseTimers.ts";
import { Late, within } from "../kernel/deadline.ts";
import type { Event, Result } from "../kernel/event.ts";
import type { Exit, Received } from "../pipeline.ts";
import type { Site } from "../sites/directory.ts";
import { authenticate, type Admitted, type AuthenticateOptions } from "./authenticate.ts";
import { FieldFault, newEvent, readExtra, readFields, type Body } from "./fields.ts";
import { refusals, sendRefusal, type InboundRefusal } from "./refusals.ts";
import type { RejectedRequests } from "./rejectedRequests.ts";

export const inboundPath = "/__cc/inbound";

const maxBodyBytes = 64 * 1024;
/**
 * Of the time limit for the answer the relay gets a little less, and a hung store is given up in between. Both end up to a
 * tick late, and the relay always before the store is given up: it may have an answer.
 */
const relayTimeoutMs = (answerMs: number) => answerMs - Math.max(0.04 * answerMs, 3 * tickMs);
const storeTimeoutMs = (answerMs: number) => answerMs - Math.max(0.02 * answerMs, tickMs);

/** One wide line per request, for the log and the metrics. The fields of steps that the request did not reach are undefined. */
export type InboundLine = {
  site: string | undefined;
  key: string | undefined;
  event: string | undefined;
  name: string | undefined;
  mode: Event["mode"] | undefined;
  exit: Exit["exit"] | "unavailable" | undefined;
  reasons: readonly string[] | undefined;
  results: Readonly<Record<string, Result>> | undefined;
  /** Undefined when a defect prevented the answer. */
  status: number | undefined;
  /** The code of a refusal. */
  reason: string | undefined;
  ms: number;
};

type InboundOptions = {
  authentication: AuthenticateOptions;
  relay: (received: Received, site: Site, deadline: number) => Promise<Exit>;
  countUse: (admitted: Admitted, now: number) => void;
  /** Makes the id of an event. */
  newId: (now: number) => string;
  answerMs: number;
  maxInFlight: number;
  now: () => number;
  rejectedRequests: RejectedRequests;
  log: (line: InboundLine) => void;
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
    const line = newLine();
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
    line: InboundLine,
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

    const event = newEvent(fields, {
      id: options.newId(now),
      siteId: site.id,
      keyId: key.id,
      mode: key.mode,
      receivedAt: now,
      extra: readExtra(body.fields, site),
    });
    line.event = event.id;
    line.name = event.name;
    line.mode = event.mode;
    const received = { event, eventTime: fields.eventTime, emailDomain: fields.emailDomain };
    try {
      // The relay keeps its own deadline; the other one holds even when the store hangs.
      const relayed = options.relay(received, site, now + relayTimeoutMs(options.answerMs));
      const leftMs = now + storeTimeoutMs(options.answerMs) - options.now();
      const exit = await within(leftMs, relayed, "the store did not answer in time", Late);
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

/** All fields from the start, so that every line has the same shape. */
function newLine(): InboundLine {
  return {
    site: undefined,
    key: undefined,
    event: undefined,
    name: undefined,
    mode: undefined,
    exit: undefined,
    reasons: undefined,
    results: undefined,
    status: undefined,
    reason: undefined,
    ms: 0,
  };
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
