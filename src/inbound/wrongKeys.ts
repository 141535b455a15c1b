// Wrong keys, counted by host over all nodes. The store holds the count; memory holds only which hosts are locked,
// so that a flood costs no more than ten writes. A valid key never comes here.

import { lockoutRule as rule } from "../store/sites/keyUse.ts";
import type { Store } from "../store/store.ts";

/** A sender chooses the Host header: beyond this many hosts that no site owns, they share one count. */
const maxStrangers = 1000;
const strangers = "(other hosts)";
/** While the database hangs no more than this many wait for their count on one host. */
const maxWaiting = 1000;

export type WrongKeys = {
  /** Counts one and returns until when the host is locked; 0 while it is not. */
  count(host: string, siteId: string | null, now: number): Promise<number>;
};

export function countWrongKeys(store: Pick<Store, "keyUse">): WrongKeys {
  const lockedUntil = new Map<string, number>();
  const counting = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, number>();
  const seenStrangers = new Set<string>();
  let strangersSince = 0;

  /** Which count a host belongs to; bounded whatever Host headers arrive. */
  function counterOf(host: string, siteId: string | null, now: number): string {
    if (siteId !== null) return host;
    if (now - strangersSince > rule.lockMs) {
      seenStrangers.clear();
      for (const [counter, until] of lockedUntil) if (until <= now) lockedUntil.delete(counter);
      strangersSince = now;
    }
    if (!seenStrangers.has(host) && seenStrangers.size >= maxStrangers) return strangers;
    seenStrangers.add(host);
    return host;
  }

  return {
    async count(host, siteId, now) {
      const counter = counterOf(host, siteId, now);
      const ahead = waiting.get(counter) ?? 0;
      if (ahead >= maxWaiting) return lockedUntil.get(counter) ?? 0;
      waiting.set(counter, ahead + 1);
      // One at a time per host: those that waited find the lock in memory and write nothing.
      const turn = (counting.get(counter) ?? Promise.resolve()).then(async () => {
        const known = lockedUntil.get(counter) ?? 0;
        if (known > now) return known;
        lockedUntil.delete(counter);
        const until = await store.keyUse.countWrongKey(siteId ?? "", counter, now, rule);
        if (until > now) lockedUntil.set(counter, until);
        return until;
      });
      const settled = turn.catch(() => {});
      counting.set(counter, settled);
      void settled.then(() => {
        const left = (waiting.get(counter) ?? 1) - 1;
        if (left > 0) waiting.set(counter, left);
        else waiting.delete(counter);
        if (counting.get(counter) === settled) counting.delete(counter);
      });
      return turn;
    },
  };
}
