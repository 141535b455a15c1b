// The numbers of one hour, made from its rows: small portions with a breath between them, because the embedded store works
// on the thread that takes events in. Nothing is counted on the way of an event, so nothing here can slow one down or be
// wrong by a crash: an hour can be made again at any time.

import { setImmediate as yieldToEventLoop, setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { hourMs } from "../store/statistics/traffic.ts";
import { openTally } from "./tally.ts";

const portion = 100;
const dayMs = 24 * hourMs;
/** How old an hour is when it is made again: deliveries are tried for days. */
const looksAfterMs = [hourMs, 6 * hourMs, dayMs, 3 * dayMs, 8 * dayMs];
const never = Number.MAX_SAFE_INTEGER;

export type CountedHour = { figures: Figure[]; isOpen: boolean };

/** `rests`: nobody waits for it, so others have as much time after each portion as it took. */
export async function countHour(
  store: Pick<Store, "statistics">,
  siteId: string,
  hour: number,
  { rests } = { rests: false },
): Promise<CountedHour> {
  const tally = openTally();
  for (let after = ""; ;) {
    const begunAt = performance.now();
    const some = await store.statistics.listPortion(siteId, hour, after, portion);
    tally.add(some);
    const last = some.events.at(-1);
    if (!last || some.events.length < portion) break;
    after = last.id;
    await (rests ? sleep(performance.now() - begunAt) : yieldToEventLoop());
  }
  return { figures: tally.figures(), isOpen: tally.isOpen() };
}

/** Makes the numbers of an hour and stores them in place of what was there. */
export async function rollHour(
  store: Pick<Store, "statistics">,
  siteId: string,
  hour: number,
  now: number,
): Promise<void> {
  const { figures, isOpen } = await countHour(store, siteId, hour, { rests: true });
  const dueAt = nextLook((hour + 1) * hourMs, now, isOpen);
  await store.statistics.replaceHour(siteId, hour, figures, { rolledAt: now, dueAt });
}

/**
 * When an hour that ended at `endedAt` is looked at again. Once for sure, for what another node committed late; after that
 * only while deliveries wait: what has ended is changed by people alone, and they mark the hour.
 */
export function nextLook(endedAt: number, now: number, isOpen: boolean): number {
  const age = now - endedAt;
  const [first = 0] = looksAfterMs;
  if (age >= first && !isOpen) return never;
  const next = looksAfterMs.find((after) => after > age);
  return next === undefined ? now + dayMs : endedAt + next;
}
