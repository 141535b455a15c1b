// Manages members and their roles for the owners of a site or of the installation.

import { shortId, ulid } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, type By, Missing, Refusal } from "../kernel/refusal.ts";
import { auditLine } from "../sites/manage.ts";
import type { Member } from "../store/access/members.ts";
import { may, operator, roleOn, type Actor, type Grant } from "./actor.ts";
import { readEmail } from "./betterAuth.ts";
import type { AccessContext } from "./context.ts";
import { checkNewPassword, hashPassword } from "./password.ts";
import type { Role } from "../contract/route.ts";

/** `id` is the user's; the command line has none. */
export type Holder = Pick<Actor, "grants"> & { id?: string };

export const owns = (holder: Holder, site: string | null) => may(holder, "owner", site);
export const ownsSomething = ({ grants }: Holder) => grants.some(({ role }) => role === "owner");

/** Requires the role owner on the site. A site that the holder cannot see counts as missing. */
export function checkScope({ directory }: Pick<AccessContext, "directory">, holder: Holder, site: string | null) {
  if (site !== null && (!directory.site(site) || roleOn(holder, site) === null)) throw new Missing("site", say("no_such_site"));
  if (!owns(holder, site)) {
    throw new Denied("forbidden", say(site === null ? "needs_role_on_installation" : "needs_role_on_site", { role: "owner" }));
  }
}

export function createMembers(context: AccessContext) {
  const { store } = context;

  /** Hides grants on single sites that the holder does not own; null if no grant is left. */
  function seenBy(holder: Holder, member: Member): Member | null {
    if (owns(holder, null)) return member;
    const grants = member.grants.filter(({ site }) => site === null || owns(holder, site));
    return grants.length && ownsSomething(holder) ? { ...member, grants, invitedBy: null } : null;
  }

  async function find(holder: Holder, id: string): Promise<Member> {
    const member = await store.members.findById(id);
    const seen = member && seenBy(holder, member);
    if (!seen) throw new Missing("member", say("no_such_member"));
    return seen;
  }

  function checkResult(result: "done" | "last owner" | "no member"): void {
    if (result === "no member") throw new Missing("member", say("no_such_member"));
    if (result === "last owner") throw new Denied("conflict", say("last_owner"));
  }

  return {
    find,

    async list(holder: Holder): Promise<Member[]> {
      const all = ownsSomething(holder) ? await store.members.list() : [];
      return all.flatMap((member) => seenBy(holder, member) ?? []);
    },

    async findByEmail(email: string): Promise<Member> {
      const member = await store.members.findByEmail(email);
      if (!member) throw new Missing("email", say("unknown_member", { email }));
      return member;
    },

    /** Adds a member whose password is given, as in a configuration file. Others are invited. */
    async add(given: { email: string; name: string; password: string; grants: readonly Grant[] }, by: By): Promise<void> {
      const { name, password, grants } = given;
      const email = readEmail(given.email);
      checkNewPassword(password);
      const passwordHash = await hashPassword(password);
      const user = { id: shortId(), passwordId: ulid(), email, name, passwordHash };
      const roles = grants.map(({ site, role }) => `${role} on ${site ?? "all sites"}`);
      const line = auditLine("", "member added", { email, roles }, by);
      if ((await store.members.add(line, user, grants)) === "known email")
        throw new Refusal("email", say("member_already", { email }));
    },

    async setGrant(
      holder: Holder,
      id: string,
      { site, role }: { site: Grant["site"]; role: Role | null },
      by: By,
    ): Promise<void> {
      checkScope(context, holder, site);
      const member = await find(holder, id);
      const action = role === null ? "member's role taken away" : "member's role changed";
      const before = { role: member.grants.find((one) => one.site === site)?.role ?? null };
      const line = auditLine(site ?? "", action, { email: member.email, role, before }, by);
      checkResult(await store.members.setGrant(line, id, site, role));
    },

    async remove(id: string, by: By): Promise<void> {
      const member = await find(operator, id);
      const line = auditLine("", "member removed", { email: member.email }, by);
      checkResult(await store.members.remove(line, id));
    },

    async endSessions(id: string, by: By): Promise<number> {
      const { email } = await find(operator, id);
      return store.members.endSessions(auditLine("", "member's sessions ended", { email }, by), id);
    },
  };
}
