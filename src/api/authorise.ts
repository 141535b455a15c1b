// Decides if a caller may use a route, for requests and for the tools of assistants.

import { auditName, may, roleOn, type Actor, type ApiKeyHolder } from "../access/actor.ts";
import type { RouteName } from "../contract/contract.ts";
import { scopesOf, type Route } from "../contract/route.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, type By } from "../kernel/refusal.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { notFound, requirePresent } from "./call.ts";

export type Match = { name: RouteName; route: Route; params: Record<string, string> };

export const nameCaller = (actor: Actor | null, now: number): By => ({
  actor: actor ? auditName(actor) : "anonymous",
  now,
  ...(actor?.kind === "API key" && { apiKeyId: actor.id }),
});

/** Checks the role or scope and returns the site in the path. A site on which the caller has no role counts as missing. */
export function authorise({ name, route, params }: Match, actor: Actor | null, directory: Directory): Site | null {
  const site = params.site === undefined ? null : (directory.site(params.site) ?? null);
  if (route.allow === "public") return null;
  if (!actor) throw new Denied("signed_out", say("not_signed_in"));
  if (actor.kind === "API key" && route.apiKeys === false) throw new Denied("forbidden", say("person_needed"));
  if (params.site !== undefined && (!site || roleOn(actor, site.id) === null)) throw notFound("site");
  if (actor.kind === "API key") checkScopes(route, actor, site);
  else if (route.allow !== "signed in" && !may(actor, route.allow, site?.id ?? null)) {
    throw new Denied("forbidden", say(site ? "needs_role_on_site" : "needs_role_on_installation", { role: route.allow }));
  }
  requirePresent(name, site);
  return site;
}

function checkScopes(route: Route, key: ApiKeyHolder, site: Site | null): void {
  const needed = scopesOf(route);
  if (!needed.some((scope) => key.scopes.includes(scope)))
    throw new Denied("forbidden", say("needs_scope", { scope: needed.join(" or ") }));
  if (route.allow !== "signed in" && roleOn(key, site?.id ?? null) === null)
    throw new Denied("forbidden", say("needs_key_for_all_sites"));
}
