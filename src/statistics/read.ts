// Reads the statistics of a range of time. Hours that were rolled up are read from their table; the others are counted now.

import { threadShare } from "../kernel/concurrency.ts";
import { hourMs } from "../kernel/time.ts";
import type { HourFigure, Segment, SegmentFigures } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { countHour } from "./hourlyRollup.ts";
import type { Model } from "./models.ts";
import { earlierOf, stepsOf, type Step } from "./steps.ts";
import {
  addConfirmations,
  addFigure,
  addInbound,
  addVisits,
  addFigureDetails,
  addVisitDetails,
  emptyDetails,
  emptySum,
  type Details,
  type Sum,
} from "./aggregate.ts";

type StatisticsStore = Pick<Store, "statistics" | "traffic" | "inboundCounts" | "confirmations">;

/** `from` and `to` are whole hours. With a segment, only its conversions and their deliveries are counted. */
type Range = { from: number; to: number; step: Step; timeZone: string; segment?: Segment | undefined; model?: Model };
export type Report = {
  steps: (Sum & { startsAt: number; before: Sum & { startsAt: number } })[];
  total: Sum;
  /** The sums of the range with which this one is compared. */
  before: Sum;
  details: Details;
};

/**
 * A range of years is read in parts, so that it does not slow the requests of senders down: a week at a time, or fewer hours where they
 * have figures of many names.
 */
const [firstHours, maxHours] = [6, 7 * 24];
const maxRows = 1000;
/** Time for counting in one request. Older hours, on an installation whose history is not rolled up yet, are left out. */
const countingMs = 2000;

export function createStatistics(store: StatisticsStore, now: () => number) {
  const readRecent = recentHours(store, now);

  /** Counts the newest hours first, so that the oldest are left out where time runs out. */
  async function countHours(
    siteId: string,
    segment: Segment | undefined,
    { fromHour, toHour }: { fromHour: number; toHour: number },
    until: number,
  ): Promise<HourFigure[]> {
    const found: HourFigure[] = [];
    for (let end = toHour; end > fromHour;) {
      const hour = await store.statistics.findPreviousHour(siteId, end, fromHour);
      if (hour === null) break;
      found.push(...figuresOf(await readRecent(siteId, hour), segment));
      end = hour;
      if (now() > until) break;
    }
    return found;
  }

  const listFigures = (siteId: string, segment: Segment | undefined, fromHour: number, toHour: number) =>
    segment
      ? store.statistics.listSegment(siteId, segment, fromHour, toHour)
      : store.statistics.listFigures(siteId, fromHour, toHour);

  return {
    async read(siteId: string, { from, to, step, timeZone, segment, model }: Range): Promise<Report> {
      const [fromHour, toHour] = [from / hourMs, to / hourMs];
      const steps = stepsOf(fromHour, toHour, step, timeZone);
      const earlier = earlierOf(steps, step, timeZone);
      const firstHour = earlier.fromHour;
      const sums = steps.map(emptySum);
      const sumsBefore = steps.map(emptySum);
      const stepAt = steps.flatMap((one, i) => Array.from({ length: one.toHour - one.fromHour }, () => sums[i] as Sum));
      const [total, before, details] = [emptySum(), emptySum(), emptyDetails()];
      const addDetails = (of: Details, figure: HourFigure) => addFigureDetails(of, figure, model);

      /** Returns how many there are. */
      async function addTo<Item extends { hour: number }>(
        items: readonly Item[],
        add: (sum: Sum, item: Item) => void,
        detail?: (details: Details, item: Item) => void,
      ): Promise<number> {
        await threadShare.map(siteId, items, (item) => {
          // Late events of the range may have happened outside of it.
          if (item.hour < firstHour || item.hour >= toHour) return;
          if (item.hour < fromHour) {
            const index = earlier.stepAt(item.hour);
            if (index === undefined) return;
            add(sumsBefore[index] as Sum, item);
            add(before, item);
            return;
          }
          add(stepAt[item.hour - fromHour] as Sum, item);
          add(total, item);
          detail?.(details, item);
        });
        return items.length;
      }

      const head = (await store.statistics.findHead(siteId)) ?? { fromHour: toHour, toHour };
      const rolledUp = { from: Math.max(firstHour, head.fromHour), to: Math.min(toHour, head.toHour) };
      for (let hour = firstHour, hours = firstHours; hour < toHour;) {
        await threadShare.rest(siteId);
        const end = Math.min(hour + hours, toHour);
        const [low, high] = [Math.max(hour, rolledUp.from), Math.min(end, rolledUp.to)];
        let rows = 0;
        if (low < high) rows += await addTo(await listFigures(siteId, segment, low, high), addFigure, addDetails);
        // Neither visits nor duplicates nor confirmations are counted by segment.
        if (!segment) {
          rows += await addTo(await store.traffic.listCounts(siteId, hour, end), addVisits, addVisitDetails);
          rows += await addTo(await store.inboundCounts.list(siteId, hour, end), addInbound);
          const counts = await store.confirmations.listCounts(siteId, Math.max(hour, fromHour), end);
          for (const count of counts) addConfirmations(details, count);
          rows += counts.length;
        }
        hours = Math.max(1, Math.min(maxHours, 4 * hours, Math.floor(((end - hour) * maxRows) / Math.max(1, rows))));
        hour = end;
      }
      const until = now() + countingMs;
      const afterRollup = await countHours(siteId, segment, { fromHour: Math.max(firstHour, head.toHour), toHour }, until);
      const beforeRollup = await countHours(
        siteId,
        segment,
        { fromHour: firstHour, toHour: Math.min(toHour, head.fromHour) },
        until,
      );
      await addTo([...afterRollup, ...beforeRollup], addFigure, addDetails);

      return {
        steps: steps.map((one, i) => ({
          startsAt: one.fromHour * hourMs,
          ...(sums[i] as Sum),
          before: { startsAt: (earlier.starts[i] as number) * hourMs, ...(sumsBefore[i] as Sum) },
        })),
        total,
        before,
        details,
      };
    },
  };
}

export type Statistics = ReturnType<typeof createStatistics>;

const minCachedMs = 5000;
/** A result is cached for this many times as long as it took to count. */
const cachedTimes = 20;
const maxCached = 500;

/** A clock that was set back ends the cache: its time is before `from`. */
type CachedHour = { from: number; until: number; counts: Promise<HourCounts> };
type HourCounts = { figures: HourFigure[]; segments: (SegmentFigures & { hour: number })[] };

function figuresOf({ figures, segments }: HourCounts, segment: Segment | undefined): HourFigure[] {
  if (!segment) return figures;
  return segments
    .filter((one) => one.segment === segment.segment && one.name === segment.name)
    .flatMap((one) => one.figures.map((figure) => ({ ...figure, hour: one.hour })));
}

/** Counts hours that are not rolled up yet, the running one above all, and caches the results. */
function recentHours(store: Pick<Store, "statistics">, now: () => number): (siteId: string, hour: number) => Promise<HourCounts> {
  const cache = new Map<string, CachedHour>();

  return (siteId, hour) => {
    const key = `${siteId} ${hour}`;
    const known = cache.get(key);
    if (known && known.from <= now() && known.until > now()) return known.counts;
    const startedAt = now();
    const cached: CachedHour = {
      from: startedAt,
      until: Number.POSITIVE_INFINITY,
      counts: countHour(store, siteId, hour).then(
        (counts) => {
          cached.until = now() + Math.max(minCachedMs, cachedTimes * (now() - startedAt));
          return counts;
        },
        (error: unknown) => {
          cache.delete(key);
          throw error;
        },
      ),
    };
    cache.delete(key);
    const [oldest] = cache.keys();
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
    cache.set(key, cached);
    return cached.counts;
  };
}
