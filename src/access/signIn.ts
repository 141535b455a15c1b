// Signing in and out, and becoming the first owner.

import { Denied, Refusal } from "../kernel/refusal.ts";
import { shortId, uuidv7 } from "../kernel/ids.ts";
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
  statusOf,
  valueIn,
} from "./context.ts";
import { hashPassword } from "./password.ts";
import { hashTicket, linkTo, newTicket } from "./oneTimeLinks.ts";
import { codeTries, codeUse, countTry, giveBack, passwordTries, ticketTries } from "./rateCounters.ts";

export type SignedIn = { step: "signed in" | "code needed"; cookies: Cookies };

/** One sentence for a wrong password and for an email that nobody has: neither can be told from the other. */
const wrong = () => new Refusal("password", "The email or the password is wrong.");

export function signInOf(parts: AccessParts) {
  const { store, library, now, publicUrl } = parts;

  /** Ends what these cookies would have opened, before anybody has them. */
  async function undo(cookies: Cookies): Promise<void> {
    const text = cookies.join("; ");
    const remove = (table: string, column: string, value: string) =>
      store.accounts.remove(table, [{ column, operator: "eq", value }]);
    await remove("sessions", "token", valueIn(text, "session"));
    await remove("verifications", "identifier", valueIn(text, "code"));
  }

  /** Whose sign-in waits for a code. */
  async function waitingFor(caller: Caller) {
    const identifier = valueIn(cookiesOf(caller, "code"), "code");
    const where = [{ column: "identifier", operator: "eq", value: identifier }] as const;
    const [row] = await store.accounts.find("verifications", where, { limit: 1 });
    return row ? store.passwords.findProof("id", String(row.value)) : null;
  }

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
    const proof = await store.passwords.findProof("email", email);
    try {
      const { headers, response } = await api.signInEmail({
        body,
        headers: headersFor(parts, caller, "session"),
        returnHeaders: true,
      });
      const cookies = headers.getSetCookie();
      const needsCode = "twoFactorRedirect" in response;
      if (!proof || !(await store.passwords.stillHolds(proof))) {
        await undo(cookies);
        throw wrong();
      }
      await giveBack(store, limits);
      return { step: needsCode ? "code needed" : "signed in", cookies };
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
    const proof = await waitingFor(caller);
    try {
      const { headers, response } = await (isApp ? api.verifyTOTP(call) : api.verifyBackupCode(call));
      const cookies = headers.getSetCookie();
      if (isApp && (await store.rateCounters.count(codeUse(response.user.id, code), now())) !== 0) {
        await undo(cookies);
        throw new Refusal("code", "This code was used already. Wait for the next one.");
      }
      // A caller may send several cookies: the proof has to be of who comes in.
      if (proof?.userId !== response.user.id || !(await store.passwords.stillHolds(proof))) {
        await undo(cookies);
        throw over;
      }
      await giveBack(store, limits);
      return cookies;
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
      await store.oneTimeLinks.addSetUp(hash, now());
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
      if (!(await store.oneTimeLinks.hasSetUp(hash))) throw noTicket;
      const email = readEmail(given.email);
      checkNewPassword(given.password);
      const passwordHash = await hashPassword(given.password);
      const user = { id: shortId(), passwordId: uuidv7(), email, name: given.name, passwordHash };
      const line = { siteId: "", actor: email, action: "owner created", detail: { email }, at: now() };
      const result = await store.oneTimeLinks.addFirstOwner(line, hash, user);
      if (result === "has owner") throw hasOwner();
      if (result === "no link") throw noTicket;
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
  // Somebody else used a backup code of the same person in the same moment.
  const code = statusOf(error) === 409 ? "INVALID_BACKUP_CODE" : codeOf(error);
  switch (code ?? "") {
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
