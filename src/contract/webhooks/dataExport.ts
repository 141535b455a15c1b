// Declares the routes of the scheduled export of data: hourly files for a folder or a bucket.

import { z } from "zod";
import { count, done, type Route, time } from "../route.ts";

const format = z.enum(["parquet", "ndjson"]);

const dataExport = z
  .object({
    to: z.string().describe("`folder`, or `s3://BUCKET/PREFIX`; empty where it cannot be read."),
    endpoint: z.string().nullable().describe("The address of the store; null for a folder."),
    region: z.string().nullable(),
    keyId: z.string().nullable().describe("The id of the key. Its secret is never shown."),
    format,
    people: z.boolean().describe("True where the files have the SHA-256 of the email."),
    from: time.describe("Beginning of the first hour."),
    nextHour: time.describe("Beginning of the next hour that is written."),
    nextAt: time.nullable().describe("When it is written; null if it is due now."),
    error: z.string().nullable().describe("What was wrong with the last try."),
    failingSince: time.nullable(),
    runs: z
      .array(z.object({ hour: time, at: time, ms: count, files: count, rows: count, bytes: count }))
      .describe("The hours that were written last, the newest first."),
    query: z.string().describe("A query for DuckDB: conversions and their value by platform and present state."),
  })
  .meta({ id: "DataExport" });

export const dataExportRoutes = {
  "GET /sites/:site/data-export": {
    summary: "Show the scheduled export of data and its last hours",
    allow: "viewer",
    answer: z.object({
      export: dataExport.nullable(),
      hasFolder: z.boolean().describe("True where the operator has set a folder for exports."),
    }),
  },
  "PUT /sites/:site/data-export": {
    summary: "Export events, deliveries, attempts and their changes every hour",
    allow: "admin",
    body: z.object({
      to: z
        .string()
        .max(600)
        .describe("`folder` for the operator's CLEANCAST_EXPORT_FOLDER, or `s3://BUCKET/PREFIX` for an S3-compatible store."),
      endpoint: z.string().max(3000).optional().describe("The address of the store, like https://s3.eu-central-1.amazonaws.com."),
      region: z.string().max(100).optional().describe("Default: us-east-1."),
      keyId: z
        .string()
        .max(1000)
        .optional()
        .describe("Key and secret of an export to the same bucket stay, unless they are given."),
      secret: z.string().max(1000).optional(),
      format: format.optional().describe("Default: parquet."),
      people: z.boolean().optional().describe("Adds the SHA-256 of the email. Default: false."),
      since: z
        .union([z.string().max(100), z.number().int().positive()])
        .optional()
        .describe("The first hour: ISO 8601, or Unix time in milliseconds. Default: the present hour; the past is not exported."),
    }),
    answer: z.object({ export: dataExport }),
  },
  "DELETE /sites/:site/data-export": {
    summary: "Stop exporting data; the files stay",
    allow: "admin",
    answer: done,
  },
  "POST /sites/:site/data-export/retry": {
    summary: "Try the export again within a minute",
    allow: "admin",
    answer: done,
  },
} satisfies Record<string, Route>;
