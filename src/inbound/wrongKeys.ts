// Counts wrong keys by host, over all nodes. The store holds the count; memory holds only the locked hosts, so that a
// flood costs at most ten writes. Valid keys are never counted.

import { lockoutRule as rule, maxLockedUntil } from "../store/sites/keyUse.ts";
import type { Store } from "../store/store.ts";

/** Senders choose the Host header: above this many hosts that no site owns, the rest share one count. */
const maxUnownedHosts = 1000;
const otherHosts = "(other hosts)";
/** Bounds the requests per host that wait for a hung database. */
const maxWaiting = 1000;

export type WrongKeys = {
  /** Counts one wrong key and returns the time until which the host is locked; 0 when it is not. */
  count(host: string, siteId: string | null, now: number): Promise<number>;
};

export function countWrongKeys(store: Pick<Store, "keyUse">): WrongKeys {
  const lockedUntil = new Map<string, number>();
  const counting = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, number>();
  const unownedHosts = new Set<string>();
  let unownedSince = 0;

  /** Chooses the count of a host; bounded whatever Host headers arrive. */
  function chooseCounter(host: string, siteId: string | null, now: number): string {
    if (siteId !== null) return host;
    if (Math.abs(now - unownedSince) > rule.lockMs) {
      unownedHosts.clear();
      for (const [counter, until] of lockedUntil) if (until <= now) lockedUntil.delete(counter);
      unownedSince = now;
    }
    if (!unownedHosts.has(host) && unownedHosts.size >= maxUnownedHosts) return otherHosts;
    unownedHosts.add(host);
    return host;
  }

  return {
    async count(host, siteId, now) {
      const counter = chooseCounter(host, siteId, now);
      const ahead = waiting.get(counter) ?? 0;
      if (ahead >= maxWaiting) return lockedUntil.get(counter) ?? 0;
      waiting.set(counter, ahead + 1);
      // One request at a time per host: those that waited find the lock in memory and write nothing.
      const counted = (counting.get(counter) ?? Promise.resolve()).then(async () => {
        const known = lockedUntil.get(counter) ?? 0;
        if (known > now && known <= maxLockedUntil(now, rule)) return known;
        lockedUntil.delete(counter);
        const until = await store.keyUse.countWrongKey(siteId ?? "", counter, now, rule);
        if (until > now) lockedUntil.set(counter, until);
        return until;
      });
      const settled = counted.catch(() => {});
      counting.set(counter, settled);
      void settled.then(() => {
        const left = (waiting.get(counter) ?? 1) - 1;
        if (left > 0) waiting.set(counter, left);
        else waiting.delete(counter);
        if (counting.get(counter) === settled) counting.delete(counter);
      });
      return counted;
    },
  };
}
