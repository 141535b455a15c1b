// What people do about their own account.

import { randomBase62 } from "../kernel/ids.ts";
import { Denied, Missing, Refusal, type By } from "../kernel/refusal.ts";
import { change } from "../sites/manage.ts";
import type { Session } from "../store/access/accounts.ts";
import type { Proof } from "../store/access/passwords.ts";
import type { User } from "./actor.ts";
import {
  addressOf,
  checkNewPassword,
  codeOf,
  headersFor,
  statusOf,
  valueIn,
  type AccessParts,
  type Caller,
  type Cookies,
} from "./context.ts";
import { hashPassword, isPassword } from "./password.ts";
import { codeFault } from "./signIn.ts";
import { codeTries, codeUse, countTry, giveBack, passwordTries } from "./rateCounters.ts";

type Me = Pick<User, "id" | "email" | "sessionId" | "twoFactor">;

export function myselfOf(parts: AccessParts) {
  const { store, library, now } = parts;

  /** Somebody at an open browser must not be able to guess the password here either. */
  async function withPassword<T>(me: Me, caller: Caller, field: string, work: () => Promise<T>): Promise<T> {
    const limits = passwordTries(me.email, addressOf(parts, caller));
    await countTry(store, limits, now());
    try {
      const result = await work();
      await giveBack(store, limits);
      return result;
    } catch (error) {
      if (["INVALID_PASSWORD", "PASSWORD_TOO_LONG"].includes(codeOf(error) ?? "")) throw wrong(field);
      throw statusOf(error) === 401 ? isOver() : error;
    }
  }

  async function prove(me: Me, field: string, password: string): Promise<Proof> {
    const proof = await store.passwords.findProof("id", me.id);
    if (!proof || !(await isPassword(password, proof.passwordHash))) throw wrong(field);
    return proof;
  }

  return {
    async sessions(me: Me): Promise<(Session & { isThis: boolean })[]> {
      const sessions = await store.accounts.listSessions(me.id, now());
      return sessions.map((one) => ({ ...one, isThis: one.id === me.sessionId }));
    },

    async endSession(me: Me, id: string): Promise<void> {
      if (!(await store.accounts.endSession(me.id, id)))
        throw new Missing("session", "There is no such session.");
    },

    async rename(me: Me, name: string, by: By): Promise<void> {
      await store.members.rename(change("", "name changed", { name }, by), me.id, name);
    },

    /** Every other session ends; this one goes on under a new cookie. */
    async changePassword(
      me: Me,
      caller: Caller,
      given: { current: string; password: string },
      by: By,
    ): Promise<Cookies> {
      checkNewPassword(given.password);
      const proof = await withPassword(me, caller, "current", () => prove(me, "current", given.current));
      const next = await hashPassword(given.password);
      const renewed = { sessionId: me.sessionId, token: randomBase62(32) };
      const line = change("", "password changed", {}, by);
      if (!(await store.passwords.change(line, proof, next, renewed))) throw isOver();
      const { api } = await library();
      const { headers } = await api.cookieFor({ body: { token: renewed.token }, returnHeaders: true });
      return headers.getSetCookie();
    },

    /** A secret for the authenticator app. It counts only after a first code. */
    async beginTwoFactor(me: Me, caller: Caller, password: string) {
      if (me.twoFactor) throw isOn();
      const { api } = await library();
      const response = await withPassword(me, caller, "password", () =>
        api.enableTwoFactor({
          body: { password, method: "totp" },
          headers: headersFor(parts, caller, "session"),
        }),
      );
      if (response.method !== "totp") throw new Error("the sign-in library made no secret");
      return { uri: response.totpURI, backupCodes: response.backupCodes };
    },

    async confirmTwoFactor(me: Me, caller: Caller, given: string, by: By): Promise<Cookies> {
      if (me.twoFactor) throw isOn();
      const limits = codeTries(addressOf(parts, caller));
      await countTry(store, limits, now());
      const { api } = await library();
      const code = given.replaceAll(/\s/g, "");
      const proof = await store.passwords.findProof("id", me.id);
      if (!proof) throw isOver();
      try {
        const { headers } = await api.verifyTOTP({
          body: { code },
          headers: headersFor(parts, caller, "session"),
          returnHeaders: true,
        });
        const cookies = headers.getSetCookie();
        const line = change("", "two-factor sign-in switched on", {}, by);
        // Whoever is in with the password alone has to come back with a code.
        const token = valueIn(cookies.join("; "), "session");
        if (!(await store.passwords.recordTwoFactorOn(line, proof, token))) throw isOver();
        await giveBack(store, limits);
        await store.rateCounters.count(codeUse(me.id, code), now());
        return cookies;
      } catch (error) {
        if (codeOf(error) === "TOTP_NOT_ENABLED")
          throw new Refusal(
            "code",
            "Begin two-factor sign-in first: there is no secret to check this against.",
          );
        throw codeFault(error) ?? (statusOf(error) === 401 ? isOver() : error);
      }
    },

    async endTwoFactor(me: Me, caller: Caller, password: string, by: By): Promise<void> {
      if (!me.twoFactor) throw isOff();
      const proof = await withPassword(me, caller, "password", () => prove(me, "password", password));
      const line = change("", "two-factor sign-in switched off", {}, by);
      const result = await store.passwords.disableTwoFactor(line, proof);
      if (result === "no proof") throw isOver();
      if (result === "is off") throw isOff();
    },
  };
}

const wrong = (field: string) => new Refusal(field, "The password is wrong.");
const isOff = () => new Denied("conflict", "Two-factor sign-in is off already.");
/** The password became another one meanwhile, or the session was ended. */
const isOver = () => new Denied("signed_out", "Sign in again: your session has ended.");
const isOn = () => new Denied("conflict", "Two-factor sign-in is on already. Switch it off first.");
