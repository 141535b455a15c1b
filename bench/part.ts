// What every measure hands back, and the few sums that all of them make.

/** How much is measured: `quick` only shows that everything works, `full` also takes the largest sizes. */
export type Mode = {
  quick: boolean;
  full: boolean;
  engine: "sqlite" | "postgres";
  /** In place of as many as a part usually takes. */
  rounds: number | null;
};

export const roundsOf = ({ quick, rounds }: Mode, usual = 5) => rounds ?? (quick ? 1 : usual);

export type Table = { title: string; head: string[]; rows: string[][] };

/** One line of what was meant to be reached. */
export type Target = { target: string; limit: string; measured: string; holds: boolean };

export type Findings = { tables: Table[]; targets: Target[]; notes: string[] };

export type Part = {
  name: string;
  title: string;
  /** What is measured and how, for the report. */
  about: string;
  run: (mode: Mode) => Promise<Findings>;
};

export const median = (values: readonly number[]) => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Ratios of the same round, so that a slow moment of the machine weighs on both sides; then their median. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)));
}

export function atMost(target: string, measured: number, limit: number, unit = ""): Target {
  return { target, limit: `≤ ${limit}${unit}`, measured: number(measured) + unit, holds: measured <= limit };
}

export function atLeast(target: string, measured: number, limit: number, unit = ""): Target {
  return { target, limit: `≥ ${limit}${unit}`, measured: number(measured) + unit, holds: measured >= limit };
}

/** Three digits that count: more would be noise. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value >= 1000
    ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(value >= 100 ? 3 : 2)));
}

/**
 * Lets the contestants take turns, so that a busy moment of the machine hits all alike. The first round warms up and does
 * not count.
 */
export async function interleaved<Name extends string, Measured>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<Measured> | Measured>>,
): Promise<Record<Name, Measured[]>> {
  const names = Object.keys(contestants) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Measured[]>;
  for (let round = 0; round <= rounds; round++) {
    // From another one each time: whoever comes first finds the machine cooler.
    const turn = names.map((_, i) => names[(i + round) % names.length] as Name);
    for (const name of turn) {
      const one = await contestants[name]();
      if (round > 0) measured[name].push(one);
    }
  }
  return measured;
}
