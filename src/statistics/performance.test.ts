import { expect, test } from "vitest";
import type { DeliveryState } from "../kernel/event.ts";
import { hourMs } from "../kernel/time.ts";
import { sumAttempts } from "./performance.ts";

const range = { fromHour: 0, toHour: 2, step: "hour", timeZone: "UTC" } as const;
const attempt = (
  startedAt: number,
  durationMs: number,
  number = 1,
  state: DeliveryState = "sent",
  reason: string | null = null,
) => ({
  number,
  startedAt,
  durationMs,
  state,
  reason,
});

test("attempts are added up by step: the median, the time that 95% need at most, and retries", () => {
  const many = Array.from({ length: 20 }, (_, i) => attempt(i, (i + 1) * 10));
  const { steps, totals, reasons } = sumAttempts(
    [
      ...many,
      attempt(hourMs, 500, 2, "queued", "HTTP 503"),
      attempt(hourMs + 1, 700, 3, "rejected", "invalid pixel"),
      attempt(hourMs + 2, 600, 2, "queued", "HTTP 503"),
      attempt(2 * hourMs, 9999),
    ],
    range,
  );
  expect(steps).toEqual([
    { startsAt: 0, attempts: 20, retries: 0, medianMs: 100, p95Ms: 190 },
    { startsAt: hourMs, attempts: 3, retries: 3, medianMs: 600, p95Ms: 700 },
  ]);
  expect(totals).toMatchObject({ attempts: 23, retries: 3, failed: 3 });
  expect(reasons).toEqual([
    { state: "queued", reason: "HTTP 503", attempts: 2 },
    { state: "rejected", reason: "invalid pixel", attempts: 1 },
  ]);
});

test("a connection without attempts has no times", () => {
  expect(sumAttempts([], range)).toEqual({
    steps: [0, hourMs].map((startsAt) => ({
      startsAt,
      attempts: 0,
      retries: 0,
      medianMs: null,
      p95Ms: null,
    })),
    totals: { attempts: 0, retries: 0, medianMs: null, p95Ms: null, failed: 0 },
    reasons: [],
  });
});
