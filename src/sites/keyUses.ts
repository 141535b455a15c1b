// How often each key is used: counted in memory, written in groups. A crash loses at most one interval, an
// outage of the database nothing.

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
  const counted = new Map<string, KeyUse>();
  let writing: Promise<void> | null = null;

  function add(use: KeyUse): void {
    const key = `${use.siteId} ${use.keyId} ${use.hour}`;
    const known = counted.get(key);
    if (!known) return void counted.set(key, { ...use });
    known.uses += use.uses;
    known.lastUsedAt = Math.max(known.lastUsedAt, use.lastUsedAt);
  }

  /** Site by site: what cannot be written is kept, and what was written is not written again. */
  async function write(): Promise<void> {
    const bySite = Map.groupBy(counted.values(), ({ siteId }) => siteId);
    counted.clear();
    const failures: unknown[] = [];
    for (const uses of bySite.values()) {
      try {
        await store.keyUse.addUses(uses);
      } catch (error) {
        uses.forEach(add);
        failures.push(error);
      }
    }
    // One of them tells enough: most often they all have one cause.
    if (failures.length) onDefect(failures[0]);
  }

  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = null;
    });
    return writing;
  }

  const timer = setInterval(() => void flush(), flushMs);
  return {
    count(siteId, keyId, now) {
      add({ siteId, keyId, hour: Math.floor(now / hourMs), uses: 1, lastUsedAt: now });
    },
    async stop() {
      clearInterval(timer);
      await writing;
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
