// Manages invitations: owners send them, and people accept them with a new or an existing account.

import { dayMs } from "../kernel/time.ts";
import type { Role } from "../contract/route.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, type By, Missing, Refusal } from "../kernel/refusal.ts";
import { auditLine } from "../sites/manage.ts";
import type { Invitation } from "../store/access/invitations.ts";
import { operator } from "./actor.ts";
import { invitationMail, sendMail } from "./mails.ts";
import { checkScope, owns, type Holder } from "./members.ts";
import { readEmail } from "./betterAuth.ts";
import { addressOf, type AccessContext, type Caller, type Cookies } from "./context.ts";
import { checkNewPassword, hashPassword } from "./password.ts";
import type { Link } from "./recovery.ts";
import type { createSignIn } from "./signIn.ts";
import { createLinkToken, hashLinkToken, linkTo } from "./oneTimeLinks.ts";
import { countAttempt, invitationLimits, linkLimits, uncountAttempt } from "./rateCounters.ts";

const validMs = 7 * dayMs;

export function createInvitations(context: AccessContext, { signIn }: Pick<ReturnType<typeof createSignIn>, "signIn">) {
  const { store, directory, now, publicUrl, mailer } = context;
  const nameOf = (site: string | null) =>
    site === null ? null : (directory.site(site)?.hosts[0] ?? directory.site(site)?.name ?? site);

  async function findInvitation(caller: Caller, token: string): Promise<Invitation> {
    const limits = linkLimits(addressOf(context, caller));
    await countAttempt(store, limits, now());
    const invitation = await store.invitations.findByHash(hashLinkToken(token), now());
    if (!invitation) throw invitationEnded();
    await uncountAttempt(store, limits);
    return invitation;
  }

  return {
    async invite(
      holder: Holder,
      given: { email: string; site: string | null; role: Role },
      by: By,
      { show = false }: { show?: boolean } = {},
    ): Promise<Link> {
      const { site, role } = given;
      checkScope(context, holder, site);
      const email = readEmail(given.email);
      const known = await store.members.findByEmail(email);
      if (known?.grants.some((grant) => grant.site === site)) throw new Refusal("email", say("member_here_already", { email }));
      const at = now();
      // A configuration file is applied as a whole, however many members it names.
      if (holder !== operator) await countAttempt(store, invitationLimits(by.actor), at);
      const { token, hash } = createLinkToken();
      const expiresAt = at + validMs;
      const invitation = { id: shortId(), email, site, role, invitedBy: by.actor, createdAt: at, expiresAt };
      const line = auditLine(site ?? "", "member invited", { email, role }, by);
      // An inviter who sees the link could open the account themselves, for an email that is not theirs. Owners of the
      // installation manage every account anyway; an invitation shown to the owner of one site is marked.
      const maySee = owns(holder, null);
      const shown = !mailer && !maySee;
      const isAdded = await store.invitations.add(line, invitation, hash, {
        inviter: holder.id ?? null,
        shown,
      });
      if (!isAdded) throw new Denied("forbidden", say("needs_owner"));
      const link = linkTo(publicUrl, "invitation", token);
      if (show) return { link, expiresAt };
      const mail = invitationMail(publicUrl, link, by.actor, nameOf(site) ?? "all sites");
      if (await sendMail(context, email, mail)) return { link: null, expiresAt };
      if (!mailer || maySee) return { link, expiresAt };
      const withdrawal = auditLine(site ?? "", "invitation withdrawn", { email, role }, by);
      await store.invitations.withdraw(withdrawal, invitation.id);
      throw new Denied("unavailable", say("invitation_not_sent", { email }));
    },

    async list(holder: Holder): Promise<Invitation[]> {
      const all = await store.invitations.listOpen(now());
      return all.filter(({ site }) => owns(holder, site));
    },

    async withdraw(holder: Holder, id: string, by: By): Promise<void> {
      const found = (await store.invitations.listOpen(now())).find((one) => one.id === id);
      if (!found || !owns(holder, found.site)) throw new Missing("invitation", say("no_such_invitation"));
      const { email, role, site } = found;
      await store.invitations.withdraw(auditLine(site ?? "", "invitation withdrawn", { email, role }, by), id);
    },

    async lookUp(caller: Caller, token: string) {
      const { email, role, site, invitedBy } = await findInvitation(caller, token);
      const known = (await store.members.findByEmail(email)) !== null;
      return { email, role, site: nameOf(site), invitedBy, known };
    },

    async accept(caller: Caller, given: { token: string; name?: string | undefined; password: string }): Promise<Cookies> {
      const { email, site, role } = await findInvitation(caller, given.token);
      const known = await store.members.findByEmail(email);
      const hash = hashLinkToken(given.token);
      const line = auditLine(site ?? "", "invitation accepted", { email, role }, { actor: email, now: now() });
      // An existing account also needs its password: the link may have been forwarded.
      const signedIn = known && (await signIn(caller, { email, password: given.password }));
      const result = await store.invitations.accept(
        line,
        hash,
        known ? { known: known.id } : { added: await newUser(email, given) },
      );
      if (result !== "done") throw invitationEnded();
      return (signedIn ?? (await signIn(caller, { email, password: given.password }))).cookies;
    },
  };
}

const invitationEnded = () => new Refusal("token", say("invitation_ended"));

async function newUser(email: string, { name, password }: { name?: string | undefined; password: string }) {
  if (name === undefined) throw new Refusal("name", say("name_needed"));
  checkNewPassword(password);
  const passwordHash = await hashPassword(password);
  return { id: shortId(), passwordId: ulid(), email, name, passwordHash };
}
