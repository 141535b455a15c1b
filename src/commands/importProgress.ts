// How far an import is: a bar on a terminal, a line every few seconds where nobody watches, JSON lines with --json. It goes
// to the error output, so that the report alone stands on the other.

import type { Progress } from "../import/run.ts";
import type { Source } from "../import/source.ts";

type Screen = { write(text: string): unknown; isTTY?: boolean; columns?: number };
type Style = { json: boolean; dryRun: boolean; out: Screen; clock: () => number };

const barMs = 100;
const lineMs = 3000;
const barWidth = 24;

export function openProgress({ name, bytes, rows }: Source, { json, dryRun, out, clock }: Style) {
  const isBar = !json && out.isTTY === true;
  let startedAt = 0;
  let shownAt = 0;
  let rowsBefore: number | null = null;

  function show({ tally, bytes: read, waitingFor }: Progress): void {
    const now = clock();
    if (now - shownAt < (isBar ? barMs : lineMs)) return;
    shownAt = now;
    const seconds = Math.max(0.001, (now - startedAt) / 1000);
    const rate = (tally.rows - (rowsBefore ?? 0)) / seconds;
    const part = bytes ? Math.min(1, read / bytes) : null;
    const left = rows && rate > 0 ? Math.max(0, (rows - tally.rows) / rate) : null;
    const { imported, duplicates, refused } = tally;
    if (json) {
      const percent = part === null ? null : Math.round(part * 1000) / 10;
      const said = {
        percent,
        rows: tally.rows,
        rate: Math.round(rate),
        secondsLeft: left && Math.round(left),
      };
      out.write(`${JSON.stringify({ progress: { ...said, imported, duplicates, refused, waitingFor } })}\n`);
      return;
    }
    const words = [
      ...(part === null ? [] : [`${Math.floor(part * 100)} %`]),
      `${tally.rows.toLocaleString("en-US")} rows`,
      `${Math.round(rate).toLocaleString("en-US")}/s`,
      ...(left === null ? [] : [`${duration(left)} left`]),
      ...(duplicates ? [`${duplicates.toLocaleString("en-US")} duplicates`] : []),
      ...(refused ? [`${refused.toLocaleString("en-US")} refused`] : []),
      ...(waitingFor ? [`waits for ${waitingFor}: its queue is full (is the relay running?)`] : []),
    ].join("  ");
    out.write(
      isBar ? `\r${bar(part)}${words}`.slice(0, (out.columns ?? 80) - 1).concat("\x1b[K") : `${words}\n`,
    );
  }

  return {
    start(resumedAfter: number): void {
      startedAt = clock();
      // The first line comes at once on a terminal, and after a while elsewhere.
      shownAt = isBar ? 0 : startedAt;
      if (json) return;
      const what =
        name === "-" ? "the input (cannot be resumed; rows that came in count as duplicates)" : name;
      const where = resumedAfter ? `, going on after line ${resumedAfter}` : "";
      out.write(`${dryRun ? "Reading" : "Importing"} ${what}${where}\n`);
    },
    show(progress: Progress): void {
      rowsBefore ??= progress.tally.rows;
      show(progress);
    },
    end(): void {
      if (isBar && rowsBefore !== null) out.write("\r\x1b[K");
    },
  };
}

function bar(part: number | null): string {
  if (part === null) return "";
  const full = Math.round(part * barWidth);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)}  `;
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 360) / 10} h`;
}
