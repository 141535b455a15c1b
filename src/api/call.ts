// Defines the input and output of the handlers; the types follow from the contract.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Actor } from "../access/actor.ts";
import type { Answer, Body, ParamNames, Query, RouteName } from "../contract/contract.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { Missing, type By } from "../kernel/refusal.ts";

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
  request: FastifyRequest;
  reply: FastifyReply;
};

type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Answer<Name>>;
export type Handlers<Names extends RouteName> = { [Name in Names]: Handler<Name> };

export const notFound = (what: string) => new Missing("", `There is no such ${what}.`);

/** Reads the site again before a change: another node may have changed it a moment ago. */
export async function reloadSite(directory: Directory, { id }: Site): Promise<Site> {
  await directory.refresh();
  const site = directory.site(id);
  if (!site) throw notFound("site");
  return site;
}
