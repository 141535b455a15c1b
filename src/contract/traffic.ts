// Declares the routes of bot visits and their verdicts.

import { z } from "zod";
import { count, id, page, paging, period, time, type Route } from "./route.ts";

/** off: not looked for. shadow: counted and shown, without an effect on verdicts. */
export const evidenceModes = ["off", "shadow", "on"] as const;

const verdict = z.object({
  bot: z.boolean(),
  score: z.number().describe("0 to 100."),
  reasons: z.array(z.string()),
  shadows: z.array(z.string()).optional().describe("Evidence in shadow, which counted for nothing."),
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
      why: z.string().describe("A sentence that explains why this is evidence of a bot."),
      mode: z.enum(evidenceModes).describe("off: not looked for. shadow: it counts for nothing."),
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
  range: z.string().describe("The addresses of which only the network was kept, as `allow_networks` takes them."),
  verdict,
});

const suspicious = z.enum(["true", "false"]).default("false").describe("Lists visits of people with evidence against them.");

const clickDays = z.coerce.number().int().min(1).max(60).default(30).describe("The number of days, in UTC, with today.");

const clickNumbers = {
  clicks: count.describe("Clicks on advertisements: different click ids."),
  invalid: count.describe("Those of them that bots made."),
  spend: z.number().nullable().describe("The invalid clicks times the cost of a click; null if that is not given."),
};

const clicksOfDay = z.object({ day: z.string(), ...clickNumbers });

export const trafficRoutes = {
  "GET /sites/:site/bots": {
    summary: "List a sample of the visits classified as bots, or of suspicious ones, newest first",
    allow: "viewer",
    query: z.object({ ...paging, ...period, suspicious }),
    answer: page(botVisit),
  },
  "GET /sites/:site/bots.csv": {
    summary: "Export the sample of bot visits, or of suspicious ones, as CSV",
    allow: "viewer",
    query: z.object({ suspicious }),
    answer: "csv",
  },
  "GET /sites/:site/bots/:visit": {
    summary: "Explain a bot visit by the current rules, signal by signal",
    allow: "viewer",
    answer: z.object({ visit: botVisit, now: explained }),
  },
  "GET /sites/:site/invalid-clicks": {
    summary: "Count the clicks of bots on advertisements, by campaign and day",
    allow: "viewer",
    query: z.object({
      days: clickDays,
      costPerClick: z.coerce
        .number()
        .positive()
        .max(1_000_000)
        .optional()
        .describe("What you pay for a click, to compute the spend."),
    }),
    answer: z.object({
      ...clickNumbers,
      days: z.array(clicksOfDay),
      campaigns: z.array(
        z.object({
          clickId: z.string().describe("The name of the click id, such as gclid."),
          campaign: z.string().describe("From the landing page's address; empty if it names none."),
          ...clickNumbers,
          days: z.array(clicksOfDay),
        }),
      ),
    }),
  },
  "GET /sites/:site/invalid-clicks.csv": {
    summary: "Export the clicks of bots on advertisements as CSV, to claim them back",
    allow: "viewer",
    query: z.object({ days: clickDays }),
    answer: "csv",
  },
  "GET /sites/:site/traffic/evidence": {
    summary: "List the signals with their modes, and the visits, submitted emails and conversions with each",
    allow: "viewer",
    query: z.object({ hours: z.coerce.number().int().min(1).max(9600).default(336).describe("The number of hours to count.") }),
    answer: z.object({
      emails: z.number().describe("All emails that visitors submitted in this time."),
      conversions: z.number().describe("All live events of people who visited."),
      signals: z.array(
        z.object({
          signal: z.string().describe("Category and name, as the setting `evidence` takes them."),
          why: z.string(),
          points: z.number().describe("100 for a signal that decides alone."),
          mode: z.enum(evidenceModes).describe("shadow: counted, without an effect on verdicts."),
          visits: z.number(),
          emails: z.number().describe("Submitted emails with this evidence."),
          conversions: z
            .number()
            .describe("Live events of people who have visits with this evidence: the customers that a wrong signal would cost."),
        }),
      ),
    }),
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
