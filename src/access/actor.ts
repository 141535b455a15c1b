// Defines the callers of the management API and their roles.

import type { Role } from "../contract/route.ts";
import type { Scope } from "../kernel/scopes.ts";

/** `site` is null for every site and the installation itself. */
export type Grant = { site: string | null; role: Role };

export type User = {
  kind: "user";
  id: string;
  email: string;
  name: string;
  twoFactor: boolean;
  sessionId: string;
};
/** The router checks the scopes. The role says where the key is valid, and how much of a site its answers show. */
export type ApiKeyHolder = {
  kind: "API key";
  id: string;
  name: string;
  scopes: readonly Scope[];
  grants: readonly Grant[];
};
/** The command line: access to the server counts as owner of the installation. */
type Operator = { kind: "operator"; grants: readonly Grant[] };
export type SignedIn = User & { grants: readonly Grant[] };
export type Actor = SignedIn | ApiKeyHolder | Operator;

export const operator: Operator = { kind: "operator", grants: [{ site: null, role: "owner" }] };

/** Repeats the contract's roles: the relay loads this file at every start, the contract only on first use. */
const ranks: Record<Role, number> = { viewer: 0, admin: 1, owner: 2 };
export const roles = Object.keys(ranks) as readonly Role[];

/** Finds the highest role on a site, or on the installation (`site` null). Null means no role there. */
export function roleOn({ grants }: Pick<Actor, "grants">, site: string | null): Role | null {
  let best: Role | null = null;
  for (const grant of grants) {
    if (grant.site !== null && grant.site !== site) continue;
    if (best === null || ranks[grant.role] > ranks[best]) best = grant.role;
  }
  return best;
}

export function may(actor: Pick<Actor, "grants">, role: Role, site: string | null): boolean {
  const held = roleOn(actor, site);
  return held !== null && ranks[held] >= ranks[role];
}

/** Names an actor in the audit log. */
export function auditName(actor: Actor): string {
  if (actor.kind === "operator") return "command line";
  return actor.kind === "user" ? actor.email : `API key ${actor.name} (${actor.id})`;
}

/** Tells actors apart where requests are counted. */
export const actorKey = (actor: Actor) => (actor.kind === "operator" ? actor.kind : `${actor.kind} ${actor.id}`);
