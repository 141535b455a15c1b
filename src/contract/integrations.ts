// Declares the routes of platforms, connections, sign-in at a platform, and OAuth apps.

import { z } from "zod";
import { backfillStates, defaultBackfillPace, maxBackfillDays, maxBackfillPace } from "../kernel/backfill.ts";
import { connectionStates } from "../kernel/event.ts";
import { count, done, httpStatus, id, response, sentRequest, time, type Route } from "./route.ts";

const settings = z.record(z.string().max(200), z.string().max(20_000));

const platform = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    docsUrl: z.string().nullable(),
    docsChecked: z.string().nullable().describe("The day on which the documentation was last compared."),
    settings: z.array(
      z.object({
        name: z.string(),
        label: z.string(),
        help: z.string(),
        required: z.boolean(),
        secret: z.boolean().describe("True for a setting that can be set but never read."),
        address: z.boolean().describe("True for a URL that may hold a token."),
        signing: z.boolean().describe("True for the secret that signs requests, which can be rotated."),
        testCode: z.boolean().describe("True for the code without which test events are skipped."),
        multiline: z.boolean().describe("True for a value of several lines, such as JSON."),
        default: z.string().nullable(),
        values: z.array(z.string()).nullable().describe("All values that it can have; null if it can have others."),
        choices: z
          .object({ needs: z.array(z.string()) })
          .nullable()
          .describe("Null if the platform offers no list. `needs` names the settings that it needs first."),
      }),
    ),
    connect: z.string().describe("The command that connects it, with placeholders for the site and the settings."),
    requires: z.array(z.array(z.string())).describe("Sets of settings of which one is required."),
    signIn: z
      .object({
        ready: z.boolean().describe("True once an OAuth app is set."),
        isOptional: z.boolean().describe("True if conversions are sent without it, and it only reads reports."),
      })
      .nullable()
      .describe("Null if the platform has no sign-in."),
    clickIds: z.array(z.string()),
    events: z
      .object({
        standard: z.record(z.string(), z.string()),
        others: z
          .string()
          .nullable()
          .describe("Name for all other events; `own name` is their usual name or the sender's, null means they are not sent."),
        customNames: z
          .object({
            maxLength: z.number().nullable(),
            form: z.enum(["identifier"]).nullable(),
            reserved: z.array(z.string()),
            reservedPrefixes: z.array(z.string()),
          })
          .describe("The platform's rules for names of custom events; other names are changed to follow them."),
        several: z.boolean().describe("True if an event may have several targets, separated by commas."),
        defaultSetting: z
          .string()
          .nullable()
          .describe("The setting with the targets of events without their own, if there is one."),
        choices: z.array(z.string()).nullable(),
      })
      .nullable(),
    fields: z.array(z.object({ name: z.string(), help: z.string(), type: z.enum(["text", "number"]) })),
    maxAgeDays: z.number().nullable().describe("Null if the limit depends on the event."),
    batch: count.describe("Maximum number of events per request."),
    lanes: count.describe("Number of requests at the same time."),
    quota: z.object({ requests: count, seconds: count }).nullable().describe("Null without a limit of requests over time."),
    guide: z
      .object({
        credentials: z.array(z.string()),
        sends: z.array(z.object({ field: z.string(), from: z.string() })),
        notSent: z.array(z.string()),
        consent: z.string(),
        testMode: z.string(),
        limits: z.array(z.string()),
      })
      .nullable(),
  })
  .meta({ id: "Platform" });

const attempts24h = z
  .object({ sent: count, others: count })
  .describe("Results of the attempts in the last 24 hours, of the newest 1,000.");

const verification = z
  .object({
    state: z.enum(["verified", "unverified"]),
    reason: z.string().nullable().describe("Why it is not verified."),
    verifiedAt: time.nullable().describe("When it was last verified; null if it never was with these settings."),
    checkedAt: time.nullable().describe("When the platform was last asked; null if it never was."),
    unchecked: z.string().nullable().describe("Settings that the check does not cover."),
    isCheckable: z.boolean().describe("False if the platform has no call that would verify it."),
  })
  .describe("Verified: the platform answered a read, a validation or a test for this connection, or accepted a conversion.");

const connection = z
  .object({
    id,
    platform: z.string(),
    state: z.enum(connectionStates),
    stateReason: z.string().nullable(),
    events: z.array(z.string()).nullable().describe("Names of the events that are sent; null for all."),
    settings: settings.describe("Secrets are shown as `(configured)`, addresses as their origin."),
    createdAt: time,
    waiting: count.describe("Queued and parked deliveries."),
    attempts24h,
    lastSentAt: time.nullable(),
    verification,
    sendsNothing: z.string().nullable().describe("Why the connection cannot send anything yet; null if it can."),
  })
  .meta({ id: "Connection" });

const days = z.number().int().min(1).max(maxBackfillDays).describe("Length of the period that ends now, in days.");
const leftOut = z
  .record(z.string(), count)
  .describe("Events that are not sent, by reason: too old, without consent, already delivered, erased, test.");

const backfill = z
  .object({
    state: z.enum(backfillStates),
    reason: z.string().nullable().describe("Why it was cancelled."),
    days: count,
    perMinute: count,
    total: count.nullable().describe("Conversions counted at the start; null if counting took too long."),
    queued: count.describe("Conversions that were given to delivery so far."),
    outcomes: z.record(z.string(), count).describe("States of these after their first attempts; `queued` ones are retried."),
    leftOut,
    startedBy: z.string(),
    startedAt: time,
    updatedAt: time,
  })
  .meta({ id: "Backfill" });

const platformId = z.string().max(50).describe("A platform's id.");
const changedSettings = settings.describe("By name. A blank value removes a setting; one that is not named stays.");
const signIn = id.optional().describe("The id of a sign-in that you have finished; its tokens are used.");
const changes = {
  settings: changedSettings,
  events: z.array(z.string().max(100)).nullable().optional().describe("Names of the events to send; null for all."),
  signIn,
};

const verify = z
  .union([z.boolean(), z.literal("never")])
  .default(true)
  .describe(
    "True answers 409 and changes nothing if the platform refuses new credentials of a verified connection; false saves them. `never` saves them without asking the platform.",
  );

const sampleName = z.string().trim().min(1).max(100).default("purchase").describe("Name of the sample event.");
const skipped = z.string().nullable().describe("Why the event would not be sent; null if it would be.");

const preview = z.object({
  fault: z.object({ field: z.string(), message: z.string() }).nullable().describe("The first error in the settings, if any."),
  skipped,
  naming: z
    .string()
    .nullable()
    .describe(
      "The name under which the event is sent, and why; null if it keeps the sender's name, or is not sent for another reason.",
    ),
  request: z
    .object({
      method: z.string(),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.unknown(),
    })
    .nullable(),
});

const released = count.describe("Number of parked deliveries that are sent now.");
const savedConnection = id.optional().describe("A saved connection that the settings extend.");

const newSecret = z.string().nullable().describe("The signing secret, if this request created it. It is shown only this once.");

export const integrationRoutes = {
  "GET /platforms": {
    summary: "List platforms, with their settings",
    allow: "signed in",
    answer: z.object({ items: z.array(platform) }),
  },
  "GET /platforms/names": {
    summary: "List the names of platforms",
    allow: "signed in",
    answer: z.object({ items: z.array(z.object({ id: z.string(), name: z.string() })) }),
  },
  "GET /sites/:site/connections": {
    summary: "List connections, with their health",
    allow: "viewer",
    answer: z.object({ items: z.array(connection) }),
    tool: {
      name: "list_connections",
      description: "Shows if a platform is connected at all, which events it gets, and if it is paused or needs reconnection.",
    },
  },
  "POST /sites/:site/connections": {
    summary: "Connect a platform, or change the connection to the same account, and verify it. Parked deliveries are sent then",
    allow: "admin",
    body: z.object({ platform: platformId, ...changes, verify }),
    answer: z.object({ connection, isNew: z.boolean(), released, newSecret }),
  },
  "PATCH /sites/:site/connections/:connection": {
    summary: "Change a connection's settings, events or mapping, or reconnect it with a sign-in",
    allow: "admin",
    body: z.object({ ...changes, verify }),
    answer: z.object({ connection, released, newSecret }),
  },
  "DELETE /sites/:site/connections/:connection": {
    summary: "Delete a connection; waiting deliveries are not sent",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/connections/:connection/rotate": {
    summary: "Create a new signing secret, used at once; for 24 hours requests are signed with the old one too",
    allow: "admin",
    answer: z.object({ secret: z.string().describe("Shown only this once."), oldUntil: time }),
  },
  "POST /sites/:site/connections/:connection/pause": {
    summary: "Pause a connection; its deliveries are parked until it is resumed",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/connections/:connection/resume": {
    summary: "Resume a connection; parked deliveries are sent first",
    allow: "admin",
    answer: z.object({ released }),
  },
  "POST /sites/:site/connections/preview": {
    summary: "Preview the exact request for an event, also with unsaved settings; nothing is sent",
    allow: "admin",
    body: z.object({
      platform: platformId,
      connection: savedConnection,
      ...changes,
      event: id.optional().describe("The id of a past event; without one a sample is used."),
      name: sampleName,
    }),
    answer: preview,
  },
  "POST /sites/:site/connections/:connection/values/preview": {
    summary: "Preview what value rules would have sent for the last hundred conversions, also with unsaved rules",
    allow: "admin",
    body: z.object({
      values: z
        .record(z.string().max(100), z.string().max(2000))
        .default({})
        .describe("Unsaved rules by the name of the event, or `*`; an empty one removes the saved rule."),
    }),
    answer: z.object({
      conversions: count.describe("Live conversions that would be sent, at most 100."),
      changed: count.describe("Of these, those whose value a rule changes."),
      totals: z
        .array(z.object({ currency: z.string(), value: z.number(), sentValue: z.number() }))
        .describe("The sum of the events' own values, and of what would be sent, by currency."),
      examples: z.array(
        z.object({
          event: id,
          name: z.string(),
          orderId: z.string().nullable(),
          value: z.number().nullable(),
          currency: z.string(),
          sentValue: z.number().nullable(),
          sentCurrency: z.string(),
          rule: z.string(),
        }),
      ),
    }),
  },
  "POST /sites/:site/connections/:connection/verify": {
    summary: "Ask the platform, with a call that counts nothing, if it would take conversions of a connection",
    allow: "admin",
    answer: z.object({ verification }),
  },
  "POST /sites/:site/connections/:connection/backfill/count": {
    summary: "Count the conversions of the last days that a backfill would send; nothing is sent",
    allow: "admin",
    body: z.object({ days }),
    answer: z.object({
      found: count.describe("Events in the period."),
      sendable: count.describe("Those that would be sent."),
      leftOut,
      isComplete: z.boolean().describe("False if counting took too long: the numbers are then of a part of the period."),
    }),
  },
  "GET /sites/:site/connections/:connection/backfill": {
    summary: "Get the progress of the connection's last backfill",
    allow: "viewer",
    answer: z.object({ backfill: backfill.nullable() }),
  },
  "POST /sites/:site/connections/:connection/backfill": {
    summary: "Send the conversions of the last days that the platform can still take and does not have",
    allow: "admin",
    body: z.object({
      days,
      perMinute: z
        .number()
        .int()
        .min(1)
        .max(maxBackfillPace)
        .default(defaultBackfillPace)
        .describe("Maximum number of conversions per minute. Live events are sent first in any case."),
    }),
    answer: z.object({ backfill }),
  },
  "POST /sites/:site/connections/:connection/backfill/cancel": {
    summary: "Cancel a running backfill; what the platform has received stays there",
    allow: "admin",
    answer: z.object({ backfill }),
  },
  "POST /sites/:site/connections/:connection/test": {
    summary: "Send a sample event in the platform's own test mode",
    allow: "admin",
    body: z.object({ name: sampleName }),
    answer: z.object({
      skipped,
      outcome: z.enum(["accepted", "rejected", "retry", "unauthorized"]).nullable(),
      error: z.string().nullable(),
      httpStatus,
      request: sentRequest.nullable(),
      response,
      durationMs: count,
    }),
    tool: {
      name: "test_connection",
      description: "The platform counts nothing. Use it after a connection was repaired.",
      isOpenWorld: true,
    },
  },
  "POST /sites/:site/connections/choices": {
    summary: "List the choices that a platform offers for a setting: accounts, pixels, conversion actions",
    allow: "admin",
    body: z.object({
      platform: platformId,
      setting: z.string().max(100),
      connection: savedConnection,
      settings: changedSettings,
      signIn,
    }),
    answer: z.object({ items: z.array(z.object({ value: z.string(), label: z.string() })) }),
  },
  "POST /sites/:site/sign-ins": {
    summary: "Start a sign-in at a platform: open `url` in this browser within ten minutes",
    allow: "admin",
    apiKeys: false,
    body: z.object({ platform: platformId }),
    answer: z.object({ id, url: z.string(), expiresAt: time }),
  },
  "GET /sites/:site/sign-ins/:signIn": {
    summary: "Get the progress of a sign-in",
    allow: "admin",
    apiKeys: false,
    answer: z.object({
      step: z.enum(["requested", "authorizing", "exchanging", "done", "failed", "expired"]),
      error: z.string().nullable(),
    }),
  },
  "GET /oauth-apps": {
    summary: "List the installation's OAuth apps; secrets are never shown",
    allow: "owner",
    apiKeys: false,
    answer: z.object({
      redirectUri: z.string(),
      items: z.array(
        z.object({
          platform: z.string(),
          clientId: z.string().nullable(),
          updatedAt: time.nullable(),
          readable: z.boolean().describe("False where the stored secret is damaged: set the app again."),
        }),
      ),
    }),
  },
  "PUT /oauth-apps/:platform": {
    summary: "Set the OAuth app of a platform",
    allow: "owner",
    apiKeys: false,
    body: z.object({
      clientId: z.string().trim().min(1).max(500),
      clientSecret: z.string().trim().min(1).max(2000),
    }),
    answer: done,
  },
  "DELETE /oauth-apps/:platform": {
    summary: "Remove an OAuth app; expired access tokens can then no longer be renewed",
    allow: "owner",
    apiKeys: false,
    answer: done,
  },
} satisfies Record<string, Route>;
