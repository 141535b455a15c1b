// How often each key is used: counted in memory, written in groups. A crash loses at most one interval.

import type { KeyUse } from "../store/keyUse.ts";
import type { Store } from "../store/store.ts";
import { isUsable, type Site } from "./directory.ts";

const hourMs = 3_600_000;
const flushMs = 1000;

export type KeyUses = {
  count(siteId: string, keyId: string, now: number): void;
  /** Writes what is left and stops. */
  stop(): Promise<void>;
};

export function countKeyUses(store: Pick<Store, "keyUse">, onDefect: (error: unknown) => void): KeyUses {
  let counted = new Map<string, KeyUse>();

  async function flush(): Promise<void> {
    if (counted.size === 0) return;
    const uses = [...counted.values()];
    counted = new Map();
    await store.keyUse.addUses(uses).catch(onDefect);
  }

  const timer = setInterval(() => void flush(), flushMs);
  return {
    count(siteId, keyId, now) {
      const hour = Math.floor(now / hourMs);
      const key = `${siteId} ${keyId} ${hour}`;
      const known = counted.get(key);
      if (known) {
        known.uses += 1;
        known.lastUsedAt = now;
      } else {
        counted.set(key, { siteId, keyId, hour, uses: 1, lastUsedAt: now });
      }
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** A site's keys as people see them: how they do, and nothing of the key itself but its beginning. */
export async function describeKeys(store: Pick<Store, "keyUse">, site: Site, now: number) {
  const uses = await store.keyUse.usesOfSite(site.id, Math.floor(now / hourMs) - 23);
  return site.keys.map((key) => {
    const use = uses.get(key.id);
    const state =
      key.revokedAt === null
        ? isUsable(key, now)
          ? ("active" as const)
          : ("expired" as const)
        : ("revoked" as const);
    return {
      id: key.id,
      name: key.name,
      mode: key.mode,
      prefix: key.prefix,
      state,
      createdAt: key.createdAt,
      lastUsedAt: use?.lastUsedAt ?? null,
      uses24h: use?.uses24h ?? 0,
      expiresAt: key.expiresAt,
      revokedAt: key.revokedAt,
    };
  });
}
