// Runs what people would pick in place of the relay, and the relay, with the same job in the same run: hash the contact data of a
// conversion, and report it to three platforms. Then each is killed under load, and what it lost is counted.
//
//   npm run bench:peers                       writes docs/explanation/benchmarks-peers.md
//   npm run bench:peers -- --only redis       the peers whose name contains the text; writes nothing
//   npm run bench:peers -- --quick            a short run; writes nothing

import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { eventFields } from "../support/input.ts";
import { interleaved, median, number, quantile } from "../part.ts";
import { cpuOf, cpuOfFamily, run, sleep, startChild } from "../support/processes.ts";
import type { SendResult } from "../support/sender.ts";
import { tableText } from "../report.ts";
import { allPeers, installPeers, redisVersion, type Peer, type Running } from "./peers.ts";
import type { Arrivals, Order } from "./platforms.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, quick: { type: "boolean", default: false } } });
const { quick } = values;
const page = fileURLToPath(new URL("../../docs/explanation/benchmarks-peers.md", import.meta.url));

installPeers();
if (redisVersion() === null) console.log("redis-server is not installed; the peers that need it are left out.");
await run("npm", ["run", "-s", "build"], fileURLToPath(new URL("../..", import.meta.url)));

const platforms = startChild("../relays/platforms.ts");
const sender = startChild("./sender.ts");
const ask = (order: Order) => platforms.ask<Arrivals>(order);
const { ports } = await ask("ports");

type Load = { perSecond: number; cpu: number; databaseCpu: number };
type Latency = { p50: number; p99: number };
type Fault = { acknowledged: number; lost: number; late: number; twice: number; otherId: number };

const senders = 64;
let runs = 0;
const newRun = () => `${process.pid}-${runs++}`;

/** Sends as fast as answers come, and waits until the platforms have everything: a queue answers before it works. */
async function measureLoad(running: Running): Promise<Load> {
  await ask("forget");
  const cpu = () => ({ own: cpuOf(running.pid()), database: running.store ? cpuOfFamily(running.store.pid) : 0 });
  const before = cpu();
  const began = performance.now();
  const load = { senders, ms: quick ? 500 : 4000, port: running.port, key: running.key, known: 0, prefix: newRun() };
  const sent = await sender.ask<SendResult>(load);
  if (sent.failed > 0) throw new Error(`${sent.failed} of ${sent.events} events failed: ${sent.failure}`);
  await untilArrived(sent.events * ports.length, 120_000);
  const seconds = (performance.now() - began) / 1000;
  const after = cpu();
  return {
    perSecond: sent.events / seconds,
    cpu: (after.own - before.own) / sent.events,
    databaseCpu: (after.database - before.database) / sent.events,
  };
}

async function untilArrived(wanted: number, withinMs: number): Promise<void> {
  const began = Date.now();
  while ((await ask("ports")).arrived < wanted) {
    if (Date.now() - began > withinMs) throw new Error(`the platforms have ${(await ask("ports")).arrived} of ${wanted}`);
    await sleep(5);
  }
}

/** At 200 events a second, to the answer. */
async function measureLatency(running: Running): Promise<Latency> {
  const load = { perSecond: 200, ms: quick ? 1000 : 5000, port: running.port, key: running.key, known: 0, prefix: newRun() };
  const sent = await sender.ask<SendResult>(load);
  if (sent.failed > 0) throw new Error(`${sent.failed} of ${sent.events} events failed: ${sent.failure}`);
  await sleep(500);
  return { p50: sent.p50, p99: sent.p99 };
}

const ratePerSecond = 200;
const faultSeconds = quick ? 6 : 20;
/** How long after the last event what is missing counts as lost, or as late. */
const [lateMs, lostMs] = quick ? [2000, 10_000] : [10_000, 120_000];

/** A sender that repeats an event until it is acknowledged, as senders of webhooks do; meanwhile `fault` happens. */
async function measureFault(running: Running, fault: () => Promise<void>): Promise<Fault> {
  await ask("forget");
  const prefix = newRun();
  const pool = new Pool(`http://127.0.0.1:${running.port}`, { connections: 256 });
  const headers = { "content-type": "application/json", host: "shop.example.com", "x-cc-api-key": running.key };
  const acknowledged: string[] = [];
  const post = async (i: number) => {
    const fields = eventFields(i, { prefix, known: 0 });
    for (let left = 120; left > 0; left--) {
      const status = await pool
        .request({
          method: "POST",
          path: "/__cc/inbound",
          headers,
          body: JSON.stringify(fields),
          bodyTimeout: 15_000,
          headersTimeout: 15_000,
        })
        .then(async (answer) => (await answer.body.text(), answer.statusCode))
        .catch(() => 0);
      if (status === 200) return void acknowledged.push(fields.orderId);
      await sleep(500);
    }
  };
  const sent: Promise<void>[] = [];
  const began = performance.now();
  const happened = fault();
  for (let i = 0; i < ratePerSecond * faultSeconds; i++) {
    const due = began + (i * 1000) / ratePerSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    sent.push(post(i));
  }
  await Promise.all([...sent, happened]);
  await pool.destroy();

  const missing = async () => {
    const { orders } = await ask("arrivals");
    return acknowledged.reduce((sum, id) => sum + (orders[id]?.times ?? [0, 0, 0]).filter((times) => times === 0).length, 0);
  };
  const until = async (ms: number) => {
    const start = Date.now();
    let count = await missing();
    while (count > 0 && Date.now() - start < ms) {
      await sleep(500);
      count = await missing();
    }
    return count;
  };
  const late = await until(lateMs);
  const lost = late === 0 ? 0 : await until(lostMs);
  const { orders } = await ask("arrivals");
  const each = (what: "times" | "ids") =>
    Object.values(orders).reduce((sum, one) => sum + one[what].reduce((all, count) => all + Math.max(0, count - 1), 0), 0);
  return { acknowledged: acknowledged.length, late, lost, twice: each("times"), otherId: each("ids") };
}

const peers = allPeers().filter(({ name }) => name.toLowerCase().includes((values.only ?? "").toLowerCase()));
const failures: string[] = [];

const loads = new Map<string, { load: Load[]; latency: Latency[] }>();
const started = new Map<Peer, Running>();
for (const peer of peers) started.set(peer, await peer.start(ports));
for (const running of started.values()) for (let i = 0; i < (quick ? 1 : 2); i++) await measureLoad(running);
const measured = await interleaved(
  quick ? 1 : 5,
  Object.fromEntries(
    [...started].map(([peer, running]) => [
      peer.name,
      async () => ({ load: await measureLoad(running), latency: await measureLatency(running) }),
    ]),
  ),
);
for (const [name, rounds] of Object.entries(measured))
  loads.set(name, { load: rounds.map(({ load }) => load), latency: rounds.map(({ latency }) => latency) });
for (const running of started.values()) await running.stop();

type Scenario = { title: string; fault: (running: Running) => Promise<void>; fits?: (running: Running) => boolean };
const restart = async (running: Running, afterMs: number) => {
  await sleep(afterMs);
  await running.kill();
  await sleep(200);
  await running.start();
};
const scenarios: Record<string, Scenario> = {
  killed: {
    title: "The program is killed twice",
    fault: async (running) => {
      await restart(running, faultSeconds * 200);
      await restart(running, faultSeconds * 300);
    },
  },
  database: {
    title: "The program and its database are killed at once",
    fits: ({ store }) => store !== null,
    fault: async (running) => {
      await sleep(faultSeconds * 300);
      await Promise.all([running.kill(), running.store?.kill()]);
      await running.store?.start();
      await running.start();
    },
  },
  down: {
    title: "One platform answers 503 for half of the time, and the program is killed meanwhile",
    fault: async (running) => {
      await sleep(faultSeconds * 100);
      await ask({ down: 1, ms: faultSeconds * 500 });
      await restart(running, faultSeconds * 250);
    },
  },
};

const faults = new Map<string, Map<string, Fault>>();
for (const [name, scenario] of Object.entries(scenarios)) {
  faults.set(name, new Map());
  for (const peer of peers) {
    // A fresh one: what an earlier fault left behind must not count here.
    const running = await peer.start(ports);
    if (scenario.fits?.(running) ?? true) {
      try {
        faults.get(name)?.set(peer.name, await measureFault(running, () => scenario.fault(running)));
      } catch (error) {
        failures.push(`${peer.name}, ${scenario.title}: ${String(error)}`);
      }
    }
    await ask({ down: 1, ms: 0 });
    await running.stop();
  }
}

const middle = (rounds: readonly number[]) => number(median(rounds));
const loadTable = tableText({
  head: ["", "answers", "keeps what waits", "events/s", "CPU µs/event", "of these its database", "p50 ms", "p99 ms"],
  rows: peers.map(({ name, answers, keeps }) => {
    const { load = [], latency = [] } = loads.get(name) ?? {};
    return [
      name,
      answers,
      keeps,
      middle(load.map(({ perSecond }) => perSecond)),
      middle(load.map(({ cpu, databaseCpu }) => cpu + databaseCpu)),
      middle(load.map(({ databaseCpu }) => databaseCpu)),
      middle(latency.map(({ p50 }) => p50)),
      number(
        quantile(
          latency.map(({ p99 }) => p99),
          0.5,
        ),
      ),
    ];
  }),
});
const faultTables = Object.entries(scenarios).map(([name, { title }]) => {
  const rows = peers.flatMap((peer) => {
    const found = faults.get(name)?.get(peer.name);
    if (!found) return [];
    return [
      [peer.name, ...[found.acknowledged, found.lost, found.late, found.twice, found.otherId].map((n) => n.toLocaleString("en"))],
    ];
  });
  const head = ["", "acknowledged events", "reports lost", "later than 10 s", "reports sent again", "under another event id"];
  return `### ${title}\n\n${tableText({ head, rows })}`;
});

const text = `# Compared with other relays

What people would run in place of Cleancast, with the same job in the same run on the same machine: take a conversion by HTTP, hash
email, phone and names, and report it to three platforms. \`npm run bench:peers\` writes this page.

${tableText({ head: ["", "version"], rows: peers.map(({ name, version }) => [name, version]) })}

## Cost and speed

${senders} senders, each of which sends its next event when the last one is answered; a rate counts until the platforms have everything. CPU
is that of the program and of its database, all threads. Latency is measured at 200 events a second, from the time at which an event is due
to its answer; those that answer before they work are faster, and do not know what the platforms said.

${loadTable}

Cleancast does more per event than the others: it checks the key and all fields, hashes in every form that platforms want, looks up consent and
ad clicks, refuses duplicates, and keeps what each platform answered. The others do what their guides show.

## What is lost

${ratePerSecond} events a second for ${faultSeconds} seconds. The sender repeats an event every half second until it is acknowledged. A report is one
event at one platform: three for each event. It counts as lost if it has not arrived ${lostMs / 1000 + lateMs / 1000} seconds after the last event. A report
that is sent again under the same event id can be recognised by the platform; under another id it counts twice.

${faultTables.join("\n\n")}

## What the programs are

- **Node-RED**: a flow of its usual nodes: http in, function, three http requests, join, http response. It stores nothing; the sender must repeat
  what is not answered, and then all three platforms get it again.
- **walkerOS**: its collector with three of its API destinations, behind Express. The destination does not look at the status of an answer.
- **BullMQ**: Express adds a job for each platform, with 20 attempts. \`everysec\` is the choice of Redis itself for its log, \`always\` flushes it
  for each write.
- **graphile-worker**: Express adds the three jobs in one statement. A job that a killed worker had is locked for four hours, unless somebody
  unlocks it: that is its design, and it is what counts as lost here.

The programs are in \`bench/relays/apps\`, 20 to 40 lines each. Their versions are pinned in \`bench/relays/package-lock.json\`.

Measured ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node} on ${cpus().length} cores, which the senders, the platforms and the databases share.
`;
console.log(text);
for (const failure of failures) console.error(failure);
if (!quick && !values.only) writeFileSync(page, text);
await platforms.stop();
await sender.stop();
process.exit(failures.length ? 1 : 0);
