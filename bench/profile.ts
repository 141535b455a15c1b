// Profiles the relay under load: `node bench/profile.ts 3` with three connections on SQLite, `node bench/profile.ts 0 8` without
// connections and with eight senders. Prints the functions and files with the most self time. The profile, which Chromium's
// developer tools can open, stays in the folder that is printed last.

import { globSync, readFileSync } from "node:fs";
import { closeHarness, openHarness, startOurs, measureLoad, warmUp } from "./support/loadTest.ts";
import { number } from "./part.ts";
import { freshFolder, platforms } from "./support/relay.ts";

const [connections = "3", senders = "64", delayMs = "0"] = process.argv.slice(2);
const loadMs = 10_000;
const folder = freshFolder({ stays: true });

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

/** Sums self time by function or file, over the end of the profile, where the code is warm. */
function selfTimes(profile: Profile, keyOf: (frame: Profile["nodes"][number]["callFrame"]) => string) {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let left = profile.timeDeltas.reduce((sum, one) => sum + one, 0);
  profile.samples.forEach((id, i) => {
    const frame = frames.get(id);
    left -= profile.timeDeltas[i] ?? 0;
    if (left > loadMs * 1000 || !frame || frame.functionName === "(idle)") return;
    times.set(keyOf(frame), (times.get(keyOf(frame)) ?? 0) + (profile.timeDeltas[i] ?? 0));
  });
  return times;
}

function show(title: string, times: Map<string, number>, rows: number): void {
  const whole = [...times.values()].reduce((sum, one) => sum + one, 0);
  console.log(`\n${title}`);
  for (const [name, time] of [...times].toSorted(([, a], [, b]) => b - a).slice(0, rows))
    console.log(`${((100 * time) / whole).toFixed(1).padStart(5)} %  ${name}`);
}

/** Removes the uninformative beginning of a path. */
const short = (url: string) =>
  url
    .replace(/^file:\/\//, "")
    .replace(/^.*\/node_modules\//, "")
    .replace(/^.*\/(?=(?:src|dist)\/)/, "") || "(native)";

const harness = await openHarness(Number(delayMs));
const nodeArgs = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"];
const relay = await startOurs(harness, "sqlite", platforms.slice(0, Number(connections)), { nodeArgs });
await warmUp(harness, [relay], { quick: false });
const result = await measureLoad(harness, relay, { senders: Number(senders), ms: loadMs });
await closeHarness(harness, [relay]);

const [file = ""] = globSync(`${folder}/*.cpuprofile`);
const profile = JSON.parse(readFileSync(file, "utf8")) as Profile;
console.log(
  `${connections} connections, ${senders} senders: ${number(result.cpu)} µs/event, ${number(result.requests)} requests/event`,
);
show(
  "Functions",
  selfTimes(
    profile,
    ({ functionName, url, lineNumber }) =>
      `${functionName || "(anonymous)"}  ${short(url)}:${lineNumber + 1}`,
  ),
  45,
);
show(
  "Files",
  selfTimes(profile, ({ url, functionName }) => (url ? short(url) : functionName)),
  30,
);
console.log(`\n${file}`);
process.exit(0);
