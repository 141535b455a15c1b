// Declares the routes of reconciliation: the list of orders, its feed, runs with their report, and the rows behind each number.

import { z } from "zod";
import {
  correctedClasses,
  defaultReconciledDays,
  defaultReconciledEvent,
  defaultSettleHours,
  funnelSteps,
  matchKinds,
  maxReconciledDays,
  maxTolerance,
  maxUploadMiB,
  noReason,
  orderStatuses,
  rowClasses,
  rowConfirmations,
  rowStates,
  runStates,
} from "../kernel/reconciliation.ts";
import { confirmationReasons, confirmationStates } from "../kernel/confirmation.ts";
import { correctionStates } from "../kernel/correction.ts";
import { deliveryStates } from "../kernel/event.ts";
import { count, done, id, page, paging, type Route, time } from "./route.ts";

const uploadTally = z.object({
  rows: count,
  written: count,
  refused: count,
  reasons: z
    .record(z.string(), z.object({ count, lines: z.array(count) }))
    .describe("Why rows were refused, with the lines of the first ones."),
});

const rules = {
  timeZone: z
    .string()
    .max(100)
    .optional()
    .describe("Zone of times without an offset, such as Europe/Berlin; by default the site's."),
  dates: z.enum(["mdy", "dmy"]).optional().describe("Order of 03/04/2026."),
  decimal: z.enum(["point", "comma"]).optional().describe("Decimal separator of amounts."),
};

const order = z.object({
  orderId: z.string().max(1000).optional().describe("Required, unless an email is given."),
  time: z
    .union([z.string().max(100), z.number().int().positive()])
    .describe("When the order was placed: ISO 8601, or Unix time in milliseconds."),
  value: z.number().nullable().optional(),
  currency: z.string().max(10).optional().describe("ISO 4217 code. Default: USD."),
  status: z
    .string()
    .max(100)
    .optional()
    .describe(`${orderStatuses.join(", ")}, or a usual word for one of them. Default: paid.`),
  email: z.string().max(320).optional().describe("Hashed at once and never stored."),
  hashed_email: z.string().max(64).optional().describe("SHA-256 of the lower-cased email, in hex."),
});

const feed = z
  .object({
    url: z.string().describe("The origin only: the rest of the URL may hold a token."),
    header: z.string().nullable().describe("The name of the header that is sent; its value is never shown."),
    columns: z.record(z.string(), z.string()),
    nextAt: time.nullable().describe("Time of the next fetch; null if it is due now."),
    fetchedAt: time.nullable(),
    error: z.string().nullable().describe("What was wrong with the last fetch."),
    last: uploadTally.nullable().describe("What the last fetch wrote."),
  })
  .meta({ id: "OrderFeed" });

const confirmationReason = z.enum([...confirmationReasons, noReason]).optional();

const filter = z.object({
  class: z.enum(rowClasses).optional(),
  filtered: z.string().optional(),
  connection: z.string().optional(),
  state: z.enum(rowStates).optional(),
  reason: z.string().optional(),
  attributed: z.boolean().optional(),
  confirmation: z.enum(rowConfirmations).optional(),
  confirmationReason,
});

const funnel = z.array(
  z.object({
    step: z.enum(funnelSteps),
    count,
    narrows: z.boolean().describe("False for `attributed`: the steps after it are counted from the step before it."),
    losses: z
      .array(
        z.object({
          reason: z.string(),
          count,
          rows: filter.describe("The query of the rows that this number counts."),
        }),
      )
      .describe("What was lost since the last step that narrows; adds up to the difference."),
  }),
);

const run = z.object({
  id,
  state: z.enum(runStates),
  from: time,
  to: time.describe("End of the window, not included. Unix time in milliseconds."),
  event: z.string(),
  tolerance: z.number(),
  startedBy: z.string(),
  startedAt: time,
  updatedAt: time,
  orders: count.describe("Orders that count: all of the window but those that are not due."),
  received: count.describe("Of these, orders whose event was received."),
});

const report = run
  .extend({
    classes: z.partialRecord(z.enum(rowClasses), count),
    foundBy: z.partialRecord(z.enum(matchKinds), count).describe("`weak`: by email hash, day and value."),
    values: z.array(z.object({ currency: z.string(), listed: z.number(), received: z.number() })),
    funnel: funnel.describe("The steps before any platform."),
    connections: z.array(
      z.object({
        connectionId: id,
        platform: z.string(),
        accepted: count,
        skipped: count,
        waiting: count,
        failed: count,
        filtered: count,
        notReceived: count,
        notConnected: count.describe("The connection did not exist when the event arrived."),
        deliverable: count.describe(
          "accepted + waiting + failed + notReceived: what the platform should have. 0 where it was connected after the period, or does not take the event.",
        ),
        values: z
          .array(z.object({ currency: z.string(), accepted: z.number(), deliverable: z.number() }))
          .describe("What the accepted and the deliverable orders are worth, by currency."),
        confirmed: count.nullable().describe("Of the accepted, those that the platform counts; null where it cannot be asked."),
        funnel,
      }),
    ),
  })
  .meta({ id: "Reconciliation" });

const row = z.object({
  id: z.string(),
  class: z.enum(rowClasses),
  foundBy: z.enum(matchKinds).nullable(),
  orderId: z.string().nullable(),
  eventId: z.string().nullable(),
  events: count.describe("Number of accepted events of the order."),
  time,
  orderValue: z.number().nullable(),
  orderCurrency: z.string().nullable(),
  orderStatus: z.enum(orderStatuses).nullable(),
  eventValue: z.number().nullable(),
  eventCurrency: z.string().nullable(),
  filtered: z.string().nullable(),
  outcomes: z.array(
    z.object({
      connectionId: z.string(),
      platform: z.string(),
      state: z.enum(deliveryStates),
      reason: z.string().nullable(),
      attributed: z.boolean(),
      confirmation: z
        .object({ state: z.enum(confirmationStates), reason: z.enum(confirmationReasons).nullable() })
        .nullable()
        .describe("What the platform had said of the accepted conversion by then; null if it cannot be asked."),
      correction: z
        .object({ state: z.enum(correctionStates), value: z.number() })
        .nullable()
        .describe("What became of the value at the platform until now; null if it was not corrected."),
    }),
  ),
});

const rowQuery = {
  class: z.enum(rowClasses).optional(),
  filtered: z.string().max(200).optional().describe("The reason for which events were filtered."),
  connection: id.optional(),
  state: z.enum(rowStates).optional().describe("At the connection; `none` where it has no delivery."),
  reason: z.string().max(1000).optional().describe(`Of that state; ${noReason} for those without one.`),
  attributed: z.enum(["true", "false"]).optional().describe("At the connection: with or without a click id of its platform."),
  confirmation: z
    .enum(rowConfirmations)
    .optional()
    .describe("At the connection, of accepted orders: what the platform said later; `none` if it cannot be asked."),
  confirmationReason: confirmationReason.describe(`Of that confirmation; ${noReason} for those without one.`),
};

const day = z.string().max(10).optional();

export const reconciliationRoutes = {
  "GET /sites/:site/orders": {
    summary: "Summarise the list of orders and its feed",
    allow: "viewer",
    answer: z.object({
      orders: count,
      isAtLeast: z.boolean().describe("True if there are more than `orders`."),
      first: time.nullable(),
      last: time.nullable(),
      feed: feed.nullable(),
    }),
  },
  "POST /sites/:site/orders": {
    summary: "Add orders to the list, or replace them; the last one with an id counts",
    allow: "admin",
    body: z.object({ orders: z.array(order).min(1).max(1000) }),
    answer: z.object({
      written: count,
      refused: z.array(z.object({ index: count, reason: z.string() })),
    }),
  },
  "POST /sites/:site/orders/upload": {
    summary: `Add orders from CSV or NDJSON, at most ${maxUploadMiB} MiB`,
    allow: "admin",
    query: z.object(rules),
    upload: true,
    answer: uploadTally,
  },
  "PUT /sites/:site/order-feed": {
    summary: "Set the address from which the list of orders is fetched once a day",
    allow: "admin",
    body: z.object({
      url: z.string().max(3000),
      header: z
        .object({ name: z.string().max(100), value: z.string().max(5000) })
        .nullable()
        .optional(),
      columns: z
        .record(z.string().max(40), z.string().max(200))
        .optional()
        .describe("Field → column, where the names of the columns do not tell."),
      ...rules,
    }),
    answer: z.object({ feed }),
  },
  "DELETE /sites/:site/order-feed": {
    summary: "Stop fetching the list of orders",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/order-feed/fetch": {
    summary: "Fetch the list of orders within a minute",
    allow: "admin",
    answer: done,
  },
  "GET /sites/:site/reconciliations": {
    summary: "List reconciliations, newest first",
    allow: "viewer",
    answer: z.object({ items: z.array(run) }),
    tool: {
      name: "list_reconciliations",
      description: "A reconciliation compares the shop's own list of orders with what was received and what platforms accepted.",
    },
  },
  "POST /sites/:site/reconciliations": {
    summary: "Compare the list of orders with events and deliveries",
    allow: "admin",
    body: z.object({
      from: day.describe(
        `First day, like 2026-11-01, in the site's time zone. Default: ${defaultReconciledDays} days before the end; at most ${maxReconciledDays}.`,
      ),
      to: day.describe(`Last day. Default: the last day that has been over for ${defaultSettleHours} hours.`),
      event: z.string().max(100).optional().describe(`Default: ${defaultReconciledEvent}.`),
      tolerance: z.number().min(0).max(maxTolerance).optional().describe("Percent by which values may differ. Default: 0."),
    }),
    answer: z.object({ reconciliation: run }),
  },
  "GET /sites/:site/reconciliations/:run": {
    summary: "Read the report of a reconciliation: classes, funnel, what each connection accepted",
    allow: "viewer",
    answer: z.object({ reconciliation: report }),
    tool: {
      name: "get_reconciliation",
      description: "Shows how many orders were lost at which step and why, for each connection.",
    },
  },
  "POST /sites/:site/reconciliations/:run/cancel": {
    summary: "Cancel a running reconciliation",
    allow: "admin",
    answer: z.object({ reconciliation: run }),
  },
  "GET /sites/:site/reconciliations/:run/rows": {
    summary: "List the rows behind a number; a page may be empty and not the last",
    allow: "viewer",
    query: z.object({ ...rowQuery, ...paging }),
    answer: page(row),
    tool: {
      name: "list_reconciliation_rows",
      description: "Lists the orders that a number of get_reconciliation counts: pass its `rows` as arguments.",
    },
  },
  "GET /sites/:site/reconciliations/:run/rows.csv": {
    summary: "Export rows as CSV",
    allow: "viewer",
    query: z.object(rowQuery),
    answer: "csv",
  },
  "POST /sites/:site/reconciliations/:run/missing/send": {
    summary: "Send orders that were never received to the platforms, a part at a time",
    allow: "admin",
    body: z.object({
      cursor: z.string().max(1000).optional().describe("The `next` of the previous part."),
      withSimilar: z
        .boolean()
        .optional()
        .describe("Also orders to which a similar event may belong. Platforms may count them twice."),
    }),
    answer: z.object({
      sent: count.describe("Orders that became conversions; their deliveries are queued."),
      withoutEmail: count.describe("Orders that cannot be sent: an event needs an email."),
      receivedSince: count.describe("Orders whose event has arrived since they were compared."),
      similar: count.describe(
        "Orders left out: an event of the same person, day and value is here under another order id or none.",
      ),
      filtered: count,
      refused: count,
      reasons: z.record(z.string(), count).describe("Why orders were refused."),
      next: z.string().nullable().describe("The cursor of the next part; null at the end."),
      waitingFor: z.string().nullable().describe("A platform whose queue is full: send the same part again after a second."),
    }),
  },
  "POST /sites/:site/reconciliations/:run/corrections": {
    summary: "Take back conversions of refunded or cancelled orders, or restate values, a part at a time",
    allow: "admin",
    body: z.object({
      class: z.enum(correctedClasses).describe("`status_changed` takes conversions back, `value_differs` restates them."),
      cursor: z.string().max(1000).optional().describe("The `next` of the previous part."),
    }),
    answer: z.object({
      orders: count.describe("Orders with a correction."),
      left: count.describe("Orders without one: changed in the list since, or no platform was given them."),
      corrections: z.partialRecord(z.enum(correctionStates), count).describe("One for each conversion and connection."),
      next: z.string().nullable().describe("The cursor of the next part; null at the end."),
    }),
  },
  "GET /sites/:site/reconciliations/:run/missing.csv": {
    summary: "Export orders that were never received, in the form that `cleancast import conversions` reads",
    allow: "admin",
    answer: "csv",
  },
} satisfies Record<string, Route>;
