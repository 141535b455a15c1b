// Signs people in and out, and sets up the first owner.

import { say } from "../kernel/messages/message.ts";
import { Denied, Refusal } from "../kernel/refusal.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import {
  errorCodeOf,
  cookiesOf,
  headersFor,
  isEmail,
  normalizeEmail,
  readEmail,
  errorStatusOf,
  readCookie,
} from "./betterAuth.ts";
import { addressOf, type AccessContext, type Caller, type Cookies } from "./context.ts";
import { createLinkToken, hashLinkToken, linkTo } from "./oneTimeLinks.ts";
import { checkNewPassword, hashPassword } from "./password.ts";
import { codeLimits, codeUse, countAttempt, linkLimits, passwordLimits, uncountAttempt } from "./rateCounters.ts";
import { refuseDamagedSecret } from "./twoFactorSecrets.ts";

type SignedIn = { step: "signed in" | "code needed"; cookies: Cookies };

/** The same answer for a wrong password and an unknown email, so that accounts cannot be probed. */
const wrongPassword = () => new Refusal("password", say("email_or_password_wrong"));

export function createSignIn(context: AccessContext) {
  const { store, auth, now, publicUrl } = context;

  /** Ends the session or pending sign-in of these cookies, which were not sent yet. */
  async function discard(cookies: Cookies): Promise<void> {
    const text = cookies.join("; ");
    const remove = (table: string, column: string, value: string) =>
      store.accounts.remove(table, [{ column, operator: "eq", value }]);
    await remove("sessions", "token", readCookie(text, "session"));
    await remove("verifications", "identifier", readCookie(text, "code"));
  }

  /** Finds the account whose sign-in waits for a code. */
  async function findPending(caller: Caller) {
    const identifier = readCookie(cookiesOf(caller, "code"), "code");
    const where = [{ column: "identifier", operator: "eq", value: identifier }] as const;
    const [row] = await store.accounts.find("verifications", where, { limit: 1 });
    return row ? store.passwords.findProof("id", String(row.value)) : null;
  }

  async function signIn(caller: Caller, given: { email: string; password: string }): Promise<SignedIn> {
    const email = normalizeEmail(given.email);
    const limits = passwordLimits(email, addressOf(context, caller));
    await countAttempt(store, limits, now());
    const { api } = await auth();
    // Takes as long as a real check, so that accounts cannot be probed by time.
    if (!isEmail(email)) {
      await hashPassword(given.password);
      throw wrongPassword();
    }
    const body = { email, password: given.password };
    const proof = await store.passwords.findProof("email", email);
    try {
      const { headers, response } = await api.signInEmail({
        body,
        headers: headersFor(context, caller, "session"),
        returnHeaders: true,
      });
      const cookies = headers.getSetCookie();
      const needsCode = "twoFactorRedirect" in response;
      if (!proof || !(await store.passwords.stillHolds(proof))) {
        await discard(cookies);
        throw wrongPassword();
      }
      await uncountAttempt(store, limits);
      return { step: needsCode ? "code needed" : "signed in", cookies };
    } catch (error) {
      if (["INVALID_EMAIL_OR_PASSWORD", "INVALID_EMAIL", "PASSWORD_TOO_LONG"].includes(errorCodeOf(error) ?? ""))
        throw wrongPassword();
      throw error;
    }
  }

  /** Finishes a sign-in with a two-factor code. */
  async function finishSignIn(caller: Caller, given: string): Promise<Cookies> {
    const ended = new Denied("signed_out", say("code_step_ended"));
    if (!cookiesOf(caller, "code")) throw ended;
    const limits = codeLimits(addressOf(context, caller));
    await countAttempt(store, limits, now());
    const { api } = await auth();
    const code = given.replaceAll(/\s/g, "");
    const isApp = /^\d{6}$/.test(code);
    const call = {
      body: { code },
      headers: headersFor(context, caller, "code"),
      returnHeaders: true,
    } as const;
    const proof = await findPending(caller);
    try {
      const { headers, response } = await (isApp ? api.verifyTOTP(call) : api.verifyBackupCode(call));
      const cookies = headers.getSetCookie();
      if (isApp && (await store.rateCounters.count(codeUse(response.user.id, code), now())) !== 0) {
        await discard(cookies);
        throw new Refusal("code", say("code_used"));
      }
      // A caller may send several cookies: the password must have been checked for the account that signs in.
      if (proof?.userId !== response.user.id || !(await store.passwords.stillHolds(proof))) {
        await discard(cookies);
        throw ended;
      }
      await uncountAttempt(store, limits);
      return cookies;
    } catch (error) {
      const refusal = codeRefusal(error) ?? (errorCodeOf(error) === "INVALID_TWO_FACTOR_COOKIE" ? ended : null);
      throw refusal ?? (proof && (await refuseDamaged(proof.userId, isApp))) ?? error;
    }
  }

  const refuseDamaged = (userId: string, isApp: boolean) =>
    isApp
      ? refuseDamagedSecret(context, userId, "secret", `Enter a backup code, or ${askOwner}`)
      : refuseDamagedSecret(context, userId, "backup_codes", `Enter a code of your app, or ${askOwner}`);

  return {
    signIn,
    finishSignIn,

    async signOut(caller: Caller): Promise<Cookies> {
      const { api } = await auth();
      const headers = headersFor(context, caller, "session");
      return (await api.signOut({ headers, returnHeaders: true })).headers.getSetCookie();
    },

    /** Extends the session: a person who returns within 30 days stays signed in. */
    async refreshSession(caller: Caller): Promise<Cookies> {
      const { api } = await auth();
      const headers = headersFor(context, caller, "session");
      return (await api.getSession({ headers, returnHeaders: true })).headers.getSetCookie();
    },

    needsOwner: async () => !(await store.members.hasOwner()),

    /** Creates the set-up link for the console; null once there is an owner. */
    async createSetupLink(origin = publicUrl): Promise<string | null> {
      if (await store.members.hasOwner()) return null;
      const { token, hash } = createLinkToken();
      await store.oneTimeLinks.addSetUp(hash, now());
      return linkTo(origin, "set-up", token);
    },

    async setUp(caller: Caller, given: { token: string; email: string; name: string; password: string }): Promise<Cookies> {
      const limits = linkLimits(addressOf(context, caller));
      await countAttempt(store, limits, now());
      const hash = hashLinkToken(given.token);
      const invalidLink = new Refusal("token", say("setup_link_invalid"));
      // In this order: who creates the owner meanwhile also deletes the link.
      const isValidLink = await store.oneTimeLinks.hasSetUp(hash);
      if (await store.members.hasOwner()) throw hasOwner();
      if (!isValidLink) throw invalidLink;
      const email = readEmail(given.email);
      checkNewPassword(given.password);
      const passwordHash = await hashPassword(given.password);
      const user = { id: shortId(), passwordId: ulid(), email, name: given.name, passwordHash };
      const line = { siteId: "", actor: email, action: "owner created", detail: { email }, at: now() };
      const result = await store.oneTimeLinks.addFirstOwner(line, hash, user);
      if (result === "has owner") throw hasOwner();
      if (result === "no link") throw invalidLink;
      if (result === "known email") throw new Refusal("email", say("account_exists"));
      await uncountAttempt(store, limits);
      return (await signIn(caller, { email, password: given.password })).cookies;
    },
  };
}

const askOwner = "ask an owner for a new password link, which turns two-factor sign-in off (cleancast member reset EMAIL).";

const hasOwner = () => new Denied("conflict", say("has_owner"));

/** Translates better-auth's error for a wrong code; null for other errors. */
export function codeRefusal(error: unknown): Error | null {
  // A parallel request used a backup code of the same account.
  const code = errorStatusOf(error) === 409 ? "INVALID_BACKUP_CODE" : errorCodeOf(error);
  switch (code ?? "") {
    case "INVALID_CODE":
      return new Refusal("code", say("code_wrong"));
    case "INVALID_BACKUP_CODE":
      return new Refusal("code", say("backup_code_wrong"));
    case "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE":
      return new Denied("signed_out", say("too_many_codes"));
    case "ACCOUNT_TEMPORARILY_LOCKED":
      return new Denied("too_many", say("codes_locked"), 900);
    default:
      return null;
  }
}
