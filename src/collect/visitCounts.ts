// Counts visits by site, hour, bucket and reason.

import { flushedCounter } from "../background/flushedCounter.ts";
import { createBoundedMemory } from "../http/boundedMemory.ts";
import type { VisitBucket } from "../kernel/event.ts";
import { hourMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";
import type { CountBucket, EvidenceBucket } from "../store/statistics/traffic.ts";
import type { AdClick } from "./adClick.ts";

/** Of all sites. Pages that were forgotten count twice if they are shown later. */
const maxPrerendered = 10_000;
/** Of all sites. Clicks that were forgotten would count again. */
const maxClicks = 50_000;
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
  const prerendered = createBoundedMemory<string, () => void>(maxPrerendered);
  /** True for those of bots. */
  const clicks = createBoundedMemory<string, boolean>(maxClicks);
  const campaigns = new Map<string, Set<string>>();
  let campaignsHour = 0;

  const counter = flushedCounter<{ siteId: string; bucket: CountBucket; reason: string }>({
    writer,
    keyOf: ({ bucket, reason }) => `${bucket} ${reason}`,
    async write(batch, groupWriter) {
      const counts = batch.map(({ siteId, hour, bucket, reason, count }) => ({
        siteId,
        hour,
        bucket,
        reason,
        visits: count,
      }));
      const siteId = batch[0]?.siteId ?? "";
      const seen = bots.get(siteId);
      await store.traffic.saveCounts(groupWriter, counts, new Map(seen ? [[siteId, seen]] : []), writer);
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
      const known = clicks.get(siteId, click.value);
      if (known || known === isBot) return false;
      clicks.set(siteId, click.value, isBot);
      const reason = campaignOf(siteId, click, now);
      if (known === undefined) counter.add({ siteId, bucket: "clicks", reason }, now);
      if (isBot) counter.add({ siteId, bucket: "clicks of bots", reason }, now);
      return isBot;
    },
    countPrerendered(siteId, pageId, now) {
      const uncount = counter.add({ siteId, bucket: "not a visit", reason: "" }, now);
      if (pageId !== null) prerendered.set(siteId, pageId, uncount);
    },
    uncountPrerendered(siteId, pageId) {
      if (pageId !== null) prerendered.delete(siteId, pageId)?.();
    },
    stop: () => counter.stop(),
  };
}
