// Defines a route of the management API. The contract is a list of such declarations: the server validates requests with
// them, the dashboard takes its types from them, and the OpenAPI document is generated from them. A field's `describe` is
// its documentation.

import { z } from "zod";
import { refusalCodes } from "../kernel/refusal.ts";
import { maxTime } from "../kernel/time.ts";
import type { Scope } from "../kernel/scopes.ts";

export const roles = ["viewer", "admin", "owner"] as const;
/** A viewer reads, an admin changes, an owner also manages members. A role holds on one site or on all sites. */
export type Role = (typeof roles)[number];

export type Route = {
  summary: string;
  /**
   * The caller that a route needs: anyone; a signed-in one, who sees only what they have access to; or one with a role on
   * the site in the path, or on the whole installation if the path has no site.
   */
  allow: "public" | "signed in" | Role;
  /** False where a person must be signed in: an API key cannot sign people in, invite them, or create API keys. */
  apiKeys?: false;
  /** An API key needs one of these; see `scopesOf` for the default. */
  scopes?: readonly [Scope, ...Scope[]];
  query?: z.ZodObject;
  body?: z.ZodType;
  /** True where the body is a CSV or NDJSON file, which the handler reads. */
  upload?: true;
  /** The body of a 200; `stream` and `csv` are not JSON. */
  answer: z.ZodType | "stream" | "csv";
  /** Offers the route to assistants. Most routes are none: a long list of tools costs an assistant its attention. */
  tool?: Tool;
};

export type Tool = {
  name: string;
  /** Tells an assistant when to use it, after the route's summary. */
  description: string;
  /** Fields of the query or the body that are no arguments, because they take contact data. */
  without?: readonly string[];
  /** True if a call reaches a platform. */
  isOpenWorld?: true;
};

/** Returns the scopes of which an API key needs one. Empty for what only owners can do: no API key can. */
export function scopesOf({ allow, scopes }: Route): readonly Scope[] {
  if (allow === "owner") return [];
  return scopes ?? [allow === "admin" ? "write" : "read"];
}

export const id = z.string().min(1).max(100);
export const time = z.number().int().describe("Unix time in milliseconds.");
/** A time in a request body. */
export const moment = z.number().int().min(0).max(maxTime).describe("Unix time in milliseconds.");
/** A time in a query string. */
const queryTime = z.coerce.number().int().min(0).max(maxTime).optional();
export const from = "Start of the period, included. Unix time in milliseconds.";
export const to = "End of the period, not included. Unix time in milliseconds.";
/** The times between which lists are asked for. */
export const period = { from: queryTime.describe(from), to: queryTime.describe(to) };

/** A name that people choose, on one line. */
export const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}]*$/u, "must be one line of text");
export const count = z.number().int().nonnegative();
export const done = z.object({});
export const role = z.enum(roles).describe("viewer can read, admin can change, owner can also manage members.");
export const mode = z
  .enum(["live", "test"])
  .describe("Platforms receive test events in their own test mode. Test events are never counted.");
export const expiresAt = time.nullable().describe("Unix time in milliseconds; null if it never expires.");
export const httpStatus = z.number().int().nullable().describe("Null if there was no response.");
export const sentRequest = z.string().describe("The request that was sent, without secrets.");
export const response = z.string().nullable().describe("The response that was received, shortened and without secrets.");

export const paging = {
  cursor: z.string().max(500).optional().describe("The `next` of the previous page."),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe("Maximum number of items per page."),
};

export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    next: z.string().nullable().describe("Cursor of the next page; null on the last page."),
  });

/** The body of every response that is not a 200. */
export const errorAnswer = z
  .object({
    error: z.object({
      code: z.enum(refusalCodes),
      message: z.string().describe("Explains the error to a person."),
      field: z.string().optional().describe("The field that the message is about."),
      faults: z
        .array(
          z.object({
            line: z.number().int().optional(),
            column: z.number().int().optional(),
            field: z.string(),
            message: z.string(),
          }),
        )
        .optional()
        .describe("All fields that are wrong, if there are several; all faults of a configuration file, with their places."),
    }),
    messages: z
      .record(z.string(), z.object({ code: z.string(), parameters: z.record(z.string(), z.unknown()) }))
      .optional()
      .describe("The sentences of the answer, each with its code and parameters, to say them in another language."),
  })
  .meta({ id: "Error" });
