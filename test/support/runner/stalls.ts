// Notes which test files failed while the host of a virtual machine withheld the CPU. Time limits of the relay itself, such as
// the three seconds for a platform's answer, then fail without a defect. scripts/runTests.ts runs such files again.

import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

/** CPU time since the start of the machine: what was used and what the host withheld. */
export type CpuSample = { at: number; used: number; withheld: number };

export type FailedFile = { file: string; wasStalled: boolean };

const everyMs = 1000;
/** The unit of /proc/stat. */
const ticksPerSecond = 100;
/** The CPU counts as withheld when the host took more than half of it for this long. */
const stallMs = 5000;

/** Reads the first line of /proc/stat. */
export function readCpu(stat: string, at: number): CpuSample {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = stat
    .split("\n", 1)
    .join()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { at, used: user + nice + system + irq + softIrq, withheld: steal };
}

/** True when the host withheld more than half of the CPU for five seconds between the two times. */
export function isStalled(samples: readonly CpuSample[], from: number, to: number): boolean {
  const during = samples.filter(({ at }) => at >= from - stallMs && at <= to + everyMs);
  return during.some((first) => {
    const last = during.find(({ at }) => at >= first.at + stallMs);
    if (!last) return false;
    const withheld = last.withheld - first.withheld;
    // An idle machine uses next to nothing, and loses next to nothing.
    return withheld > last.used - first.used && withheld > (ticksPerSecond * stallMs) / 2000;
  });
}

/** Writes the files that failed to the file that TEST_FAILURES names. */
export default class Stalls implements Reporter {
  readonly #report = process.env["TEST_FAILURES"] ?? "";
  readonly #samples: CpuSample[] = [];
  readonly #starts = new Map<string, number>();
  readonly #ends = new Map<string, number>();
  #root = "";

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    if (this.#report === "") return;
    const sample = () => {
      try {
        this.#samples.push(readCpu(readFileSync("/proc/stat", "utf8"), Date.now()));
      } catch {
        // Other systems than Linux do not say what was withheld.
      }
    };
    sample();
    setInterval(sample, everyMs).unref();
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#starts.set(moduleId, Date.now());
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#ends.set(moduleId, Date.now());
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly object[]): void {
    if (this.#report === "") return;
    const failed = new Set(modules.filter((one) => !one.ok()).map(({ moduleId }) => moduleId));
    for (const error of unhandled) failed.add("VITEST_TEST_PATH" in error ? String(error.VITEST_TEST_PATH) : "");
    const files = [...failed].map((id): FailedFile => {
      const [from, to] = [this.#starts.get(id), this.#ends.get(id)];
      const wasStalled = from !== undefined && to !== undefined && isStalled(this.#samples, from, to);
      return { file: id === "" ? "" : relative(this.#root, id), wasStalled };
    });
    writeFileSync(this.#report, JSON.stringify(files));
  }
}
