// Defines the input and output of the handlers; the types follow from the contract.

import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Actor } from "../access/actor.ts";
import type { Answer, Body, ParamNames, Query, RouteName } from "../contract/contract.ts";
import type { sessionRoutes } from "../contract/session.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { say } from "../kernel/messages/message.ts";
import { requireHere } from "../sites/manage.ts";
import { Missing, Refusal, refuseFields, type By } from "../kernel/refusal.ts";
import type { CsvText } from "../tables/formulas.ts";

/** These need an HTTP request: its cookies, its address, its end. All others are also called in process. */
export type RequestRoute = keyof typeof sessionRoutes | "GET /sites/:site/feed";

export type Call<Name extends RouteName> = {
  params: Record<ParamNames<Name>, string>;
  query: Query<Name>;
  body: Body<Name>;
  /** The file in the body; empty for routes without one. */
  upload: Buffer;
  /** Null for routes that need no sign-in. */
  actor: Actor | null;
  /** Names the caller in the audit log. */
  by: By;
  /** The site in the path; null for routes without one. */
  site: Name extends `${string}/:site${string}` ? Site : null;
  /** The Host header of the request; null in process. */
  host: string | null;
  /** Sets a header of the answer. */
  reply: { header(name: string, value: string | string[]): unknown };
  request: Name extends RequestRoute ? FastifyRequest : unknown;
};

/** A CSV file is made of escaped rows. */
type Produced<Name extends RouteName> = Answer<Name> & (Name extends `${string}.csv` ? AsyncIterable<CsvText> : unknown);
type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Produced<Name>>;
export type Handlers<Names extends RouteName> = { [Name in Names]: Handler<Name> };

export const notFound = (what: string) => new Missing("", say("no_such", { what }));

/** Reads the site again before a change: another node may have changed it a moment ago. */
export async function reloadSite(directory: Directory, { id }: Site): Promise<Site> {
  await directory.refresh();
  const site = directory.site(id);
  if (!site) throw notFound("site");
  return site;
}

/** What is left of a moved site can only be read and deleted. */
export function requirePresent(name: RouteName, site: Site | null): void {
  if (site && !name.startsWith("GET ") && name !== "DELETE /sites/:site") requireHere(site);
}

/** Checks a query or a body, and fills in defaults. */
export function validate(schema: z.ZodType | undefined, value: unknown): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  refuseFields(result.error.issues.map(refusalOf));
  return undefined;
}

function refusalOf(issue: z.core.$ZodIssue): Refusal {
  // A filter that is ignored would show, or change, more than the caller asked for.
  if (issue.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    return new Refusal(unknown, say("unknown_field", { field: unknown }));
  }
  const field = issue.path.join(".");
  return new Refusal(field, describeIssue(issue, field));
}

/** A message about a field begins with its name. Rare faults have the text of the validator. */
function describeIssue(issue: z.core.$ZodIssue, field: string): string {
  const text = issue.message.replace(/^Invalid input: /, "");
  if (!field) return `${text}.`;
  if (issue.code === "invalid_type" && text.endsWith(" undefined"))
    return say("value_missing", { field, expected: issue.expected });
  if (issue.code === "invalid_type") return say("value_invalid", { field, text });
  if (issue.code === "too_small" && issue.origin === "string")
    return say("text_too_short", { field, min: Number(issue.minimum) });
  if (issue.code === "too_big" && issue.origin === "string") return say("text_too_long", { field, max: Number(issue.maximum) });
  if (issue.code === "too_small" && issue.origin === "number")
    return say("number_too_small", { field, min: Number(issue.minimum) });
  if (issue.code === "too_big" && issue.origin === "number") return say("number_too_big", { field, max: Number(issue.maximum) });
  if (issue.code === "invalid_value") return say("value_unknown", { field, choices: issue.values.map(String) });
  return `${field}: ${text}.`;
}
