// Counts the outcomes of a file's rows. It holds counts, reasons and line numbers, and never the content of a row.

import type { Result } from "../kernel/event.ts";
import type { ImportTally } from "../kernel/imports.ts";

export type Outcome =
  | { status: "imported"; results: Record<string, Result> }
  | { status: "duplicate" }
  | { status: "filtered" }
  | { status: "refused"; reason: string };

const maxLines = 5;
const maxReasons = 50;
const otherReasons = "other reasons";

export function countOutcome(tally: ImportTally, line: number, outcome: Outcome): void {
  tally.rows += 1;
  switch (outcome.status) {
    case "imported":
      tally.imported += 1;
      for (const [platform, result] of Object.entries(outcome.results)) countDelivery(tally, platform, result);
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

function countDelivery(tally: ImportTally, platform: string, result: Result): void {
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
