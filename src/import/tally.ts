// Counts the outcomes of a file's rows. It holds counts, reasons and line numbers, and never the content of a row.

import type { Result } from "../kernel/event.ts";

export type Outcome =
  | { status: "imported"; results: Record<string, Result> }
  | { status: "duplicate" }
  | { status: "filtered" }
  | { status: "refused"; reason: string };

export type Tally = {
  rows: number;
  imported: number;
  duplicates: number;
  filtered: number;
  refused: number;
  /** By reason: the count, and the lines of the first rows. */
  reasons: Record<string, { count: number; lines: number[] }>;
  /** By platform and by state at planning. */
  deliveries: Record<string, Record<string, number>>;
  /** By platform and reason. */
  skipped: Record<string, Record<string, number>>;
};

const maxLines = 5;
const maxReasons = 50;
const otherReasons = "other reasons";

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

export function countOutcome(tally: Tally, line: number, outcome: Outcome): void {
  tally.rows += 1;
  switch (outcome.status) {
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
      const reason = boundReason(tally.reasons, outcome.reason);
      const known = (tally.reasons[reason] ??= { count: 0, lines: [] });
      known.count += 1;
      if (known.lines.length < maxLines) known.lines.push(line);
    }
  }
}

function countDelivery(tally: Tally, platform: string, result: Result): void {
  const state = result.ok ? "sent" : result.status;
  const states = (tally.deliveries[platform] ??= {});
  states[state] = (states[state] ?? 0) + 1;
  if (result.ok || result.status !== "skipped") return;
  const reasons = (tally.skipped[platform] ??= {});
  const reason = boundReason(reasons, result.error);
  reasons[reason] = (reasons[reason] ?? 0) + 1;
}

/** Bounds the tally, which is stored with every chunk of rows. */
function boundReason(reasons: Record<string, unknown>, reason: string): string {
  return Object.hasOwn(reasons, reason) || Object.keys(reasons).length < maxReasons ? reason : otherReasons;
}
