// Platforms, connections to them, webhooks, alerts and the audit log.

import { z } from "zod";
import { connectionStates } from "../kernel/event.ts";
import { count, done, id, time, type Route } from "./route.ts";

const settings = z.record(z.string().max(200), z.string().max(20_000));

export const platform = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  docsUrl: z.string().nullable(),
  settings: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      help: z.string(),
      required: z.boolean(),
      secret: z.boolean(),
      address: z.boolean(),
      default: z.string().nullable(),
      /** Whether the platform can be asked for choices, and which settings it must know first. */
      choices: z.object({ needs: z.array(z.string()) }).nullable(),
    }),
  ),
  /** Where no setting is required by itself: one of these sets is. */
  requires: z.array(z.array(z.string())),
  /** Whether people can sign in there; `ready` once the operator set an OAuth app. */
  signIn: z.object({ ready: z.boolean() }).nullable(),
  clickIds: z.array(z.string()),
  events: z
    .object({
      standard: z.record(z.string(), z.string()),
      /** What becomes of all others: a name, or null where they are not sent; "own name" is the sender's. */
      others: z.string().nullable(),
      choices: z.array(z.string()).nullable(),
    })
    .nullable(),
  fields: z.array(z.object({ name: z.string(), help: z.string(), type: z.enum(["text", "number"]) })),
  maxAgeDays: z.number().nullable(),
  batch: count,
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
});

export const connection = z.object({
  id,
  platform: z.string(),
  state: z.enum(connectionStates),
  stateReason: z.string().nullable(),
  /** Selected events, or null for all. */
  events: z.array(z.string()).nullable(),
  /** Secret ones say "(configured)"; addresses show their origin. */
  settings,
  createdAt: time,
  waiting: count,
  /** How the attempts of the last 24 hours ended, of the newest 1,000. */
  attempts24h: z.object({ sent: count, others: count }),
  lastSentAt: time.nullable(),
});

/** Blank takes a setting away; one that is not named stays. `events` "" or "all" is every event. */
const changes = {
  settings,
  events: z.array(z.string().max(100)).nullable().optional(),
  signIn: id.optional(),
};

/** Which event is shown or sent: a past one, or a sample of this name. */
const about = { event: id.optional(), name: z.string().trim().min(1).max(100).default("purchase") };

const preview = z.object({
  /** What is wrong with the settings as they are; they may still be in the making. */
  fault: z.object({ field: z.string(), message: z.string() }).nullable(),
  skipped: z.string().nullable(),
  request: z
    .object({
      method: z.string(),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.unknown(),
    })
    .nullable(),
});

export const integrationRoutes = {
  "GET /platforms": {
    summary: "Every platform, with the settings that its form is drawn from",
    allow: "signed in",
    answer: z.object({ items: z.array(platform) }),
  },
  "GET /sites/:site/connections": {
    summary: "Connections and how they do",
    allow: "viewer",
    answer: z.object({ items: z.array(connection) }),
  },
  "POST /sites/:site/connections": {
    summary: "Connect a platform, or change the connection to the same account; parked deliveries go then",
    allow: "admin",
    body: z.object({ platform: z.string().max(50), ...changes }),
    answer: z.object({ connection, isNew: z.boolean(), released: count }),
  },
  "PATCH /sites/:site/connections/:connection": {
    summary: "Change a connection's settings, events or mapping; reconnect it with a sign-in",
    allow: "admin",
    body: z.object(changes),
    answer: z.object({ connection, released: count }),
  },
  "DELETE /sites/:site/connections/:connection": {
    summary: "Disconnect; what still waits for it is not sent",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/connections/:connection/pause": {
    summary: "Park its deliveries until it is resumed",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/connections/:connection/resume": {
    summary: "Send again, what was parked first",
    allow: "admin",
    answer: z.object({ released: count }),
  },
  "POST /sites/:site/connections/preview": {
    summary: "The exact request for an event, with settings that need not be saved yet; nothing is sent",
    allow: "admin",
    body: z.object({ platform: z.string().max(50), connection: id.optional(), ...changes, ...about }),
    answer: preview,
  },
  "POST /sites/:site/connections/:connection/test": {
    summary: "Send a sample in the platform's own test mode, and show its answer",
    allow: "admin",
    body: z.object({ name: about.name }),
    answer: z.object({
      skipped: z.string().nullable(),
      outcome: z.enum(["accepted", "rejected", "retry", "unauthorized"]).nullable(),
      error: z.string().nullable(),
      httpStatus: z.number().int().nullable(),
      request: z.string().nullable(),
      response: z.string().nullable(),
      durationMs: count,
    }),
  },
  "POST /sites/:site/connections/choices": {
    summary: "What a platform offers for a setting: accounts, pixels, conversion actions",
    allow: "admin",
    body: z.object({
      platform: z.string().max(50),
      setting: z.string().max(100),
      connection: id.optional(),
      settings,
      signIn: id.optional(),
    }),
    answer: z.object({ items: z.array(z.object({ value: z.string(), label: z.string() })) }),
  },
  "POST /sites/:site/sign-ins": {
    summary: "Begin a sign-in at a platform: open `url` in this browser within ten minutes",
    allow: "admin",
    apiKeys: false,
    body: z.object({ platform: z.string().max(50) }),
    answer: z.object({ id, url: z.string(), expiresAt: time }),
  },
  "GET /sites/:site/sign-ins/:signIn": {
    summary: "How far a sign-in is",
    allow: "admin",
    apiKeys: false,
    answer: z.object({
      step: z.enum(["asked", "agreeing", "exchanging", "done", "failed", "over"]),
      error: z.string().nullable(),
    }),
  },
  "GET /oauth-apps": {
    summary: "The installation's registrations at platforms; secrets are never shown",
    allow: "owner",
    answer: z.object({
      redirectUri: z.string(),
      items: z.array(
        z.object({ platform: z.string(), clientId: z.string().nullable(), updatedAt: time.nullable() }),
      ),
    }),
  },
  "PUT /oauth-apps/:platform": {
    summary: "Set a registration",
    allow: "owner",
    body: z.object({
      clientId: z.string().trim().min(1).max(500),
      clientSecret: z.string().trim().min(1).max(2000),
    }),
    answer: done,
  },
  "DELETE /oauth-apps/:platform": {
    summary: "Forget a registration; access tokens that end can then not be renewed",
    allow: "owner",
    answer: done,
  },
} satisfies Record<string, Route>;
