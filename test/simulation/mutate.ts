// npm run simulate:mutations                     plants every bug of `mutations.ts`, one after the other, and looks for a seed that finds it
// npm run simulate:mutations -- --only "NAME"    plants one of them
//
// A seed counts only if it keeps every promise without the bug. The exit code is 0 only if nine of ten bugs were found, and no seed
// failed without its bug.

import { parseArgs } from "node:util";
import { mutations } from "./mutations.ts";
import { table } from "./report.ts";
import type { SeedResult } from "./runSeed.ts";
import { runWorker } from "./workers.ts";

const { values } = parseArgs({ options: { seeds: { type: "string", default: "5000" }, only: { type: "string" } } });
const maxSeeds = Number(values.seeds);
const wantedShare = 0.9;

const chosen = Object.entries(mutations).filter(([name]) => values.only === undefined || name === values.only);
if (chosen.length === 0 || !(maxSeeds >= 1)) {
  console.error(
    chosen.length === 0 ? `there is no mutation ${values.only}` : `--seeds must be a whole number from 1 on: ${values.seeds}`,
  );
  process.exit(2);
}

type Search = { name: string; focus: string; seeds: number[]; tried: number; seconds: number; found: SeedResult | null };

const searches = chosen.map(([name, { focus, seed }]): Search => {
  const others = Array.from({ length: maxSeeds }, (_, i) => i + 1).filter((one) => one !== seed);
  return {
    name,
    focus,
    seeds: [...(seed === undefined ? [] : [seed]), ...others].slice(0, maxSeeds),
    tried: 0,
    seconds: 0,
    found: null,
  };
});
const broken: string[] = [];

/** Goes on until a seed fails. */
async function search(one: Search): Promise<void> {
  const began = Date.now();
  await runWorker({ seeds: one.seeds.slice(one.tried), mutation: one.name, bail: true }, (result) => {
    one.tried += 1;
    if (result.failure !== null) one.found = result;
  });
  one.seconds += (Date.now() - began) / 1000;
  console.log(
    `${one.name}: ${one.found ? `seed ${one.found.seed}: ${one.found.failure}` : "not found"}, ${one.tried} seeds, ${one.seconds.toFixed(1)} s`,
  );
}

for (let left = searches; left.length > 0;) {
  for (const one of left) await search(one);
  const found = left.filter((one) => one.found !== null);
  const clean: SeedResult[] = [];
  if (found.length > 0)
    await runWorker({ seeds: found.map(({ found: result, focus }) => [result?.seed ?? 0, focus]) }, (result) =>
      clean.push(result),
    );
  left = found.filter((_one, i) => clean[i]?.failure !== null);
  for (const one of left) {
    broken.push(`seed ${one.found?.seed} of the focus ${one.focus} fails without a planted bug`);
    one.found = null;
  }
}

const rows = searches.map(({ name, focus, found, tried, seconds }) => [
  name,
  focus,
  found ? String(found.seed) : "not found",
  String(tried),
  seconds.toFixed(1),
]);
const found = searches.filter((one) => one.found !== null).length;
console.log(table(["planted bug", "focus", "seed", "seeds tried", "seconds"], rows).join("\n"));
for (const text of broken) console.log(text);
console.log(`${found} of ${searches.length} planted bugs were found`);
process.exitCode = found >= searches.length * wantedShare && broken.length === 0 ? 0 : 1;
