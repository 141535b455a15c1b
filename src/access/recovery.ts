// Forgotten passwords.

import { setTimeout as sleep } from "node:timers/promises";
import { hourMs } from "../kernel/time.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { change } from "../sites/manage.ts";
import { isMailed, resetMail } from "./mails.ts";
import { addressOf, checkNewPassword, plainEmail, type AccessParts, type Caller } from "./context.ts";
import { hashPassword } from "./password.ts";
import { hashTicket, linkTo, newTicket } from "./oneTimeLinks.ts";
import { accountTries, countTry, giveBack, resetTries, ticketTries } from "./rateCounters.ts";

export type Link = { link: string | null; expiresAt: number };

export function recoveryOf(parts: AccessParts) {
  const { store, now, publicUrl, mailer, inBackground } = parts;

  async function makeLink(userId: string, byOperator: boolean, by: (By & { email: string }) | null) {
    const { ticket, hash } = newTicket();
    const hours = byOperator ? 24 : 1;
    const at = now();
    const expiresAt = at + hours * hourMs;
    const line = by && change("", "password reset link made", { email: by.email }, by);
    await store.oneTimeLinks.addReset({ hash, userId, byOperator, expiresAt }, at, line);
    return { link: linkTo(publicUrl, "reset", ticket), hours, expiresAt };
  }

  return {
    /**
     * The answer is the same for every address, and as fast: whether somebody has an account is looked up afterwards.
     */
    async askReset(caller: Caller, given: string): Promise<{ mail: boolean }> {
      if (!mailer) return { mail: false };
      const email = plainEmail(given);
      await countTry(store, resetTries(email, addressOf(parts, caller)), now());
      inBackground(async () => {
        // After the answer, also where the store works at once.
        await sleep(100);
        const member = await store.members.findByEmail(email);
        if (!member) return;
        const { link, hours } = await makeLink(member.id, false, null);
        await isMailed(parts, member.email, resetMail(publicUrl, link, hours));
      });
      return { mail: true };
    },

    /** A link from whoever runs the installation: it also switches two-factor sign-in off, for a phone that is lost. */
    async makeReset(
      member: { id: string; email: string },
      by: By,
      { show = false }: { show?: boolean } = {},
    ): Promise<Link> {
      const { link, hours, expiresAt } = await makeLink(member.id, true, { ...by, email: member.email });
      if (show) return { link, expiresAt };
      const isSent = await isMailed(parts, member.email, resetMail(publicUrl, link, hours));
      return { link: isSent ? null : link, expiresAt };
    },

    async finishReset(caller: Caller, given: { ticket: string; password: string }): Promise<void> {
      const address = addressOf(parts, caller);
      const limits = ticketTries(address);
      await countTry(store, limits, now());
      const hash = hashTicket(given.ticket);
      const found = await store.oneTimeLinks.findReset(hash, now());
      const over = new Refusal("ticket", "This link does not work any more. Ask for a new one.");
      if (!found) throw over;
      checkNewPassword(given.password);
      const passwordHash = await hashPassword(given.password);
      const by = { actor: found.email, now: now() };
      const line = change("", "password reset", {}, by);
      const next = { userId: found.userId, passwordId: uuidv7(), passwordHash };
      if (!(await store.oneTimeLinks.resetPassword(line, hash, next))) throw over;
      await giveBack(store, limits);
      // Who has the link is the owner of the account; strangers' guesses no longer keep them out.
      await store.rateCounters.reset(accountTries(found.email, address));
    },
  };
}
