// Load on relays whose database has a fault: sends orders, notes which were answered with 200, and looks for each of these in the
// database and at the receiver.

import { setTimeout as sleep } from "node:timers/promises";
import { deliveryStates, keepAliveAgent, postOver, rows, setUpSite } from "../installation.ts";
import { processState } from "../postgres/postgres.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { call, eventually, type Installation, type Relay } from "../relay.ts";

export type Sent = {
  /** Latency of what was answered with 200, in milliseconds. */
  p50: number;
  p95: number;
  max: number;
  /** The longest time without a 200. */
  gapMs: number;
  /** The number of answers by status; 0 for a connection that broke. */
  statuses: Record<string, number>;
};

export type Load = {
  relays: Relay[];
  /** Sends one order; returns the status. */
  send(keys: readonly string[]): Promise<number>;
  sendFor(keys: readonly string[], senders: number, ms: number): Promise<Sent>;
  /** Sends until `work` has ended. */
  sendDuring<T>(keys: readonly string[], senders: number, work: Promise<T>): Promise<Sent & { result: T }>;
  /** The CPU time of the relays so far, in milliseconds. */
  cpuMs(): number;
  /** Waits until everything is delivered, and compares it with what was answered. */
  check(): Promise<Checked>;
};

export type Checked = { answered: number; notStored: number; notReceived: number; receivedTwice: number };

let loads = 0;

/** `home` reads the database directly. */
export function createLoad(home: Installation, relays: Relay[], receiver: Receiver): Load {
  const agent = keepAliveAgent(256);
  const answered = new Set<string>();
  const run = `${process.pid}-${(loads += 1)}`;
  let sent = 0;

  async function send(keys: readonly string[]): Promise<number> {
    sent += 1;
    const orderId = `${run}-${sent}`;
    const relay = relays[sent % relays.length] as Relay;
    const key = keys[Math.floor(sent / relays.length) % keys.length] ?? "";
    const event = { email: `p${sent}@example.com`, event: "purchase", orderId, value: 1 };
    const status = await postOver(agent, relay, key, event).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) answered.add(orderId);
    return status;
  }

  async function sendWhile(keys: readonly string[], senders: number, isOver: () => boolean): Promise<Sent> {
    const times: number[] = [];
    const statuses: Record<string, number> = {};
    let acceptedAt = performance.now();
    let gapMs = 0;
    await Promise.all(
      Array.from({ length: senders }, async () => {
        while (!isOver()) {
          const startedAt = performance.now();
          const status = await send(keys);
          statuses[status] = (statuses[status] ?? 0) + 1;
          const endedAt = performance.now();
          if (status !== 200) {
            await sleep(100);
            continue;
          }
          times.push(endedAt - startedAt);
          gapMs = Math.max(gapMs, endedAt - acceptedAt);
          acceptedAt = endedAt;
        }
      }),
    );
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? NaN);
    return { p50: at(0.5), p95: at(0.95), max: at(1), gapMs: Math.round(gapMs), statuses };
  }

  return {
    relays,
    send,
    sendFor(keys, senders, ms) {
      const endAt = performance.now() + ms;
      return sendWhile(keys, senders, () => performance.now() >= endAt);
    },
    async sendDuring(keys, senders, work) {
      let isOver = false;
      const done = work.finally(() => (isOver = true));
      // A rejection is thrown below, after the senders have ended.
      done.catch(() => {});
      const result = await sendWhile(keys, senders, () => isOver);
      return { ...result, result: await done };
    },
    cpuMs: () => relays.reduce((sum, { process: { pid } }) => sum + (processState(pid ?? 0)?.cpuMs ?? 0), 0),
    async check() {
      await eventually("everything is delivered", async () => Object.keys(await deliveryStates(home)).join() === "sent", 120);
      const stored = new Set((await rows(home, `SELECT order_id FROM events`)).map((row) => row.order_id));
      const arrivals = new Map<unknown, number>();
      for (const { orderId } of receiver.bodies()) arrivals.set(orderId, (arrivals.get(orderId) ?? 0) + 1);
      const all = [...answered];
      return {
        answered: all.length,
        notStored: all.filter((id) => !stored.has(id)).length,
        notReceived: all.filter((id) => !arrivals.has(id)).length,
        receivedTwice: [...arrivals.values()].filter((times) => times > 1).length,
      };
    },
  };
}

/** Two nodes with one site that has one connection. `direct` reads the database itself, where `home` goes through a pooler. */
export async function createTwoNodes(home: Installation, direct = home): Promise<{ load: Load; keys: readonly string[] }> {
  const receiver = await startReceiver();
  const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const relays = await Promise.all([home.start(), home.start()]);
  return { load: createLoad(direct, relays, receiver), keys: [key] };
}

type Cost = {
  sent: Sent;
  /** Microseconds of CPU of an event: of each server of the database, and of all nodes. */
  databaseUs: number[];
  nodesUs: number;
};

/**
 * Measures what an event costs. The same load runs before, for the same time: a server plans a prepared statement anew for its first
 * five runs on a connection.
 */
export async function measureCost(
  load: Load,
  keys: readonly string[],
  senders: number,
  ms: number,
  databaseCpuMs: () => number[],
): Promise<Cost> {
  await load.sendFor(keys, senders, ms);
  const before = { database: databaseCpuMs(), nodes: load.cpuMs() };
  const sent = await load.sendFor(keys, senders, ms);
  const perEvent = (cpuMs: number) => Math.round((1000 * cpuMs) / (sent.statuses["200"] ?? 0));
  return {
    sent,
    databaseUs: databaseCpuMs().map((cpuMs, i) => perEvent(cpuMs - (before.database[i] ?? 0))),
    nodesUs: perEvent(load.cpuMs() - before.nodes),
  };
}

export const isReady = async (relay: Relay): Promise<boolean> =>
  (await call(relay.url, { method: "GET", path: "/readyz" })).status === 200;

/** Asks all relays whether they are ready, until `work` has ended. */
export async function countReady<T>(
  relays: readonly Relay[],
  work: Promise<T>,
): Promise<{ result: T; asked: number; ready: number }> {
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  done.catch(() => {});
  const counted = { asked: 0, ready: 0 };
  while (!isOver) {
    for (const relay of relays) {
      counted.asked += 1;
      if (await isReady(relay)) counted.ready += 1;
    }
    await sleep(100);
  }
  return { result: await done, ...counted };
}
