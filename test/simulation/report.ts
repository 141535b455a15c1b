// Adds up what seeds did, and prints it.

import { createHash } from "node:crypto";
import { reachable } from "./decisions.ts";
import { faultsByPlace } from "./runtime/occurrences.ts";
import type { SeedResult } from "./runSeed.ts";

export class Report {
  done = 0;
  readonly failed: SeedResult[] = [];
  readonly #sums: Record<string, number> = {};
  /** By fault: how often it took effect, and in how many seeds. */
  readonly #faults = new Map<string, { times: number; seeds: number }>();
  readonly #hashes: string[] = [];
  readonly #decisions = new Set<string>();

  add(result: SeedResult): void {
    const { counts, ms, seed, focus, failure, faults, hash, decisions } = result;
    this.done += 1;
    this.#hashes.push(`${seed} ${focus ?? ""} ${hash}`);
    for (const [name, count] of Object.entries({ ...counts, "simulated seconds": ms / 1000 }))
      this.#sums[name] = (this.#sums[name] ?? 0) + count;
    for (const [name, times] of Object.entries(faults)) {
      const known = this.#faults.get(name) ?? { times: 0, seeds: 0 };
      this.#faults.set(name, { times: known.times + times, seeds: known.seeds + 1 });
    }
    for (const what of decisions) this.#decisions.add(what);
    if (failure !== null) this.failed.push(result);
  }

  sum(name: string): number {
    return this.#sums[name] ?? 0;
  }

  /** Faults that never took effect. */
  get missing(): string[] {
    return this.#rows().flatMap(({ name, times }) => (times === 0 ? [name] : []));
  }

  /** Decisions of the product that were never the reason for anything. */
  get undecided(): string[] {
    return reachable.filter((what) => !this.#decisions.has(what));
  }

  #rows() {
    return Object.entries(faultsByPlace).flatMap(([place, faults]) =>
      faults.map((fault) => {
        const name = `${place}: ${fault}`;
        return { name, place, fault, ...(this.#faults.get(name) ?? { times: 0, seeds: 0 }) };
      }),
    );
  }

  /** One hash over the traces of all seeds. It is the same whenever and wherever the same seeds run. */
  get hash(): string {
    return createHash("sha256").update(this.#hashes.toSorted().join("\n")).digest("hex").slice(0, 16);
  }

  toText(): string {
    const rows = this.#rows();
    const per1000 = (count: number) => ((count * 1000) / this.done).toFixed(count * 100 < this.done ? 2 : 0);
    const lines = rows.map(({ place, fault, times, seeds }) => [place, fault, per1000(times), per1000(seeds)]);
    const sums = Object.entries(this.#sums).map(([name, sum]) => `${Math.round(sum)} ${name}`);
    const total = rows.reduce((sum, { times }) => sum + times, 0);
    return [
      ...table(["where", "fault", "times in 1000 seeds", "in how many of them"], lines),
      "",
      `${this.done} seeds, ${this.sum("events")} events, ${total} faults, ${this.failed.length} seeds failed`,
      sums.join(", "),
      `decisions never exercised: ${this.undecided.join("; ") || "none"}`,
      `hash of all traces: ${this.hash}`,
    ].join("\n");
  }
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = line(widths.map((width, i) => (i < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)));
  return [line(head), rule, ...rows.map(line)];
}
