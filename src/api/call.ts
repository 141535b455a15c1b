// What a handler of the management API gets and gives: its types follow from the contract.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Actor } from "../access/actor.ts";
import type { Answer, Body, ParamNames, Query, RouteName } from "../contract/contract.ts";
import type { ErrorCode } from "../contract/route.ts";
import type { Site } from "../sites/directory.ts";
import type { By } from "../kernel/refusal.ts";

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

const statuses: Record<ErrorCode, number> = {
  invalid: 400,
  signed_out: 401,
  code_needed: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many: 429,
  insecure: 426,
  unavailable: 503,
  internal: 500,
};

/** An answer that is no 200. */
export class ApiFault extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, more: { field?: string; retryAfterSeconds?: number } = {}) {
    super(message);
    this.code = code;
    this.field = more.field;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  get status(): number {
    return statuses[this.code];
  }
}

export const notFound = (what: string) => new ApiFault("not_found", `There is no such ${what}.`);
