// Renews access tokens a minute before they expire, on one node at a time; the others wait for the token that it stores.
//
// A rotated refresh token works once: two nodes that used it at the same moment would break the connection. So a node first
// takes the connection's refresh lease in the store; a node that does not get it checks again until the new token is there.

import { say } from "../../kernel/messages/message.ts";
import { minuteMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import type { Connection, Directory } from "../../sites/directory.ts";
import type { Store } from "../../store/store.ts";
import { hasOAuth, refreshTokens, type TokenFault } from "./oauth2.ts";
import type { Sender } from "../send.ts";

type TokenOptions = {
  store: Pick<Store, "platformSignIns">;
  directory: Pick<Directory, "connection" | "refresh">;
  sender: Sender;
  /** This node. */
  owner: string;
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  /** The time limit of one renewal and of its lease. */
  renewalMs: number;
};

export type Tokens = {
  /** Returns the connection with a valid token, or why there is none. `rejected` is a token that the platform rejected. */
  fresh(connection: Connection, rejected?: string): Promise<Connection | TokenFault>;
};

const beforeExpiryMs = minuteMs;
const recheckMs = 200;

export function createTokens(options: TokenOptions): Tokens {
  const { store, directory, sender, owner, now, elapsed, renewalMs } = options;
  const inFlight = new Map<string, Promise<Connection | TokenFault>>();

  const isDue = ({ settings }: Connection, rejected: string | undefined) =>
    rejected === undefined
      ? settings.expires_at !== undefined && Number(settings.expires_at) - beforeExpiryMs <= now()
      : settings.access_token === rejected;

  async function renew(connection: Connection, rejected: string | undefined): Promise<Connection | TokenFault> {
    const { siteId, id } = connection;
    const deadline = elapsed() + renewalMs;
    for (;;) {
      await directory.refresh();
      const current = directory.connection(siteId, id) ?? connection;
      if (!isDue(current, rejected)) return current;
      if (await store.platformSignIns.claimRefresh(siteId, id, owner, now(), now() + renewalMs)) {
        try {
          return await renewLeased(current, rejected);
        } finally {
          await store.platformSignIns.releaseRefresh(siteId, id, owner);
        }
      }
      if (elapsed() >= deadline) return { fault: "later", error: "another node is renewing the access token" };
      await new Promise((resolve) => setTimeout(resolve, recheckMs));
    }
  }

  async function renewLeased(connection: Connection, rejected: string | undefined): Promise<Connection | TokenFault> {
    const { siteId, id, platform: platformId } = connection;
    // The previous node may have finished between our check and our lease.
    await directory.refresh();
    const current = directory.connection(siteId, id) ?? connection;
    if (!isDue(current, rejected)) return current;
    const platform = platformOf(platformId);
    const app = await store.platformSignIns.findApp(platformId);
    const refreshToken = current.settings.refresh_token;
    if (!hasOAuth(platform) || !refreshToken) return current;
    if (!app) return { fault: "refused", error: say("no_app", { platform: platformId }) };
    // The refresh token is still valid, so the deliveries wait for the app and not for a new sign-in.
    if (app === "unreadable") return { fault: "later", error: say("app_unreadable", { platform: platformId }) };
    const tokens = await refreshTokens({ platform, app, sender, now: now() }, refreshToken);
    if ("fault" in tokens) return tokens;
    const isSaved = await store.platformSignIns.renewTokens(siteId, id, refreshToken, tokens);
    await directory.refresh();
    // The connection was given other tokens meanwhile: those count.
    if (!isSaved) return directory.connection(siteId, id) ?? current;
    return { ...current, settings: { ...current.settings, ...tokens } };
  }

  return {
    async fresh(connection, rejected) {
      const canRenew = connection.settings.refresh_token !== undefined && hasOAuth(platformOf(connection.platform));
      if (!canRenew) {
        return rejected === undefined ? connection : { fault: "refused", error: "the platform refused the token" };
      }
      const key = `${connection.siteId} ${connection.id}`;
      let current: Connection | TokenFault = connection;
      while (!("fault" in current) && isDue(current, rejected)) {
        // One at a time, then check again: the other caller may have waited for another token than this one needs.
        const running = inFlight.get(key);
        if (running) {
          current = await running;
          continue;
        }
        const renewal = renew(current, rejected).finally(() => inFlight.delete(key));
        inFlight.set(key, renewal);
        return renewal;
      }
      return current;
    },
  };
}
