// Measures the relay against the limit and against its peers, in one run.
//
//   npm run bench                       everything; writes docs/explanation/benchmarks.md
//   npm run bench -- --only floor       one part, or several with commas
//   npm run bench -- --quick            a smoke test in less than a minute; writes nothing
//   npm run bench -- --full             also the largest sizes
//   npm run bench -- --rounds 9         more of them, where the machine is busy
//   npm run bench -- --engine postgres  where a part runs on one engine, on this one
//
// A target that is missed is said and fails nothing: no machine is quick at all times.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fairness } from "./fairness.ts";
import { floor } from "./floor.ts";
import { growth } from "./growth.ts";
import { latency } from "./latency.ts";
import { load } from "./load.ts";
import { nodes } from "./nodes.ts";
import type { Mode, Part } from "./part.ts";
import { peers } from "./peers.ts";
import { run } from "./support/processes.ts";
import { sectionOf, writeReport } from "./report.ts";
import { start } from "./start.ts";
import { tag } from "./tag.ts";

const parts: readonly Part[] = [floor, load, latency, nodes, peers, growth, fairness, tag, start];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    engine: { type: "string", default: "sqlite" },
    rounds: { type: "string" },
  },
});
const mode: Mode = {
  quick: values.quick,
  full: values.full,
  engine: values.engine === "postgres" ? "postgres" : "sqlite",
  rounds: values.rounds ? Number(values.rounds) : null,
};
const only = values.only?.split(",");
const unknown = only?.filter((name) => !parts.some((part) => part.name === name)) ?? [];
if (unknown.length) {
  console.error(
    `No such part: ${unknown.join(", ")}. There are ${parts.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(1);
}

// Measured is what is delivered.
await run("npm", ["run", "-s", "build"], fileURLToPath(new URL("..", import.meta.url)));

const sections = new Map<string, string>();
for (const part of parts) {
  if (only && !only.includes(part.name)) continue;
  const began = performance.now();
  const section = sectionOf(part, await part.run(mode));
  sections.set(part.name, section);
  console.log(`${section}\n\n(${Math.round((performance.now() - began) / 1000)} s)\n`);
}
if (!mode.quick) writeReport(parts, sections);
process.exit(0);
