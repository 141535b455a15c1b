// Declares the routes of bot visits and their verdicts.

import { z } from "zod";
import { id, page, paging, time, type Route } from "./route.ts";

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
      headers: z
        .record(z.string().max(100), z.string().max(1000))
        .optional()
        .describe(
          "Request headers, such as sec-ch-ua-platform. Those that are not given count as usual; an empty one is missing.",
        ),
    }),
    answer: explained,
  },
} satisfies Record<string, Route>;
