// The numbers of a range of time: what was made before from its table, what was not made yet counted now.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { HourFigure } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { hourMs } from "../store/statistics/traffic.ts";
import { recentHours } from "./recent.ts";
import { stepsOf, type Step } from "./steps.ts";
import {
  addFigure,
  addInbound,
  addVisits,
  detailFigure,
  detailVisits,
  emptyDetails,
  emptySum,
  type Details,
  type Sum,
} from "./sums.ts";

type Needed = Pick<Store, "statistics" | "traffic" | "inboundCounts">;

/** `from` and `to` are whole hours; the range before is of the same length. */
export type Range = { from: number; to: number; step: Step; timeZone: string };
export type Report = {
  steps: (Sum & { startsAt: number })[];
  total: Sum;
  before: Sum;
  details: Details;
};

/** A week at a time: a look at years must not be felt by those who send events. */
const sliceHours = 7 * 24;
/** What may be counted for one asking. What is left, on an installation that has just begun to count, comes later. */
const countingMs = 2000;

export function openStatistics(store: Needed, now: () => number) {
  const recent = recentHours(store, now);

  /** The newest first, so that what is cut off is the oldest. */
  async function uncounted(
    siteId: string,
    fromHour: number,
    toHour: number,
    until: number,
  ): Promise<HourFigure[]> {
    const found: HourFigure[] = [];
    for (let end = toHour; end > fromHour;) {
      const hour = await store.statistics.findPreviousHour(siteId, end, fromHour);
      if (hour === null) break;
      for (const figure of await recent(siteId, hour)) found.push({ ...figure, hour });
      end = hour;
      if (now() > until) break;
    }
    return found;
  }

  return {
    async read(siteId: string, { from, to, step, timeZone }: Range): Promise<Report> {
      const [fromHour, toHour] = [from / hourMs, to / hourMs];
      const firstHour = fromHour - (toHour - fromHour);
      const steps = stepsOf(fromHour, toHour, step, timeZone);
      const sums = steps.map(emptySum);
      const stepAt = steps.flatMap((one, i) =>
        Array.from({ length: one.toHour - one.fromHour }, () => sums[i] as Sum),
      );
      const [total, before, details] = [emptySum(), emptySum(), emptyDetails()];

      function addTo<Item extends { hour: number }>(
        items: readonly Item[],
        add: (sum: Sum, item: Item) => void,
        detail?: (details: Details, item: Item) => void,
      ): void {
        for (const item of items) {
          if (item.hour < fromHour) {
            add(before, item);
            continue;
          }
          add(stepAt[item.hour - fromHour] as Sum, item);
          add(total, item);
          detail?.(details, item);
        }
      }

      const head = (await store.statistics.findHead(siteId)) ?? { fromHour: toHour, toHour };
      const made = { from: Math.max(firstHour, head.fromHour), to: Math.min(toHour, head.toHour) };
      for (let hour = firstHour; hour < toHour; hour += sliceHours) {
        const end = Math.min(hour + sliceHours, toHour);
        const [low, high] = [Math.max(hour, made.from), Math.min(end, made.to)];
        if (low < high) addTo(await store.statistics.listFigures(siteId, low, high), addFigure, detailFigure);
        addTo(await store.traffic.listCounts(siteId, hour, end), addVisits, detailVisits);
        addTo(await store.inboundCounts.list(siteId, hour, end), addInbound);
        await yieldToEventLoop();
      }
      const until = now() + countingMs;
      const young = Math.max(firstHour, head.toHour);
      const old = Math.min(toHour, head.fromHour);
      if (head.toHour < toHour) addTo(await uncounted(siteId, young, toHour, until), addFigure, detailFigure);
      if (head.fromHour > firstHour)
        addTo(await uncounted(siteId, firstHour, old, until), addFigure, detailFigure);

      return {
        steps: steps.map((one, i) => ({ startsAt: one.fromHour * hourMs, ...(sums[i] as Sum) })),
        total,
        before,
        details,
      };
    },
  };
}

export type Statistics = ReturnType<typeof openStatistics>;
