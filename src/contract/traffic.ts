// Declares the routes of bot visits, and of the stored data of a person.

import { z } from "zod";
import { eventSummary } from "./events.ts";
import { count, done, id, page, paging, time, type Route } from "./route.ts";

const verdict = z.object({
  bot: z.boolean(),
  score: z.number().describe("0 to 100."),
  reasons: z.array(z.string()),
  rules: z.number().describe("Version of the rules that gave this verdict."),
});

const explained = z.object({
  verdict,
  siteRule: z.string().nullable().describe("The allow or deny rule of the site that decided, if any."),
  network: z.string().nullable(),
  country: z.string().nullable(),
  notLookedAt: z.array(z.string()).describe("Signals that the given data could not show."),
  signals: z.array(
    z.object({
      category: z.string(),
      name: z.string(),
      points: z.number().describe("100 for a signal that decides alone."),
      why: z.string(),
      fired: z.boolean(),
      evidence: z.string().nullable(),
    }),
  ),
});

const botVisit = z.object({
  id,
  seenAt: time,
  reason: z.string(),
  page: z.string(),
  userAgent: z.string(),
  network: z.string(),
  verdict,
});

export const trafficRoutes = {
  "GET /sites/:site/bots": {
    summary: "List a sample of the visits classified as bots, newest first",
    allow: "viewer",
    query: z.object(paging),
    answer: page(botVisit),
  },
  "GET /sites/:site/bots.csv": {
    summary: "Export the sample of bot visits as CSV",
    allow: "viewer",
    answer: "csv",
  },
  "GET /sites/:site/bots/:visit": {
    summary: "Explain a bot visit by the current rules, signal by signal",
    allow: "viewer",
    answer: z.object({ visit: botVisit, now: explained }),
  },
  "POST /sites/:site/traffic/check": {
    summary: "Explain the verdict on a visit that you describe, signal by signal",
    allow: "viewer",
    body: z.object({
      userAgent: z.string().max(1000).optional(),
      address: z.string().max(60).optional().describe("An IP address."),
    }),
    answer: explained,
  },
} satisfies Record<string, Route>;

const person = z.object({
  email: z
    .string()
    .trim()
    .min(1)
    .max(320)
    .describe("An email address, or its SHA-256 hash in hex. An address is hashed at once and never stored."),
});
const emailSha256 = z.string().describe("SHA-256 of the email, in hex.");

export const peopleRoutes = {
  "POST /sites/:site/people/find": {
    summary: "Find what is stored about the person with an email",
    allow: "admin",
    scopes: ["people"],
    body: person,
    answer: z.object({
      emailSha256,
      consent: z.enum(["granted", "denied", "unknown", "unreadable"]),
      decisions: z.array(z.object({ givenBy: z.string(), state: z.string(), decidedAt: time })),
      visits: z.array(
        z.object({
          seenAt: time,
          page: z.string().nullable(),
          clickIds: z.record(z.string(), z.string()),
          utm: z.record(z.string(), z.string()),
          isBot: z.boolean(),
          reason: z.string().nullable().describe("The strongest bot signal."),
        }),
      ),
      events: z.array(eventSummary),
    }),
  },
  "POST /sites/:site/people/export": {
    summary: "Export everything that is stored about a person",
    allow: "admin",
    scopes: ["people"],
    body: person,
    answer: z.record(z.string(), z.unknown()),
  },
  "POST /sites/:site/people/consent": {
    summary: "Record a person's consent decision",
    allow: "admin",
    scopes: ["people"],
    body: person.extend({ decision: z.enum(["granted", "denied"]) }),
    answer: done,
  },
  "POST /sites/:site/people/erase": {
    summary: "Erase a person; an opt-out is kept, so that it still applies",
    allow: "admin",
    scopes: ["people"],
    body: person,
    answer: z.object({ emailSha256, events: count, visitors: count, orders: count }),
  },
} satisfies Record<string, Route>;
