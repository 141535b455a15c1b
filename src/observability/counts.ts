// What this process has seen since it started. The wiring hands these functions to the doors, the lanes and the store,
// which know nothing of being counted.

import type { DeliveryState } from "../kernel/event.ts";
import { openSpread, openTally, type Spread } from "./tally.ts";

export type Counts = ReturnType<typeof openCounts>;

/** Seconds. An answer waits for platforms, a commit for a disk. */
const answerBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const attemptBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What is known of an inbound request when it was answered; the rest of the line is for the log. */
export type InboundLine = {
  site?: unknown;
  status?: unknown;
  exit?: unknown;
  reasons?: unknown;
  mode?: unknown;
  ms?: unknown;
};

export function openCounts({ bySite }: { bySite: boolean }) {
  const answers = openTally();
  const filtered = openTally();
  const deliveries = openTally();
  const attempts = openTally();
  const siteEvents = openTally();
  const visits = openTally();
  const answerSeconds = openSpread(answerBounds);
  const attemptSeconds = new Map<string, Spread>();
  const commitSeconds = openSpread(commitBounds);
  const plain = { commitFailures: 0, writes: 0, defects: 0, clockJumps: 0 };

  function attemptsAt(platform: string): Spread {
    let spread = attemptSeconds.get(platform);
    if (!spread) attemptSeconds.set(platform, (spread = openSpread(attemptBounds)));
    return spread;
  }

  return {
    answers,
    filtered,
    deliveries,
    attempts,
    siteEvents,
    visits,
    answerSeconds,
    attemptSeconds,
    commitSeconds,
    plain,

    /** An inbound request was answered. Refusals are counted by their reason where they are made: `refused`. */
    answered: (line: InboundLine): void => {
      answerSeconds.add(Number(line.ms) / 1000);
      if (line.status === undefined) answers.add("500", "defect");
      if (line.status !== 200) return;
      const exit = String(line.exit);
      answers.add("200", exit);
      if (Array.isArray(line.reasons)) for (const reason of line.reasons) filtered.add(String(reason));
      if (bySite) siteEvents.add(String(line.site), exit);
    },

    refused: (status: number, reason: string): void => {
      answers.add(String(status), reason);
    },

    /** Deliveries that ended before anything was sent. */
    planned: (planned: readonly { platform: string; state: DeliveryState }[]): void => {
      for (const { platform, state } of planned) if (state !== "queued") deliveries.add(platform, state);
    },

    /** A delivery was attempted, or given back untried. */
    settled(
      platform: string,
      state: DeliveryState,
      attempt: { httpStatus: number | null; durationMs: number } | null,
    ): void {
      // Waiting for its turn, untried, is no outcome.
      if (attempt || state !== "queued") deliveries.add(platform, state);
      if (!attempt) return;
      attempts.add(platform, statusClass(attempt.httpStatus));
      attemptsAt(platform).add(attempt.durationMs / 1000);
    },

    /** A transaction ended. `failed`: by the engine's fault, not by that of the data. */
    committed: (ms: number, failed: boolean): void => {
      commitSeconds.add(ms / 1000);
      if (failed) plain.commitFailures += 1;
    },
  };
}

const classes = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/** `none`: there was no answer. */
function statusClass(status: number | null): string {
  return classes[Math.floor((status ?? 0) / 100)] ?? "none";
}
