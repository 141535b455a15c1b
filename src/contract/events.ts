// Declares the routes of events with their trace, the sync log, and the live feed.

import { z } from "zod";
import { confirmationStates } from "../kernel/confirmation.ts";
import { correctionStates } from "../kernel/correction.ts";
import { deliveryStates, filterCodes } from "../kernel/event.ts";
import { whyOutcomes } from "../kernel/messages/why.ts";
import {
  count,
  from,
  httpStatus,
  id,
  mode,
  moment,
  page,
  paging,
  period,
  response,
  type Route,
  sentRequest,
  time,
  to,
} from "./route.ts";
import { confirmationReason, confirmationState, pathVisit } from "./statistics.ts";

const state = z.enum(deliveryStates);
const status = z.enum(["accepted", "filtered"]);
const currency = z.string().describe("ISO 4217 code.");
const value = z.number().nullable().describe("An amount in `currency`.");
const orderId = z.string().nullable().describe("The sender's order id.");
const connection = id.describe("A connection's id.");
const nextTryAt = time.nullable().describe("Time of the next attempt; null if there is none.");
const identity = z.enum(["found", "none", "unreadable"]).describe("`found` if there was an identity record of an earlier visit.");
const withheld = z.string().nullable().describe("The reason why identifiers were not used; null if they were.");

const reasonPersists = z
  .boolean()
  .describe(
    "True while the connection would give the next event of the same name and mode the same reason: it is paused, needs reconnection, cannot be read, leaves the event out, lacks a setting, or takes no events of people who opted out or of that age; and if the person was erased. A replay would then end the same way. False without a reason, for another reason that lies in the event, and once the connection is removed.",
  );

const deliverySummary = z.object({
  connection,
  platform: z.string(),
  state,
  reason: z.string().nullable(),
  reasonPersists,
});

export const eventSummary = z
  .object({
    id,
    platformEventId: z
      .string()
      .describe("The event id that platforms receive; equals cc.eventId(event, orderId) in the browser."),
    event: z.string().describe("The event's name."),
    mode,
    status,
    value,
    currency,
    orderId,
    receivedAt: time,
    releasedAt: time.nullable().describe("When a filtered event was released as not a bot."),
    filterReasons: z
      .array(z.object({ code: z.enum(filterCodes), detail: z.string().nullable() }))
      .describe("Why the event was filtered: bot, blocked domain, and so on."),
    identity,
    withheld,
    clickIds: z.array(z.string()).describe("Names of the ad click ids that were found."),
    deliveries: z.array(deliverySummary),
  })
  .meta({ id: "Event" });

const attempt = z.object({
  number: count,
  startedAt: time,
  durationMs: count,
  state,
  reason: z.string().nullable(),
  httpStatus,
  batch: count.describe("Number of events in the same request."),
  request: sentRequest,
  response,
});

const confirmation = z
  .object({
    state: confirmationState.describe(
      "`unknown` also where the platform has not answered yet, or cannot tell for a single conversion.",
    ),
    reason: confirmationReason.nullable(),
    detail: z.string().nullable().describe("The reason in the platform's own words."),
    updatedAt: time.nullable().describe("When the platform answered; null if it has not."),
  })
  .nullable()
  .describe("What the platform said later of the conversion that it accepted; null if it is not asked, or accepted nothing.");

export const correction = z
  .object({
    state: z.enum(correctionStates),
    value: z.number().describe("What is left of the conversion's value; 0 if it is taken back."),
    reason: z.string().nullable(),
    source: z.string().describe("The id of the refund event; `order list` if there was none."),
    updatedAt: time,
  })
  .describe("A change of the value that the platform was given, because the order was refunded.");

const delivery = deliverySummary.extend({
  attempts: count,
  nextTryAt,
  updatedAt: time,
  confirmation,
  sentAs: z
    .string()
    .nullable()
    .describe("The value that a rule of the connection makes of the event's own; null where it is sent as it is."),
  correction: correction.nullable().describe("Null if the order was not refunded, or the site does not correct."),
  log: z.array(attempt),
});

const trace = eventSummary
  .extend({
    time,
    key: z.object({ id, name: z.string().nullable() }),
    emailSha256: z.string().describe("SHA-256 of the email, in hex. Empty where the sender gave none, and after an erasure."),
    contact: z.array(z.string()).describe("The contact data that was received, and in which forms. All of it is hashed."),
    leadId: z.string().nullable().describe("Meta's id of the lead; null if there was none, or if the person was erased."),
    items: z
      .array(
        z.object({
          id: z.string().describe("The sender's product id."),
          name: z.string().nullable(),
          category: z.string().nullable(),
          brand: z.string().nullable(),
          price: z.number().nullable().describe("The price of one piece, in `currency`."),
          quantity: count,
        }),
      )
      .describe("The items of the order or cart; empty if there were none, or if the person was erased."),
    attribution: z.object({
      consent: z
        .enum(["granted", "denied", "unknown", "unreadable"])
        .describe("The person's decision, as known when the event was received."),
      withheld,
      identity,
      clickIds: z.record(z.string(), z.object({ value: z.string(), seenAt: time })),
      browserIds: z.record(z.string(), z.string()),
      utm: z.record(z.string(), z.string()),
      page: z.string().nullable(),
      referrer: z.string().nullable(),
      path: z
        .array(pathVisit)
        .describe("The visits before the event, oldest first, at most 8; empty if consent withholds them or none is known."),
    }),
    warnings: z.array(z.string()),
    filterSignals: z
      .array(z.object({ signal: z.string(), why: z.string() }))
      .describe("The bot signals among the reasons of the filter, each explained in a sentence."),
    deliveries: z.array(delivery),
  })
  .meta({ id: "Trace" });

const logLine = z.object({
  event: z.object({
    id,
    name: z.string(),
    value,
    currency,
    orderId,
    mode,
    receivedAt: time,
    erased: z.boolean().describe("True if the person was erased since."),
  }),
  connection,
  platform: z.string(),
  state,
  reason: z.string().nullable(),
  reasonPersists,
  attempts: count,
  nextTryAt,
  updatedAt: time,
  confirmation,
});

const search = z
  .string()
  .trim()
  .max(400)
  .optional()
  .describe(
    "An order id, an event id, an email or its SHA-256. An email is hashed before the search. A list of events is also searched by the first two or more characters of an order id.",
  );
const event = z.string().max(100).optional().describe("The event's name, in upper or lower case.");
const ofOrder = z.string().max(400).optional().describe("Only events with this order id.");
const ofPerson = z.string().max(400).optional().describe("Only events of this person: an email or its SHA-256.");

const eventFilter = {
  search,
  orderId: ofOrder,
  email: ofPerson,
  status: status.optional(),
  mode: mode.optional(),
  event,
  clickId: z.string().max(50).optional().describe("The name of a click id, such as gclid; `none` for events without one."),
  platform: z.string().max(50).optional().describe("Only events with a delivery to this platform."),
  state: state.optional().describe("Only events with a delivery in this state, of the platform if one is given."),
  confirmation: z
    .enum(confirmationStates)
    .optional()
    .describe("Only events with a delivery of which the platform said this later."),
  source: z.string().max(200).optional().describe("The source, as in the statistics; `(none)` for none."),
  campaign: z.string().max(200).optional().describe("The campaign, as in the statistics; `(none)` for none."),
  minValue: z.coerce.number().optional().describe("Only events with at least this value."),
  maxValue: z.coerce.number().optional().describe("Only events with at most this value."),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/, "must be an ISO 4217 code")
    .optional()
    .describe("Only events with a value in this currency."),
  ...period,
};

const unselected = z
  .enum(["include", "exclude"])
  .describe("Deliveries that were skipped because their event is not selected for the connection.");

const logStates = [...deliveryStates, "waiting"];

const deliveryFilter = {
  connection: connection.optional(),
  platform: z.string().max(50).optional(),
  state: z
    .string()
    .regex(
      new RegExp(`^(?:${logStates.join("|")})(?:,(?:${logStates.join("|")}))*$`),
      `must be one or more of ${logStates.join(", ")}`,
    )
    .optional()
    .describe(
      `One or more of ${logStates.join(", ")}, separated by commas. \`waiting\` stands for queued and parked deliveries, as in the counts of what waits.`,
    ),
  event,
  mode: mode.optional(),
  search,
  eventId: id.optional().describe("Only deliveries of this event, by its id or its platform event id."),
  orderId: ofOrder,
  email: ofPerson,
  confirmation: confirmationState.optional().describe("What the platform said later of conversions that it accepted."),
  confirmationReason: confirmationReason
    .optional()
    .describe("The reason of the confirmation. Without `confirmation`: of conversions that were not counted."),
};
const logFilter = {
  ...deliveryFilter,
  unselected: unselected.default("exclude"),
  ...period,
};

const chosenDeliveries = z.strictObject({
  ...deliveryFilter,
  unselected: unselected.default("include"),
  from: moment.optional().describe(from),
  to: moment.optional().describe(to),
  deliveries: z
    .array(z.object({ event: id, connection: id.optional() }))
    .min(1)
    .max(500)
    .optional()
    .describe("Only these deliveries, by the ids of event and connection; without a connection, all of the event."),
  dryRun: z.boolean().default(true).describe("True to change nothing and only return the counts."),
});

const tally = z.object({
  found: count.describe("Deliveries that match the filter."),
  changed: count.describe("Deliveries that were changed; in a dry run, that would be."),
  leftAlone: z.record(z.string(), count).describe("Deliveries that stay as they are, counted by reason."),
  waiting: z.record(z.string(), count).describe("Changed deliveries that still wait for their connection, counted by reason."),
});

const why = z.object({
  answers: z
    .array(
      z.object({
        event: z
          .object({ id, name: z.string(), receivedAt: time })
          .nullable()
          .describe("The event that the answer is about; null where none was received."),
        connection: connection.nullable().describe("A connection's id; null where the answer is about no connection."),
        platform: z.string().nullable(),
        outcome: z.enum(whyOutcomes),
        answer: z.string().describe("One sentence."),
        evidence: z.array(z.string()).describe("What is recorded, one sentence each."),
        actions: z.array(z.string()).describe("What to do, one sentence each."),
      }),
    )
    .describe("One for each event of the order and connection, the newest event first."),
});

export const eventRoutes = {
  "GET /sites/:site/feed": {
    summary: "Stream events as they arrive (server-sent events; `data` is one event as in the list)",
    allow: "viewer",
    answer: "stream",
  },
  "GET /sites/:site/events": {
    summary: "List events, newest first",
    allow: "viewer",
    query: z.object({ ...eventFilter, ...paging }),
    answer: page(eventSummary),
    tool: {
      name: "find_events",
      description:
        "Find an order by `orderId`. Each event lists its deliveries with state and reason; get_event_trace has the details.",
      without: ["search", "email"],
    },
  },
  "GET /sites/:site/events.csv": {
    summary: "Export events as CSV",
    allow: "viewer",
    query: z.object(eventFilter),
    answer: "csv",
  },
  "GET /sites/:site/events/:event": {
    summary: "Get the full trace of an event, by its id or its platform event id",
    allow: "viewer",
    answer: trace,
    tool: {
      name: "get_event_trace",
      description:
        "Shows what became of one event: consent, attribution, and for each connection the attempts, the platform's responses, and what the platform said later (`confirmation`).",
    },
  },
  "GET /sites/:site/why": {
    summary: "Explain what became of an order or an event at each platform, and what to do",
    allow: "viewer",
    query: z.object({
      id: z.string().trim().min(1).max(400).describe("An order id, an event id or a platform event id."),
      platform: z.string().max(50).optional().describe("Only the answer for this platform."),
    }),
    answer: why,
    tool: {
      name: "why",
      description: "Start here when someone asks what became of an order: it answers in one sentence, with the evidence.",
    },
  },
  "POST /sites/:site/events/:event/release": {
    summary: 'Release a filtered event ("not a bot"): deliver it, and never filter this person again',
    allow: "admin",
    answer: z.object({ deliveries: count }),
  },
  "GET /sites/:site/deliveries": {
    summary: "List deliveries (the sync log), newest first",
    allow: "viewer",
    query: z.object({ ...logFilter, ...paging }),
    answer: page(logLine),
    tool: {
      name: "list_deliveries",
      description:
        "Use it to find many conversions with the same problem, by platform, `state`, `confirmation` and `confirmationReason`.",
      without: ["search", "email"],
    },
  },
  "GET /sites/:site/deliveries/count": {
    summary: "Count deliveries",
    allow: "viewer",
    query: z.object(logFilter),
    answer: z.object({ count }),
  },
  "GET /sites/:site/deliveries.csv": {
    summary: "Export deliveries as CSV",
    allow: "viewer",
    query: z.object(logFilter),
    answer: "csv",
  },
  "POST /sites/:site/deliveries/replay": {
    summary: "Replay rejected, expired, skipped or parked deliveries; a dry run only counts them",
    allow: "admin",
    body: chosenDeliveries,
    answer: tally,
    tool: {
      name: "replay_deliveries",
      description: "Remove the cause first: `reasonPersists` says if a delivery would end the same way again.",
      without: ["search", "email", "dryRun"],
      isOpenWorld: true,
    },
  },
  "POST /sites/:site/deliveries/cancel": {
    summary: "Cancel queued or parked deliveries; a dry run only counts them",
    allow: "admin",
    body: chosenDeliveries,
    answer: tally,
  },
} satisfies Record<string, Route>;
