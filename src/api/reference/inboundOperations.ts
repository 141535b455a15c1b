// Describes the operations of the inbound endpoint for the OpenAPI document.

import type { z } from "zod";
import {
  inboundAnswer,
  inboundBatch,
  inboundBatchAnswer,
  inboundError,
  inboundEvent,
  maxBatchEvents,
} from "../../contract/inbound.ts";
import type { Operation, Schema } from "./openapi.ts";

export const inboundTag = "Inbound";
export const inboundSecurity = {
  inboundKey: {
    type: "apiKey",
    in: "header",
    name: "X-CC-Api-Key",
    description: "An inbound key of the site, `cc_live_…` or `cc_test_…`. Keep it on servers.",
  },
};

const statuses = {
  400: "A field is missing or wrong; `error` names it. Malformed bodies are answered in plain text.",
  401: "The key is missing, wrong, revoked or expired.",
  403: "The site does not accept events.",
  413: "The body is too large. Answered in plain text.",
  415: "The body is not JSON. Answered in plain text.",
  426: "HTTPS is required.",
  429: "Too many events or wrong keys. Repeat after `Retry-After`.",
  503: "The event may not have been stored. Repeat after `Retry-After`: if it was stored, the answer is `deduped`.",
};
const inPlainText = new Set(["413", "415"]);

/** The operations by path. `url` is the address of this installation: any host of a site works too. */
export function inboundOperations(
  url: string,
  toSchema: { sent(schema: z.ZodType): Schema; answered(schema: z.ZodType): Schema },
): Record<string, { post: Operation }> {
  const error = toSchema.answered(inboundError);
  const operation = (
    operationId: string,
    summary: string,
    description: string,
    body: z.ZodType,
    answer: z.ZodType,
  ): { post: Operation } => ({
    post: {
      operationId,
      tags: [inboundTag],
      summary,
      description,
      servers: [{ url, description: "This installation, or any host of the site" }],
      parameters: [],
      requestBody: { required: true, content: { "application/json": { schema: toSchema.sent(body) } } },
      responses: {
        "200": {
          description: "Success.",
          content: { "application/json": { schema: toSchema.answered(answer) } },
        },
        ...Object.fromEntries(
          Object.entries(statuses).map(([status, about]) => [
            status,
            {
              description: about,
              content: inPlainText.has(status)
                ? { "text/plain": { schema: { type: "string" } } }
                : { "application/json": { schema: error } },
            },
          ]),
        ),
      },
      security: [{ inboundKey: [] }],
    },
  });
  return {
    "/__cc/inbound": operation(
      "postInbound",
      "Sends a conversion",
      "The event is stored before the answer, and delivered whatever happens to the relay. Sending it again is safe.",
      inboundEvent,
      inboundAnswer,
    ),
    "/__cc/inbound/batch": operation(
      "postInboundBatch",
      "Sends many conversions",
      `At most ${maxBatchEvents} events and 2 MiB, each event at most 64 KiB. A refused event does not affect the others. If none could be taken because of the relay, the whole request is answered 429 or 503.`,
      inboundBatch,
      inboundBatchAnswer,
    ),
  };
}
