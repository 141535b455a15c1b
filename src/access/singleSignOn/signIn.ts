// Signs people in at an OpenID provider. A person gets in only as a member, or with an open invitation to the email address that
// the provider has verified. The first sign-in links the account to the person's identity at the provider: an address that the
// provider later gives to another person does not open it.

import { createHash } from "node:crypto";
import { randomBase62, shortId, ulid } from "../../kernel/ids.ts";
import { say } from "../../kernel/messages/message.ts";
import { Denied, Refusal } from "../../kernel/refusal.ts";
import { minuteMs } from "../../kernel/time.ts";
import { sealWith, secretFor, tryUnseal } from "../../store/engine/seal.ts";
import { headersFor, isEmail, normalizeEmail, readCookie } from "../betterAuth.ts";
import { addressOf, type AccessContext, type Caller, type Cookies } from "../context.ts";
import { hashPassword } from "../password.ts";
import { countAttempt, linkLimits, uncountAttempt } from "../rateCounters.ts";
import { newChallenge, createProvider, ProviderFault, type Challenge, type Identity } from "./provider.ts";
import type { GuardedSend, SingleSignOnSettings } from "./settings.ts";

export const callbackPath = "/oauth/sign-in/callback";
/** A person has this long to sign in at the provider. */
export const challengeMs = 10 * minuteMs;
const place = "single sign-on";

type SingleSignOnOptions = { settings: SingleSignOnSettings; send: GuardedSend };

type Begun = { location: string; cookie: string };

export function createSingleSignOn(context: AccessContext, { settings, send }: SingleSignOnOptions) {
  const { store, now, publicUrl } = context;
  const provider = createProvider(settings, send, () => performance.now());
  const seal = sealWith(Buffer.from(secretFor(place, Buffer.from(context.secret)), "hex"));
  const redirectUri = `${publicUrl}${callbackPath}`;
  const actor = `single sign-on (${new URL(settings.issuer).host})`;

  async function begin(): Promise<Begun> {
    const challenge = newChallenge();
    const location = await provider.authorizationUrl(challenge, redirectUri).catch(toRefusal);
    return { location, cookie: seal.seal(JSON.stringify({ ...challenge, at: now() }), place) };
  }

  function readChallenge(cookie: string | undefined): Challenge {
    const text = cookie === undefined ? null : tryUnseal(seal, cookie, place);
    const { at, ...challenge } = JSON.parse(text ?? `{"at":0}`) as Challenge & { at: number };
    if (text === null || Math.abs(now() - at) > challengeMs) throw new Denied("signed_out", say("sso_ended"));
    return challenge;
  }

  /** `cookie` is the one that `begin` set. */
  async function finish(caller: Caller, parameters: URLSearchParams, cookie: string | undefined): Promise<Cookies> {
    const limits = linkLimits(addressOf(context, caller));
    await countAttempt(store, limits, now());
    const challenge = readChallenge(cookie);
    const identity = await provider.readIdentity(parameters, challenge, redirectUri).catch(toRefusal);
    const userId = await findUser(identity);
    const cookies = await createSession(caller, userId);
    await uncountAttempt(store, limits);
    return cookies;
  }

  async function findUser(identity: Identity): Promise<string> {
    const email = normalizeEmail(identity.email ?? "");
    if (!isEmail(email)) throw await refuse("no email", email, "Your identity provider names no email address.");
    if (!identity.isEmailVerified)
      throw await refuse("email not verified", email, `Your identity provider has not verified the address ${email}.`);
    const domain = email.slice(email.indexOf("@") + 1);
    if (settings.domains.length && !settings.domains.includes(domain))
      throw await refuse("domain", email, `People of ${domain} cannot sign in here.`);
    const accountId = accountIdOf(settings.issuer, identity.subject);
    const linked = await store.identities.findUser(accountId);
    const line = { siteId: "", actor, action: "signed in", detail: { email }, at: now() };
    const result = await store.identities.signIn(line, {
      linked,
      email,
      accountId,
      issuerId: issuerIdOf(settings.issuer),
      identityId: ulid(),
      newUser: {
        id: shortId(),
        passwordId: ulid(),
        email,
        name: identity.name ?? email.slice(0, email.indexOf("@")),
        // No password opens the account until the person sets one with a reset link.
        passwordHash: await hashPassword(randomBase62(40)),
      },
    });
    if (typeof result === "object") return result.userId;
    if (result === "other identity") throw await refuse("other identity", email, say("sso_other_identity", { email }));
    throw await refuse("not a member", email, say("sso_not_a_member", { email }));
  }

  /** Refusals of people whom the provider knows are in the audit log. */
  async function refuse(reason: string, email: string, message: string): Promise<Denied> {
    const detail = { reason, ...(isEmail(email) && { email }) };
    await store.audit.add({ siteId: "", actor, action: "sign-in refused", detail, at: now() });
    return new Denied("forbidden", message);
  }

  async function createSession(caller: Caller, userId: string): Promise<Cookies> {
    const { api } = await context.auth();
    const proof = await store.passwords.findProof("id", userId);
    const { headers } = await api.sessionFor({
      body: { userId },
      headers: headersFor(context, caller, "session"),
      returnHeaders: true,
    });
    const cookies = headers.getSetCookie();
    // The member may have been removed, or the password reset, in the meantime.
    if (proof && (await store.passwords.stillHolds(proof))) return cookies;
    const token = readCookie(cookies.join("; "), "session");
    await store.accounts.remove("sessions", [{ column: "token", operator: "eq", value: token }]);
    throw new Denied("signed_out", say("account_changed"));
  }

  function toRefusal(error: unknown): never {
    if (!(error instanceof ProviderFault)) throw error;
    if (error.kind === "unavailable") {
      context.onDefect(new Error(`single sign-on: ${error.message}`));
      throw new Denied("unavailable", say("sso_unreachable"));
    }
    throw new Refusal("", say("sso_refused", { reason: error.message }));
  }

  return { begin, finish };
}

export type SingleSignOn = ReturnType<typeof createSingleSignOn>;

const digestOf = (text: string) => createHash("sha256").update(text).digest("base64url");

/** The hash keeps the length bounded, whatever a provider uses as a subject. */
const issuerIdOf = (issuer: string) => digestOf(issuer).slice(0, 22);
const accountIdOf = (issuer: string, subject: string) => `${issuerIdOf(issuer)} ${digestOf(subject)}`;
