// Measures the relay, a bare server and comparable products in one run.
//
//   npm run bench                       everything; writes docs/explanation/benchmarks.md
//   npm run bench -- --only baseline     one part, or several with commas
//   npm run bench -- --quick            a smoke test in less than a minute; writes nothing
//   npm run bench -- --full             also the largest sizes
//   npm run bench -- --rounds 9         more rounds, for a busy machine
//   npm run bench -- --engine postgres  the engine of parts that run on one engine
//   npm run bench -- --only isolation --floods collect,batches   some of its floods; writes nothing
//
// A missed target is reported and does not fail the run: other load on the machine changes the numbers.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dataExport } from "./dataExport.ts";
import { fairness } from "./fairness.ts";
import { baseline } from "./baseline.ts";
import { growth } from "./growth.ts";
import { isolation } from "./isolation.ts";
import { latency } from "./latency.ts";
import { load } from "./load.ts";
import { memory } from "./memory.ts";
import { nodes } from "./nodes.ts";
import type { Mode, Part } from "./part.ts";
import { peers } from "./peers.ts";
import { floodNames } from "./support/flood.ts";
import { run } from "./support/processes.ts";
import { resultOf, targetsText, writeReport, type PartResult } from "./report.ts";
import { sources } from "./sources.ts";
import { start } from "./start.ts";
import { tag } from "./tag.ts";
import { upkeep } from "./upkeep.ts";

const parts: readonly Part[] = [
  baseline,
  load,
  latency,
  sources,
  nodes,
  peers,
  growth,
  fairness,
  isolation,
  memory,
  dataExport,
  upkeep,
  tag,
  start,
];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    engine: { type: "string", default: "sqlite" },
    rounds: { type: "string" },
    floods: { type: "string" },
  },
});
const mode: Mode = {
  quick: values.quick,
  full: values.full,
  engine: values.engine === "postgres" ? "postgres" : "sqlite",
  rounds: values.rounds ? Number(values.rounds) : null,
  floods: choose("flood", values.floods, floodNames),
};
const partNames = parts.map(({ name }) => name);
const only = choose("part", values.only, partNames) ?? partNames;

function choose<Name extends string>(what: string, list: string | undefined, names: readonly Name[]): Name[] | null {
  if (list === undefined) return null;
  const wanted = list.split(",");
  const unknown = wanted.filter((one) => !names.some((name) => name === one));
  if (unknown.length === 0) return names.filter((name) => wanted.includes(name));
  console.error(`No such ${what}: ${unknown.join(", ")}. There are ${names.join(", ")}.`);
  return process.exit(1);
}

// The relay under test is the built one, as users run it.
await run("npm", ["run", "-s", "build"], fileURLToPath(new URL("..", import.meta.url)));

const results = new Map<string, PartResult>();
for (const part of parts) {
  if (!only.includes(part.name)) continue;
  const began = performance.now();
  const result = resultOf(part, await part.run(mode));
  results.set(part.name, result);
  const targets = result.targets.length ? `\n\n${targetsText(result.targets)}` : "";
  console.log(`${result.section}${targets}\n\n(${Math.round((performance.now() - began) / 1000)} s)\n`);
}
if (!mode.quick && !mode.floods) writeReport(parts, results);
process.exit(0);
