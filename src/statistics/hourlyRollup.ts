// Counts the events of one hour and their deliveries: in small portions with pauses between them, because they are read on the
// thread that accepts events. The pipeline itself counts nothing, so a crash cannot make a number wrong:
// an hour can be rolled up again at any time.

import type { Pace, StepSize } from "../background/pace.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import type { HourFigure, SegmentFigures } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { createHourCounter } from "./hourCounter.ts";

/** Read together, and decoded on the thread that accepts events. */
export const maxPortion = 200;
/** The first portion for a request. The next ones have about as many deliveries as events have in a few slices of the thread. */
const firstPortion = 32;
const maxDeliveries = 200;
/** Ages at which an hour is rolled up again: deliveries are retried for days. */
const rollupAgesMs = [hourMs, 6 * hourMs, dayMs, 3 * dayMs, 8 * dayMs];
const never = Number.MAX_SAFE_INTEGER;

/** For work that no request waits for. */
type Steps = { pace: Pace; size: StepSize };

export async function countHour(
  store: Pick<Store, "statistics">,
  siteId: string,
  hour: number,
  steps?: Steps,
): Promise<{ events: number; figures: HourFigure[]; segments: (SegmentFigures & { hour: number })[]; isOpen: boolean }> {
  const counter = createHourCounter(hour);
  let events = 0;
  let ofRequest = firstPortion;
  for (let after = ""; ;) {
    const startedAt = performance.now();
    const portion = steps?.size.rows() ?? ofRequest;
    const some = await store.statistics.listPortion(siteId, hour, after, portion);
    counter.add(some);
    const tookMs = performance.now() - startedAt;
    events += some.events.length;
    const last = some.events.at(-1);
    const isEnd = !last || some.events.length < portion;
    if (!isEnd) steps?.size.adapt(tookMs);
    const fitting = Math.floor((portion * maxDeliveries) / Math.max(1, some.deliveries.length));
    ofRequest = Math.max(1, Math.min(fitting, 2 * portion, maxPortion));
    // Also at the end: a site may have thousands of hours with a few events each.
    await (steps ? steps.pace.rest(tookMs) : threadShare.rest(siteId));
    if (isEnd) break;
    after = last.id;
  }
  return { events, figures: counter.figures(), segments: counter.segments(), isOpen: counter.isOpen() };
}

/** Counts an hour and replaces its stored figures. */
export async function rollUpHour(
  store: Pick<Store, "statistics">,
  siteId: string,
  hour: number,
  now: number,
  steps?: Steps,
): Promise<void> {
  const endedAt = (hour + 1) * hourMs;
  // A clock ahead may have counted an hour, unchanged so far, that has not ended, or whose last events are not committed yet.
  const mayEnd = nextRollupAt(endedAt, now, false) === never;
  if (mayEnd && (await store.statistics.endHour(siteId, hour, now))) return;
  const { events, figures, segments, isOpen } = await countHour(store, siteId, hour, steps);
  const dueAt = nextRollupAt(endedAt, now, isOpen);
  const settledEvents = isOpen ? null : events;
  await store.statistics.replaceHour(siteId, hour, figures, { segments, rolledAt: now, dueAt, settledEvents });
}

/**
 * Schedules the next rollup of an hour that ended at `endedAt`: one in any case, for events that another node committed late;
 * more only while deliveries wait. Only people change finished deliveries, and that marks the hour as due.
 */
export function nextRollupAt(endedAt: number, now: number, isOpen: boolean): number {
  const age = now - endedAt;
  const [first = 0] = rollupAgesMs;
  if (age >= first && !isOpen) return never;
  const next = rollupAgesMs.find((after) => after > age);
  return next === undefined ? now + dayMs : endedAt + next;
}
