// Access tokens that end: renewed a minute before, by one node, once. Others wait for what it writes.
//
// A rotated refresh token is good for one use: two nodes that renew at the same moment would end the connection. So a
// node first takes the connection's turn in the store; whoever does not get it looks again until the new token is there.

import { platformOf } from "../../platforms/index.ts";
import type { Connection, Directory } from "../../sites/directory.ts";
import type { Store } from "../../store/store.ts";
import { hasOAuth, renewed, type TokenFault } from "./oauth2.ts";
import type { Sender } from "../send.ts";

export type TokenOptions = {
  store: Pick<Store, "platformSignIns">;
  directory: Pick<Directory, "connection" | "refresh">;
  sender: Sender;
  /** This node. */
  owner: string;
  now: () => number;
  /** How long one renewal may take; after that another node may try. */
  renewalMs: number;
};

export type Tokens = {
  /** The connection with a token that holds, or why there is none. `rejected` is a token that the platform refused. */
  fresh(connection: Connection, rejected?: string): Promise<Connection | TokenFault>;
};

const beforeEndMs = 60_000;
const lookAgainMs = 200;

export function openTokens({ store, directory, sender, owner, now, renewalMs }: TokenOptions): Tokens {
  const underWay = new Map<string, Promise<Connection | TokenFault>>();

  const isDue = ({ settings }: Connection, rejected: string | undefined) =>
    rejected === undefined
      ? settings.expires_at !== undefined && Number(settings.expires_at) - beforeEndMs <= now()
      : settings.access_token === rejected;

  async function renew(
    connection: Connection,
    rejected: string | undefined,
  ): Promise<Connection | TokenFault> {
    const { siteId, id } = connection;
    const latest = now() + renewalMs;
    for (;;) {
      await directory.refresh();
      const current = directory.connection(siteId, id) ?? connection;
      if (!isDue(current, rejected)) return current;
      if (await store.platformSignIns.claimRefresh(siteId, id, owner, now(), now() + renewalMs)) {
        try {
          return await renewNow(current, rejected);
        } finally {
          await store.platformSignIns.releaseRefresh(siteId, id, owner);
        }
      }
      if (now() >= latest) return { fault: "later", error: "another node is renewing the access token" };
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  }

  async function renewNow(
    connection: Connection,
    rejected: string | undefined,
  ): Promise<Connection | TokenFault> {
    const { siteId, id, platform: platformId } = connection;
    // The node before us may have finished between our look and our turn.
    await directory.refresh();
    const current = directory.connection(siteId, id) ?? connection;
    if (!isDue(current, rejected)) return current;
    const platform = platformOf(platformId);
    const app = await store.platformSignIns.findApp(platformId);
    const refreshToken = current.settings.refresh_token;
    if (!hasOAuth(platform) || !refreshToken) return current;
    if (!app) return { fault: "refused", error: `no OAuth app is set for ${platformId}` };
    const tokens = await renewed({ platform, app, sender, now: now() }, refreshToken);
    if ("fault" in tokens) return tokens;
    const isSaved = await store.platformSignIns.renewTokens(siteId, id, refreshToken, tokens);
    await directory.refresh();
    // Whoever connected it anew meanwhile knows better.
    if (!isSaved) return directory.connection(siteId, id) ?? current;
    return { ...current, settings: { ...current.settings, ...tokens } };
  }

  return {
    async fresh(connection, rejected) {
      const canRenew =
        connection.settings.refresh_token !== undefined && hasOAuth(platformOf(connection.platform));
      if (!canRenew) {
        return rejected === undefined
          ? connection
          : { fault: "refused", error: "the platform refused the token" };
      }
      const key = `${connection.siteId} ${connection.id}`;
      let current: Connection | TokenFault = connection;
      while (!("fault" in current) && isDue(current, rejected)) {
        // One at a time, and then another look: what somebody else waited for may not be what we need.
        const running = underWay.get(key);
        if (running) {
          current = await running;
          continue;
        }
        const renewal = renew(current, rejected).finally(() => underWay.delete(key));
        underWay.set(key, renewal);
        return renewal;
      }
      return current;
    },
  };
}
