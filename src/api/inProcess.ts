// Calls the routes of the management API without HTTP, for the command line. The contract checks what goes in and types what
// comes out, as it does for requests; the operator of the server may do everything.

import { auditName, operator } from "../access/actor.ts";
import { contract, type Answer, type BodyIn, type ParamNames, type QueryIn, type RouteName } from "../contract/contract.ts";
import type { Route } from "../contract/route.ts";
import { inEnglish } from "../kernel/messages/message.ts";
import { readWhole } from "./answer.ts";
import { notFound, requirePresent, validate, type Call, type RequestRoute } from "./call.ts";
import type { ApiContext } from "./context.ts";
import { createHandlers } from "./routes.ts";

type CallableRoute = Exclude<RouteName, RequestRoute>;

/** A field is required where the route has such a part. */
type Part<Key extends string, Value> = [Value] extends [never] ? { [K in Key]?: never } : { [K in Key]: Value };

type Input<Name extends CallableRoute> = Part<
  "params",
  [ParamNames<Name>] extends [never] ? never : Record<ParamNames<Name>, string>
> &
  Part<"body", BodyIn<Name>> & { query?: QueryIn<Name> };

export type Caller = <Name extends CallableRoute>(name: Name, input: Input<Name>) => Promise<Answer<Name>>;

export function createCaller(context: ApiContext): Caller {
  const handlers = createHandlers(context);
  return async (name, input) => {
    const route: Route = contract[name];
    const params: Record<string, string> = input.params ?? {};
    const site = params["site"] === undefined ? null : (context.directory.site(params["site"]) ?? null);
    if (params["site"] !== undefined && !site) throw notFound("site");
    requirePresent(name, site);
    const call: Call<typeof name> = {
      params,
      query: validate(route.query?.strict(), input.query ?? {}) as never,
      body: validate(route.body, input.body) as never,
      upload: Buffer.alloc(0),
      actor: operator,
      by: { actor: auditName(operator), now: context.now() },
      site: site as never,
      host: null,
      reply: { header() {} },
      request: undefined as never,
    };
    return inEnglish(await readWhole(await handlers[name](call)));
  };
}
