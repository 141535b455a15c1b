// Counting that costs the hot path an addition: no label set is built, nothing is allocated once a name is known. What
// Prometheus wants of it is made when somebody asks.

export type Tally = {
  add: (first: string, second?: string, by?: number) => void;
  entries: () => Iterable<readonly [first: string, second: string, count: number]>;
};

type Cell = { count: number };

export function openTally(): Tally {
  const rows = new Map<string, Map<string, Cell>>();
  return {
    add(first, second = "", by = 1) {
      let row = rows.get(first);
      if (!row) rows.set(first, (row = new Map()));
      const cell = row.get(second);
      if (cell) cell.count += by;
      else row.set(second, { count: by });
    },
    *entries() {
      for (const [first, row] of rows) for (const [second, { count }] of row) yield [first, second, count];
    },
  };
}

/** How often a value was at most each bound; the last count is for everything above them. */
export type Spread = {
  bounds: readonly number[];
  counts: number[];
  sum: number;
  add(value: number): void;
};

export function openSpread(bounds: readonly number[]): Spread {
  const spread: Spread = {
    bounds,
    counts: Array.from({ length: bounds.length + 1 }, () => 0),
    sum: 0,
    add(value) {
      let at = 0;
      while (at < bounds.length && value > (bounds[at] as number)) at += 1;
      spread.counts[at] = (spread.counts[at] as number) + 1;
      spread.sum += value;
    },
  };
  return spread;
}
