// Adds up the attempts of a connection: how long the platform takes, how many attempts are retries, and why others failed.

import { hourMs } from "../kernel/time.ts";
import type { TimedAttempt } from "../store/statistics/health.ts";
import { stepsOf, type Step } from "./steps.ts";

type Range = { fromHour: number; toHour: number; step: Step; timeZone: string };

type Performance = {
  attempts: number;
  retries: number;
  /** Null without attempts. Of 100 attempts, 50 or 95 take no longer. */
  medianMs: number | null;
  p95Ms: number | null;
};

const maxReasons = 20;

export function sumAttempts(all: readonly TimedAttempt[], { fromHour, toHour, step, timeZone }: Range) {
  const attempts = all.filter(({ startedAt }) => startedAt >= fromHour * hourMs && startedAt < toHour * hourMs);
  const steps = stepsOf(fromHour, toHour, step, timeZone);
  const stepAt = steps.flatMap(({ fromHour: from, toHour: to }, i) => Array.from({ length: to - from }, () => i));
  const byStep = Map.groupBy(attempts, ({ startedAt }) => stepAt[Math.floor(startedAt / hourMs) - fromHour]);
  const failed = attempts.filter(({ state }) => state !== "sent");
  const reasons = [...Map.groupBy(failed, ({ state, reason }) => JSON.stringify([state, reason]))].map(([key, some]) => {
    const [state, reason] = JSON.parse(key) as [string, string | null];
    return { state, reason, attempts: some.length };
  });
  return {
    steps: steps.map((one, i) => ({ startsAt: one.fromHour * hourMs, ...sum(byStep.get(i) ?? []) })),
    totals: { ...sum(attempts), failed: failed.length },
    reasons: reasons.toSorted((one, other) => other.attempts - one.attempts).slice(0, maxReasons),
  };
}

function sum(attempts: readonly TimedAttempt[]): Performance {
  const durations = attempts.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other);
  const at = (share: number) => durations[Math.ceil(share * durations.length) - 1] ?? null;
  return {
    attempts: attempts.length,
    retries: attempts.filter(({ number }) => number > 1).length,
    medianMs: at(0.5),
    p95Ms: at(0.95),
  };
}
