// A sender that knows nothing of the relay's inside, as a shop's server: an order that was not answered with 200 goes to the other node
// until it is, and three of ten orders go in batches of ten. Then every order is looked for in the database and at the receiver.

import { setTimeout as sleep } from "node:timers/promises";
import { deliveryStates, keepAliveAgent, rows } from "../installation.ts";
import type { Receiver } from "../receiver.ts";
import { call, eventually, type Installation, type Relay } from "../relay.ts";

export type Counted = {
  orders: number;
  /** The longest time in which no order was answered with 200. */
  gapMs: number;
  notStored: number;
  storedTwice: number;
  notReceived: number;
  /** Received more than once: all under the id that platforms recognise, or not. */
  twiceSameId: number;
  twiceOtherId: number;
};

const batchSize = 10;
/** Of 33 orders ten are in a batch. */
const batchEvery = 24;
const retryMs = 100;

let senders = 0;

/** `relays` may be started again meanwhile. `findDirect` returns how the database itself is read, and not through a pooler. */
export function createOutsideSender(
  findDirect: () => Promise<Installation>,
  relays: readonly Relay[],
  keys: readonly string[],
  receiver: Receiver,
) {
  const agent = keepAliveAgent(64);
  const run = `${process.pid}-${(senders += 1)}`;
  const orders = new Set<string>();
  let requests = 0;
  let groups = 0;
  let acceptedAt = 0;
  let gapMs = 0;

  /** Returns the orders that are to be sent again: all of a request without an answer. */
  async function send(ids: readonly string[], key: string): Promise<readonly string[]> {
    const relay = relays[(requests += 1) % relays.length] as Relay;
    const events = ids.map((orderId) => ({ email: `p${orderId}@example.com`, event: "purchase", orderId, value: 1 }));
    const [path, body] = ids.length > 1 ? ["/__cc/inbound/batch", { events }] : ["/__cc/inbound", events[0]];
    const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
    const answer = await call(relay.url, { path, headers, body: JSON.stringify(body), agent }).catch(() => null);
    if (answer?.status !== 200) return ids;
    const { results = [{}] } = JSON.parse(answer.text) as { results?: { status?: number }[] };
    const left = ids.length > 1 ? ids.filter((_id, i) => results[i]?.status !== undefined) : [];
    if (left.length < ids.length) {
      gapMs = Math.max(gapMs, performance.now() - acceptedAt);
      acceptedAt = performance.now();
    }
    return left;
  }

  async function sendGroup(): Promise<void> {
    const n = (groups += 1);
    const key = keys[n % keys.length] ?? "";
    let left: readonly string[] = Array.from({ length: n % batchEvery === 0 ? batchSize : 1 }, (_, i) => `${run}-${n}-${i}`);
    for (const id of left) orders.add(id);
    while ((left = await send(left, key)).length > 0) await sleep(retryMs);
  }

  return {
    /** Sends until `work` has ended and every order was answered with 200. */
    async sendDuring(senderCount: number, work: Promise<unknown>): Promise<Counted> {
      orders.clear();
      receiver.got.length = 0;
      [acceptedAt, gapMs] = [performance.now(), 0];
      let isOver = false;
      const done = work.finally(() => (isOver = true));
      // A rejection is thrown below, after the senders have ended.
      done.catch(() => {});
      const sending = Array.from({ length: senderCount }, async () => {
        while (!isOver) await sendGroup();
      });
      await Promise.all(sending);
      await done;
      return count();
    },
  };

  async function count(): Promise<Counted> {
    const direct = await findDirect();
    await eventually("everything is delivered", async () => Object.keys(await deliveryStates(direct)).join() === "sent");
    const stored = await rows(direct, `SELECT order_id, COUNT(*) AS n FROM events GROUP BY order_id`);
    const storedTimes = new Map(stored.map((row) => [String(row.order_id), Number(row.n)]));
    const arrivals = Map.groupBy(receiver.bodies(), (body) => String(body.orderId));
    const repeated = [...arrivals.values()].filter((bodies) => bodies.length > 1);
    const hasOneId = (bodies: readonly Record<string, unknown>[]) =>
      new Set(bodies.map(({ platformEventId }) => platformEventId)).size === 1;
    const all = [...orders];
    return {
      orders: all.length,
      gapMs: Math.round(gapMs),
      notStored: all.filter((id) => !storedTimes.has(id)).length,
      storedTwice: all.filter((id) => (storedTimes.get(id) ?? 0) > 1).length,
      notReceived: all.filter((id) => !arrivals.has(id)).length,
      twiceSameId: repeated.filter(hasOneId).length,
      twiceOtherId: repeated.filter((bodies) => !hasOneId(bodies)).length,
    };
  }
}
