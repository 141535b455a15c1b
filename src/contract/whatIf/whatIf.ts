// Declares the route that runs stored events through changed settings.

import { z } from "zod";
import { count, id, time, type Route } from "../route.ts";
import { defaultWhatIfDays, maxWhatIfDays, maxWhatIfExamples, whatIfSettings, type Differences } from "./differences.ts";

const text = z.string().max(20_000);
const money = z
  .object({ events: count, values: z.record(z.string(), z.number()).describe("The sum of their values, by currency.") })
  .describe("A number of conversions, and what they are worth.");
const both = <Value extends z.ZodType>(value: Value) => z.object({ before: value, after: value });

const differences = z
  .object({
    events: count.describe("Events that were looked at."),
    erased: count.describe("Of these, those of erased people: they would become nothing."),
    unknown: count.describe("Of these, those whose visits are no longer kept: they count as they were stored."),
    filtered: both(money),
    nowFiltered: z.record(z.string(), money).describe("Filtered only with the changed settings, by reason."),
    nowPassed: z.record(z.string(), money).describe("Filtered only with the saved settings, by reason."),
    withheld: both(count).describe("Events whose identifiers consent withholds."),
    connections: z
      .record(
        z.string(),
        z.object({
          platform: z.string(),
          before: money,
          after: money,
          changed: count.describe("Requests that are sent either way, with another content."),
          skipped: z.record(z.string(), both(count)).describe("Events that are not sent, by reason."),
          fields: z
            .record(z.string(), z.object({ added: count, removed: count, changed: count }))
            .describe("Where requests differ, by the path of the field."),
        }),
      )
      .describe(
        "What each connection would send, by its id; `new` for one that is not saved. `before` is with the saved settings.",
      ),
  })
  .describe("Sums: those of several parts are added up.") satisfies z.ZodType<Differences>;

const wouldBe = z
  .object({
    skipped: z.string().nullable().describe("Why it would not be sent; null if it would be."),
    value: z.number().nullable(),
    currency: z.string(),
  })
  .nullable();
const fieldPaths = z.array(z.string());

const example = z.object({
  event: id,
  name: z.string(),
  orderId: z.string().nullable(),
  receivedAt: time,
  value: z.number().nullable(),
  currency: z.string(),
  filtered: both(z.string().nullable()).describe("The reason for which it is filtered; null if it is not."),
  withheld: both(z.string().nullable()).describe("Why its identifiers are withheld; null if they are not."),
  deliveries: z.array(
    z.object({
      connection: id,
      platform: z.string(),
      before: wouldBe.describe("Null for a filtered event, and for a connection that is not saved."),
      after: wouldBe,
      fields: z.object({ added: fieldPaths, removed: fieldPaths, changed: fieldPaths }),
    }),
  ),
});

export const whatIfRoutes = {
  "POST /sites/:site/what-if": {
    summary:
      "Run stored events through changed settings, a part at a time, and tell what would be different. Nothing is sent, stored or counted",
    allow: "admin",
    body: z.object({
      settings: z
        .record(z.string().max(100), text)
        .default({})
        .describe(`Settings of the site, by name: ${whatIfSettings.join(", ")}.`),
      connection: z
        .object({
          id: id.optional().describe("A saved connection that changes."),
          platform: z.string().max(50).optional().describe("Without `id`: the platform of another connection."),
          settings: z.record(z.string().max(200), text).default({}).describe("As they are saved; a blank value removes one."),
          events: z.array(z.string().max(100)).nullable().optional().describe("Names of the events to send; null for all."),
          signIn: id.optional().describe("The id of a sign-in that you have finished."),
        })
        .optional(),
      event: id.optional().describe("Only this event. Without it, live events of a period."),
      days: z
        .number()
        .int()
        .min(1)
        .max(maxWhatIfDays)
        .default(defaultWhatIfDays)
        .describe("Length of the period that ends now. Of more than 50,000 events the newest are looked at."),
      cursor: z.string().max(100).optional().describe("The `next` of the previous part."),
    }),
    answer: z.object({
      differences,
      examples: z.array(example).describe(`Events that would be different, at most ${maxWhatIfExamples} of this part.`),
      notes: z.array(z.string()).describe("What stored events cannot tell about these changes."),
      progress: z.number().min(0).max(1).describe("The part of the period that was looked at."),
      isComplete: z.boolean().describe("False if older events of the period are left out."),
      next: z.string().nullable().describe("The cursor of the next part; null at the end."),
    }),
  },
} satisfies Record<string, Route>;
