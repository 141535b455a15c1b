// Access control: people have a session, programs an API key. Nothing outside this folder uses better-auth.

import { poll } from "../background/poll.ts";
import { minuteMs } from "../kernel/time.ts";
import { ulid } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, Missing } from "../kernel/refusal.ts";
import type { Actor, SignedIn } from "./actor.ts";
import { createApiKeys } from "./apiKeys.ts";
import { createInvitations } from "./invitations.ts";
import { cookiesOf, headersFor, loadBetterAuth, type BetterAuth } from "./betterAuth.ts";
import { createMembers } from "./members.ts";
import { createAccount } from "./account.ts";
import type { AccessContext, AccessOptions, Caller } from "./context.ts";
import { createRecovery } from "./recovery.ts";
import { createSignIn } from "./signIn.ts";
import type { SingleSignOn } from "./singleSignOn/signIn.ts";

export type Access = ReturnType<typeof createAccess>;

const purgeMs = 10 * minuteMs;
/** Sessions record "last seen" at most this often: a dashboard sends many requests per second. */
const seenEveryMs = minuteMs;
const maxSeen = 10_000;

export function createAccess(options: AccessOptions) {
  const { store, now, onDefect } = options;
  let loading: Promise<BetterAuth> | null = null;
  const running = new Set<Promise<void>>();
  const seen = new Map<string, number>();

  const context: AccessContext = {
    ...options,
    auth() {
      loading ??= loadBetterAuth({ ...options, newId: () => ulid() });
      return loading;
    },
    inBackground(work) {
      const promise = work()
        .catch(onDefect)
        .finally(() => running.delete(promise));
      running.add(promise);
    },
  };
  const { singleSignOn = null, passwords = true } = options;
  let opening: Promise<SingleSignOn> | null = null;
  const signIn = createSignIn(context);
  const apiKeys = createApiKeys(context);

  const purge = poll({
    everyMs: purgeMs,
    firstMs: purgeMs,
    async work() {
      await store.accounts.purge(now());
      await store.invitations.purge(now());
    },
    onError: onDefect,
  });

  function recordSeen(userId: string, sessionId: string): void {
    const at = now();
    if (Math.abs(at - (seen.get(sessionId) ?? 0)) < seenEveryMs) return;
    if (seen.size >= maxSeen) seen.clear();
    seen.set(sessionId, at);
    context.inBackground(() => store.accounts.touchSession(userId, sessionId, at));
  }

  async function userOf(caller: Caller): Promise<SignedIn | null> {
    if (!cookiesOf(caller, "session")) return null;
    const { api } = await context.auth();
    const headers = headersFor(context, caller, "session");
    const found = await api.getSession({ headers, query: { disableRefresh: true } });
    if (!found) return null;
    const { user, session } = found;
    recordSeen(user.id, session.id);
    return {
      kind: "user",
      id: user.id,
      email: user.email,
      name: user.name,
      twoFactor: user.twoFactorEnabled === true,
      sessionId: session.id,
      grants: await store.members.listGrants(user.id),
    };
  }

  return {
    ...signIn,
    /** Finds the user by the request's session cookie. */
    userOf,
    /** Returns null without credentials; throws `Denied` for an invalid API key. */
    async actorOf(caller: Caller): Promise<Actor | null> {
      // A proxy may use the same header for its own basic authentication; only a bearer token is for us.
      const bearer = /^bearer +(\S+) *$/i.exec(caller.raw.headers.authorization ?? "")?.[1];
      return bearer === undefined ? userOf(caller) : apiKeys.actorOf(bearer);
    },
    account: createAccount(context),
    recovery: createRecovery(context),
    members: createMembers(context),
    invitations: createInvitations(context, signIn),
    apiKeys,
    hasMail: options.mailer !== null,
    hasPasswords: passwords,
    /** The name of the OpenID provider; null where there is none. */
    providerName: singleSignOn?.settings.name ?? null,
    /** Loads single sign-on at the first use. */
    singleSignOn(): Promise<SingleSignOn> {
      if (!singleSignOn) throw new Missing("address", say("sso_not_configured"));
      opening ??= import("./singleSignOn/signIn.ts").then(({ createSingleSignOn }) => createSingleSignOn(context, singleSignOn));
      return opening;
    },
    /** Refuses what needs a password where there are none. */
    requirePasswords(): void {
      if (passwords) return;
      throw new Denied("forbidden", say("passwords_off", { provider: singleSignOn?.settings.name ?? "single sign-on" }));
    },
    async close(): Promise<void> {
      await purge.stop();
      await Promise.all(running);
      await apiKeys.close();
    },
  };
}
