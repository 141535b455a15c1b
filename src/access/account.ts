// Manages the signed-in person's own account: sessions, name, password, two-factor sign-in.

import { randomBase62 } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, Missing, Refusal, type By } from "../kernel/refusal.ts";
import { auditLine } from "../sites/manage.ts";
import type { Session } from "../store/access/accounts.ts";
import type { Proof } from "../store/access/passwords.ts";
import type { User } from "./actor.ts";
import { errorCodeOf, headersFor, errorStatusOf, readCookie } from "./betterAuth.ts";
import { addressOf, type AccessContext, type Caller, type Cookies } from "./context.ts";
import { checkNewPassword, hashPassword, isPassword } from "./password.ts";
import { codeLimits, codeUse, countAttempt, passwordLimits, uncountAttempt } from "./rateCounters.ts";
import { codeRefusal } from "./signIn.ts";
import { areStoredCodes, findTwoFactor, refuseDamagedSecret } from "./twoFactorSecrets.ts";

type Me = Pick<User, "id" | "email" | "name" | "sessionId" | "twoFactor">;

export function createAccount(context: AccessContext) {
  const { store, auth, now } = context;

  /** Limits password guesses as at sign-in: a stranger may use a browser that was left open. */
  async function withPassword<T>(me: Me, caller: Caller, field: string, work: () => Promise<T>): Promise<T> {
    const limits = passwordLimits(me.email, addressOf(context, caller));
    await countAttempt(store, limits, now());
    try {
      const result = await work();
      await uncountAttempt(store, limits);
      return result;
    } catch (error) {
      if (["INVALID_PASSWORD", "PASSWORD_TOO_LONG"].includes(errorCodeOf(error) ?? "")) throw wrongPassword(field);
      if (errorCodeOf(error) === "TOTP_ALREADY_ENABLED") throw alreadyOn();
      throw errorStatusOf(error) === 401 ? sessionEnded() : error;
    }
  }

  async function checkPassword(me: Me, field: string, password: string): Promise<Proof> {
    const proof = await store.passwords.findProof("id", me.id);
    if (!proof || !(await isPassword(password, proof.passwordHash))) throw wrongPassword(field);
    return proof;
  }

  return {
    async listSessions(me: Me): Promise<(Session & { isThis: boolean })[]> {
      const sessions = await store.accounts.listSessions(me.id, now());
      return sessions.map((one) => ({ ...one, isThis: one.id === me.sessionId }));
    },

    async endSession(me: Me, id: string): Promise<void> {
      if (!(await store.accounts.endSession(me.id, id))) throw new Missing("session", say("no_such_session"));
    },

    async rename(me: Me, name: string, by: By): Promise<void> {
      const line = auditLine("", "name changed", { name, before: { name: me.name } }, by);
      await store.members.rename(line, me.id, name);
    },

    /** Ends every other session; this one continues with a new cookie. */
    async changePassword(me: Me, caller: Caller, given: { current: string; password: string }, by: By): Promise<Cookies> {
      checkNewPassword(given.password);
      const proof = await withPassword(me, caller, "current", () => checkPassword(me, "current", given.current));
      const next = await hashPassword(given.password);
      const renewed = { sessionId: me.sessionId, token: randomBase62(32) };
      const line = auditLine("", "password changed", {}, by);
      if (!(await store.passwords.change(line, proof, next, renewed))) throw sessionEnded();
      const { api } = await auth();
      const { headers } = await api.cookieFor({ body: { token: renewed.token }, returnHeaders: true });
      return headers.getSetCookie();
    },

    /** Creates a secret for the authenticator app. Two-factor sign-in is on only after the first code. */
    async beginTwoFactor(me: Me, caller: Caller, password: string) {
      if (me.twoFactor) throw alreadyOn();
      const { api } = await auth();
      const response = await withPassword(me, caller, "password", () =>
        api.enableTwoFactor({
          body: { password, method: "totp" },
          headers: headersFor(context, caller, "session"),
        }),
      );
      if (response.method !== "totp") throw new Error("better-auth created no TOTP secret");
      // Another window began at the same moment, or has confirmed its secret.
      if (!(await areStoredCodes(context, me.id, response.backupCodes))) throw alreadyOn();
      return { uri: response.totpURI, backupCodes: response.backupCodes };
    },

    async confirmTwoFactor(me: Me, caller: Caller, given: string, by: By): Promise<Cookies> {
      if (me.twoFactor) throw alreadyOn();
      const limits = codeLimits(addressOf(context, caller));
      await countAttempt(store, limits, now());
      const { api } = await auth();
      const code = given.replaceAll(/\s/g, "");
      const proof = await store.passwords.findProof("id", me.id);
      if (!proof) throw sessionEnded();
      const secret = String((await findTwoFactor(store, me.id))?.secret);
      try {
        const { headers } = await api.verifyTOTP({
          body: { code },
          headers: headersFor(context, caller, "session"),
          returnHeaders: true,
        });
        const cookies = headers.getSetCookie();
        const line = auditLine("", "two-factor sign-in switched on", {}, by);
        // Ends the other sessions, which were opened with the password alone.
        const token = readCookie(cookies.join("; "), "session");
        if (!(await store.passwords.recordTwoFactorOn(line, proof, token, secret))) throw sessionEnded();
        await uncountAttempt(store, limits);
        await store.rateCounters.count(codeUse(me.id, code), now());
        return cookies;
      } catch (error) {
        if (errorCodeOf(error) === "TOTP_NOT_ENABLED") throw new Refusal("code", say("two_factor_not_begun"));
        const refusal = codeRefusal(error) ?? (errorStatusOf(error) === 401 ? sessionEnded() : null);
        throw refusal ?? (await refuseDamagedSecret(context, me.id, "secret", "Begin again.")) ?? error;
      }
    },

    async endTwoFactor(me: Me, caller: Caller, password: string, by: By): Promise<void> {
      if (!me.twoFactor) throw alreadyOff();
      const proof = await withPassword(me, caller, "password", () => checkPassword(me, "password", password));
      const line = auditLine("", "two-factor sign-in switched off", {}, by);
      const result = await store.passwords.disableTwoFactor(line, proof);
      if (result === "no proof") throw sessionEnded();
      if (result === "is off") throw alreadyOff();
    },
  };
}

const wrongPassword = (field: string) => new Refusal(field, say("password_wrong"));
const alreadyOff = () => new Denied("conflict", say("two_factor_off"));
const alreadyOn = () => new Denied("conflict", say("two_factor_on"));
/** The password was changed in the meantime, or the session was ended. */
const sessionEnded = () => new Denied("signed_out", say("session_ended"));
