// Visits to the demo's sites as numbers, and a sample of the bots' among them.

import type { VisitBucket } from "../../src/kernel/event.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { Store } from "../../src/store/store.ts";
import type { VisitCount } from "../../src/store/statistics/traffic.ts";
import type { Bot } from "./bots.ts";
import type { Chance } from "./chance.ts";
import { dayMs, hourMs, type Rhythm } from "./rhythm.ts";

export const quarterMs = hourMs / 4;
const writer = "demo";

export type VisitFlow = {
  siteId: string;
  /** Visits of people on an ordinary day. */
  perDay: number;
  rhythm: Rhythm;
  bots: readonly Bot[];
};

export function visitWriter(store: Store, chance: Chance, { siteId, perDay, rhythm, bots }: VisitFlow) {
  const counts = new Map<string, VisitCount>();
  const changed = new Set<VisitCount>();
  const weights = bots.reduce((sum, { weight }) => sum + weight, 0);
  let seen = 0;

  function add(at: number, bucket: VisitBucket, reason: string, expected: number): number {
    const visits = chance.poisson(expected);
    if (visits === 0) return 0;
    const hour = Math.floor(at / hourMs);
    const key = `${hour} ${bucket} ${reason}`;
    const count = counts.get(key) ?? { siteId, hour, bucket, reason, visits: 0 };
    count.visits += visits;
    counts.set(key, count);
    changed.add(count);
    return visits;
  }

  return {
    /** Counts a quarter of an hour. */
    pass(at: number): void {
      const usual = perDay / 96;
      const people = usual * rhythm(at);
      add(at, "people", "", people);
      add(at, "not a visit", "", people * 0.03);
      add(at, "suppressed", "", people * 0.05);
      // Bots sleep less than people.
      for (const { weight, judgement } of bots)
        seen += add(at, "bots", judgement.primary, (0.13 * usual + 0.09 * people) * (weight / weights));
    },

    async write(): Promise<void> {
      const said = [...changed];
      changed.clear();
      await store.traffic.saveCounts(writer, said, new Map([[siteId, seen]]));
    },
  };
}

const sampledPages = ["/", "/sale", "/jackets", "/cart", "/checkout", "/login"];

/** Bots' visits that were kept to be looked at. */
export async function keepBots(
  store: Store,
  chance: Chance,
  {
    siteId,
    host,
    bots,
    count,
    now,
  }: { siteId: string; host: string; bots: readonly Bot[]; count: number; now: number },
  maxMs: number,
): Promise<void> {
  const times = Array.from({ length: count }, () =>
    Math.floor(now - chance.number() ** 2 * Math.min(maxMs, 13 * dayMs)),
  );
  for (const at of times.toSorted((one, other) => one - other)) {
    const { seen, judgement } = chance.weighted(bots);
    const { primary: reason, verdict } = judgement;
    const page = `https://${host}${chance.oneOf(sampledPages)}`;
    await store.traffic.addBotVisit({ siteId, id: uuidv7(at), seenAt: at, reason, verdict, page, seen });
  }
}
