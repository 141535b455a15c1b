// Formats results for the terminal and for docs/explanation/benchmarks.md. results.json keeps the results of every part, so
// that a part that runs alone changes only its own section and its own targets.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Findings, Part, Table, Target } from "./part.ts";

const page = fileURLToPath(new URL("../docs/explanation/benchmarks.md", import.meta.url));
const file = fileURLToPath(new URL("./results.json", import.meta.url));

export function tableText({ head, rows }: Omit<Table, "title">): string {
  return [head, head.map((_, i) => (i === 0 ? "---" : "--:")), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

export type PartResult = { section: string; targets: Target[]; gains: string; cores: number };
type Results = Record<string, PartResult>;

export function resultOf(part: Part, { tables, targets, notes, gains = "" }: Findings): PartResult {
  const cores = cpus().length;
  const section = [
    `## ${part.title}`,
    part.about,
    ...tables.map((table) => `${table.title}:\n\n${tableText(table)}`),
    ...notes,
    `Measured ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node} on ${cores} cores.`,
  ].join("\n\n");
  return { section, targets, gains, cores };
}

export const targetsText = (targets: readonly Target[]) =>
  tableText({
    head: ["target", "limit", "measured", "result"],
    rows: targets.map(({ target, limit, measured, holds }) => [target, limit, measured, holds ? "reached" : "**missed**"]),
  });

/** The order of `parts` is that of the page. */
function pageText(parts: readonly Part[], results: Results): string {
  const known = parts.flatMap(({ name }) => results[name] ?? []);
  const targets = known.flatMap((one) => one.targets);
  const reached = targets.filter(({ holds }) => holds).length;
  return `${[
    "# Benchmarks",
    `On ${known[0]?.cores ?? 0} small cores, which also run the senders, the platforms and PostgreSQL:`,
    known.flatMap(({ gains }) => (gains ? [`- ${gains}`] : [])).join("\n"),
    `The targets of the project, ${reached} of ${targets.length} of which are reached. The values of a ratio are in brackets.`,
    targetsText(targets),
    `For a summary see [Performance](performance.md). \`npm run bench\` writes this page; \`npm run bench -- --only baseline\` measures one part.
Everything runs on one machine over loopback: senders, platforms, the relay, and PostgreSQL where it is used. All candidates are warmed
up, they alternate within one run, and figures are medians of the rounds. Ratios hold on other machines; absolute numbers do not.
Differences below 25 % are noise. Where every second event belongs to a person with an identity record (the baseline, load, latency,
several nodes, growth), a run fails when fewer than 45 % of the events found it. What was optimised, and why some targets are missed: [at the end](#what-the-figures-led-to).`,
    ...known.map(({ section }) => section),
  ].join("\n\n")}\n`;
}

/** What follows on the page is written by hand, and stays. */
const byHand = "<!-- written by hand -->";

/** Parts that were not measured now keep their results. */
export function writeReport(parts: readonly Part[], measured: ReadonlyMap<string, PartResult>): void {
  const before: Results = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const results: Results = Object.fromEntries(
    parts.flatMap(({ name }) => {
      const result = measured.get(name) ?? before[name];
      return result ? [[name, result]] : [];
    }),
  );
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  const [, written = ""] = readFileSync(page, "utf8").split(byHand);
  writeFileSync(page, `${pageText(parts, results)}\n${byHand}${written}`);
}
