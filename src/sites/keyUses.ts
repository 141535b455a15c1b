// Counts how often each key is used. A batch is written together with the total of its site and hour, by which the store
// recognises a batch that it has already.

import { flushedCounter } from "../background/flushedCounter.ts";
import { hourMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";
import { isUsable, type Site } from "./directory.ts";

export type KeyUses = {
  count(siteId: string, keyId: string, now: number): void;
  /** Writes the rest and stops. */
  stop(): Promise<void>;
};

export function countKeyUses(
  store: Pick<Store, "keyUse">,
  /** This process. */
  writer: string,
  onDefect: (error: unknown) => void,
  pollMs?: number,
): KeyUses {
  const counter = flushedCounter<{ siteId: string; keyId: string }>({
    writer,
    keyOf: ({ keyId }) => keyId,
    async write(batch, groupWriter, total) {
      const uses = batch.map(({ siteId, keyId, hour, added, lastAt }) => ({
        siteId,
        keyId,
        hour,
        uses: added,
        lastUsedAt: lastAt,
      }));
      await store.keyUse.addUses(uses, { writer: groupWriter, hour: batch[0]?.hour ?? 0, uses: total });
    },
    onError: onDefect,
    pollMs,
  });
  return {
    count: (siteId, keyId, now) => void counter.add({ siteId, keyId }, now),
    stop: () => counter.stop(),
  };
}

/** Describes a site's keys for people: their state and use, and of the key itself only its prefix. */
export async function describeKeys(store: Pick<Store, "keyUse">, site: Site, now: number) {
  const uses = await store.keyUse.sumUses(site.id, Math.floor(now / hourMs) - 23);
  return site.keys.map((key) => {
    const use = uses.get(key.id);
    const state: "active" | "expired" | "revoked" =
      key.revokedAt !== null ? "revoked" : isUsable(key, now) ? "active" : "expired";
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
