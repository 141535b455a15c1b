// What happened: numbers over time, events with their trace, the sync log, and the live feed.

import { z } from "zod";
import { deliveryStates, filterCodes, visitBuckets } from "../kernel/event.ts";
import { count, id, moment, page, paging, queryTime, type Route, time } from "./route.ts";

const state = z.enum(deliveryStates);
const mode = z.enum(["live", "test"]);
const status = z.enum(["accepted", "filtered"]);
const money = z.object({ currency: z.string(), value: z.number() });

const deliverySummary = z.object({
  connection: id,
  platform: z.string(),
  state,
  reason: z.string().nullable(),
});

export const eventSummary = z.object({
  id,
  /** What platforms received as event id. */
  platformEventId: z.string(),
  event: z.string(),
  mode,
  status,
  value: z.number().nullable(),
  currency: z.string(),
  orderId: z.string().nullable(),
  receivedAt: time,
  releasedAt: time.nullable(),
  filterReasons: z.array(z.object({ code: z.enum(filterCodes), detail: z.string().nullable() })),
  identity: z.enum(["found", "none", "unreadable"]),
  withheld: z.string().nullable(),
  clickIds: z.array(z.string()),
  deliveries: z.array(deliverySummary),
});

const attempt = z.object({
  number: count,
  startedAt: time,
  durationMs: count,
  state,
  reason: z.string().nullable(),
  httpStatus: z.number().int().nullable(),
  batch: count,
  request: z.string(),
  response: z.string().nullable(),
});

const delivery = deliverySummary.extend({
  attempts: count,
  nextTryAt: time.nullable(),
  updatedAt: time,
  log: z.array(attempt),
});

export const trace = eventSummary.extend({
  time,
  key: z.object({ id, name: z.string().nullable() }),
  emailSha256: z.string(),
  /** Which contact data came, in which forms; all of it hashed. */
  contact: z.array(z.string()),
  attribution: z.object({
    consent: z.enum(["granted", "denied", "unknown", "unreadable"]),
    withheld: z.string().nullable(),
    identity: z.enum(["found", "none", "unreadable"]),
    clickIds: z.record(z.string(), z.object({ value: z.string(), seenAt: time })),
    browserIds: z.record(z.string(), z.string()),
    utm: z.record(z.string(), z.string()),
    page: z.string().nullable(),
    referrer: z.string().nullable(),
  }),
  warnings: z.array(z.string()),
  deliveries: z.array(delivery),
});

const logLine = z.object({
  event: z.object({
    id,
    name: z.string(),
    value: z.number().nullable(),
    currency: z.string(),
    orderId: z.string().nullable(),
    mode,
    receivedAt: time,
    erased: z.boolean(),
  }),
  connection: id,
  platform: z.string(),
  state,
  reason: z.string().nullable(),
  attempts: count,
  nextTryAt: time.nullable(),
  updatedAt: time,
});

const eventFilter = {
  /** An order id, an event id, or an email (which is hashed before it is looked for). */
  search: z.string().trim().max(400).optional(),
  status: status.optional(),
  mode: mode.optional(),
  /** The event's name, in any case. */
  event: z.string().max(100).optional(),
  /** The name of a click id that came with it; `none` for events without any. */
  clickId: z.string().max(50).optional(),
  from: queryTime,
  to: queryTime,
};

const logFilter = {
  connection: id.optional(),
  platform: z.string().max(50).optional(),
  state: state.optional(),
  event: z.string().max(100).optional(),
  mode: mode.optional(),
  search: z.string().trim().max(400).optional(),
  from: queryTime,
  to: queryTime,
};

/** The same in a body, where the numbers are numbers. */
const chosenDeliveries = z.object({
  connection: id.optional(),
  platform: z.string().max(50).optional(),
  state: state.optional(),
  event: z.string().max(100).optional(),
  mode: mode.optional(),
  search: z.string().trim().max(400).optional(),
  from: moment.optional(),
  to: moment.optional(),
  /** One event's alone. */
  eventId: id.optional(),
  /** Only say what would happen. */
  dryRun: z.boolean().default(true),
});

const tally = z.object({
  found: count,
  changed: count,
  leftAlone: z.record(z.string(), count),
  waiting: z.record(z.string(), count),
});

/** Currencies are never added together; the one of most conversions comes first. */
const sums = z.object({
  conversions: count,
  /** Without refunds, which count as conversions and have sums of their own. */
  values: z.array(money),
  refunds: z.array(money),
  duplicates: count,
  filtered: count,
  /** Of the filtered ones, those that were filtered as bots'; the site's rules filtered the others. */
  botEvents: count,
});

/** Numbers of one hour or day. */
const statisticsStep = sums.extend({
  startsAt: time,
  visits: z.record(z.enum(visitBuckets), count),
});

export const statistics = z.object({
  from: time,
  to: time,
  step: z.enum(["hour", "day"]),
  timeZone: z.string(),
  steps: z.array(statisticsStep),
  /** The same sums for the time of equal length before, to compare with. */
  before: sums.extend({ bots: count }),
  totals: sums.extend({ bots: count, people: count, test: count }),
  events: z.array(z.object({ name: z.string(), conversions: count, values: z.array(money) })),
  /** How deliveries of the conversions in this time stand. */
  platforms: z.array(z.object({ platform: z.string(), states: z.partialRecord(state, count) })),
  match: z.object({
    conversions: count,
    /** With an identity record. */
    identified: count,
    withheld: count,
    /** With at least one click id. */
    withClickId: count,
    clickIds: z.array(z.object({ name: z.string(), conversions: count })),
  }),
  /** Visits removed as bots', and events that were filtered, by reason. */
  removed: z.array(z.object({ reason: z.string(), visits: count, events: count })),
});

export const eventRoutes = {
  "GET /sites/:site/statistics": {
    summary: "Conversions, value, deliveries, match rate, bots and duplicates over time",
    allow: "viewer",
    query: z.object({
      from: z.coerce.number().int(),
      to: z.coerce.number().int(),
      step: z.enum(["hour", "day"]).default("day"),
    }),
    answer: statistics,
  },
  "GET /sites/:site/feed": {
    summary: "Events as they arrive (server-sent events; `data` is one event as in the list)",
    allow: "viewer",
    answer: "stream",
  },
  "GET /sites/:site/events": {
    summary: "Events, newest first",
    allow: "viewer",
    query: z.object({ ...eventFilter, ...paging }),
    answer: page(eventSummary),
  },
  "GET /sites/:site/events.csv": {
    summary: "The same as a table",
    allow: "viewer",
    query: z.object(eventFilter),
    answer: "csv",
  },
  "GET /sites/:site/events/:event": {
    summary: "The whole trace of one event, by its id or by the event id that platforms received",
    allow: "viewer",
    answer: trace,
  },
  "POST /sites/:site/events/:event/release": {
    summary: '"Not a bot": deliver a filtered event, and never filter its person again',
    allow: "admin",
    answer: z.object({ deliveries: count }),
  },
  "GET /sites/:site/deliveries": {
    summary: "The sync log: deliveries, newest first",
    allow: "viewer",
    query: z.object({ ...logFilter, ...paging }),
    answer: page(logLine),
  },
  "GET /sites/:site/deliveries.csv": {
    summary: "The same as a table",
    allow: "viewer",
    query: z.object(logFilter),
    answer: "csv",
  },
  "POST /sites/:site/deliveries/replay": {
    summary: "Send again what was rejected, expired, skipped or parked; with dryRun only say how many",
    allow: "admin",
    body: chosenDeliveries,
    answer: tally,
  },
  "POST /sites/:site/deliveries/cancel": {
    summary: "Stop what is queued or parked from being sent; with dryRun only say how many",
    allow: "admin",
    body: chosenDeliveries,
    answer: tally,
  },
} satisfies Record<string, Route>;
