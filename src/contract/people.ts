// Declares the routes of the stored data of a person.

import { z } from "zod";
import { eventSummary } from "./events.ts";
import { count, done, time, type Route } from "./route.ts";

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
      firstUtm: z.record(z.string(), z.string()).describe("The campaign of the first visit."),
      decisions: z.array(z.object({ givenBy: z.string(), state: z.string(), decidedAt: time })),
      visits: z.array(
        z.object({
          seenAt: time,
          page: z.string().nullable(),
          clickIds: z.record(z.string(), z.string()),
          browserIds: z.record(z.string(), z.string()),
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
