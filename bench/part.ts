// The parts of the benchmark: their options and results, and the statistics that they share.

import type { Flood } from "./support/flood.ts";

/** `quick` only shows that everything works; `full` also measures the largest sizes. */
export type Mode = {
  quick: boolean;
  full: boolean;
  engine: "sqlite" | "postgres";
  /** Replaces the part's default. */
  rounds: number | null;
  /** Of the part `isolation`; null for all. */
  floods: readonly Flood[] | null;
};

export const roundsOf = ({ quick, rounds }: Mode, usual = 5) => rounds ?? (quick ? 1 : usual);

export type Table = { title: string; head: string[]; rows: string[][] };

/** A performance target and its result. */
export type Target = { target: string; limit: string; measured: string; holds: boolean };

export type Findings = {
  tables: Table[];
  targets: Target[];
  notes: string[];
  /** A sentence for the first lines of the report: what a user gains. */
  gains?: string;
};

export type Part = {
  name: string;
  title: string;
  /** Explains the measurement in the report. */
  about: string;
  run: (mode: Mode) => Promise<Findings>;
};

export const median = (values: readonly number[]) => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Compares values of the same round, so that a slow moment of the machine affects both sides. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
}

/** `absolutes` are the two values of a ratio. One digit more than elsewhere shows on which side of the limit a value is. */
export function atMost(target: string, measured: number, limit: number, unit = "", absolutes = ""): Target {
  const text = `${number(measured, 3)}${unit}${absolutes && ` (${absolutes})`}`;
  return { target, limit: `≤ ${limit}${unit}`, measured: text, holds: measured <= limit };
}

export function atLeast(target: string, measured: number, limit: number, unit = "", absolutes = ""): Target {
  const { measured: text } = atMost(target, measured, limit, unit, absolutes);
  return { target, limit: `≥ ${limit}${unit}`, measured: text, holds: measured >= limit };
}

/** Formats a ratio with the value that it refers to: "1.7 × 401". */
export const timesBase = (ratio: number, base: number) => `${number(ratio)} × ${number(base)}`;

/** Rounds to two or three significant digits: more would be noise. */
export function number(value: number, digits = 2): string {
  if (!Number.isFinite(value)) return "–";
  return value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(value >= 100 ? 3 : digits)));
}

/**
 * Alternates between the candidates, so that a busy moment of the machine affects all of them. The first round warms up and
 * does not count.
 */
export async function interleaved<Name extends string, Measured>(
  rounds: number,
  candidates: Readonly<Record<Name, () => Promise<Measured> | Measured>>,
): Promise<Record<Name, Measured[]>> {
  const names = Object.keys(candidates) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Measured[]>;
  for (let round = 0; round <= rounds; round++) {
    // Each round begins with another candidate: the first one finds a cooler machine.
    const order = names.map((_, i) => names[(i + round) % names.length] as Name);
    for (const name of order) {
      const one = await candidates[name]();
      if (round > 0) measured[name].push(one);
    }
  }
  return measured;
}
