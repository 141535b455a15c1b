// Declares the routes of match quality.

import { z } from "zod";
import { matchKeys } from "../kernel/quality.ts";
import { confirmationSums } from "./statistics.ts";
import { count, id, type Route } from "./route.ts";

const share = z.number().describe("From 0 to 1.");

const report = z.object({
  event: z.string().describe("The platform's name of the event; empty for all events."),
  score: z.number().nullable().describe("By the platform's own scale."),
  maxScore: z.number().nullable().describe("The highest score; null if the platform does not say."),
  rating: z.string().nullable().describe("In the platform's own words."),
  keys: z.array(z.object({ key: z.string(), coverage: share })),
  notes: z.array(z.string()).describe("Recommendations and problems, in the platform's own words."),
});

const snapshot = z
  .object({ day: z.string().describe("In UTC: 2026-11-15."), reports: z.array(report) })
  .describe("What the platform itself said of the events that it received.");

const quality = z
  .object({
    connection: id.describe("A connection's id."),
    platform: z.string(),
    conversions: count.describe("Sent conversions of the last 7 days that were looked at, the newest 200."),
    score: z
      .number()
      .nullable()
      .describe(
        "0 to 10, by our own weights; null if nothing was sent or the platform takes no match key. It is not the platform's own score.",
      ),
    keys: z
      .array(z.object({ key: z.enum(matchKeys), coverage: share }))
      .describe("The match keys that the connection can send, and the share of the conversions that had each."),
    withinHour: share.nullable().describe("Share of the conversions that were received within an hour."),
    improvements: z
      .array(
        z.object({
          kind: z.enum(["send", "identify"]),
          key: z.enum(matchKeys),
          inboundKey: id.nullable().describe("The inbound key of the sender that would send it."),
          gain: share.describe("Share of the conversions that would carry the key in addition."),
          text: z.string(),
        }),
      )
      .describe("The changes that would raise the score most, at most three."),
    confirmations: confirmationSums
      .nullable()
      .describe("What the platform said of the conversions of the last 7 days; null if it is not asked."),
    snapshot: snapshot
      .nullable()
      .describe("The newest report of the platform itself; null if it gives none, or the token may not read it."),
  })
  .meta({ id: "MatchQuality" });

export const qualityRoutes = {
  "GET /sites/:site/connections/:connection/quality": {
    summary: "List the daily snapshots of a platform's own reports of quality, newest first",
    allow: "viewer",
    answer: z.object({ items: z.array(snapshot) }),
  },
  "GET /sites/:site/quality": {
    summary: "Get the match quality of each connection: coverage of match keys, score, and what would raise it",
    allow: "viewer",
    answer: z.object({ items: z.array(quality) }),
    tool: {
      name: "get_match_quality",
      description: "Use it when a platform accepts conversions and counts few: it may not recognise the people.",
    },
  },
} satisfies Record<string, Route>;
