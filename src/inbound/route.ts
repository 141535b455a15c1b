// POST /__cc/inbound: reads the request, and passes a validated event to the pipeline. batch.ts takes many in one request.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { writeAnswer, type DirectRoute } from "../http/reply.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { Late, within } from "../kernel/deadline.ts";
import { answerBatch } from "./batch.ts";
import type { Admitted } from "./authenticate.ts";
import { maxBodyBytes, createExactFields, readBody, type JsonBody } from "./body.ts";
import { refusals, sendRefusal, type InboundRefusal } from "./refusals.ts";
import {
  admit,
  deadlinesOf,
  describeExit,
  newLine,
  noteRefusal,
  noteUnavailable,
  readEvent,
  receive,
  type InboundCall,
  type InboundOptions,
} from "./event.ts";

const inboundPath = "/__cc/inbound";
const batchPath = `${inboundPath}/batch`;

/** `others` answer requests of other paths before the framework, too. */
export function inboundRoute(app: FastifyInstance, options: InboundOptions, ...others: DirectRoute[]): void {
  function answer(path: InboundPath, request: IncomingMessage, response: ServerResponse): void {
    const answerOne = request.method !== "POST" ? refuseMethod : path === batchPath ? answerBatch : answerEvent;
    answerOne(request, response, options).catch((error: unknown) => {
      options.onDefect(error, {});
      if (!response.headersSent) sendRefusal(response, refusals.internalError);
    });
  }
  // The framework costs more than all checks of the request, so requests for exactly these paths are answered before it.
  // oxlint-disable-next-line typescript/unbound-method -- this function is the listener
  app.server.off("request", app.routing);
  app.server.on("request", (request, response) => {
    // Refused before, because of a wrong secret of an edge.
    if (response.headersSent) return;
    const url = request.url ?? "";
    const path = inboundPathOf(url);
    if (path) answer(path, request, response);
    else if (!others.some((take) => take(url, request, response))) app.routing(request, response);
  });
  // Other forms of the paths, such as an encoded one, and the second server of the host name "localhost". The answer comes
  // before the framework looks at content type or body, which would change the order of the checks.
  for (const path of [inboundPath, batchPath] as const) {
    const onRequest = ({ raw: request }: FastifyRequest, reply: FastifyReply, _done: () => void) =>
      answer(path, request, reply.hijack().raw);
    app.all(path, { onRequest }, () => {});
  }
}

type InboundPath = typeof inboundPath | typeof batchPath;

/** Returns the path of a URL if it is one of this endpoint's. */
export function inboundPathOf(url: string): InboundPath | null {
  if (!url.startsWith(inboundPath)) return null;
  if (ends(url, inboundPath)) return inboundPath;
  return url.startsWith(batchPath) && ends(url, batchPath) ? batchPath : null;
}

const ends = (url: string, path: string) => url.length === path.length || url[path.length] === "?";

async function refuseMethod(request: IncomingMessage, response: ServerResponse, options: InboundOptions): Promise<void> {
  options.rejectedRequests.addRejected(request, refusals.methodNotAllowed, options.now());
  sendRefusal(response, refusals.methodNotAllowed);
}

async function answerEvent(request: IncomingMessage, response: ServerResponse, options: InboundOptions): Promise<void> {
  const call = { request, receivedAt: options.now(), line: newLine(), options };
  try {
    const answer = await answerTo(call);
    if (typeof answer === "string") return writeAnswer(response, 200, answer, eventHeader(call));
    noteRefusal(answer, call);
    sendRefusal(response, answer);
  } finally {
    call.line.ms = options.now() - call.receivedAt;
    options.log(call.line);
  }
}

/** An answer does not wait longer for the id of a duplicate's first event, and has none then. */
const findFirstMs = 500;

/** Names the event of an answer: of a duplicate, the one that came first. */
const eventHeader = ({ line }: InboundCall) => (line.event === undefined ? {} : { headers: { "x-cc-event-id": line.event } });

/** Returns the body of a successful answer, or why the request is refused. */
async function answerTo(call: InboundCall): Promise<InboundRefusal | string> {
  const { request, options } = call;
  const admitted = await admit(call);
  if ("code" in admitted) return admitted;
  const { load } = options;
  const siteId = admitted.site.id;
  const body = await readBody(request, maxBodyBytes, refusals.tooLarge, load.ofBody(siteId));
  if ("code" in body) return body;
  const units = load.take(siteId, 1);
  if (units === 0) return refusals.overloaded;
  try {
    return await threadShare.answer(siteId, () => relayEvent(call, admitted, body));
  } finally {
    load.give(siteId, units);
  }
}

async function relayEvent(call: InboundCall, admitted: Admitted, body: JsonBody): Promise<InboundRefusal | string> {
  const { receivedAt, options } = call;
  const { fields, text } = body;
  const read = readEvent({ fields, exact: createExactFields(text) }, admitted.site, receivedAt);
  if ("code" in read) return read;

  const received = receive(read, admitted, call);
  try {
    // The relay keeps its own deadline; the other one holds even when the store hangs.
    const { relayBy, storeMs } = deadlinesOf(call);
    const relayed = options.relay(received, admitted.site, relayBy);
    const exit = await within(storeMs, relayed, "the store did not answer in time", Late);
    // The id of a duplicate is nowhere stored.
    if (exit.exit === "duplicate")
      call.line.event = (await within(findFirstMs, exit.findFirst(), "too slow").catch(() => null)) ?? undefined;
    return describeExit(exit, read.fields.givenName, received, call);
  } catch (error) {
    options.onDefect(error, { event: received.event.id, site: admitted.site.id });
    return noteUnavailable(error, call);
  }
}
