// Where the relay's time goes under load: `node bench/profile.ts 3` for three connections on SQLite, `node bench/profile.ts 0 8`
// for none and eight senders. Prints the functions and files with the most time of their own; the profile itself, which
// Chromium's developer tools open, stays in the folder that is named at the end.

import { globSync, readFileSync } from "node:fs";
import { closeField, openField, startOurs, turnOf, warmUp } from "./support/contest.ts";
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

/** Time by function or file, without what is spent in those that it calls. Only the end counts: the code is warm there. */
function ownTimes(profile: Profile, keyOf: (frame: Profile["nodes"][number]["callFrame"]) => string) {
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

/** The part of a path that says something. */
const short = (url: string) =>
  url
    .replace(/^file:\/\//, "")
    .replace(/^.*\/node_modules\//, "")
    .replace(/^.*\/(?=(?:src|dist)\/)/, "") || "(native)";

const field = await openField(Number(delayMs));
const args = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"];
const relay = await startOurs(field, "sqlite", platforms.slice(0, Number(connections)), args);
await warmUp(field, [relay], { quick: false });
const turn = await turnOf(field, relay, { senders: Number(senders), ms: loadMs });
await closeField(field, [relay]);

const [file = ""] = globSync(`${folder}/*.cpuprofile`);
const profile = JSON.parse(readFileSync(file, "utf8")) as Profile;
console.log(
  `${connections} connections, ${senders} senders: ${number(turn.cpu)} µs/event, ${number(turn.requests)} requests/event`,
);
show(
  "Functions",
  ownTimes(
    profile,
    ({ functionName, url, lineNumber }) =>
      `${functionName || "(anonymous)"}  ${short(url)}:${lineNumber + 1}`,
  ),
  45,
);
show(
  "Files",
  ownTimes(profile, ({ url, functionName }) => (url ? short(url) : functionName)),
  30,
);
console.log(`\n${file}`);
process.exit(0);
