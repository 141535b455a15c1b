// Runs a tool: the same authorisation, validation and handlers as a request to the management API, with an audit line for every
// call and an answer that is checked before it leaves.

import { createHmac, timingSafeEqual } from "node:crypto";
import { actorKey, roleOn, type Actor } from "../access/actor.ts";
import { authorise, nameCaller } from "../api/authorise.ts";
import { notFound, validate, type Call, type Handlers } from "../api/call.ts";
import { contract, type RouteName } from "../contract/contract.ts";
import type { Route } from "../contract/route.ts";
import { createRateLimit } from "../http/rate.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { say, toJson } from "../kernel/messages/message.ts";
import { Denied, Refusal } from "../kernel/refusal.ts";
import { minuteMs } from "../kernel/time.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { auditLine, findSite } from "../sites/manage.ts";
import type { Store } from "../store/store.ts";
import { withoutPersonalData } from "./personalData.ts";
import type { ToolOfRoute } from "./tools.ts";

/** An assistant rarely needs ten calls for an answer; one in a loop must not fill the audit log. */
const callsPerMinute = 120;
/** About 15,000 tokens. JSON that is cut is no JSON, and a reader does not see what is missing. */
const maxAnswerLength = 60_000;
const confirmMs = 10 * minuteMs;
const confirmFirst =
  "Nothing was changed. Call it without confirm, look at what would happen, and repeat the call with the confirm of that answer.";

type ToolContext = {
  store: Store;
  directory: Directory;
  handlers: Handlers<RouteName>;
  /** Reads the configuration again, where nothing else does. */
  refresh?: () => Promise<void>;
  now: () => number;
};

type Given = Record<string, unknown>;

export type ToolCaller = ReturnType<typeof createToolCaller>;

export function createToolCaller({ store, directory, handlers, refresh, now }: ToolContext) {
  const rate = createRateLimit();

  function checkRate(actor: Actor): void {
    const wait = rate(actorKey(actor), callsPerMinute, now());
    if (wait > 0) throw new Denied("too_many", say("too_many_requests"), Math.ceil(wait));
  }

  /** Finds the site that the arguments name; the only one if they name none. One without a role counts as missing. */
  function siteOf(actor: Actor, text: unknown): Site {
    const isVisible = ({ id }: Site) => roleOn(actor, id) !== null;
    if (typeof text === "string") {
      const found = findSite({ directory }, text);
      if (isVisible(found)) return found;
      throw notFound("site");
    }
    const [only, second] = [...directory.sites()].filter(isVisible);
    if (!only || second) throw new Refusal("site", "Name the site: list_sites shows them.");
    return only;
  }

  async function handle(tool: ToolOfRoute, actor: Actor, site: Site | null, request: ReturnType<ToolOfRoute["toRequest"]>) {
    const route: Route = contract[tool.route];
    const found = authorise({ name: tool.route, route, params: request.params }, actor, directory);
    const call: Call<RouteName> = {
      params: request.params,
      query: validate(route.query?.strict(), request.query) as never,
      body: validate(route.body, request.body) as never,
      upload: Buffer.alloc(0),
      actor,
      by: nameCaller(actor, now()),
      site: found ?? site,
      host: null,
      reply: { header() {} },
      request: undefined,
    };
    return (handlers[tool.route] as (call: Call<RouteName>) => Promise<unknown>)(call);
  }

  /** What the confirmation of a change is for: this caller, these arguments, this result of a dry run, and about this time. */
  const confirmationOf = (actor: Actor, tool: ToolOfRoute, given: Given, seen: unknown, step: number) =>
    createHmac("sha256", store.accessSecret)
      .update(JSON.stringify(["tool", actorKey(actor), tool.name, given, seen, step]))
      .digest("base64url")
      .slice(0, 22);

  /** A change needs two calls: the first says what it would do, and the second repeats what the first gave. */
  async function change(tool: ToolOfRoute, actor: Actor, site: Site | null, { confirm, ...given }: Given): Promise<unknown> {
    const request = tool.toRequest(given);
    const dryRun = tool.hasDryRun ? { ...request, body: { ...request.body, dryRun: true } } : null;
    const route: Route = contract[tool.route];
    // Nothing is shown, and no confirmation given, to a caller who may not change.
    authorise({ name: tool.route, route, params: request.params }, actor, directory);
    validate(route.body, request.body);
    const wouldDo = dryRun && (await handle(tool, actor, site, dryRun));
    const step = Math.floor(now() / confirmMs);
    const valid = [step, step - 1].map((one) => confirmationOf(actor, tool, given, wouldDo, one));
    if (confirm === undefined) return { done: false, wouldDo, confirm: valid[0] };
    if (!valid.some((one) => isEqual(one, confirm))) throw new Refusal("confirm", confirmFirst);
    const real = tool.hasDryRun ? { ...request, body: { ...request.body, dryRun: false } } : request;
    return { done: true, result: await handle(tool, actor, site, real) };
  }

  const audit = (siteId: string, actor: Actor, name: string, detail: Given) =>
    store.audit.add(auditLine(siteId, "tool called", { tool: name, ...detail }, nameCaller(actor, now())));

  return {
    /** Answers with the JSON of the answer; throws a `Refusal` whose message the assistant is told. */
    async call(tool: ToolOfRoute, actor: Actor, given: Given): Promise<string> {
      checkRate(actor);
      await refresh?.();
      let siteId = "";
      try {
        const site = "site" in tool.arguments.shape ? siteOf(actor, given["site"]) : null;
        siteId = site?.id ?? "";
        const args = site ? { ...given, site: site.id } : given;
        const answer = tool.isWrite
          ? await change(tool, actor, site, args)
          : await handle(tool, actor, site, tool.toRequest(args));
        await threadShare.rest(siteId);
        const text = JSON.stringify(withoutPersonalData(JSON.parse(toJson(answer))));
        if (text.length > maxAnswerLength)
          throw new Refusal("", "The answer would be too long. Narrow the filter or lower the limit.");
        await audit(siteId, actor, tool.name, { arguments: shorten(given) });
        return text;
      } catch (error) {
        const refused = error instanceof Refusal ? error.code : "internal";
        await audit(siteId, actor, tool.name, { arguments: shorten(given), refused });
        throw error;
      }
    },

    /** Counts and records a call of a tool that is no route. */
    async record(actor: Actor, name: string): Promise<void> {
      checkRate(actor);
      await audit("", actor, name, {});
    },
  };
}

function isEqual(one: string, other: unknown): boolean {
  if (typeof other !== "string") return false;
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const maxAuditedLength = 1000;

/** The arguments for the audit log, without what could be contact data. */
function shorten(given: Given): unknown {
  const shown = withoutPersonalData(given);
  const text = JSON.stringify(shown);
  return text.length <= maxAuditedLength ? shown : `${text.slice(0, maxAuditedLength)}…`;
}
