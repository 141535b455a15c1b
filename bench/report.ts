// Formats results for the terminal and for docs/explanation/benchmarks.md. A part that runs alone changes only its own section.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Findings, Part, Table, Target } from "./part.ts";

const file = fileURLToPath(new URL("../docs/explanation/benchmarks.md", import.meta.url));

export function tableText({ head, rows }: Omit<Table, "title">): string {
  return [head, head.map((_, i) => (i === 0 ? "---" : "--:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
}

const targetRow = ({ target, limit, measured, holds }: Target) => [
  target,
  limit,
  measured,
  holds ? "yes" : "**no**",
];

export function sectionOf(part: Part, { tables, targets, notes }: Findings): string {
  return [
    `## ${part.title}`,
    part.about,
    ...tables.map((table) => `${table.title}:\n\n${tableText(table)}`),
    ...notes,
    ...(targets.length
      ? [tableText({ head: ["target", "limit", "measured", "holds"], rows: targets.map(targetRow) })]
      : []),
    `Measured ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node} on ${cpus().length} cores.`,
  ].join("\n\n");
}

const opening = (name: string) => `<!-- ${name} -->`;

const preface = `# Benchmarks

The engineering log of all benchmarks, with their targets. For a summary see [Performance](performance.md). \`npm run bench\` writes this page;
\`npm run bench -- --only baseline\` measures one part. Everything runs on one machine over loopback: senders, platforms, the relay, and
PostgreSQL where it is used. Variants alternate within one run, and figures are medians of the rounds. Ratios hold on other machines;
absolute numbers do not. Differences below 25 % are noise. What was optimised, and why some targets are missed: [decision
11](../decisions/0011-cost-of-an-event.md).`;

/** Writes the sections in the order of `parts`; those that were not measured now stay as they are. */
export function writeReport(parts: readonly Part[], sections: ReadonlyMap<string, string>): void {
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  const texts = parts.flatMap(({ name }) => {
    const before = known.split(opening(name))[1]?.split("<!-- ")[0]?.trim();
    const text = sections.get(name) ?? before;
    return text ? [`${opening(name)}\n\n${text}`] : [];
  });
  writeFileSync(file, `${[preface, ...texts].join("\n\n")}\n`);
}
