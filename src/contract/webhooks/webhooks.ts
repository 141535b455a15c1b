// Declares the routes of the webhooks that receive the totals.

import { z } from "zod";
import { count, done, from, httpStatus, id, moment, page, paging, response, type Route, time, to } from "../route.ts";

const sendEmpty = z.boolean().describe("True to also push periods without any events.");

const webhook = z
  .object({
    id,
    url: z.string().describe("The origin only: the rest of the URL may hold a token."),
    sendEmpty,
    state: z.enum(["active", "disabled"]),
    stateReason: z.string().nullable(),
    failingSince: time.nullable().describe("Time of the first of the current series of failures."),
    attempts: count,
    createdAt: time,
    waiting: count.describe("Number of periods that wait to be pushed."),
    waitingTotals: z.object({ conversions: count, removed: count }).describe("Of the periods that wait."),
    oldSecretUntil: time.nullable().describe("Until when pushes are also signed with the old secret; null after that."),
    nextPushAt: time.nullable(),
    lastPushAt: time.nullable(),
  })
  .meta({ id: "Webhook" });

export const webhookRoutes = {
  "GET /sites/:site/webhooks": {
    summary: "List the webhooks that receive totals, with the current period",
    allow: "viewer",
    answer: z.object({
      items: z.array(webhook),
      period: z.object({ startsAt: time.nullable(), endsAt: time, seconds: z.number() }),
    }),
  },
  "POST /sites/:site/webhooks": {
    summary: "Create a webhook; its secret is shown once",
    allow: "admin",
    body: z.object({ url: z.string().max(3000), sendEmpty: sendEmpty.default(true) }),
    answer: z.object({ webhook, secret: z.string().describe("Signs the pushes. Shown only this once.") }),
  },
  "GET /sites/:site/webhooks/:webhook/pushes": {
    summary: "List a webhook's pushes, newest first",
    allow: "viewer",
    query: z.object(paging),
    answer: page(
      z.object({
        id,
        startedAt: time,
        durationMs: count,
        ok: z.boolean(),
        httpStatus,
        error: z.string().nullable(),
        response,
        period: z
          .object({ startsAt: time, endsAt: time, conversions: count, removed: count })
          .nullable()
          .describe("The period and the totals that were pushed; null for a test push."),
      }),
    ),
  },
  "GET /sites/:site/webhooks/:webhook/pushes.csv": {
    summary: "Export a webhook's pushes as CSV",
    allow: "viewer",
    answer: "csv",
  },
  "POST /sites/:site/webhooks/:webhook/test": {
    summary: "Send a test push",
    allow: "admin",
    answer: z.object({
      ok: z.boolean(),
      httpStatus,
      error: z.string().nullable(),
      response,
      durationMs: count,
      body: z.string().describe("The body that was sent."),
    }),
  },
  "POST /sites/:site/webhooks/:webhook/rotate": {
    summary: "Create a new secret, used at once; the old one stays valid for 24 hours",
    allow: "admin",
    answer: z.object({ secret: z.string().describe("Shown only this once."), oldUntil: time }),
  },
  "POST /sites/:site/webhooks/:webhook/disable": {
    summary: "Disable a webhook; its periods are kept and wait",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/webhooks/:webhook/enable": {
    summary: "Enable a webhook; waiting periods are pushed, oldest first",
    allow: "admin",
    answer: z.object({ waiting: count.describe("Number of periods that are pushed now.") }),
  },
  "POST /sites/:site/webhooks/:webhook/replay": {
    summary: "Push closed periods again, under their original ids",
    allow: "admin",
    body: z.object({ from: moment.describe(from), to: moment.describe(to) }),
    answer: z.object({
      periods: count,
      isDisabled: z.boolean().describe("True if the periods wait until the webhook is enabled."),
    }),
  },
  "DELETE /sites/:site/webhooks/:webhook": {
    summary: "Delete a webhook, its queue and its log",
    allow: "admin",
    answer: done,
  },
} satisfies Record<string, Route>;
