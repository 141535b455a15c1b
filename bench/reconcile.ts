// `npx node bench/reconcile.ts` measures a reconciliation of a million orders in a relay, on both engines: its duration, the memory of
// the relay, and how much longer single events take meanwhile. `--orders N` and `--engine sqlite|postgres` choose less.

import { parseArgs } from "node:util";
import { dayMs, hourMs } from "../src/kernel/time.ts";
import { listedId } from "../src/store/reconciliation/orders.ts";
import { storeSent } from "../test/support/sentEvents.ts";
import { commandIn } from "../test/support/commands.ts";
import { median, quantile } from "./part.ts";
import { postEvent } from "./start.ts";
import { cpuOf, memoryOf, sleep } from "./support/processes.ts";
import { install, connectStoreOf, startRelay, stopPostgres, type Engine, type Installation } from "./support/relay.ts";
import { seededDays, seedEvents, seedOrders } from "./support/seed.ts";

const { values } = parseArgs({ options: { orders: { type: "string" }, engine: { type: "string" } } });
const total = Number(values.orders ?? 1_000_000);
const engines = (["sqlite", "postgres"] as const).filter((one) => (values.engine ?? one) === one);
/** Every order has an event but for some; all events were sent at once. */
async function seed(installation: Installation): Promise<void> {
  const { siteId, connectionIds } = installation;
  const [connectionId = ""] = connectionIds;
  const store = await connectStoreOf(installation);
  const at = Date.now();
  const connection = { siteId, id: connectionId, platform: "meta" } as const;
  const { event } = await storeSent(store, connection, "{}", at);
  const { value, currency, person } = event;
  const listed = { orderId: "first", time: at, value, currency, emailSha256: person.emailSha256 ?? null };
  await store.orders.write([{ siteId, id: listedId(listed), status: "paid", listedAt: at, ...listed }]);
  // A relay that had received these events would have counted them long ago.
  await store.statistics.saveHead(siteId, { fromHour: 0, toHour: Math.floor(at / hourMs) });
  await store.close();
  await seedEvents(installation, total);
  await seedOrders(installation, total);
}

/** Posts one event after the other while `goesOn`, and returns the times of their answers in milliseconds. */
async function postWhile(port: number, key: string, goesOn: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const post = postEvent(key);
  while (goesOn()) {
    const began = performance.now();
    await post(port);
    times.push(performance.now() - began);
    await sleep(50);
  }
  return times;
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

async function measure(engine: Engine): Promise<Record<string, unknown>> {
  const installation = await install(engine, ["meta"], null);
  const seededAt = performance.now();
  await seed(installation);
  console.error(`${engine}: ${total} orders in ${Math.round((performance.now() - seededAt) / 1000)} s`);
  const command = async (...args: string[]) => {
    const { out, err } = await commandIn({ args: ["--json", "reconcile", ...args], env: installation.env });
    if (out === "") throw new Error(`reconcile ${args.join(" ")}: ${err}`);
    return JSON.parse(out).reconciliation;
  };

  // Events are not sent anywhere while the relay is measured.
  const connection = installation.connectionIds[0] ?? "";
  await commandIn({ args: ["connection", "pause", connection], env: installation.env });
  const relay = await startRelay(installation);
  let isIdle = true;
  setTimeout(() => (isIdle = false), 10_000);
  const before = await postWhile(relay.port, installation.key, () => isIdle);
  const memoryBefore = memoryOf(relay.pid);
  const ownBefore = memoryOf(relay.pid, "RssAnon");
  const cpuBefore = cpuOf(relay.pid);
  const began = performance.now();
  const days = ["--from", dayOf(Date.now() - (seededDays + 2) * dayMs), "--to", dayOf(Date.now() - dayMs)];
  const { id } = await command("start", ...days);
  // Reads the state in this process: a command each time would take the processor from the relay.
  const store = await connectStoreOf(installation);
  const key = { siteId: installation.siteId, id };
  let isRunning = true;
  // Without the pages of the database that the embedded store maps into memory: the system takes those back at any time.
  let ownPeak = 0;
  const during = postWhile(relay.port, installation.key, () => isRunning);
  while ((await store.reconciliations.find(key))?.state === "running") {
    await sleep(250);
    ownPeak = Math.max(ownPeak, memoryOf(relay.pid, "RssAnon"));
  }
  isRunning = false;
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = (cpuOf(relay.pid) - cpuBefore) / 1e6;
  await store.close();
  const run = await command("show", id);
  const result = {
    engine,
    orders: run.orders,
    classes: run.classes,
    accepted: run.connections[0].accepted,
    failed: run.connections[0].failed,
    seconds: Math.round(seconds),
    relayCpuSeconds: Math.round(cpuSeconds),
    ordersPerSecond: Math.round(run.orders / seconds),
    relayMbBefore: Math.round(memoryBefore),
    relayMbPeak: Math.round(memoryOf(relay.pid, "VmHWM")),
    relayMbOwnBefore: Math.round(ownBefore),
    relayMbOwnPeak: Math.round(ownPeak),
    answerMsBefore: [median(before), quantile(before, 0.99)].map((ms) => Number(ms.toFixed(2))),
    answerMsDuring: [median(await during), quantile(await during, 0.99)].map((ms) => Number(ms.toFixed(2))),
  };
  await relay.stop();
  return result;
}

// Commands run in a process that does not keep this one alive.
setInterval(() => {}, 60_000);
for (const engine of engines) console.log(JSON.stringify(await measure(engine), null, 2));
await stopPostgres();
process.exit(0);
