// How requests end when the relay stops: whoever was heard gets an answer, nobody is kept waiting, and no connection is cut
// under a request.

import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

export type Requests = {
  /** Those that are not answered yet. */
  open: ReadonlyMap<IncomingMessage, ServerResponse>;
  /** From now on every answer is the last of its connection: its sender, or a proxy, makes the next one elsewhere. */
  hangUp(): void;
};

export function followRequests(app: FastifyInstance): Requests {
  const open = new Map<IncomingMessage, ServerResponse>();
  let isLeaving = false;
  app.addHook("onRequest", ({ raw: request }, { raw: response }, done) => {
    open.set(request, response);
    // Also when the sender hangs up before the answer.
    response.once("close", () => open.delete(request));
    if (isLeaving) isLast(response);
    done();
  });
  return {
    open,
    hangUp() {
      isLeaving = true;
      for (const response of open.values()) isLast(response);
    },
  };
}

function isLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("connection", "close");
}

/**
 * Stops listening, lets every request that arrived whole get its answer, and hangs up on everybody else: an idle
 * connection and a sender that fell silent half way do not hold up a stop. Who is not answered after `timeoutMs` is
 * not waited for.
 */
export async function closeServer(
  app: FastifyInstance,
  { open }: Pick<Requests, "open">,
  timeoutMs: number,
): Promise<void> {
  const latest = performance.now() + timeoutMs;
  const closed = app.close();
  while ([...open.keys()].some((request) => request.complete) && performance.now() < latest) await sleep(20);
  app.server.closeAllConnections();
  await closed;
}
