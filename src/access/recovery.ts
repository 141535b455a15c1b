// Resets passwords with one-time links.

import { setTimeout as sleep } from "node:timers/promises";
import { hourMs } from "../kernel/time.ts";
import { ulid } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { auditLine } from "../sites/manage.ts";
import { sendMail, resetMail } from "./mails.ts";
import { normalizeEmail } from "./betterAuth.ts";
import { addressOf, type AccessContext, type Caller } from "./context.ts";
import { createLinkToken, hashLinkToken, linkTo } from "./oneTimeLinks.ts";
import { checkNewPassword, hashPassword } from "./password.ts";
import { accountLimitKeys, countAttempt, linkLimits, resetLimits, uncountAttempt } from "./rateCounters.ts";

export type Link = { link: string | null; expiresAt: number };

export function createRecovery(context: AccessContext) {
  const { store, now, publicUrl, mailer, inBackground } = context;

  async function createLink(userId: string, byOperator: boolean, by: (By & { email: string }) | null) {
    const { token, hash } = createLinkToken();
    const hours = byOperator ? 24 : 1;
    const at = now();
    const expiresAt = at + hours * hourMs;
    const line = by && auditLine("", "password reset link made", { email: by.email }, by);
    await store.oneTimeLinks.addReset({ hash, userId, byOperator, expiresAt }, at, line);
    return { link: linkTo(publicUrl, "reset", token), hours, expiresAt };
  }

  return {
    /** Answers the same, and as fast, for every email: the account is looked up after the answer. */
    async requestReset(caller: Caller, given: string): Promise<{ mail: boolean }> {
      if (!mailer) return { mail: false };
      const email = normalizeEmail(given);
      await countAttempt(store, resetLimits(email, addressOf(context, caller)), now());
      inBackground(async () => {
        // The embedded store answers synchronously: wait until the response is out.
        await sleep(100);
        const member = await store.members.findByEmail(email);
        if (!member) return;
        const { link, hours } = await createLink(member.id, false, null);
        await sendMail(context, member.email, resetMail(publicUrl, link, hours));
      });
      return { mail: true };
    },

    /** Creates a link on an owner's behalf. It also turns two-factor sign-in off, for a member who lost their phone. */
    async createReset(member: { id: string; email: string }, by: By, { show = false }: { show?: boolean } = {}): Promise<Link> {
      const { link, hours, expiresAt } = await createLink(member.id, true, { ...by, email: member.email });
      if (show) return { link, expiresAt };
      const isSent = await sendMail(context, member.email, resetMail(publicUrl, link, hours));
      return { link: isSent ? null : link, expiresAt };
    },

    async finishReset(caller: Caller, given: { token: string; password: string }): Promise<void> {
      const address = addressOf(context, caller);
      const limits = linkLimits(address);
      await countAttempt(store, limits, now());
      const hash = hashLinkToken(given.token);
      const found = await store.oneTimeLinks.findReset(hash, now());
      const ended = new Refusal("token", say("link_ended"));
      if (!found) throw ended;
      checkNewPassword(given.password);
      const passwordHash = await hashPassword(given.password);
      const by = { actor: found.email, now: now() };
      const line = auditLine("", "password reset", {}, by);
      const next = { userId: found.userId, passwordId: ulid(), passwordHash };
      if (!(await store.oneTimeLinks.resetPassword(line, hash, next))) throw ended;
      await uncountAttempt(store, limits);
      // The link proves who they are: earlier wrong guesses no longer lock them out.
      await store.rateCounters.reset(accountLimitKeys(found.email, address));
    },
  };
}
