// `npm run bench:reconcile` measures a reconciliation of a million orders in a relay, on both engines: its duration, the memory of
// the relay, and how much longer single events take meanwhile. `--orders N` and `--engine sqlite|postgres` choose less.

import { parseArgs } from "node:util";
import { idAt } from "../src/kernel/ids.ts";
import { dayMs } from "../src/kernel/time.ts";
import { orderKey, type Order } from "../src/store/reconciliation/orders.ts";
import type { Store } from "../src/store/store.ts";
import { newEvent, queuedDelivery, settlementOf } from "../test/support/events.ts";
import { sha256 } from "../test/support/sha256.ts";
import { commandIn } from "../test/support/commands.ts";
import { median, quantile } from "./part.ts";
import { postEvent } from "./start.ts";
import { memoryOf, sleep } from "./support/processes.ts";
import {
  install,
  openStoreOf,
  startRelay,
  stopPostgres,
  type Engine,
  type Installation,
} from "./support/relay.ts";

const { values } = parseArgs({ options: { orders: { type: "string" }, engine: { type: "string" } } });
const total = Number(values.orders ?? 1_000_000);
const engines = (["sqlite", "postgres"] as const).filter((one) => (values.engine ?? one) === one);
/** The window: days that have been over for long enough. */
const windowMs = 25 * dayMs;
const chunk = 1000;

/** One of 20 orders has no event, one of 50 another value, one of ten a `#`; the platform refused one of 25. */
async function seed(
  store: Store,
  { siteId, connectionIds: [connectionId = ""] }: Installation,
): Promise<void> {
  const from = Date.now() - 28 * dayMs;
  for (let first = 0; first < total; first += chunk) {
    const orders: Order[] = [];
    const numbers = Array.from({ length: Math.min(chunk, total - first) }, (_, i) => first + i);
    await Promise.all(
      numbers.map(async (i) => {
        const time = from + Math.floor((i * windowMs) / total);
        const emailSha256 = sha256((i % 100_000).toString(16).padStart(64, "0"));
        const listed = { time, value: 10 + (i % 50 === 0 ? 1 : 0), currency: "EUR", emailSha256 };
        const id = orderKey(`${i % 10 === 0 ? "#" : ""}A-${i}`, listed);
        orders.push({ siteId, id, status: "paid", listedAt: time, ...listed });
        if (i % 20 === 0) return;
        const fields = { id: idAt(time).slice(0, 16) + String(i).padStart(10, "0"), orderId: `A-${i}`, receivedAt: time, value: 10, person: { emailSha256 } }; // prettier-ignore
        const item = newEvent(siteId, fields, { deliveries: [queuedDelivery(connectionId, "meta")] });
        await store.events.accept(item);
        const state = i % 25 === 0 ? "rejected" : "sent";
        await store.deliveries.settle(settlementOf(item, state, { connectionId, at: time }));
      }),
    );
    await store.orders.write(orders);
  }
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

async function measure(engine: Engine): Promise<Record<string, unknown>> {
  const installation = await install(engine, ["meta"], null);
  const store = await openStoreOf(installation);
  const seededAt = performance.now();
  await seed(store, installation);
  await store.close();
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
  const began = performance.now();
  const { id } = await command("start");
  let run = await command("show", id);
  let isRunning = true;
  // Without the pages of the database that the embedded store maps into memory: the system takes those back at any time.
  let ownPeak = 0;
  const during = postWhile(relay.port, installation.key, () => isRunning);
  while (run.state === "running") {
    await sleep(1000);
    ownPeak = Math.max(ownPeak, memoryOf(relay.pid, "RssAnon"));
    // A machine that is too busy to answer the command says nothing of the run.
    run = await command("show", id).catch((error: unknown) => {
      console.error(String(error));
      return run;
    });
  }
  isRunning = false;
  const seconds = (performance.now() - began) / 1000;
  const result = {
    engine,
    orders: run.orders,
    classes: run.classes,
    accepted: run.connections[0].accepted,
    failed: run.connections[0].failed,
    seconds: Math.round(seconds),
    ordersPerSecond: Math.round(run.orders / seconds),
    relayMbBefore: Math.round(memoryBefore),
    relayMbPeak: Math.round(memoryOf(relay.pid, "VmHWM")),
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
