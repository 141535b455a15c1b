// A stop that ends. Whoever supervises the relay kills it when a stop takes too long, and then nothing is orderly.

import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../kernel/deadline.ts";

/** Begins to stop some parts that do not need each other, each by its name. They are waited for no longer than `timeoutMs`. */
export type Stop = (timeoutMs: number) => Record<string, unknown>;
type OnLate = (error: unknown, about: { stopping: string }) => void;

export type StopPlan = {
  /** How long requests are still taken after `leave` has sent everybody elsewhere. */
  drainMs: number;
  /** How long the last requests and deliveries may take after that. */
  timeoutMs: number;
  leave: () => void;
  /** What no request needs: stops beside everything else. */
  background: Stop;
  /** One after the other. */
  steps: readonly Stop[];
  /** What all others need, one after the other too. */
  last: readonly Stop[];
  onLate: OnLate;
};

/** What flushes and closes at the end is quick, but gets this long even where all patience is used up. */
const minMs = 1000;

export async function stopRelay(plan: StopPlan): Promise<void> {
  const { drainMs, timeoutMs, background, onLate } = plan;
  const latest = performance.now() + drainMs + timeoutMs;
  plan.leave();
  const backgroundStopped = stopTogether(drainMs + timeoutMs, background, onLate);
  if (drainMs > 0) await sleep(drainMs);
  const go = (step: Stop) => stopTogether(Math.max(latest - performance.now(), minMs), step, onLate);
  for (const step of plan.steps) await go(step);
  await backgroundStopped;
  for (const step of plan.last) await go(step);
}

/** Side by side, and none is waited for longer than `ms`: who is late or fails is named, and the others end in order. */
export async function stopTogether(ms: number, stop: Stop, onLate: OnLate): Promise<void> {
  const stops = Object.entries(stop(ms)).map(async ([stopping, stopped]) => {
    try {
      await within(ms, Promise.resolve(stopped), "did not stop in time");
    } catch (error) {
      onLate(error, { stopping });
    }
  });
  await Promise.all(stops);
}
