// Who calls the management API, and what they may do.

import type { Role } from "../contract/route.ts";

/** `site` null is every site, and the installation itself. */
export type Grant = { site: string | null; role: Role };

export type User = {
  kind: "user";
  id: string;
  email: string;
  name: string;
  twoFactor: boolean;
  sessionId: string;
};
export type ApiKeyHolder = { kind: "API key"; id: string; name: string };
export type Actor = (User | ApiKeyHolder) & { grants: readonly Grant[] };

/** As in the contract; written out because the relay loads this file at every start, and the contract when it is needed. */
const ranks: Record<Role, number> = { viewer: 0, admin: 1, owner: 2 };
export const roles = Object.keys(ranks) as readonly Role[];

const rank = (role: Role) => ranks[role];

/** The strongest role on a site, or on the installation (null); null for somebody who does not belong there. */
export function roleOn({ grants }: Pick<Actor, "grants">, site: string | null): Role | null {
  let best: Role | null = null;
  for (const grant of grants) {
    if (grant.site !== null && grant.site !== site) continue;
    if (best === null || rank(grant.role) > rank(best)) best = grant.role;
  }
  return best;
}

export function may(actor: Pick<Actor, "grants">, role: Role, site: string | null): boolean {
  const held = roleOn(actor, site);
  return held !== null && rank(held) >= rank(role);
}

/** How the audit log names an actor. */
export function auditName(actor: Actor): string {
  return actor.kind === "user" ? actor.email : `API key ${actor.name} (${actor.id})`;
}
