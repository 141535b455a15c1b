// The totals of the outbound webhook after faults: the sum of all pushed periods equals what happened.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { areInOrder, readPush, sumOf, type Push } from "../support/pushes.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  engines,
  eventually,
  newInstallation,
  type Engine,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { botHeaders, report } from "../support/visits.ts";
import { rows } from "../support/installation.ts";

const bots = ["bot0@example.com", "bot1@example.com", "bot2@example.com"];

/** Counts live conversions and removals row by row, without the totals. */
async function countInDatabase(home: Installation): Promise<{ conversions: number; removed: number }> {
  const [events] = await rows(
    home,
    `SELECT SUM(CASE WHEN status = 'accepted' THEN 1 ELSE 0 END) AS conversions,
       SUM(CASE WHEN reasons LIKE '%only bot visits%' THEN 1 ELSE 0 END) AS removed
     FROM events WHERE mode = 'live'`,
  );
  const [visits] = await rows(home, `SELECT SUM(visits) AS bots FROM visit_counts WHERE bucket = 'bots'`);
  return {
    conversions: Number(events?.conversions),
    removed: Number(events?.removed) + Number(visits?.bots),
  };
}

type Hook = { receiver: Receiver; secret: string; acknowledged: Push[] };

/** Adds a webhook whose receiver accepts pushes while `isUp`, and keeps those that it acknowledged. */
async function addHook(home: Installation, site: TestSite, isUp: () => boolean): Promise<Hook> {
  const receiver = await startReceiver();
  const { secret } = await home.run("webhook", "add", site.host, receiver.url);
  const hook: Hook = { receiver, secret, acknowledged: [] };
  receiver.behave = (got, response) => {
    if (!isUp()) return void response.writeHead(503).end();
    const push = readPush(got, secret);
    response.writeHead(200).end(() => hook.acknowledged.push(push));
  };
  return hook;
}

/** Drops repetitions after a crash: the first push of each id counts. */
const once = (pushes: readonly Push[]) => pushes.filter((one, i) => pushes.findIndex((other) => other.id === one.id) === i);

async function chaos(engine: Engine): Promise<void> {
  const home = await newInstallation(engine, {
    CLEANCAST_PUSH_SECONDS: "1",
    CLEANCAST_PUSH_RETRY_SECONDS: "0.2",
  });
  const site = await home.addSite("shop.example");
  const { key: testKey } = await home.run("key", "add", site.host, "try", "--test");
  let isUp = true;
  const hooks = [await addHook(home, site, () => true), await addHook(home, site, () => isUp)];
  const nodes = await Promise.all(Array.from({ length: engine === "postgres" ? 2 : 1 }, () => home.start()));
  const node = (i: number) => nodes[i % nodes.length] as Relay;
  for (const email of bots) {
    await report(node(0), site.host, "identify", { emails: [sha256Of(email)] }, botHeaders);
  }

  let stopped = false;
  let sent = 0;
  /** Of every six events one is a bot's, one a test and one a duplicate of the previous one; a killed node causes errors. */
  async function sender(worker: number): Promise<void> {
    for (let i = 0; !stopped; i++) {
      const kind = i % 6;
      const orderId = `order-${worker}-${kind === 5 ? i - 1 : i}`;
      const email = kind === 3 ? (bots[worker % 3] as string) : `person-${worker}-${i}@example.com`;
      const event = { email: kind > 3 ? `same-${worker}@example.com` : email, event: "purchase", orderId };
      await node(worker + i)
        .post(kind === 2 ? testKey : site.key, event)
        .then(
          () => (sent += 1),
          () => sleep(50),
        );
      if (kind === 0) await report(node(worker), site.host, "visit", {}, botHeaders).catch(() => {});
    }
  }
  const senders = Promise.all([0, 1, 2, 3].map(sender));

  // The second receiver goes down, and one node is killed and started again, twice.
  const victim = nodes.length - 1;
  for (let round = 0; round < 2; round++) {
    await sleep(1500);
    isUp = round > 0;
    await node(victim).kill();
    await sleep(500);
    nodes[victim] = await home.start();
  }
  await eventually("several hundred events were sent", () => sent > 400);
  stopped = true;
  await senders;
  isUp = true;

  // Visit counts are written once a second, so the totals settle a little later.
  let happened = await countInDatabase(home);
  await eventually("nothing is added any more", async () => {
    await sleep(2500);
    const before = happened;
    happened = await countInDatabase(home);
    return happened.removed === before.removed && happened.conversions === before.conversions;
  });
  expect(happened.conversions).toBeGreaterThan(100);
  expect(happened.removed).toBeGreaterThan(30);
  for (const { acknowledged, receiver, secret } of hooks) {
    // A webhook that a killed node had leased is free when the lease expires.
    await eventually("everything was pushed", () => {
      const { conversions, removed } = sumOf(acknowledged);
      return conversions >= happened.conversions && removed >= happened.removed;
    });
    expect(sumOf(acknowledged)).toEqual(happened);
    expect(areInOrder(once(acknowledged))).toBe(true);
    // Refused pushes also had the same totals under the same id: sumOf() fails otherwise.
    sumOf(receiver.got.map((got) => readPush(got, secret)));
  }
  for (const relay of nodes) expect(await relay.stop()).toBe(0);
  expect(await countInDatabase(home)).toEqual(happened);
}

test.concurrent.each(engines)(
  "pushed totals on %s are exact after kills, an outage, duplicates, bots and test events",
  { timeout: 600_000 },
  (engine) => chaos(engine),
);
