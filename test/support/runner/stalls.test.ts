import { expect, test } from "vitest";
import { isStalled, readCpu, type CpuSample } from "./stalls.ts";

/** One sample a second; each number is the share that the host withheld. */
function samplesOf(shares: readonly number[]): CpuSample[] {
  const samples: CpuSample[] = [{ at: 0, used: 0, withheld: 0 }];
  for (const [i, share] of shares.entries()) {
    const { used, withheld } = samples[i] ?? { used: 0, withheld: 0 };
    samples.push({ at: (i + 1) * 1000, used: used + 200 * (1 - share), withheld: withheld + 200 * share });
  }
  return samples;
}

const quiet = Array.from({ length: 30 }, () => 0.1);

test("a file that failed is stalled when the host withheld most of the CPU for five seconds meanwhile", () => {
  const samples = samplesOf([...quiet, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, ...quiet]);
  expect(isStalled(samples, 20_000, 40_000)).toBe(true);
  expect(isStalled(samples, 33_000, 34_000)).toBe(true);
  expect(isStalled(samples, 1000, 20_000)).toBe(false);
  expect(isStalled(samples, 50_000, 60_000)).toBe(false);
});

test("a host that shares the CPU, withholds it for a moment or does not say so excuses nothing", () => {
  expect(isStalled(samplesOf(quiet.map(() => 0.45)), 0, 30_000)).toBe(false);
  expect(isStalled(samplesOf([...quiet, 0.9, 0.9, ...quiet]), 0, 60_000)).toBe(false);
  expect(isStalled([], 0, 60_000)).toBe(false);
  const idle = samplesOf(quiet.map(() => 0.6)).map((one) => ({
    ...one,
    used: one.used / 100,
    withheld: one.withheld / 100,
  }));
  expect(isStalled(idle, 0, 30_000)).toBe(false);
});

test("the used and the withheld time are read from the line of all CPUs", () => {
  const stat = "cpu  100 20 30 4000 50 6 7 800 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
  expect(readCpu(stat, 5)).toEqual({ at: 5, used: 163, withheld: 800 });
});
