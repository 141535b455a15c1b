// What was measured, as text for a terminal and as docs/performance.md. A part that runs alone changes its own section only.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Findings, Part, Table, Target } from "./part.ts";

const file = fileURLToPath(new URL("../docs/performance.md", import.meta.url));

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

const preface = `# Performance, measured

Written by \`npm run bench\`; each part can be measured alone: \`npm run bench -- --only floor\`. Everything runs on one machine
over loopback: senders, platforms and, where there is one, the database server beside the relay. Contestants take turns in one
run, and the figures are medians of the rounds. Ratios hold on other machines, the numbers beside them do not. Differences below
a quarter are noise. What was changed to get here, and why some targets do not hold: [decision 11](decisions/0011-where-the-time-goes.md).`;

/** Sections stand in the order of `parts`, whichever of them were measured now. */
export function writeReport(parts: readonly Part[], sections: ReadonlyMap<string, string>): void {
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  const texts = parts.flatMap(({ name }) => {
    const before = known.split(opening(name))[1]?.split("<!-- ")[0]?.trim();
    const text = sections.get(name) ?? before;
    return text ? [`${opening(name)}\n\n${text}`] : [];
  });
  writeFileSync(file, `${[preface, ...texts].join("\n\n")}\n`);
}
