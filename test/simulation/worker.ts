// Runs seeds in a process whose clocks, timers and modules are the simulation's, and prints a line of JSON for each. It reads
// its options from the standard input; `workers.ts` starts it.

import { text } from "node:stream/consumers";
import { mutations } from "./mutations.ts";
import { installGlobals } from "./runtime/globals.ts";
import { installHooks, type Mutation } from "./runtime/hooks.ts";
import type { SeedOptions } from "./workers.ts";

const { seeds, trace, mutation, focus, bail }: SeedOptions = JSON.parse(await text(process.stdin));
// The relay catches many errors, and their stacks would take longer than all else. The text of a failure has one only with a trace.
if (!trace) Error.stackTraceLimit = 0;
const find = (name: string | undefined): (Mutation & { name: string }) | null => {
  if (name === undefined) return null;
  const found = mutations[name];
  if (found === undefined) throw new Error(`there is no mutation ${name}`);
  return { ...found, name };
};
const planted = find(mutation);
installHooks(planted);
const { makeBase } = await import("./relay/base.ts");
const { runSeed } = await import("./runSeed.ts");
installGlobals();
const base = await makeBase();
for (const one of seeds) {
  const [seed, name] = typeof one === "number" ? [one, mutation ?? focus] : one;
  const result = await runSeed(base, seed, { isTraced: trace ?? false, focus: find(name) });
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (result.failure !== null && bail) break;
}
