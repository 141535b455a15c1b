// Declares the routes of statistics, and of the performance of a connection.

import { z } from "zod";
import { confirmationReasons, confirmationStates } from "../kernel/confirmation.ts";
import { deliveryStates, visitBuckets } from "../kernel/event.ts";
import { count, from, type Route, time, to } from "./route.ts";

const money = z.object({ currency: z.string().describe("ISO 4217 code."), value: z.number() });
export const confirmationState = z.enum(confirmationStates);
export const confirmationReason = z.enum(confirmationReasons);

const sums = z.object({
  conversions: count,
  values: z.array(money).describe("Value without refunds, per currency. The currency with the most conversions comes first."),
  refunds: z.array(money).describe("Value of refund events, per currency."),
  duplicates: count.describe("Events received again and not re-sent."),
  filtered: count,
  botEvents: count.describe("Filtered events that were filtered as bots; the site's rules filtered the others."),
  withClickId: count.describe("Conversions with at least one click id."),
  due: count.describe("Deliveries of these conversions that were not skipped."),
  sent: count.describe("Deliveries that a platform accepted."),
});

const named = z.object({ name: z.string(), conversions: count, values: z.array(money) });
const touched = named.extend({ conversions: z.number().describe("With the model `linear`, parts of conversions too.") });

/** A visit on the way to an event. */
export const pathVisit = z.object({
  at: time,
  source: z.string().nullable().describe("As in the statistics; null for a visit without a campaign and a new click id."),
  campaign: z.string().nullable(),
  clickId: z.string().nullable().describe("The name of the click id that the visit began with."),
  hasForm: z.boolean().describe("An email was submitted in a form in this visit."),
});

/** Figures of one hour or day. */
const statisticsStep = sums.extend({
  startsAt: time,
  before: sums
    .pick({ conversions: true, values: true, duplicates: true, botEvents: true })
    .extend({ startsAt: time, bots: count })
    .describe("The hour or day of the earlier period with which this one is compared."),
  visits: z.record(z.enum(visitBuckets), count),
  suspicious: count.describe("Those of the people's visits that have evidence against them."),
});

const leadStage = z.string().describe("As the query names it.");

const leadStages = z
  .object({
    stages: z.array(z.string()),
    days: count,
    isComplete: z.boolean().describe("False if there are more events than can be read at once; the newest are."),
    sources: z.array(
      z.object({
        source: z.string().describe("`utm_source` of the lead, or the network of its click id; `(none)` if there is neither."),
        leads: count,
        wentBack: count.describe("Leads that went back to an earlier stage."),
        steps: z.array(
          z.object({
            stage: leadStage,
            leads: count.describe("Leads that reached the stage."),
            medianMs: count.nullable().describe("Median time from the stage before; null if no lead came from one."),
          }),
        ),
      }),
    ),
    back: z
      .array(z.object({ eventId: z.string(), stage: leadStage, from: leadStage, time }))
      .describe("Leads that went back, newest first, at most 50."),
  })
  .meta({ id: "LeadStages" });

const step = z.enum(["hour", "day"]);
const segmentName = z.string().min(1).max(512).optional();

export const confirmationSums = z
  .object({
    confirmed: count,
    notCounted: count,
    unknown: count.describe("Conversions that were asked for and not decided on."),
    reasons: z.array(z.object({ state: confirmationState, reason: confirmationReason, conversions: count })),
  })
  .describe("What the platform said later of the sent conversions; null if it is not asked.");

const statistics = z
  .object({
    from: time,
    to: time,
    step,
    timeZone: z.string(),
    steps: z.array(statisticsStep),
    before: sums
      .extend({ bots: count })
      .describe("The same figures for the same hours as many whole days earlier as the period has, at least one."),
    totals: sums.extend({ bots: count, people: count, test: count }),
    events: z.array(named),
    sources: z
      .array(touched)
      .describe("By `utm_source`, or by the network of the last click id; `(none)` if there is neither. Value without refunds."),
    campaigns: z.array(touched).describe("By `utm_campaign`; `(none)` if there is none. Value without refunds."),
    platforms: z
      .array(
        z.object({
          platform: z.string(),
          states: z.partialRecord(z.enum(deliveryStates), count),
          conversions: count.describe("Conversions that the platform accepted."),
          values: z.array(money).describe("Their value without refunds, per currency."),
          confirmations: confirmationSums.nullable(),
        }),
      )
      .describe("Current states of the deliveries of these conversions."),
    match: z.object({
      conversions: count,
      identified: count.describe("Conversions with an identity record."),
      withheld: count,
      withClickId: count.describe("Conversions with at least one click id."),
      clickIds: z.array(z.object({ name: z.string(), conversions: count })),
    }),
    removed: z
      .array(z.object({ reason: z.string(), visits: count, events: count }))
      .describe("Bot visits and filtered events, by reason."),
  })
  .meta({ id: "Statistics" });

export const statisticsRoutes = {
  "GET /sites/:site/statistics": {
    summary: "Get conversions, value, deliveries, match rate, bots and duplicates over time",
    allow: "viewer",
    query: z.object({
      from: z.coerce.number().int().describe(from),
      to: z.coerce.number().int().describe(to),
      step: step.default("day"),
      event: segmentName.describe("Counts only conversions with this event name."),
      source: segmentName.describe("Counts only conversions of this source, as in `sources`."),
      campaign: segmentName.describe("Counts only conversions of this campaign, as in `campaigns`."),
      model: z
        .enum(["last", "first", "linear"])
        .default("last")
        .describe(
          "Which visits get a conversion in `sources` and `campaigns`: the last with a campaign or click id, the first, or all in equal parts. A segment is always that of the last.",
        ),
      platform: segmentName.describe("Counts only conversions for this platform that were not skipped."),
    }),
    answer: statistics,
    tool: {
      name: "get_statistics",
      description:
        "Use it for questions about a period: how many, how much, from which source, and how many each platform accepted.",
    },
  },
  "GET /sites/:site/lead-stages": {
    summary: "Get the ladder of lead stages, by the source of the leads, with the times between stages",
    allow: "viewer",
    query: z.object({
      stages: z
        .string()
        .max(1000)
        .optional()
        .describe("Event names from the first stage to the last, separated by commas. Default: lead,qualified_lead,closed_won."),
      days: z.coerce.number().int().min(1).max(90).default(30).describe("Stages that were received in these days, up to now."),
    }),
    answer: leadStages,
  },
} satisfies Record<string, Route>;

const duration = z.number().int().nullable().describe("Milliseconds; null without attempts.");
const timings = {
  attempts: count,
  retries: count.describe("Attempts after the first one."),
  medianMs: duration,
  p95Ms: duration.describe("95% of the attempts took no longer. Null without attempts."),
};

const performance = z
  .object({
    from: time,
    to: time,
    step: z.enum(["hour", "day"]),
    timeZone: z.string(),
    isComplete: z.boolean().describe("False if there were more attempts than are looked at: the oldest are left out."),
    steps: z.array(z.object({ startsAt: time, ...timings })),
    totals: z.object({ ...timings, failed: count.describe("Attempts that the platform did not accept.") }),
    reasons: z
      .array(z.object({ state: z.string(), reason: z.string().nullable(), attempts: count }))
      .describe("Why attempts failed, the most frequent first."),
  })
  .meta({ id: "ConnectionPerformance" });

export const performanceRoutes = {
  "GET /sites/:site/connections/:connection/performance": {
    summary: "Get how long a platform takes, how many attempts are retries, and why attempts failed",
    allow: "viewer",
    query: z.object({ days: z.enum(["1", "7"]).default("1").describe("Up to now.") }),
    answer: performance,
    tool: {
      name: "get_connection_performance",
      description: "Use it when deliveries to a platform are slow, or its attempts fail.",
    },
  },
} satisfies Record<string, Route>;
