// Measures the export of a million rows beside live traffic: the memory of its process, and the latency of events meanwhile.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hourMs } from "../src/kernel/time.ts";
import { commandIn } from "../test/support/commands.ts";
import { atMost, median, number, type Findings, type Mode, type Part } from "./part.ts";
import { closeHarness, createHarness, measureLoad, warmUp, type Candidate, type LoadResult } from "./support/loadTest.ts";
import { childrenOf, ifAlive, memoryOf, sleep } from "./support/processes.ts";
import { connectStoreOf, freshFolder, install, startRelay, type Installation } from "./support/relay.ts";
import { seedEvents, seededDays } from "./support/seed.ts";
import { postEvent, timeStart } from "./start.ts";

const stubMs = 20;
const perSecond = 50;
const maxMemory = 400;
const maxRatio = 2;
/** An event with one platform is a row of three tables: events, deliveries and attempts. */
const rowsOfEvent = 3;
/** The relay looks for due exports every minute. */
const startMs = 100_000;

async function scheduleExport({ env, siteId }: Installation): Promise<void> {
  const args = ["export", "schedule", "set", siteId, "folder", "--since", `${seededDays + 3}d`];
  const { err, code } = await commandIn({ args, env });
  if (code !== 0) throw new Error(err);
}

/** The process that writes the files; null while there is none. */
const findWriter = (relay: number) => childrenOf(relay)[0] ?? null;

/** Counts the rows of all files that a manifest lists. */
function countRows(folder: string): number {
  const manifests = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("manifest.json"));
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { files: { rows: number }[] };
  return manifests.flatMap((name) => read(name).files).reduce((sum, { rows }) => sum + rows, 0);
}

async function run(mode: Mode): Promise<Findings> {
  const events = mode.quick ? 2000 : 333_334;
  const harness = await createHarness(stubMs);
  const installation = await install(mode.engine, ["meta"], harness.state);
  const folder = freshFolder();
  installation.env["CLEANCAST_EXPORT_FOLDER"] = folder;
  await timeStart(() => startRelay(installation), postEvent(installation.key));
  await seedEvents(installation, events);
  // The relay is not to compute the statistics of all that was seeded meanwhile.
  const store = await connectStoreOf(installation);
  const hour = Math.ceil(Date.now() / hourMs);
  await store.statistics.saveHead(installation.siteId, { fromHour: 0, toHour: hour });
  await store.close();
  const relay = await startRelay(installation);
  const candidate: Candidate = { ...relay, key: installation.key, known: 0, databasePid: null, installation };
  await warmUp(harness, [candidate], mode);

  const load = { perSecond, ms: mode.quick ? 500 : 4000, pid: relay.pid };
  const without: LoadResult[] = [];
  for (let round = 0; round < (mode.quick ? 1 : 7); round++) without.push(await measureLoad(harness, candidate, load));

  await scheduleExport(installation);
  const began = performance.now();
  let writer = findWriter(relay.pid);
  while (writer === null && performance.now() - began < startMs) {
    await sleep(100);
    writer = findWriter(relay.pid);
  }
  if (writer === null) throw new Error("no export has begun");
  const startedAt = performance.now();
  let memory = 0;
  const during: LoadResult[] = [];
  for (;;) {
    const pid = writer;
    const round = measureLoad(harness, candidate, load);
    let isOver = false;
    const watching = (async () => {
      for (; !isOver; await sleep(100)) memory = Math.max(memory, ifAlive(() => memoryOf(pid, "VmHWM")) || 0);
    })();
    const result = await round;
    isOver = true;
    await watching;
    // The last round is partly without the export.
    if (findWriter(relay.pid) === null && during.length > 0) break;
    during.push(result);
    if (findWriter(relay.pid) === null) break;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const rows = countRows(folder);
  if (rows < events * rowsOfEvent) throw new Error(`${rows} rows were written of ${events * rowsOfEvent}`);
  await closeHarness(harness, [candidate]);

  const p99 = { without: median(without.map((one) => one.alone99)), during: median(during.map((one) => one.alone99)) };
  const row = (name: string, all: readonly LoadResult[]) => [
    name,
    number(median(all.map((one) => one.p50)), 3),
    number(median(all.map((one) => one.p99)), 3),
    number(median(all.map((one) => one.alone50)), 3),
    number(median(all.map((one) => one.alone99)), 3),
  ];
  return {
    tables: [
      {
        title: `${number(perSecond)} events a second, ${mode.engine}, milliseconds`,
        head: ["", "p50", "p99", "p50 with a processor of its own", "p99 with a processor of its own"],
        rows: [row("no export", without), row(`an export of ${number(events * rowsOfEvent)} rows`, during)],
      },
    ],
    targets: [
      atMost(`Memory of the process that exports ${number(events * rowsOfEvent)} rows`, memory, maxMemory, " MB"),
      atMost(
        "p99 of events during the export, relative to that without",
        p99.during / p99.without,
        maxRatio,
        " ×",
        `${number(p99.during, 3)} and ${number(p99.without, 3)} ms`,
      ),
    ],
    notes: [`The export took ${number(seconds, 3)} s and wrote ${number(rows)} rows, as its manifests say.`],
  };
}

export const dataExport: Part = {
  name: "export",
  title: "Export of a million rows",
  about: `A site with a past of ${seededDays} days gets a scheduled export of data, which writes it to a folder as Parquet files. Events
arrive meanwhile at random times. The second pair of columns leaves out the time in which the relay was ready to run and waited for a
processor: here the sender, the platform and the export share two of them.`,
  run,
};
