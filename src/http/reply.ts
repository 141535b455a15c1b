// Answers in plain text.

import type { FastifyReply } from "fastify";

export function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type("text/plain; charset=utf-8").send(`${text}\n`);
}

export const sendNotFound = (reply: FastifyReply): FastifyReply => sendText(reply, 404, "Not found.");
