// Declares the routes of imports: the columns of a file, its parts, and the list of imports. A file is sent in parts and never
// stored, because it has plain addresses. Lists of orders have routes of their own.

import { z } from "zod";
import { uploadKinds } from "../kernel/imports.ts";
import { maxUploadMiB } from "../kernel/reconciliation.ts";
import { count, type Route, time } from "./route.ts";

const kind = z.enum(uploadKinds).describe("identities are click ids, UTM fields, browser ids and consent.");
const counts = z.record(z.string(), count);

const tally = z.object({
  rows: count,
  imported: count,
  duplicates: count,
  filtered: count,
  refused: count,
  reasons: z
    .record(z.string(), z.object({ count, lines: z.array(count) }))
    .describe("Why rows were refused, with the lines of the first ones."),
  deliveries: z.record(z.string(), counts).describe("By platform and by the state in which they were planned."),
  skipped: z.record(z.string(), counts).describe("By platform and reason."),
});

const fileName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, "must be one line of text");
const flag = z.enum(["true", "false"]);
const pairs = z.string().max(8000);

export const importRoutes = {
  "GET /sites/:site/imports": {
    summary: "List imports with their progress",
    allow: "viewer",
    answer: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          kind: z.enum([...uploadKinds, "orders"]),
          file: z.string(),
          state: z.enum(["running", "stopped", "done"]),
          deliver: z.string().describe("`all`, `none`, or platforms and connection ids."),
          tally: tally.partial(),
          startedAt: time,
          updatedAt: time,
        }),
      ),
    }),
  },
  "POST /sites/:site/imports/columns": {
    summary: "Read the columns of a CSV or NDJSON file, without writing anything",
    allow: "admin",
    query: z.object({ kind }),
    upload: true,
    answer: z.object({
      delimiter: z.string().nullable().describe("Null for NDJSON."),
      columns: z.array(z.object({ name: z.string(), samples: z.array(z.string()).describe("Cells of the first rows.") })),
      fields: z.array(
        z.object({
          name: z.string(),
          column: z.string().nullable().describe("The column with this field's name; null if none or several have it."),
        }),
      ),
    }),
  },
  "POST /sites/:site/imports/parts": {
    summary: `Import a CSV or NDJSON file, or a part of it, at most ${maxUploadMiB} MiB`,
    allow: "admin",
    query: z.object({
      kind,
      file: fileName.describe("Its name, which the list of imports shows."),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "must be 64 hex characters")
        .optional()
        .describe("SHA-256 of the whole file. All parts of a file have the same."),
      skippedLines: z.coerce
        .number()
        .int()
        .min(0)
        .max(1e9)
        .default(0)
        .describe(
          "Lines of the file between its header and the first row of this part. Parts are sent in their order; one that leaves lines out is refused.",
        ),
      isLast: flag.default("true").describe("false if other parts follow."),
      dryRun: flag.default("false").describe("true reads the rows, writes nothing, and reports."),
      mapping: pairs
        .optional()
        .describe('JSON object of fields and columns; an empty column leaves a field out: `{"value":"Net"}`.'),
      defaults: pairs.optional().describe('JSON object of values for blank cells: `{"event":"purchase"}`.'),
      deliver: z
        .string()
        .max(4000)
        .default("none")
        .describe("Where conversions are sent: `all`, `none`, or platforms and connection ids with commas."),
      timeZone: z.string().max(100).optional().describe("Zone of times without an offset; by default the site's."),
      dates: z.enum(["mdy", "dmy"]).optional().describe("Order of 03/04/2026."),
      decimal: z.enum(["point", "comma"]).optional().describe("Decimal separator of amounts."),
    }),
    upload: true,
    answer: z.object({
      state: z
        .enum(["dry run", "done", "stopped", "done before"])
        .describe("stopped: send the rest. done before: this file was imported with the same columns."),
      isPartDone: z.boolean().describe("False if queues are full or time ran out: send the same part again, and it continues."),
      waitingFor: z.string().nullable().describe("The platform whose queue is full."),
      tally: tally.describe("Of all parts; in a dry run, of this one."),
      refusedRows: z.array(z.object({ line: count, reason: z.string() })).describe("Of this request."),
    }),
  },
} satisfies Record<string, Route>;
