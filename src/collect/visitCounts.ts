// Counts visits by site, hour, bucket and reason.

import { flushedCounter } from "../background/flushedCounter.ts";
import type { VisitBucket } from "../kernel/event.ts";
import { hourMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";
import type { CountBucket, EvidenceBucket } from "../store/statistics/traffic.ts";
import type { AdClick } from "./adClick.ts";

/** Beyond this number the oldest page is dropped: if it is shown later, it counts twice. */
const maxPrerendered = 10_000;
/** So many of the newest are known to be counted, and at most twice as many. Others are forgotten, and would count again. */
const knownClicks = 50_000;
/** Of one site and hour: anybody can write a campaign into an address. The others are counted without a name. */
const maxCampaigns = 200;

export type VisitCounts = {
  /** Returns a function that counts the visit in another bucket. */
  count(siteId: string, bucket: VisitBucket, reason: string, now: number): (bucket: VisitBucket, reason: string) => void;
  countEvidence(siteId: string, bucket: EvidenceBucket, name: string, now: number): void;
  /** Counts a click once, and once more when it turns out to be a bot's; then returns true. */
  countClick(siteId: string, click: AdClick, isBot: boolean, now: number): boolean;
  /** A browser prerendered a page. `pageId` is the id that the page will send when it is shown; null where it has none. */
  countPrerendered(siteId: string, pageId: string | null, now: number): void;
  /** Takes back the count of a prerendered page, which is now shown. */
  uncountPrerendered(siteId: string, pageId: string | null): void;
  /** Writes the rest and stops. */
  stop(): Promise<void>;
};

export function countVisits(
  store: Pick<Store, "traffic">,
  /** Names this process, which writes whole counts, so that a repeated write changes nothing. */
  writer: string,
  onDefect: (error: unknown) => void,
  pollMs?: number,
): VisitCounts {
  /** Visits of bots to each site since this process started. Never purged: webhooks report by how much the number grew. */
  const bots = new Map<string, number>();
  const prerendered = new Map<string, () => void>();

  /**
   * True for those of bots. A generation is forgotten at once: to remove the oldest click with each new one would be slow, because a Map
   * walks past all that were removed before.
   */
  let clicks = new Map<string, boolean>();
  let earlierClicks = clicks;
  const campaigns = new Map<string, Set<string>>();
  let campaignsHour = 0;

  const counter = flushedCounter<{ siteId: string; bucket: CountBucket; reason: string }>({
    keyOf: ({ bucket, reason }) => `${bucket} ${reason}`,
    async write(batch) {
      const counts = batch.map(({ siteId, hour, bucket, reason, count }) => ({
        siteId,
        hour,
        bucket,
        reason,
        visits: count,
      }));
      const siteId = batch[0]?.siteId ?? "";
      const seen = bots.get(siteId);
      await store.traffic.saveCounts(writer, counts, new Map(seen ? [[siteId, seen]] : []));
    },
    onError: onDefect,
    pollMs,
  });

  function campaignOf(siteId: string, { name, campaign }: AdClick, now: number): string {
    const hour = Math.floor(now / hourMs);
    if (hour > campaignsHour) campaigns.clear();
    campaignsHour = Math.max(campaignsHour, hour);
    const known = campaigns.get(siteId) ?? new Set<string>();
    campaigns.set(siteId, known);
    const reason = `${name} ${campaign}`;
    if (known.size < maxCampaigns) known.add(reason);
    return known.has(reason) ? reason : `${name} `;
  }

  return {
    count(siteId, bucket, reason, now) {
      const add = (to: VisitBucket, why: string) => {
        if (to === "bots") bots.set(siteId, (bots.get(siteId) ?? 0) + 1);
        return counter.add({ siteId, bucket: to, reason: why }, now);
      };
      const uncount = add(bucket, reason);
      return (to, why) => {
        uncount();
        add(to, why);
      };
    },
    countEvidence(siteId, bucket, name, now) {
      counter.add({ siteId, bucket, reason: name }, now);
    },
    countClick(siteId, click, isBot, now) {
      const key = `${siteId} ${click.value}`;
      const known = clicks.get(key) ?? earlierClicks.get(key);
      if (known || known === isBot) return false;
      if (clicks.size >= knownClicks) [clicks, earlierClicks] = [new Map(), clicks];
      clicks.set(key, isBot);
      const reason = campaignOf(siteId, click, now);
      if (known === undefined) counter.add({ siteId, bucket: "clicks", reason }, now);
      if (isBot) counter.add({ siteId, bucket: "clicks of bots", reason }, now);
      return isBot;
    },
    countPrerendered(siteId, pageId, now) {
      const uncount = counter.add({ siteId, bucket: "not a visit", reason: "" }, now);
      if (pageId === null) return;
      const [oldest] = prerendered.keys();
      if (prerendered.size >= maxPrerendered && oldest !== undefined) prerendered.delete(oldest);
      prerendered.set(`${siteId} ${pageId}`, uncount);
    },
    uncountPrerendered(siteId, pageId) {
      const key = `${siteId} ${pageId}`;
      prerendered.get(key)?.();
      prerendered.delete(key);
    },
    stop: () => counter.stop(),
  };
}
