// The database's machine dies under load and its standby takes its place: a real primary, a real synchronous standby, two
// relays. Every event that was answered 200 is stored and arrives once; requests in between are asked to retry. An asynchronous
// standby lacks the last commits: what it has is delivered all the same.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connectPostgres } from "../../src/store/engine/postgres/engine.ts";
import { createGateway, type Gateway } from "../support/postgres/gateway.ts";
import { startPair, type Pair } from "../support/postgres/primaryAndStandby.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, residentMb, type Installation, type Relay } from "../support/relay.ts";
import { deliveryStates, setUpSite, keepAliveAgent, onPostgres, postOver, rows } from "../support/installation.ts";

/** `npm run test:long` is the long run, in which the server stops answering instead of being killed. */
const isLong = process.env.FAIL_OVER_SECONDS !== undefined;
const senders = isLong ? 200 : 12;
/** Longer than the timeout of the store, so that requests are refused. */
const outageMs = isLong ? Number(process.env.FAIL_OVER_SECONDS) * 1000 : 2500;
const answerSeconds = 5;
/** The delay that a slow machine adds with so many senders. */
const slownessMs = 60_000;

describe("failover to a standby", () => {
  let pair: Pair;
  let home: Installation;
  /** The same installation on the promoted standby. */
  let promoted: Installation;
  beforeAll(async () => {
    pair = await startPair();
    home = await newInstallation("postgres", {
      CLEANCAST_ANSWER_SECONDS: String(answerSeconds),
      CLEANCAST_ATTEMPT_SECONDS: "2",
      CLEANCAST_LEASE_SECONDS: "8",
      CLEANCAST_PUSH_SECONDS: "1",
      CLEANCAST_PUSH_RETRY_SECONDS: "0.2",
      LOG_LEVEL: "silent",
    });
    home.env.DATABASE_URL = pair.url;
    promoted = home.with({ DATABASE_URL: pair.urlOf(pair.standby) });
  });
  afterAll(() => pair.stop());

  const isReady = async (relay: Relay) => (await call(relay.url, { method: "GET", path: "/readyz" })).status === 200;

  test(
    "a failover under load neither loses nor duplicates an accepted event, and the relays recover by themselves",
    async () => {
      const receiver = await startReceiver();
      const pushed = await startReceiver();
      const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
      await home.run("webhook", "add", "shop.example.com", pushed.url);
      const relays = await Promise.all([home.start(), home.start()]);
      const agent = keepAliveAgent(senders);

      const accepted = new Set<string>();
      const refused: { status: number; retryAfter: number; ms: number }[] = [];
      let next = 0;
      let requests = 0;
      let isSending = true;
      /** Retries on any node until one accepts the event, as senders do. */
      async function sendUntilAccepted(n: number): Promise<void> {
        const order = `order-${n}`;
        for (let tries = 0; ; tries++) {
          const startedAt = performance.now();
          requests += 1;
          const event = { email: `p${n}@example.com`, event: "purchase", orderId: order, value: 10 };
          const answer = await postOver(agent, relays[(n + tries) % 2] as Relay, key, event);
          if (answer.status === 200) return void accepted.add(order);
          const ms = performance.now() - startedAt;
          refused.push({ status: answer.status, retryAfter: Number(answer.headers["retry-after"]), ms });
          await sleep(100);
        }
      }
      const load = Array.from({ length: senders }, async () => {
        while (isSending) {
          await sendUntilAccepted(next++);
          await sleep(5);
        }
      });

      await eventually("there is load", () => accepted.size >= 200);
      const memoryBefore = relays.map(residentMb);
      if (isLong) pair.primary.freeze();
      else await pair.primary.kill();
      const atOutage = accepted.size;
      await sleep(outageMs);
      relays.forEach((relay, i) => expect(residentMb(relay) - (memoryBefore[i] ?? 0)).toBeLessThan(200));
      for (const relay of relays) expect(await isReady(relay)).toBe(false);
      await pair.standby.promote();
      const promotedAt = performance.now();
      await eventually("events are accepted again", () => accepted.size > atOutage + 200);
      const backMs = performance.now() - promotedAt;
      isSending = false;
      await Promise.all(load);
      if (isLong) await pair.primary.kill();

      // Every request was accepted or refused in time, and got no other answer.
      expect(refused.length).toBeGreaterThan(0);
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
      expect(refused.every(({ retryAfter }) => retryAfter >= 1)).toBe(true);
      const slowestMs = Math.max(...refused.map(({ ms }) => ms));
      expect(slowestMs).toBeLessThan(answerSeconds * 1000 + 500 + slownessMs);

      await eventually("everything is delivered", async () => {
        const states = await deliveryStates(promoted);
        return Object.keys(states).join() === "sent";
      });
      const events = await rows(promoted, `SELECT id, order_id FROM events`);
      const orders = events.map((row) => String(row.order_id));
      expect(new Set(orders)).toEqual(accepted);
      expect(orders).toHaveLength(accepted.size);
      const arrived = receiver.bodies().map((body) => String(body.orderId));
      expect(new Set(arrived)).toEqual(accepted);
      // After an outage that outlasts the leases, what was being sent when it began is sent again, with the same id.
      expect(new Set(receiver.bodies().map((body) => String(body.platformEventId))).size).toBe(accepted.size);
      const repeated = arrived.length - accepted.size;
      expect(repeated).toBeLessThanOrEqual(isLong ? senders : 0);

      for (const relay of relays) await eventually("the node is ready again", () => isReady(relay));
      // Both nodes know a new key soon.
      const { key: fresh } = await promoted.run("key", "add", "shop.example.com", "added after the failover");
      for (const relay of relays)
        await eventually("the node knows the key", async () => {
          const answer = await postOver(agent, relay, fresh, { email: "late@example.com", event: "lead" });
          return answer.status === 200;
        });
      const pushedConversions = () => {
        const byId = new Map(pushed.got.map((one) => [one.headers["webhook-id"], JSON.parse(one.text)]));
        return [...byId.values()].reduce((sum, { conversions }) => sum + Number(conversions), 0);
      };
      await eventually("the webhook received all totals", () => pushedConversions() === accepted.size + 1);
      await eventually("uses of the key are counted, also those during the outage", async () => {
        const [row] = await rows(promoted, `SELECT SUM(uses) AS uses FROM key_uses`);
        return Number(row?.uses) >= requests + 2;
      });
      for (const relay of relays) expect(await relay.stop()).toBe(0);
      console.log(
        `${accepted.size} events, ${refused.length} refusals in an outage of ${outageMs} ms, the slowest after ${Math.round(slowestMs)} ms; the ` +
          `200 events after the promotion were accepted ${Math.round(backMs)} ms after it. ` +
          `${repeated} of ${accepted.size} were sent twice, with the same id.`,
      );
    },
    60_000 + outageMs,
  );

  const portOf = ({ url }: { url: string }) => new URL(url).port;
  const port = `SELECT inet_server_port() AS port`;
  /** Returns a URL of both servers, with a gateway in front of the promoted one. */
  async function throughGateway(mode: Gateway["mode"]) {
    const gateway = await createGateway(pair.standby.url, mode);
    const former = new URL(pair.urlOf(pair.primary));
    return { gateway, url: former.href.replace(former.host, `${former.host},${gateway.host}`) };
  }

  test("a starting node does not write to a former primary, however slow the promoted server is", async () => {
    await pair.primary.restart();
    const { gateway, url } = await throughGateway("open");
    gateway.delayMs = 100;
    for (const one of [pair.url, url]) {
      const db = connectPostgres(one, { connections: 2 });
      try {
        const [row] = await db.write((tx) => tx.all(port));
        expect(String(row?.port)).toBe(portOf(pair.standby));
      } finally {
        await db.close();
      }
    }
  });

  test("a primary that was replaced unnoticed is abandoned: queued writes move to the promoted server, and none goes back", async () => {
    const { gateway, url } = await throughGateway("closed");
    const db = connectPostgres(url, { connections: 4, probeEveryMs: 300 });
    try {
      const [before] = await db.all(port);
      expect(String(before?.port)).toBe(portOf(pair.primary));
      const waiting = Array.from({ length: 60 }, () =>
        db
          .write(async (tx) => {
            await tx.all(`SELECT pg_sleep(0.1)`);
            return tx.all(port);
          })
          .then(([row]) => ({ at: performance.now(), port: String(row?.port) })),
      );
      gateway.mode = "open";
      await eventually("the promoted server is found", async () => {
        const [row] = await db.all(port);
        return String(row?.port) === portOf(pair.standby);
      });
      const leftAt = performance.now();
      const answers = await Promise.all(waiting);
      expect(answers.some(({ at }) => at > leftAt)).toBe(true);
      for (const answer of answers) if (answer.at > leftAt) expect(answer.port).toBe(portOf(pair.standby));
      gateway.mode = "closed";
      gateway.cut();
      await expect(db.all(port)).rejects.toThrow("another server was promoted after it");
    } finally {
      await db.close();
    }
  });

  test("a commit that never reached the standby does not count, although the server reports COMMIT", async () => {
    const old = home.with({ DATABASE_URL: pair.urlOf(pair.primary) });
    // The store itself cancels a commit that takes too long: closing the connection would leave it waiting on the server.
    const db = connectPostgres(pair.urlOf(pair.primary), { connections: 2, commitTimeoutMs: 200 });
    try {
      let runs = 0;
      const write = (version: number, isSingle: boolean) =>
        db.write(
          async (tx) => {
            runs += 1;
            // The first run writes the row; later runs find it.
            return tx.all(`INSERT INTO migrations (version, name, applied_at) VALUES ($1, 'alone', 0) ON CONFLICT DO NOTHING`, [
              version,
            ]);
          },
          { isSingle },
        );
      // There are more writes than connections; waiting writes must not open another connection.
      const written = await Promise.allSettled([
        ...[-1, -2].map((version) => write(version, false)),
        ...[-3, -4].map((version) => write(version, true)),
      ]);
      for (const one of written)
        expect(one).toMatchObject({
          reason: { message: "it is not known whether the transaction is durable" },
        });
      expect(runs).toBeGreaterThan(5);
      const open = await onPostgres(old, (client) =>
        client.query(
          `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'cleancast schema %' AND datname = current_database()`,
        ),
      );
      expect(open.rowCount).toBeLessThanOrEqual(2);
    } finally {
      await db.close();
    }
  });
});

test("a delivery whose outcome an asynchronous standby lacks is made again after its promotion, and no other", async () => {
  const pair = await startPair({ isSynchronous: false });
  onTestFinished(() => pair.stop());
  const home = await newInstallation("postgres", { LOG_LEVEL: "silent" });
  home.env.DATABASE_URL = pair.url;
  const [former, promoted] = [pair.primary, pair.standby].map((server) => home.with({ DATABASE_URL: pair.urlOf(server) })) as [
    Installation,
    Installation,
  ];
  const receiver = await startReceiver();
  const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const relay = await home.start();
  const send = (orderId: string) => relay.post(key, { email: `${orderId}@example.com`, event: "purchase", orderId });
  const outcomes = async (on: Installation) => Number((await rows(on, `SELECT COUNT(*) AS n FROM outcomes`))[0]?.n);

  await send("kept");
  await eventually("the standby has the outcome", async () => (await outcomes(promoted)) === 1);
  const answerOk = receiver.behave;
  const held = Promise.withResolvers<() => void>();
  receiver.behave = (...given) => held.resolve(() => answerOk(...given));
  const answer = send("repeated");
  const release = await held.promise;
  await eventually("the standby has the event", async () => {
    const found = await rows(promoted, `SELECT id FROM events WHERE order_id = 'repeated'`);
    return found.length === 1;
  });
  pair.cutReplication();
  receiver.behave = answerOk;
  release();
  expect((await answer).status).toBe(200);
  await send("lost");
  await eventually("the node regards all as settled", async () => {
    const settled = await rows(former, `SELECT 1 FROM nodes WHERE low_water >= (SELECT id FROM events WHERE order_id = 'lost')`);
    return settled.length === 1 && (await outcomes(former)) === 3;
  });
  await pair.primary.kill();
  await pair.standby.promote();

  const timesOf = (orderId: string) => receiver.bodies().filter((body) => body.orderId === orderId).length;
  await eventually("it is delivered again", () => timesOf("repeated") === 2);
  await eventually("everything is settled", async () => (await deliveryStates(promoted)).sent === 2);
  expect(["kept", "repeated", "lost"].map(timesOf)).toEqual([1, 2, 1]);
  const ids = receiver.bodies().filter((body) => body.orderId === "repeated");
  expect(ids[0]).toEqual(ids[1]);
  expect(await relay.stop()).toBe(0);
});
