// Runs seeds in a process whose clocks, timers and modules are the simulation's, and prints a line of JSON for each. It reads
// its options from the standard input; `workers.ts` starts it.

import { text } from "node:stream/consumers";
import { focuses, type FocusName } from "./focuses.ts";
import { mutations } from "./mutations.ts";
import { installGlobals } from "./runtime/globals.ts";
import { installHooks } from "./runtime/hooks.ts";
import type { SeedOptions } from "./workers.ts";

const { seeds, trace, mutation, focus, bail }: SeedOptions = JSON.parse(await text(process.stdin));
// The relay catches many errors, and their stacks would take longer than all else. The text of a failure has one only with a trace.
if (!trace) Error.stackTraceLimit = 0;
const planted = mutation === undefined ? null : mutations[mutation];
if (planted === undefined) throw new Error(`there is no mutation ${mutation}`);
const findFocus = (name: string | undefined) => {
  if (name === undefined) return null;
  if (!(name in focuses)) throw new Error(`there is no focus ${name}; there are ${Object.keys(focuses).join(", ")}`);
  return { name, focus: focuses[name as FocusName] };
};
installHooks(planted);
const { makeBase } = await import("./relay/base.ts");
const { runSeed } = await import("./runSeed.ts");
installGlobals();
const base = await makeBase();
for (const one of seeds) {
  const [seed, name] = typeof one === "number" ? [one, focus ?? planted?.focus] : one;
  const result = await runSeed(base, seed, { isTraced: trace ?? false, focus: findFocus(name) });
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (result.failure !== null && bail) break;
}
