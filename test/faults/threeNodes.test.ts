// Three nodes on one PostgreSQL, each killed in turn under load: nothing is lost, exactly one of two equal requests
// on two nodes counts, and the deliveries of a dead node are taken over when their lease has run out.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { eventually, newInstallation, type Relay } from "../support/relay.ts";
import { deliveryStates, keepAliveAgent, listDeliveries, postOver, rows, setUpSite } from "../support/installation.ts";

const leaseMs = 3500;
/** The time after the end of a lease: the worker polls once a second, and a busy machine is slow. */
const takeOverMs = 60_000;
const senders = 9;
const holdMs = 150;

test("killing three nodes in turn loses no event and counts none twice, and leases are taken over in time", async () => {
  const home = await newInstallation("postgres", {
    CLEANCAST_ANSWER_SECONDS: "2",
    CLEANCAST_ATTEMPT_SECONDS: "1.5",
    CLEANCAST_LEASE_SECONDS: String(leaseMs / 1000),
    CLEANCAST_RETRY_SECONDS: "1",
    LOG_LEVEL: "silent",
  });
  const receiver = await startReceiver();
  receiver.behave = (_got, response) => void setTimeout(() => response.writeHead(200).end("{}"), holdMs);
  const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const nodes = await Promise.all([home.start(), home.start(), home.start()]);
  const agent = keepAliveAgent(2 * senders);

  /** By order, the answers as a first event and as a duplicate, and the requests without an answer, or with one to try again. */
  const answers = new Map<string, { first: number; again: number; cut: number }>();
  const others: string[] = [];
  /** Retries until a node has answered, beginning with the `at`th. */
  async function send(order: string, at: number): Promise<void> {
    const counted = answers.get(order) ?? { first: 0, again: 0, cut: 0 };
    answers.set(order, counted);
    const event = { email: `${order}@example.com`, event: "purchase", orderId: order, value: 10 };
    for (let tries = 0; ; tries++) {
      const answer = await postOver(agent, nodes[(at + tries) % 3] as Relay, key, event).catch(() => null);
      if (answer?.status === 200) return void (counted[answer.text.includes("deduped") ? "again" : "first"] += 1);
      // A slow machine may not commit within the time for an answer.
      if (answer === null || answer.status === 503) counted.cut += 1;
      else others.push(answer.text);
      await sleep(50);
    }
  }

  let next = 0;
  let isSending = true;
  const load = Array.from({ length: senders }, async () => {
    while (isSending) {
      const n = next++;
      await Promise.all([send(`order-${n}`, n), send(`order-${n}`, n + 1)]);
    }
  });
  /** By event id, the end of the lease of each delivery that a node held when it was killed. */
  const leases = new Map<string, number>();
  for (const killed of [0, 1, 2]) {
    const before = next;
    await eventually("there is load", () => next > before + 2 * senders);
    await (nodes[killed] as Relay).kill();
    const found = await rows(home, `SELECT owner, until FROM nodes`);
    const ends = new Map(found.map((row) => [row.owner, Number(row.until)]));
    for (const { state, eventId, owner } of await listDeliveries(home))
      if (state === "queued") leases.set(eventId, ends.get(owner) ?? 0);
    // The first node runs again before the last node is killed.
    if (killed === 1) nodes[0] = await home.start();
  }
  isSending = false;
  await Promise.all(load);

  await eventually("everything is sent", async () => {
    const states = await deliveryStates(home);
    return Object.keys(states).join() === "sent";
  });
  expect(others).toEqual([]);
  const events = await rows(home, `SELECT id, order_id FROM events`);
  expect(new Set(events.map((row) => row.order_id))).toEqual(new Set(answers.keys()));
  expect(events).toHaveLength(answers.size);
  for (const [order, { first, again, cut }] of answers) {
    expect(first + again, order).toBe(2);
    // A killed node may have accepted the first without answering.
    if (cut === 0) expect(first, order).toBe(1);
    else expect(first, order).toBeLessThanOrEqual(1);
  }
  const arrived = receiver.bodies().map((body) => `${String(body.orderId)} ${String(body.platformEventId)}`);
  expect(new Set(arrived).size).toBe(answers.size);

  const attempts = await rows(home, `SELECT event_id, MIN(started_at) AS started_at FROM attempts GROUP BY event_id`);
  const lateMs = attempts.flatMap((row) => {
    const leaseUntil = leases.get(String(row.event_id));
    return leaseUntil === undefined ? [] : [Number(row.started_at) - leaseUntil];
  });
  const takenOver = lateMs.filter((ms) => ms >= 0);
  expect(takenOver.length).toBeGreaterThan(0);
  expect(Math.max(...takenOver)).toBeLessThan(takeOverMs);
  for (const node of nodes) await node.kill();
  console.log(
    `${answers.size} orders, each sent twice; ${takenOver.length} were taken over from a dead node, the last ` +
      `${Math.max(...takenOver)} ms after the end of its lease.`,
  );
});
