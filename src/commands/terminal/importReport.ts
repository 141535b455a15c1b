// Prints the progress and the report of an import.

import { clickIdName } from "../../identity/clickIds.ts";
import type { Report } from "../../import/import.ts";
import type { Progress } from "../../import/run.ts";
import type { Source } from "../../tables/source.ts";
import { duration, formatCount, createProgressLine, type ProgressOptions } from "./progress.ts";

type ImportProgressOptions = ProgressOptions & { dryRun: boolean };

export function createProgress({ name, bytes, rows }: Source, { dryRun, ...options }: ImportProgressOptions) {
  const { json, out, clock } = options;
  const line = createProgressLine(options);
  let startedAt = 0;
  let firstRows: number | null = null;

  function describe({ tally, bytes: read, waitingFor }: Progress) {
    const seconds = Math.max(0.001, (clock() - startedAt) / 1000);
    const rate = (tally.rows - (firstRows ?? 0)) / seconds;
    const left = rows && rate > 0 ? Math.max(0, (rows - tally.rows) / rate) : null;
    const { imported, duplicates, refused } = tally;
    return {
      fraction: bytes ? Math.min(1, read / bytes) : null,
      words: [
        `${formatCount(tally.rows)} rows`,
        `${formatCount(Math.round(rate))}/s`,
        ...(left === null ? [] : [`${duration(left)} left`]),
        ...(duplicates ? [`${formatCount(duplicates)} duplicates`] : []),
        ...(refused ? [`${formatCount(refused)} refused`] : []),
        ...(waitingFor ? [`waiting for ${waitingFor}: its queue is full (is the relay running?)`] : []),
      ],
      json: {
        rows: tally.rows,
        rate: Math.round(rate),
        secondsLeft: left && Math.round(left),
        imported,
        duplicates,
        refused,
        waitingFor,
      },
    };
  }

  return {
    start(resumedAfter: number): void {
      startedAt = clock();
      if (json) return;
      const what = name === "-" ? "the input (cannot be resumed; if it is piped again, imported rows count as duplicates)" : name;
      const where = resumedAfter ? `, resuming after line ${resumedAfter}` : "";
      out.write(`${dryRun ? "Reading" : "Importing"} ${what}${where}\n`);
    },
    show(progress: Progress): void {
      firstRows ??= progress.tally.rows;
      line.show(() => describe(progress));
    },
    end: () => line.end(),
  };
}

export function reportText(
  report: Report,
  { deliver, needsYes, piped }: { deliver: string; needsYes: boolean; piped: boolean },
): string {
  const { state, kind, tally, duplicates, mapping, unused, line } = report;
  const isDryRun = state === "dry run";
  const lines: string[] = [];
  if (state === "done before") lines.push("This file was imported before; nothing was done. The earlier result:");
  if (state === "stopped") lines.push(`Stopped after line ${line}.`);
  lines.push(
    `Columns: ${Object.entries(mapping)
      .map(([field, column]) => `${field} = ${column}`)
      .join(", ")}`,
  );
  if (unused.length) lines.push(`Not used: ${unused.slice(0, 20).join(", ")}${unused.length > 20 ? " …" : ""}`);
  if (kind === "conversions" && unused.some((name) => clickIdName(name.trim())))
    lines.push("Click ids belong to people: import them first, with 'cleancast import identities SITE FILE'.");
  lines.push("", row(tally.rows, "rows"), row(tally.imported, isDryRun ? "would be imported" : "imported"));
  const origins = duplicates
    ? ` (${formatCount(duplicates.inFile)} in the file, ${formatCount(duplicates.known)} already known)`
    : "";
  if (tally.duplicates) lines.push(row(tally.duplicates, kind === "identities" ? "already known" : `duplicates${origins}`));
  if (tally.filtered) lines.push(row(tally.filtered, "filtered"));
  if (tally.refused) lines.push(row(tally.refused, "refused"));
  for (const [reason, { count, lines: where }] of Object.entries(tally.reasons))
    lines.push(`    ${formatCount(count)} × ${reason} (line ${where.join(", ")}${count > where.length ? " …" : ""})`);

  if (kind === "conversions" && deliver === "none") lines.push("", "Nothing is sent to platforms (--deliver none).");
  for (const [platform, states] of Object.entries(tally.deliveries)) {
    const counts = Object.entries(states).map(
      ([name, count]) => `${formatCount(count)} ${isDryRun ? describeDryState(name) : name}`,
    );
    lines.push("", `${platform}: ${counts.join(", ")}`);
    for (const [reason, count] of Object.entries(tally.skipped[platform] ?? {}))
      lines.push(`    ${formatCount(count)} × skipped: ${reason}`);
  }

  if (kind === "orders" && state === "done") lines.push("", "Compare them with the events: cleancast reconcile start SITE");
  if (needsYes) lines.push("", "Nothing was imported. Add --yes to do it, or --deliver none to send nothing.");
  else if (isDryRun) lines.push("", "Dry run: nothing was written.");
  else if (state === "stopped") lines.push("", resumeHint(piped));
  return lines.join("\n");
}

const row = (count: number, what: string) => `${formatCount(count).padStart(10)} ${what}`;

const describeDryState = (state: string) =>
  state === "queued" ? "would be sent" : state === "parked" ? "would be parked" : state;

function resumeHint(piped: boolean): string {
  return piped
    ? "Pipe the same input again to continue: rows that were imported already count as duplicates."
    : "Run the same command again to continue.";
}
