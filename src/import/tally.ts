// What became of the rows of a file. It holds counts, reasons and line numbers, and nothing of what the rows say.

import type { Result } from "../kernel/event.ts";

export type Outcome =
  | { became: "imported"; results: Record<string, Result> }
  | { became: "duplicate" }
  | { became: "filtered" }
  | { became: "refused"; reason: string };

export type Tally = {
  rows: number;
  imported: number;
  duplicates: number;
  filtered: number;
  refused: number;
  /** By reason: how many, and where the first of them are. */
  reasons: Record<string, { count: number; lines: number[] }>;
  /** By platform: how many deliveries are in each state when they are made. */
  deliveries: Record<string, Record<string, number>>;
  /** By platform: why deliveries were skipped. */
  skipped: Record<string, Record<string, number>>;
};

const linesKept = 5;
const reasonsKept = 50;
const others = "other reasons";

export function newTally(): Tally {
  return {
    rows: 0,
    imported: 0,
    duplicates: 0,
    filtered: 0,
    refused: 0,
    reasons: {},
    deliveries: {},
    skipped: {},
  };
}

export function count(tally: Tally, line: number, outcome: Outcome): void {
  tally.rows += 1;
  switch (outcome.became) {
    case "imported":
      tally.imported += 1;
      for (const [platform, result] of Object.entries(outcome.results))
        countDelivery(tally, platform, result);
      return;
    case "duplicate":
      tally.duplicates += 1;
      return;
    case "filtered":
      tally.filtered += 1;
      return;
    case "refused": {
      tally.refused += 1;
      const reason = roomFor(tally.reasons, outcome.reason);
      const known = (tally.reasons[reason] ??= { count: 0, lines: [] });
      known.count += 1;
      if (known.lines.length < linesKept) known.lines.push(line);
    }
  }
}

function countDelivery(tally: Tally, platform: string, result: Result): void {
  const state = result.ok ? "sent" : result.status;
  const states = (tally.deliveries[platform] ??= {});
  states[state] = (states[state] ?? 0) + 1;
  if (result.ok || result.status !== "skipped") return;
  const reasons = (tally.skipped[platform] ??= {});
  const reason = roomFor(reasons, result.error);
  reasons[reason] = (reasons[reason] ?? 0) + 1;
}

/** It is written with every chunk: however odd a file, it stays small. */
function roomFor(reasons: Record<string, unknown>, reason: string): string {
  return Object.hasOwn(reasons, reason) || Object.keys(reasons).length < reasonsKept ? reason : others;
}
