// POST /__cc/inbound: reads the request, and passes a validated event to the pipeline. batch.ts takes many in one request.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { writeAnswer } from "../http/reply.ts";
import { Late, within } from "../kernel/deadline.ts";
import { answerBatch } from "./batch.ts";
import { maxBodyBytes, createExactFields, readBody } from "./body.ts";
import { refusals, sendRefusal, type InboundRefusal } from "./refusals.ts";
import * as steps from "./steps.ts";
import type { InboundLine, InboundOptions, Load } from "./steps.ts";

const inboundPath = "/__cc/inbound";
const batchPath = `${inboundPath}/batch`;

export function inboundRoute(app: FastifyInstance, options: InboundOptions): void {
  const answer = createAnswers(options);
  // The framework costs more than all checks of the request, so requests for exactly these paths are answered before it.
  // oxlint-disable-next-line typescript/unbound-method -- this function is the listener
  app.server.off("request", app.routing);
  app.server.on("request", (request, response) => {
    const path = inboundPathOf(request.url ?? "");
    if (path) answer(path, request, response);
    else app.routing(request, response);
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

function createAnswers(options: InboundOptions) {
  const load: Load = { inFlight: 0 };

  return function answer(path: InboundPath, request: IncomingMessage, response: ServerResponse): void {
    const answered =
      request.method !== "POST"
        ? refuseMethod(request, response)
        : path === batchPath
          ? answerBatch(request, response, options, load)
          : answerEvent(request, response, options, load);
    answered.catch((error: unknown) => {
      options.onDefect(error, {});
      if (!response.headersSent) sendRefusal(response, refusals.internalError);
    });
  };

  async function refuseMethod(request: IncomingMessage, response: ServerResponse): Promise<void> {
    options.rejectedRequests.addRejected(request, refusals.methodNotAllowed, options.now());
    sendRefusal(response, refusals.methodNotAllowed);
  }
}

async function answerEvent(
  request: IncomingMessage,
  response: ServerResponse,
  options: InboundOptions,
  load: Load,
): Promise<void> {
  const now = options.now();
  const line = steps.newLine();
  load.inFlight += 1;
  try {
    const answered = await answerTo(request, options, load, now, line);
    if (typeof answered === "string") return writeAnswer(response, 200, "json", answered);
    steps.noteRefusal(request, answered, options, now, line);
    sendRefusal(response, answered);
  } finally {
    load.inFlight -= 1;
    line.ms = options.now() - now;
    options.log(line);
  }
}

/** Returns the body of a successful answer, or why the request is refused. */
async function answerTo(
  request: IncomingMessage,
  options: InboundOptions,
  load: Load,
  now: number,
  line: InboundLine,
): Promise<InboundRefusal | string> {
  const admitted = await steps.admit(request, options, load.inFlight - 1, now, line);
  if ("code" in admitted) return admitted;
  const body = await readBody(request, maxBodyBytes, refusals.tooLarge);
  if ("code" in body) return body;
  const { fields, text } = body;
  const read = steps.readEvent({ fields, exact: createExactFields(text) }, admitted.site, now);
  if ("code" in read) return read;

  const received = steps.receive(read, admitted, options, now, line);
  try {
    // The relay keeps its own deadline; the other one holds even when the store hangs.
    const relayed = options.relay(received, admitted.site, now + steps.relayTimeoutMs(options.answerMs));
    const leftMs = now + steps.storeTimeoutMs(options.answerMs) - options.now();
    const exit = await within(leftMs, relayed, "the store did not answer in time", Late);
    return steps.describeExit(exit, read.fields.givenName, received, options, line);
  } catch (error) {
    // The store did not take the event: the sender has to retry.
    options.onDefect(error, { event: received.event.id, site: admitted.site.id });
    line.exit = "unavailable";
    line.error = error;
    return refusals.unavailable;
  }
}
