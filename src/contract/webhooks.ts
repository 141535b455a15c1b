// Webhooks that receive the totals.

import { z } from "zod";
import { count, done, id, moment, page, paging, type Route, time } from "./route.ts";

export const webhook = z.object({
  id,
  /** The origin; the rest may hold a token. */
  url: z.string(),
  sendEmpty: z.boolean(),
  state: z.enum(["active", "disabled"]),
  stateReason: z.string().nullable(),
  failingSince: time.nullable(),
  attempts: count,
  createdAt: time,
  waiting: count,
  nextPushAt: time.nullable(),
  lastPushAt: time.nullable(),
});

export const webhookRoutes = {
  "GET /sites/:site/webhooks": {
    summary: "Webhooks that receive the totals, and the running period",
    allow: "viewer",
    answer: z.object({
      items: z.array(webhook),
      period: z.object({ startsAt: time.nullable(), endsAt: time, seconds: z.number() }),
    }),
  },
  "POST /sites/:site/webhooks": {
    summary: "Send the totals to an address; its secret is shown once",
    allow: "admin",
    body: z.object({ url: z.string().max(3000), sendEmpty: z.boolean().default(true) }),
    answer: z.object({ webhook, secret: z.string() }),
  },
  "GET /sites/:site/webhooks/:webhook/pushes": {
    summary: "The log of its pushes, newest first",
    allow: "viewer",
    query: z.object(paging),
    answer: page(
      z.object({
        id,
        startedAt: time,
        durationMs: count,
        ok: z.boolean(),
        httpStatus: z.number().int().nullable(),
        error: z.string().nullable(),
        response: z.string().nullable(),
        /** Null for a test. */
        period: z.object({ startsAt: time, endsAt: time, conversions: count, removed: count }).nullable(),
      }),
    ),
  },
  "GET /sites/:site/webhooks/:webhook/pushes.csv": {
    summary: "The same pushes as a table",
    allow: "viewer",
    answer: "csv",
  },
  "POST /sites/:site/webhooks/:webhook/test": {
    summary: "Send a test push now",
    allow: "admin",
    answer: z.object({
      ok: z.boolean(),
      httpStatus: z.number().int().nullable(),
      error: z.string().nullable(),
      response: z.string().nullable(),
      durationMs: count,
      body: z.string(),
    }),
  },
  "POST /sites/:site/webhooks/:webhook/rotate": {
    summary: "A new secret, used at once; the old one is good for a day more",
    allow: "admin",
    answer: z.object({ secret: z.string(), oldUntil: time }),
  },
  "POST /sites/:site/webhooks/:webhook/disable": {
    summary: "Stop pushing; periods wait",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/webhooks/:webhook/enable": {
    summary: "Push again, the oldest period first",
    allow: "admin",
    answer: z.object({ waiting: count }),
  },
  "POST /sites/:site/webhooks/:webhook/replay": {
    summary: "Push closed periods again, under the ids that they had",
    allow: "admin",
    body: z.object({ from: moment, to: moment }),
    answer: z.object({ periods: count, isDisabled: z.boolean() }),
  },
  "DELETE /sites/:site/webhooks/:webhook": {
    summary: "Take a webhook away, with what waits for it and its log",
    allow: "admin",
    answer: done,
  },
} satisfies Record<string, Route>;
