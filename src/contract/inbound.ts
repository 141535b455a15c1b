// Describes events and answers of the inbound endpoint, for the OpenAPI document. The endpoint checks requests itself
// (src/inbound/fields.ts), at a fraction of the cost; a test compares the two.

import { z } from "zod";

export const maxBatchEvents = 500;

const text = (about: string, max = 512) => z.string().max(max).describe(about).optional();

const item = z.object({
  id: z.union([z.string().min(1).max(128), z.number()]).describe("The product, as your catalogue names it."),
  name: text("At most 512 characters, like category and brand."),
  category: text("The category of the product."),
  brand: text("The brand of the product."),
  price: z.number().min(0).max(1_000_000_000_000).describe("The price of one, in the event's currency.").optional(),
  quantity: z.int().min(1).max(1_000_000).describe("Default: 1.").optional(),
});

export const inboundEvent = z
  .object({
    email: text("Required unless `hashed_email` is sent. Hashed on receipt."),
    hashed_email: text("SHA-256 of the trimmed, lower-cased email, 64 hex characters."),
    event: z.string().min(1).max(100).describe("The name of the event, such as `purchase`."),
    value: z
      .union([z.number().min(0).max(1_000_000_000_000), z.string().regex(/^\d{1,12}(\.\d{1,15})?$/)])
      .describe('Not negative: send a refund as an event named `refund`. Decimal text such as `"49.90"` is a number too.')
      .optional(),
    currency: text("ISO 4217, in any case. Default: USD."),
    orderId: z
      .union([z.string().max(256), z.number()])
      .describe("Two events with the same name, order id and email are duplicates.")
      .optional(),
    refundId: z
      .union([z.string().max(256), z.number()])
      .describe("The id of a refund: each partial refund of an order counts.")
      .optional(),
    phone: z
      .union([z.string().max(512), z.number()])
      .describe("With country code, or set the site's `country`. Hashed on receipt.")
      .optional(),
    firstName: text("Hashed on receipt."),
    lastName: text("Hashed on receipt."),
    eventTime: z
      .union([z.string(), z.number()])
      .describe("ISO 8601 or Unix seconds; at most 90 days ago. Default: now.")
      .optional(),
    clickIds: z
      .record(z.string(), z.string().max(2048))
      .describe('Click ids that you know, such as `{"gclid":"…"}`. They join those of the person\'s visits.')
      .optional(),
    clickTime: z.union([z.string(), z.number()]).describe("The time of the click; that of the event without it.").optional(),
    leadId: z.union([z.string(), z.number()]).describe("Meta's id of a lead from one of its forms, 15 to 17 digits.").optional(),
    items: z.array(item).max(100).describe("The lines of an order or cart.").optional(),
  })
  .meta({ id: "InboundEvent" });

const result = z.object({
  ok: z.boolean(),
  status: z
    .enum(["queued", "skipped", "rejected", "parked", "expired"])
    .describe("Missing if the platform accepted the event.")
    .optional(),
  error: z.string().describe("The reason.").optional(),
});

const answered = {
  event: z.string().describe("The name of the event. Missing for a duplicate or filtered one.").optional(),
  results: z.record(z.string(), result).describe("The result of each platform, by its id.").optional(),
  deduped: z.literal(true).describe("The same event arrived before.").optional(),
  filtered: z.literal(true).describe("A rule of the site filtered the event.").optional(),
};

export const inboundAnswer = z.object({ ok: z.literal(true), ...answered }).meta({ id: "InboundAnswer" });
export const inboundError = z.object({ ok: z.literal(false), error: z.string() }).meta({ id: "InboundError" });

export const inboundBatch = z.object({
  events: z.array(inboundEvent).max(maxBatchEvents).describe("Each as for `/__cc/inbound`."),
});
export const inboundBatchAnswer = z.object({
  ok: z.literal(true),
  results: z
    .array(
      z.object({
        ok: z.boolean(),
        ...answered,
        error: z.string().describe("Why the event was refused.").optional(),
        status: z.int().describe("The status that the event would have got alone. Repeat events with 429 or 503.").optional(),
      }),
    )
    .describe("One for each event, in order."),
});
