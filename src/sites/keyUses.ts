// How often each key is used: counted in memory, written in groups. A crash loses at most one interval, an
// outage of the database nothing.

import type { KeyUse } from "../store/sites/keyUse.ts";
import type { Store } from "../store/store.ts";
import { isUsable, type Site } from "./directory.ts";

const hourMs = 3_600_000;
const flushMs = 1000;
const keptHours = 2;

const placeOf = (siteId: string, hour: number) => `${hour} ${siteId}`;
const hourOf = (place: string) => Number.parseInt(place, 10);

export type KeyUses = {
  count(siteId: string, keyId: string, now: number): void;
  /** Writes what is left and stops. */
  stop(): Promise<void>;
};

/** Uses on a site in an hour that are written together, under the number of all that this process counted there. */
type Batch = { total: number; uses: KeyUse[] };

export function countKeyUses(
  store: Pick<Store, "keyUse">,
  /** This process. */
  writer: string,
  onDefect: (error: unknown) => void,
): KeyUses {
  const counted = new Map<string, Map<string, KeyUse>>();
  /** Of which it is not known whether they were written: they are said again as they were. */
  const unsure = new Map<string, Batch>();
  const totals = new Map<string, number>();
  let writing: Promise<void> | null = null;

  function nextBatch(place: string): Batch | undefined {
    const uses = [...(counted.get(place)?.values() ?? [])];
    counted.delete(place);
    const sum = uses.reduce((most, one) => most + one.uses, 0);
    return uses.length ? { total: (totals.get(place) ?? 0) + sum, uses } : undefined;
  }

  async function write(): Promise<void> {
    const failures: unknown[] = [];
    for (const place of new Set([...unsure.keys(), ...counted.keys()])) {
      const batch = unsure.get(place) ?? nextBatch(place);
      if (!batch) continue;
      unsure.set(place, batch);
      try {
        const hour = batch.uses[0]?.hour ?? 0;
        await store.keyUse.addUses(batch.uses, { writer, hour, uses: batch.total });
        unsure.delete(place);
        totals.set(place, batch.total);
        forgetBefore(hour - keptHours);
      } catch (error) {
        failures.push(error);
      }
    }
    // One of them tells enough: most often they all have one cause.
    if (failures.length) onDefect(failures[0]);
  }

  function forgetBefore(hour: number): void {
    for (const place of totals.keys()) if (hourOf(place) < hour) totals.delete(place);
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
      const hour = Math.floor(now / hourMs);
      const place = placeOf(siteId, hour);
      let uses = counted.get(place);
      if (!uses) counted.set(place, (uses = new Map()));
      const known = uses.get(keyId);
      if (!known) return void uses.set(keyId, { siteId, keyId, hour, uses: 1, lastUsedAt: now });
      known.uses += 1;
      known.lastUsedAt = Math.max(known.lastUsedAt, now);
    },
    async stop() {
      clearInterval(timer);
      await writing;
      // What was unsure comes first, and then what came after it.
      await flush();
      if (counted.size) await flush();
    },
  };
}

/** A site's keys as people see them: how they do, and nothing of the key itself but its beginning. */
export async function describeKeys(store: Pick<Store, "keyUse">, site: Site, now: number) {
  const uses = await store.keyUse.sumUses(site.id, Math.floor(now / hourMs) - 23);
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
