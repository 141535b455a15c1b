// Answers in plain text, and answers without the framework.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

const contentTypes = {
  json: "application/json; charset=utf-8",
  text: "text/plain; charset=utf-8",
};

export function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type(contentTypes.text).send(`${text}\n`);
}

export const sendNotFound = (reply: FastifyReply): FastifyReply => sendText(reply, 404, "Not found.");

/** Answers a request and returns true, or leaves it to the framework. */
export type DirectRoute = (url: string, request: IncomingMessage, response: ServerResponse) => boolean;

type AnswerOptions = {
  format?: keyof typeof contentTypes;
  /** Another content type than that of the format. */
  type?: string;
  headers?: OutgoingHttpHeaders;
  afterBody?: boolean;
};

/**
 * Answers a request that the framework does not handle. The end of an answer may close the connection, and a sender that still
 * writes would lose the answer: with `afterBody`, the answer ends when the rest of the body has been drained.
 */
export function writeAnswer(
  response: ServerResponse,
  status: number,
  body: string,
  { format = "json", type = contentTypes[format], headers, afterBody = false }: AnswerOptions = {},
): void {
  response.writeHead(status, {
    ...headers,
    "content-type": type,
    "content-length": Buffer.byteLength(body),
  });
  if (!afterBody || response.req.complete) return void response.end(body);
  response.write(body);
  response.req.once("close", () => response.end());
}
