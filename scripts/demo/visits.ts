// The visit counts of the demo's sites, and a sample of bot visits.

import { kindOf } from "../../src/collect/visitSample.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import type { Store } from "../../src/store/store.ts";
import { suspicious, type CountBucket, type VisitCount } from "../../src/store/statistics/traffic.ts";
import type { Bot } from "./bots.ts";
import type { Random } from "./random.ts";
import type { TrafficCurve } from "./trafficCurve.ts";

export const quarterMs = hourMs / 4;
const writer = "demo";

type VisitFlow = {
  siteId: string;
  /** Visits of people per day. */
  perDay: number;
  curve: TrafficCurve;
  bots: readonly Bot[];
};

export function createVisitWriter(store: Store, random: Random, { siteId, perDay, curve, bots }: VisitFlow) {
  type Count = Omit<VisitCount, "bucket"> & { bucket: CountBucket };
  const counts = new Map<string, Count>();
  const changed = new Set<Count>();
  const weights = bots.reduce((sum, { weight }) => sum + weight, 0);
  let seen = 0;

  function add(at: number, bucket: CountBucket, reason: string, expected: number): number {
    const visits = random.poisson(expected);
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
    countQuarter(at: number): void {
      const usual = perDay / 96;
      const people = usual * curve(at);
      add(at, "people", suspicious, people * 0.03);
      add(at, "people", "", people * 0.97);
      add(at, "not a visit", "", people * 0.03);
      add(at, "suppressed", "", people * 0.05);
      for (const { name, campaign, share, invalid } of campaigns) {
        const clicks = add(at, "clicks", `${name} ${campaign}`, people * share);
        add(at, "clicks of bots", `${name} ${campaign}`, clicks * invalid);
      }
      add(at, "evidence at emails", "", people * 0.04);
      add(at, "evidence at conversions", "", people * 0.02);
      for (const { name, visits, emails } of evidence) {
        add(at, "evidence", name, people * visits);
        add(at, "evidence at emails", name, people * 0.04 * emails);
        add(at, "evidence at conversions", name, people * 0.02 * emails);
      }
      // Bots depend less on the time of day than people.
      for (const { weight, judgement } of bots)
        seen += add(at, "bots", judgement.primary, (0.13 * usual + 0.09 * people) * (weight / weights));
    },

    async write(): Promise<void> {
      const written = [...changed];
      changed.clear();
      await store.traffic.saveCounts(writer, written, new Map([[siteId, seen]]));
    },
  };
}

/** The share of visits that a campaign brings, and the share of its clicks that bots make. */
const campaigns = [
  { name: "gclid", campaign: "search-brand", share: 0.12, invalid: 0.02 },
  { name: "gclid", campaign: "display-retargeting", share: 0.07, invalid: 0.19 },
  { name: "fbclid", campaign: "summer-sale", share: 0.15, invalid: 0.05 },
  { name: "msclkid", campaign: "search-generic", share: 0.04, invalid: 0.11 },
];

/** The shares of the visits, and of the submitted emails and conversions, that have a piece of evidence. */
const evidence = [
  { name: "pointer:press too short", visits: 0.021, emails: 0 },
  { name: "typing:inserted at once", visits: 0.012, emails: 0.03 },
  { name: "typing:too even", visits: 0.009, emails: 0 },
  { name: "window:default screen", visits: 0.006, emails: 0 },
  { name: "tag:never fetched", visits: 0.014, emails: 0.01 },
  { name: "cookie:not sent back", visits: 0.03, emails: 0.02 },
  { name: "network:hosting", visits: 0.05, emails: 0.01 },
  { name: "headers:no language", visits: 0.018, emails: 0 },
];

const sampledPages = ["/", "/sale", "/jackets", "/cart", "/checkout", "/login"];

type BotSample = { siteId: string; host: string; bots: readonly Bot[]; count: number };

/** Writes a sample of bot visits, most of them recent. */
export async function writeBotVisits(
  store: Store,
  random: Random,
  { siteId, host, bots, count }: BotSample,
  { from, now }: { from: number; now: number },
): Promise<void> {
  const times = Array.from({ length: count }, () => Math.floor(now - random.number() ** 2 * Math.min(now - from, 13 * dayMs)));
  for (const at of times.toSorted((one, other) => one - other)) {
    const { seen, judgement } = random.pickWeighted(bots);
    const { verdict } = judgement;
    const page = `https://${host}${random.pick(sampledPages)}`;
    const { name, campaign } = random.pick(campaigns);
    const click = verdict.bot && random.number() < 0.4 ? { name, value: `demo-${ulid(at)}`, campaign } : null;
    await store.traffic.addBotVisit({ siteId, id: ulid(at), seenAt: at, reason: kindOf(judgement), verdict, page, seen, click });
  }
}
