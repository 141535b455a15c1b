// Figures of runs on real engines. They are printed; `npm run test:engines` writes them into docs/explanation/engines-measured.md,
// where the table of each engine stands between marker comments.

import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Checked } from "./load.ts";

const page = fileURLToPath(new URL("../../../docs/explanation/engines-measured.md", import.meta.url));

/** True in the long run, which publishes its figures. */
export const isLongRun = process.env["ENGINES"] === "all";

/** True in the long and in the short run; false in the tiers of tests, which has no time for engines that start slowly. */
export const isRun = isLongRun || process.env["ENGINES"] === "short";

/** Says why the tests of an engine are skipped. Returns true for `describe.skipIf`. */
export function isMissing(engine: string, found: unknown, remedy: string): boolean {
  if (found) return false;
  console.log(`${engine} is not tested: ${remedy}`);
  return true;
}

export function createFigures(engine: string) {
  const lines: string[] = [];
  return {
    note(what: string, figure: string): void {
      lines.push(`| ${what} | ${figure} |`);
      console.log(`${engine}: ${what}: ${figure}`);
    },
    publish(): void {
      if (!isLongRun || lines.length === 0) return;
      const date = new Date().toISOString().slice(0, 10);
      writeTable(engine, () => [`| what | ${date}, ${cpus().length} cores |`, "| --- | --- |", ...lines]);
    },
  };
}

/** Replaces the rows of an engine in a table of several; those of the others stay as they were. */
export function publishRows(table: string, head: readonly string[], engine: string, rows: readonly (readonly string[])[]): void {
  const lines = rows.map((row) => `| ${[engine, ...row].join(" | ")} |`);
  for (const line of lines) console.log(line);
  if (!isLongRun) return;
  writeTable(table, (known) => [
    `| ${head.join(" | ")} |`,
    `| ${head.map((_, i) => (i < 2 ? "---" : "--:")).join(" | ")} |`,
    ...[...known.slice(2).filter((line) => !line.startsWith(`| ${engine} |`)), ...lines].toSorted(),
  ]);
}

/** Replaces the lines of the table between its markers. */
function writeTable(name: string, linesFrom: (known: readonly string[]) => readonly string[]): void {
  const text = readFileSync(page, "utf8");
  const opening = `<!-- measured: ${name} -->`;
  const [before, rest] = text.split(opening);
  const end = rest?.indexOf("<!-- end -->") ?? -1;
  if (rest === undefined || end < 0) throw new Error(`docs/explanation/engines-measured.md has no table of ${name}`);
  const known = rest
    .slice(0, end)
    .split("\n")
    .filter((line) => line !== "");
  writeFileSync(page, `${before}${opening}\n\n${linesFrom(known).join("\n")}\n\n${rest.slice(end)}`);
}

/** The answers of a run, for a table. */
export const statusText = (statuses: Readonly<Record<string, number>>): string =>
  Object.entries(statuses)
    .map(([status, times]) => `${times} × ${status === "0" ? "no answer" : status}`)
    .join(", ");

/** What became of the orders that were answered with 200, for a table. */
export const checkedText = ({ notStored, notReceived, receivedTwice }: Checked): string =>
  `not stored ${notStored}, not received ${notReceived}, received twice ${receivedTwice}`;
