// What a route of the management API is. The contract is a list of such declarations: the server checks requests by
// them, the dashboard takes its types from them, and the OpenAPI document is made of them.

import { z } from "zod";
import { refusalCodes } from "../kernel/refusal.ts";

export const roles = ["viewer", "admin", "owner"] as const;
/** viewer reads, admin changes, owner also decides who belongs. Each holds on one site or on all of them. */
export type Role = (typeof roles)[number];

export type Route = {
  summary: string;
  /**
   * Who may call it: anybody; whoever is signed in, and sees only what is theirs; or a role, on the site in the path, or
   * on the whole installation where there is none.
   */
  allow: "anybody" | "signed in" | Role;
  /** False where a person must be signed in: an API key cannot sign people in, invite them, or make keys. */
  apiKeys?: false;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** What a 200 holds; `stream` and `csv` are no JSON. */
  answer: z.ZodType | "stream" | "csv";
};

export const id = z.string().min(1).max(100);
/** Milliseconds since 1970. */
export const time = z.number().int();
/** One that is sent: nothing lies that far ahead. */
export const moment = z.number().int().min(0).max(Date.UTC(2200, 0));
/** A name that people give: one line of it. */
export const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}]*$/u, "must be one line of text");
export const count = z.number().int().nonnegative();
export const done = z.object({});

/** `?cursor=` is the `next` of the page before. */
export const paging = {
  cursor: z.string().max(500).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
};

export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** A time in an address: milliseconds since 1970. */
export const queryTime = z.coerce.number().int().min(0).max(Date.UTC(2200, 0)).optional();

/** Every answer that is no 200. `field` names what the sentence is about. */
export const errorAnswer = z.object({
  error: z.object({ code: z.enum(refusalCodes), message: z.string(), field: z.string().optional() }),
});
