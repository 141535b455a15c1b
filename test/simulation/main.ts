// npm run simulate:faults -- --seeds 100000      runs seeds on all cores, for hours if need be
// npm run simulate:faults -- --seed 4711         runs one seed and prints its trace
//
// --mutation NAME plants a bug of `mutations.ts`, with its focus; --focus NAME runs seeds under the conditions of `focuses.ts`, and
// --focus all as many under each of them.
//
// A seed that fails is printed with the command that repeats it, and at the end with the end of its trace; the whole trace is in
// a file. Ctrl-C ends a run early: it prints what was done so far. The exit code is 0 only if all seeds ran and none failed.

import { mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { focuses } from "./focuses.ts";
import { Report } from "./report.ts";
import type { SeedResult } from "./runSeed.ts";
import { runWorker, runWorkers, type SeedOptions } from "./workers.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    workers: { type: "string", default: String(availableParallelism()) },
    mutation: { type: "string" },
    focus: { type: "string" },
  },
});

function readNumber(name: "seeds" | "from" | "seed" | "workers", text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) {
    console.error(`--${name} must be a whole number from 1 on: ${text}`);
    process.exit(2);
  }
  return number;
}

const reportMs = 10_000;
const shownLines = 60;
const shownFailures = 3;
const { mutation } = values;
const isEachFocus = values.focus === "all";
const focus = isEachFocus ? undefined : values.focus;
const seed = values.seed === undefined ? null : readNumber("seed", values.seed);
const from = readNumber("from", values.from);
const count = readNumber("seeds", values.seeds);
const workers = readNumber("workers", values.workers);

type Seeds = SeedOptions["seeds"];

const toSeeds = (numbers: readonly number[]): Seeds =>
  isEachFocus ? Object.keys(focuses).flatMap((name) => numbers.map((one): [number, string] => [one, name])) : numbers;

/** The focus that its command names. */
const focusOf = (result: SeedResult) => (isEachFocus ? (result.focus ?? undefined) : focus);

function commandOf(result: SeedResult): string {
  const name = focusOf(result);
  return ["npm run simulate:faults --", `--seed ${result.seed}`]
    .concat(mutation === undefined ? [] : `--mutation "${mutation}"`, name === undefined ? [] : `--focus "${name}"`)
    .join(" ");
}

/** Runs seeds again and shows their traces. Returns true if every promise held. */
async function show(seeds: Seeds): Promise<boolean> {
  let isGood = true;
  await runWorker({ seeds, trace: true, mutation, focus }, ({ seed: one, focus: name, trace, failure, hash }) => {
    const file = join(mkdtempSync(join(tmpdir(), "cleancast-seed-")), `${one}.trace`);
    writeFileSync(file, `${trace?.join("\n")}\n`);
    console.log(`${trace?.slice(-shownLines).join("\n")}\n`);
    const under = name === null ? "" : `, focus "${name}"`;
    console.log(`seed ${one}, trace ${hash}${under}: ${failure ?? "every promise held"}\n${file}\n`);
    isGood &&= failure === null;
  });
  return isGood;
}

async function runAll(): Promise<boolean> {
  const seeds = toSeeds(Array.from({ length: count }, (_, i) => from + i));
  const began = Date.now();
  const report = new Report();
  const printProgress = () => {
    const seconds = (Date.now() - began) / 1000;
    const rate = (report.done / seconds).toFixed(1);
    console.log(
      `${report.done} of ${seeds.length} seeds in ${seconds.toFixed(0)} s (${rate} a second), ${report.failed.length} failed`,
    );
  };
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  const timer = setInterval(printProgress, reportMs);
  await runWorkers({ seeds, mutation, focus, signal: stopping.signal }, workers, (result) => {
    report.add(result);
    if (result.failure !== null) console.log(`seed ${result.seed} failed: ${result.failure}\n  ${commandOf(result)}`);
  });
  clearInterval(timer);
  printProgress();
  console.log(report.toText());
  const shown = report.failed.slice(0, shownFailures).map((failed): Seeds[number] => {
    const name = focusOf(failed);
    return name === undefined ? failed.seed : [failed.seed, name];
  });
  if (shown.length > 0 && !stopping.signal.aborted) await show(shown);
  for (const failed of report.failed) console.log(`seed ${failed.seed} failed: ${commandOf(failed)}`);
  return report.failed.length === 0 && report.done === seeds.length;
}

process.exitCode = (await (seed === null ? runAll() : show(toSeeds([seed])))) ? 0 : 1;
