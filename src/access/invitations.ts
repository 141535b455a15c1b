// Invitations: made by owners, accepted with a new account or with the one that somebody has.

import { dayMs } from "../kernel/time.ts";
import type { Role } from "../contract/route.ts";
import { shortId, uuidv7 } from "../kernel/ids.ts";
import { Denied, type By, Missing, Refusal } from "../kernel/refusal.ts";
import { change } from "../sites/manage.ts";
import type { Invitation } from "../store/access/invitations.ts";
import { invitationMail, isMailed } from "./mails.ts";
import { checkScope, owns, type Holder } from "./members.ts";
import {
  addressOf,
  checkNewPassword,
  readEmail,
  type AccessParts,
  type Caller,
  type Cookies,
} from "./context.ts";
import { hashPassword } from "./password.ts";
import type { Link } from "./recovery.ts";
import type { signInOf } from "./signIn.ts";
import { hashTicket, linkTo, newTicket } from "./oneTimeLinks.ts";
import { countTry, giveBack, invitationTries, ticketTries } from "./rateCounters.ts";

const goodForMs = 7 * dayMs;

export function invitationsOf(parts: AccessParts, { signIn }: Pick<ReturnType<typeof signInOf>, "signIn">) {
  const { store, directory, now, publicUrl, mailer } = parts;
  const nameOf = (site: string | null) =>
    site === null ? null : (directory.site(site)?.hosts[0] ?? directory.site(site)?.name ?? site);

  /** The invitation of a ticket that still works. */
  async function opened(caller: Caller, ticket: string): Promise<Invitation> {
    const limits = ticketTries(addressOf(parts, caller));
    await countTry(store, limits, now());
    const invitation = await store.invitations.findByHash(hashTicket(ticket), now());
    if (!invitation)
      throw new Refusal("ticket", "This invitation does not work any more. Ask for a new one.");
    await giveBack(store, limits);
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
      checkScope(parts, holder, site);
      const email = readEmail(given.email);
      const known = await store.members.findByEmail(email);
      if (known?.grants.some((grant) => grant.site === site))
        throw new Refusal(
          "email",
          `There is a member ${email} here already. Change their role in the list of members.`,
        );
      const at = now();
      await countTry(store, invitationTries(by.actor), at);
      const { ticket, hash } = newTicket();
      const expiresAt = at + goodForMs;
      const invitation = { id: shortId(), email, site, role, invitedBy: by.actor, createdAt: at, expiresAt };
      const line = change(site ?? "", "member invited", { email, role }, by);
      // Who sees the link could open the account themselves, for an email that is not theirs. Owners of the installation
      // decide about every account anyway; what the owner of one site saw is marked.
      const maySee = owns(holder, null);
      const shown = !mailer && !maySee;
      const isAdded = await store.invitations.add(line, invitation, hash, {
        inviter: holder.id ?? null,
        shown,
      });
      if (!isAdded) throw new Denied("forbidden", "This needs the role owner.");
      const link = linkTo(publicUrl, "invitation", ticket);
      if (show) return { link, expiresAt };
      const mail = invitationMail(publicUrl, link, by.actor, nameOf(site) ?? "all sites");
      if (await isMailed(parts, email, mail)) return { link: null, expiresAt };
      if (!mailer || maySee) return { link, expiresAt };
      const back = change(site ?? "", "invitation withdrawn", { email, role }, by);
      await store.invitations.withdraw(back, invitation.id);
      throw new Denied(
        "unavailable",
        `The mail to ${email} could not be sent, so there is no invitation. Try again, or ask an owner of the whole installation to invite them.`,
      );
    },

    async list(holder: Holder): Promise<Invitation[]> {
      const all = await store.invitations.listOpen(now());
      return all.filter(({ site }) => owns(holder, site));
    },

    async withdraw(holder: Holder, id: string, by: By): Promise<void> {
      const found = (await store.invitations.listOpen(now())).find((one) => one.id === id);
      if (!found || !owns(holder, found.site))
        throw new Missing("invitation", "There is no such invitation.");
      const { email, role, site } = found;
      await store.invitations.withdraw(change(site ?? "", "invitation withdrawn", { email, role }, by), id);
    },

    async look(caller: Caller, ticket: string) {
      const { email, role, site, invitedBy } = await opened(caller, ticket);
      const known = (await store.members.findByEmail(email)) !== null;
      return { email, role, site: nameOf(site), invitedBy, known };
    },

    async accept(
      caller: Caller,
      given: { ticket: string; name?: string | undefined; password: string },
    ): Promise<Cookies> {
      const { email, site, role } = await opened(caller, given.ticket);
      const known = await store.members.findByEmail(email);
      const hash = hashTicket(given.ticket);
      const line = change(site ?? "", "invitation accepted", { email, role }, { actor: email, now: now() });
      // The link alone is not enough where there is an account: it may have been forwarded.
      const signedIn = known && (await signIn(caller, { email, password: given.password }));
      const result = await store.invitations.accept(
        line,
        hash,
        known ? { known: known.id } : { added: await newUser(email, given) },
      );
      if (result !== "done")
        throw new Refusal("ticket", "This invitation does not work any more. Ask for a new one.");
      return (signedIn ?? (await signIn(caller, { email, password: given.password }))).cookies;
    },
  };
}

async function newUser(email: string, { name, password }: { name?: string | undefined; password: string }) {
  if (name === undefined) throw new Refusal("name", "Say your name, so that others know who you are.");
  checkNewPassword(password);
  const passwordHash = await hashPassword(password);
  return { id: shortId(), passwordId: uuidv7(), email, name, passwordHash };
}
