// POST /__cc/inbound: reads the request, and passes a validated event to the pipeline.

import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, readBytes } from "../http/body.ts";
import { writeAnswer } from "../http/reply.ts";
import { tickMs } from "../kernel/coarseTimers.ts";
import { Late, within } from "../kernel/deadline.ts";
import type { Event, Result } from "../kernel/event.ts";
import type { Exit, Received } from "../pipeline.ts";
import type { ReservedId } from "../delivery/openEvents.ts";
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
  /** Makes the id of an event that is relayed at once: the relay releases it. */
  reserveId: (now: number) => ReservedId;
  answerMs: number;
  maxInFlight: number;
  now: () => number;
  rejectedRequests: RejectedRequests;
  log: (line: InboundLine) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

export function inboundRoute(app: FastifyInstance, options: InboundOptions): void {
  const answer = openAnswers(options);
  // The framework costs more than all checks of the request, so requests for exactly this path are answered before it.
  // oxlint-disable-next-line typescript/unbound-method -- this function is the listener
  app.server.off("request", app.routing);
  app.server.on("request", (request, response) => {
    if (isInbound(request.url ?? "")) answer(request, response);
    else app.routing(request, response);
  });
  // Other forms of the path, such as an encoded one, and the second server of the host name "localhost". The answer comes
  // before the framework looks at content type or body, which would change the order of the checks.
  const onRequest = ({ raw: request }: FastifyRequest, reply: FastifyReply, _done: () => void) =>
    answer(request, reply.hijack().raw);
  app.all(inboundPath, { onRequest }, () => {});
}

const isInbound = (url: string) =>
  url.startsWith(inboundPath) && (url.length === inboundPath.length || url[inboundPath.length] === "?");

function openAnswers(options: InboundOptions) {
  let inFlight = 0;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const answered =
      request.method === "POST" ? answerPost(request, response) : refuseMethod(request, response);
    answered.catch((error: unknown) => {
      options.onDefect(error, {});
      if (!response.headersSent) sendRefusal(response, refusals.internalError);
    });
  }

  async function refuseMethod(request: IncomingMessage, response: ServerResponse): Promise<void> {
    options.rejectedRequests.addRejected(request, refusals.methodNotAllowed, options.now());
    sendRefusal(response, refusals.methodNotAllowed);
  }

  async function answerPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = options.now();
    const line = newLine();
    inFlight += 1;
    try {
      const answered = await answerTo(request, startedAt, line);
      if (typeof answered === "string") {
        line.status = 200;
        return writeAnswer(response, 200, "json", answered);
      }
      line.status = answered.status;
      line.reason = answered.code;
      options.rejectedRequests.addRejected(request, answered, startedAt);
      sendRefusal(response, answered);
    } finally {
      inFlight -= 1;
      line.ms = options.now() - startedAt;
      options.log(line);
    }
  }

  /** Returns the body of a successful answer, or why the request is refused. */
  async function answerTo(
    request: IncomingMessage,
    now: number,
    line: InboundLine,
  ): Promise<InboundRefusal | string> {
    const admitted = await authenticate(request, options.authentication, now);
    if ("code" in admitted) return admitted;
    const { site, key } = admitted;
    line.site = site.id;
    line.key = key.id;
    options.countUse(admitted, now);
    if (inFlight > options.maxInFlight) return refusals.overloaded;

    const refused = checkBodyHeaders(request.headers);
    if (refused) return refused;
    const body = parseBody(await readBytes(request, maxBodyBytes));
    if ("code" in body) return body;
    const fields = readFields(body, site.settings, now);
    if (fields instanceof FieldFault) return refusals.invalidField(fields.message);

    const extra = readExtra(body.fields, site);
    const reservedId = options.reserveId(now);
    const event = newEvent(fields, {
      id: reservedId.id,
      siteId: site.id,
      keyId: key.id,
      mode: key.mode,
      receivedAt: now,
      extra,
    });
    line.event = event.id;
    line.name = event.name;
    line.mode = event.mode;
    const { eventTime, emailDomain } = fields;
    const received = { event, reservedId, eventTime, emailDomain };
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
      return renderExit(exit, event);
    } catch (error) {
      // The store did not take the event: the sender has to retry.
      options.onDefect(error, { event: event.id, site: site.id });
      line.exit = "unavailable";
      return refusals.unavailable;
    }
  }

  return answer;
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

function checkBodyHeaders(headers: IncomingHttpHeaders): InboundRefusal | null {
  const type = headers["content-type"];
  if (type !== "application/json" && type?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    return refusals.wrongContentType;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") return refusals.contentEncoding;
  return null;
}

const byteOrderMark = 0xfeff;

function parseBody(bytes: Buffer | "too large" | "cut"): Body | InboundRefusal {
  if (bytes === "too large") return refusals.tooLarge;
  if (bytes === "cut") return refusals.incompleteBody;
  if (!isUtf8(bytes)) return refusals.invalidUtf8;
  const read = bytes.toString("utf8");
  const text = read.charCodeAt(0) === byteOrderMark ? read.slice(1) : read;
  try {
    const fields: unknown = JSON.parse(text);
    return isJsonObject(fields) ? { fields, text } : refusals.notAnObject;
  } catch {
    return text.trim() === "" ? refusals.emptyBody : refusals.invalidJson;
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
