// Signing in and out, and becoming the first owner.

import { Refusal } from "../sites/manage.ts";
import { shortId, uuidv7 } from "../ids.ts";
import { Denied } from "./denied.ts";
import {
  addressOf,
  checkNewPassword,
  codeOf,
  cookiesOf,
  headersFor,
  isEmail,
  plainEmail,
  readEmail,
  type AccessParts,
  type Caller,
  type Cookies,
} from "./parts.ts";
import { hashPassword } from "./password.ts";
import { hashTicket, linkTo, newTicket } from "./tickets.ts";
import { codeTries, codeUse, countTry, giveBack, passwordTries, ticketTries } from "./tries.ts";

export type SignedIn = { step: "signed in" | "code needed"; cookies: Cookies };

/** One sentence for a wrong password and for an email that nobody has: neither can be told from the other. */
const wrong = () => new Refusal("password", "The email or the password is wrong.");

export function signInOf(parts: AccessParts) {
  const { store, library, now, publicUrl } = parts;

  async function signIn(caller: Caller, given: { email: string; password: string }): Promise<SignedIn> {
    const email = plainEmail(given.email);
    const limits = passwordTries(email, addressOf(parts, caller));
    await countTry(store, limits, now());
    const { api } = await library();
    // As much work as a real one, so that it takes as long.
    if (!isEmail(email)) {
      await hashPassword(given.password);
      throw wrong();
    }
    const body = { email, password: given.password };
    try {
      const { headers, response } = await api.signInEmail({
        body,
        headers: headersFor(parts, caller, "session"),
        returnHeaders: true,
      });
      await giveBack(store, limits);
      const needsCode = "twoFactorRedirect" in response;
      return { step: needsCode ? "code needed" : "signed in", cookies: headers.getSetCookie() };
    } catch (error) {
      if (["INVALID_EMAIL_OR_PASSWORD", "INVALID_EMAIL", "PASSWORD_TOO_LONG"].includes(codeOf(error) ?? ""))
        throw wrong();
      throw error;
    }
  }

  /** Finishes a sign-in whose password was right. */
  async function finish(caller: Caller, given: string): Promise<Cookies> {
    const over = new Denied("signed_out", "Too much time has passed. Sign in with your password again.");
    if (!cookiesOf(caller, "code")) throw over;
    const limits = codeTries(addressOf(parts, caller));
    await countTry(store, limits, now());
    const { api } = await library();
    const code = given.replaceAll(/\s/g, "");
    const isApp = /^\d{6}$/.test(code);
    const call = { body: { code }, headers: headersFor(parts, caller, "code"), returnHeaders: true } as const;
    try {
      const { headers, response } = await (isApp ? api.verifyTOTP(call) : api.verifyBackupCode(call));
      const userId = response.user.id;
      if (isApp && (await store.tries.count(codeUse(userId, code), now())) !== 0) {
        const token = String(response.token);
        await store.accounts.remove("sessions", [{ column: "token", operator: "eq", value: token }]);
        throw new Refusal("code", "This code was used already. Wait for the next one.");
      }
      await giveBack(store, limits);
      return headers.getSetCookie();
    } catch (error) {
      throw codeFault(error) ?? (codeOf(error) === "INVALID_TWO_FACTOR_COOKIE" ? over : error);
    }
  }

  return {
    signIn,
    finish,

    async signOut(caller: Caller): Promise<Cookies> {
      const { api } = await library();
      const headers = headersFor(parts, caller, "session");
      return (await api.signOut({ headers, returnHeaders: true })).headers.getSetCookie();
    },

    /** Who comes back within 30 days stays signed in. */
    async stay(caller: Caller): Promise<Cookies> {
      const { api } = await library();
      const headers = headersFor(parts, caller, "session");
      return (await api.getSession({ headers, returnHeaders: true })).headers.getSetCookie();
    },

    needsOwner: async () => !(await store.members.hasOwner()),

    /** A link for the console while there is no owner; null afterwards. */
    async setupLink(origin = publicUrl): Promise<string | null> {
      if (await store.members.hasOwner()) return null;
      const { ticket, hash } = newTicket();
      await store.tickets.addSetUp(hash, now());
      return linkTo(origin, "set-up", ticket);
    },

    async setUp(
      caller: Caller,
      given: { ticket: string; email: string; name: string; password: string },
    ): Promise<Cookies> {
      const limits = ticketTries(addressOf(parts, caller));
      await countTry(store, limits, now());
      const hash = hashTicket(given.ticket);
      const noTicket = new Refusal(
        "ticket",
        "This link does not work. Take the newest one that the server has printed on its console.",
      );
      if (await store.members.hasOwner()) throw hasOwner();
      if (!(await store.tickets.isSetUp(hash))) throw noTicket;
      const email = readEmail(given.email);
      checkNewPassword(given.password);
      const passwordHash = await hashPassword(given.password);
      const user = { id: shortId(), passwordId: uuidv7(), email, name: given.name, passwordHash };
      const line = { siteId: "", actor: email, action: "owner created", detail: { email }, at: now() };
      const result = await store.tickets.setUp(line, hash, user);
      if (result === "has owner") throw hasOwner();
      if (result === "no ticket") throw noTicket;
      if (result === "known email")
        throw new Refusal("email", "There is an account with this email already. Use another one.");
      await giveBack(store, limits);
      return (await signIn(caller, { email, password: given.password })).cookies;
    },
  };
}

const hasOwner = () =>
  new Denied("conflict", "This installation has an owner already. Ask them for an invitation.");

/** What the library says of a wrong code, for people. */
export function codeFault(error: unknown): Error | null {
  switch (codeOf(error) ?? "") {
    case "INVALID_CODE":
      return new Refusal("code", "This code is wrong. Codes change every 30 seconds.");
    case "INVALID_BACKUP_CODE":
      return new Refusal("code", "This backup code is wrong, or was used already.");
    case "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE":
      return new Denied("signed_out", "Too many wrong codes. Sign in with your password again.");
    case "ACCOUNT_TEMPORARILY_LOCKED":
      return new Denied("too_many", "Too many wrong codes. Try again in 15 minutes.", 900);
    default:
      return null;
  }
}
