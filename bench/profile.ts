// Profiles the relay under load: `node bench/profile.ts 3` with three connections on SQLite, `node bench/profile.ts 0 8` without
// connections and with eight senders, `node bench/profile.ts 3 64 0 2` with platforms that answer at once and two nodes on
// PostgreSQL, `node bench/profile.ts 0 64 0 source` with payments that Stripe reports. Prints the functions and files with the most self time, of all nodes together. The profiles, which Chromium's
// developer tools can open, stay in the folder that is printed last.

import { globSync, readFileSync } from "node:fs";
import { meterSettings, createMeter } from "./support/databaseMeter.ts";
import { measureFleet, startFleet, stopFleets, warmUpFleet } from "./support/fleet.ts";
import { closeHarness, createHarness, startOurs, measureLoad, warmUp, warmUpEvents } from "./support/loadTest.ts";
import { number } from "./part.ts";
import { sourceOf } from "./sources.ts";
import { benchPostgres, freshFolder, platforms, stopPostgres } from "./support/relay.ts";

const [connections = "3", senders = "64", delayMs = "0", nodes] = process.argv.slice(2);
const loadMs = 10_000;
const folder = freshFolder({ stays: true });

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

/** Sums self time by function or file, over the end of the profiles, where the code is warm. */
function selfTimes(keyOf: (frame: Profile["nodes"][number]["callFrame"]) => string) {
  const times = new Map<string, number>();
  for (const profile of profiles) {
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    let left = profile.timeDeltas.reduce((sum, one) => sum + one, 0);
    profile.samples.forEach((id, i) => {
      const frame = frames.get(id);
      left -= profile.timeDeltas[i] ?? 0;
      if (left > loadMs * 1000 || !frame || frame.functionName === "(idle)") return;
      times.set(keyOf(frame), (times.get(keyOf(frame)) ?? 0) + (profile.timeDeltas[i] ?? 0));
    });
  }
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

const harness = await createHarness(Number(delayMs));
const nodeArgs = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"];
const load = { senders: Number(senders), ms: loadMs };
const mode = { quick: false };

async function profileSqlite() {
  const relay = await startOurs(harness, "sqlite", platforms.slice(0, Number(connections)), { nodeArgs });
  await warmUp(harness, [relay], mode);
  const source = nodes === "source" ? await sourceOf(harness, relay) : undefined;
  if (source) await measureLoad(harness, relay, { senders: 64, ms: 0, atLeast: warmUpEvents(mode), source });
  const result = await measureLoad(harness, relay, { ...load, ...(source && { source }) });
  await closeHarness(harness, [relay]);
  return result;
}

async function profilePostgres() {
  await benchPostgres(meterSettings);
  const shape = { nodes: Number(nodes), sites: 1, connections: Number(connections) };
  const fleet = await startFleet(harness, shape, Number(delayMs), nodeArgs);
  const meter = await createMeter();
  await warmUpFleet(harness, fleet, meter, mode);
  const result = await measureFleet(harness, fleet, meter, load);
  await stopFleets([fleet]);
  await closeHarness(harness, []);
  await meter.close();
  await stopPostgres();
  console.log(`${nodes} nodes: database ${number(result.databaseCpu)} µs/event, ${number(result.statements)} statements/event`);
  return result;
}

const result = await (Number(nodes) > 0 ? profilePostgres() : profileSqlite());
const profiles = globSync(`${folder}/*.cpuprofile`).map((file) => JSON.parse(readFileSync(file, "utf8")) as Profile);
console.log(
  `${connections} connections, ${senders} senders: ${number(result.cpu)} µs/event, ${number(result.requests)} requests/event`,
);
show(
  "Functions",
  selfTimes(({ functionName, url, lineNumber }) => `${functionName || "(anonymous)"}  ${short(url)}:${lineNumber + 1}`),
  45,
);
show(
  "Files",
  selfTimes(({ url, functionName }) => (url ? short(url) : functionName)),
  30,
);
console.log(`\n${folder}`);
process.exit(0);
