// Who came: visits that were taken for bots', and what is known of people.

import { z } from "zod";
import { eventSummary } from "./events.ts";
import { count, done, id, page, paging, time, type Route } from "./route.ts";

const signalLine = z.object({
  category: z.string(),
  name: z.string(),
  points: z.number(),
  why: z.string(),
  fired: z.boolean(),
  evidence: z.string().nullable(),
});
const verdict = z.object({
  bot: z.boolean(),
  score: z.number(),
  reasons: z.array(z.string()),
  rules: z.number(),
});

const explained = z.object({
  verdict,
  siteRule: z.string().nullable(),
  network: z.string().nullable(),
  country: z.string().nullable(),
  notLookedAt: z.array(z.string()),
  signals: z.array(signalLine),
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
    summary: "A sample of the visits that were taken for bots', newest first",
    allow: "viewer",
    query: z.object(paging),
    answer: page(botVisit),
  },
  "GET /sites/:site/bots.csv": {
    summary: "The same visits as a table",
    allow: "viewer",
    answer: "csv",
  },
  "GET /sites/:site/bots/:visit": {
    summary: "One of them judged again by today's rules, signal by signal",
    allow: "viewer",
    answer: z.object({ visit: botVisit, now: explained }),
  },
  "POST /sites/:site/traffic/check": {
    summary: "The verdict on a visit that you describe, signal by signal",
    allow: "viewer",
    body: z.object({ userAgent: z.string().max(1000).optional(), address: z.string().max(60).optional() }),
    answer: explained,
  },
} satisfies Record<string, Route>;

const who = z.object({ email: z.string().trim().min(1).max(320) });

export const peopleRoutes = {
  "POST /sites/:site/people/find": {
    summary: "What is known of the person behind an email, or its hash (64 hex characters)",
    allow: "admin",
    body: who,
    answer: z.object({
      emailSha256: z.string(),
      consent: z.enum(["granted", "denied", "unknown", "unreadable"]),
      decisions: z.array(z.object({ givenBy: z.string(), state: z.string(), decidedAt: time })),
      visits: z.array(
        z.object({
          seenAt: time,
          page: z.string().nullable(),
          clickIds: z.record(z.string(), z.string()),
          utm: z.record(z.string(), z.string()),
          isBot: z.boolean(),
          reason: z.string().nullable(),
        }),
      ),
      events: z.array(eventSummary),
    }),
  },
  "POST /sites/:site/people/export": {
    summary: "Everything that is stored about a person",
    allow: "admin",
    body: who,
    answer: z.record(z.string(), z.unknown()),
  },
  "POST /sites/:site/people/consent": {
    summary: "Enter what a person decided",
    allow: "admin",
    body: who.extend({ decision: z.enum(["granted", "denied"]) }),
    answer: done,
  },
  "POST /sites/:site/people/erase": {
    summary: "Forget a person; an opt-out is kept, so that it still holds",
    allow: "admin",
    body: who,
    answer: z.object({ emailSha256: z.string(), events: count, visitors: count }),
  },
} satisfies Record<string, Route>;
