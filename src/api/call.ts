// What a handler of the management API gets and gives: its types follow from the contract.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Actor } from "../access/actor.ts";
import type { Answer, Body, ParamNames, Query, RouteName } from "../contract/contract.ts";
import type { Site } from "../sites/directory.ts";
import { Missing, type By } from "../kernel/refusal.ts";

export type Call<Name extends RouteName> = {
  params: Record<ParamNames<Name>, string>;
  query: Query<Name>;
  body: Body<Name>;
  /** Null where anybody may call. */
  actor: Actor | null;
  /** For the audit log. */
  by: By;
  /** Of the path; a route without one has no business with it. */
  site: Name extends `${string}/:site${string}` ? Site : null;
  request: FastifyRequest;
  reply: FastifyReply;
};

export type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Answer<Name>>;
export type Handlers<Names extends RouteName> = { [Name in Names]: Handler<Name> };

export const notFound = (what: string) => new Missing("", `There is no such ${what}.`);
