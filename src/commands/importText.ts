// The report of an import, for people.

import { clickIdName } from "../identity/clickIds.ts";
import type { Report } from "../import/import.ts";

const n = (count: number) => count.toLocaleString("en-US");

export function reportText(
  report: Report,
  { deliver, asks, piped }: { deliver: string; asks: boolean; piped: boolean },
): string {
  const { state, kind, tally, duplicates, mapping, unused, line } = report;
  const isDry = state === "dry run";
  const lines: string[] = [];
  if (state === "done before")
    lines.push("This file was imported before; nothing was done. What became of it then:");
  if (state === "stopped") lines.push(`Stopped after line ${line}.`);
  lines.push(
    `Columns: ${Object.entries(mapping)
      .map(([field, column]) => `${field} = ${column}`)
      .join(", ")}`,
  );
  if (unused.length)
    lines.push(`Not used: ${unused.slice(0, 20).join(", ")}${unused.length > 20 ? " …" : ""}`);
  if (kind === "conversions" && unused.some((name) => clickIdName(name.trim())))
    lines.push("Click ids belong to people: take them in first, with 'cleancast import identities'.");
  lines.push("", row(tally.rows, "rows"), row(tally.imported, isDry ? "would be imported" : "imported"));
  const found = duplicates
    ? ` (${n(duplicates.inFile)} in the file, ${n(duplicates.known)} known already)`
    : "";
  if (tally.duplicates)
    lines.push(row(tally.duplicates, kind === "identities" ? "known already" : `duplicates${found}`));
  if (tally.filtered) lines.push(row(tally.filtered, "filtered"));
  if (tally.refused) lines.push(row(tally.refused, "refused"));
  for (const [reason, { count, lines: where }] of Object.entries(tally.reasons))
    lines.push(`    ${n(count)} × ${reason} (line ${where.join(", ")}${count > where.length ? " …" : ""})`);

  if (kind === "conversions" && deliver === "none")
    lines.push("", "Nothing is sent to platforms (--deliver none).");
  for (const [platform, states] of Object.entries(tally.deliveries)) {
    const said = Object.entries(states).map(([name, count]) => `${n(count)} ${isDry ? would(name) : name}`);
    lines.push("", `${platform}: ${said.join(", ")}`);
    for (const [reason, count] of Object.entries(tally.skipped[platform] ?? {}))
      lines.push(`    ${n(count)} × skipped: ${reason}`);
  }

  if (asks) lines.push("", "Nothing was imported. Add --yes to do it, or --deliver none to send nothing.");
  else if (isDry) lines.push("", "A dry run: nothing was written.");
  else if (state === "stopped") lines.push("", stopped(piped));
  return lines.join("\n");
}

const row = (count: number, what: string) => `${n(count).padStart(10)} ${what}`;

const would = (state: string) =>
  state === "queued" ? "would be sent" : state === "parked" ? "would be parked" : state;

function stopped(piped: boolean): string {
  return piped
    ? "Pipe the same input in again to go on: rows that came in before count as duplicates."
    : "Run the same command again to go on.";
}
