// Who may come in: people with a session, programs with an API key. Everything else of the relay knows this file alone,
// and nothing of the library behind it.

import { minuteMs } from "../kernel/time.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type { Actor } from "./actor.ts";
import { apiKeysOf } from "./apiKeys.ts";
import { invitationsOf } from "./invitations.ts";
import { loadLibrary, type Library } from "./betterAuth.ts";
import { membersOf } from "./members.ts";
import { myselfOf } from "./account.ts";
import { cookiesOf, headersFor, type AccessOptions, type AccessParts, type Caller } from "./context.ts";
import { recoveryOf } from "./recovery.ts";
import { signInOf } from "./signIn.ts";

export type Access = ReturnType<typeof openAccess>;

const purgeMs = 10 * minuteMs;
/** How exact "last seen" is. */
const seenMs = minuteMs;
const maxSeen = 10_000;

export function openAccess(options: AccessOptions) {
  const { store, now, onDefect } = options;
  let loading: Promise<Library> | null = null;
  const underWay = new Set<Promise<void>>();
  const seen = new Map<string, number>();

  const parts: AccessParts = {
    ...options,
    library() {
      loading ??= loadLibrary({ ...options, newId: () => uuidv7() });
      return loading;
    },
    inBackground(work) {
      const running = work()
        .catch(onDefect)
        .finally(() => underWay.delete(running));
      underWay.add(running);
    },
  };
  const signIn = signInOf(parts);
  const apiKeys = apiKeysOf(parts);

  const purge = setInterval(() => {
    parts.inBackground(async () => {
      await store.accounts.purge(now());
      await store.invitations.purge(now());
    });
  }, purgeMs);
  purge.unref();

  /** Written at most once a minute: a dashboard asks many times a second. */
  function see(userId: string, sessionId: string): void {
    const at = now();
    if (at - (seen.get(sessionId) ?? 0) < seenMs) return;
    if (seen.size >= maxSeen) seen.clear();
    seen.set(sessionId, at);
    parts.inBackground(() => store.accounts.touchSession(userId, sessionId, at));
  }

  async function userOf(caller: Caller): Promise<Actor | null> {
    if (!cookiesOf(caller, "session")) return null;
    const { api } = await parts.library();
    const headers = headersFor(parts, caller, "session");
    const found = await api.getSession({ headers, query: { disableRefresh: true } });
    if (!found) return null;
    const { user, session } = found;
    see(user.id, session.id);
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
    /** Whoever's session cookie the request has. */
    userOf,
    /** Null for nobody; throws a `Denied` for an API key that is not valid. */
    async actorOf(caller: Caller): Promise<Actor | null> {
      // A proxy's own sign-in stands in the same header; only a bearer is for us.
      const bearer = /^bearer +(\S+) *$/i.exec(caller.raw.headers.authorization ?? "")?.[1];
      return bearer === undefined ? userOf(caller) : apiKeys.actorOf(bearer);
    },
    me: myselfOf(parts),
    recovery: recoveryOf(parts),
    members: membersOf(parts),
    invitations: invitationsOf(parts, signIn),
    apiKeys,
    hasMail: options.mailer !== null,
    async close(): Promise<void> {
      clearInterval(purge);
      await Promise.all(underWay);
      await apiKeys.close();
    },
  };
}
