// What follows from a push that was not taken. A period is never given up: it waits, or its webhook is disabled and keeps
// it until somebody enables it again.

import { dayMs, hourMs } from "../kernel/time.ts";
import type { Answer } from "./push.ts";

export type PushRetry = {
  /** Delays after the first, second … failure in a row; the last one repeats. */
  scheduleMs: readonly number[];
  /** 0…1 */
  random: () => number;
};

const timeoutMs = 5 * dayMs;
/** A receiver that asks for more than this is not taken at its word. */
const maxAskedMs = 10 * hourMs;

export type Consequence = {
  failures: number;
  failingSince: number;
  dueAt: number;
  /** Why it is disabled now; null when it goes on. */
  disabled: string | null;
};

export function afterFailure(
  answer: Answer,
  before: { failures: number; failingSince: number | null },
  { scheduleMs, random }: PushRetry,
  now: number,
): Consequence {
  const failures = before.failures + 1;
  const failingSince = before.failingSince ?? now;
  const scheduled = scheduleMs[Math.min(failures, scheduleMs.length) - 1] ?? 0;
  const asked = Math.min(answer.retryAfterSeconds * 1000, maxAskedMs);
  const dueAt = Math.round(now + Math.max(scheduled * (0.8 + 0.4 * random()), asked));
  // A relay that was itself off for a week has not tried enough to give up.
  const isOver = now - failingSince >= timeoutMs && failures > scheduleMs.length;
  return { failures, failingSince, dueAt, disabled: whyDisabled(answer, isOver) };
}

function whyDisabled({ httpStatus, error }: Answer, isOver: boolean): string | null {
  if (httpStatus === 410) return "the receiver answered 410 Gone";
  return isOver ? `it has failed for 5 days; last: ${error}` : null;
}
