// Tests the worker with a real store and real receivers: one that hangs, several nodes, and a lost lease.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { freshFolder, migratedDatabase } from "../../test/support/databases.ts";
import { startReceiver } from "../../test/support/receiver.ts";
import { eventually } from "../../test/support/relay.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { createSender } from "../delivery/send.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import type { StoreLocation } from "../store/connect.ts";
import { createStore, type Store } from "../store/store.ts";
import { newSigningSecret } from "../kernel/ids.ts";
import { startOutbound } from "./worker.ts";
import { say } from "../kernel/messages/message.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function createOn(engine: "sqlite" | "postgres"): Promise<() => Promise<Store>> {
  const location: StoreLocation =
    engine === "sqlite"
      ? { engine, file: `${freshFolder()}/store.db` }
      : { engine, url: await migratedDatabase(), connections: 4 };
  return async () => {
    const store = await createStore(location, Buffer.alloc(32, 7), ulid);
    ends.push(() => store.close());
    return store;
  };
}

/** `aheadMs` is how far the node's clock is ahead of the one that all nodes share. */
function start(store: Store, owner: string, { random = () => 0.5, aheadMs = 0, attemptMs = 30_000, wallClock = Date.now } = {}) {
  const allow = readAllowList("127.0.0.0/8") as AllowList;
  const sender = createSender({ connectMs: 500, attemptMs, allow, origins: {} });
  const defects: unknown[] = [];
  const worker = startOutbound({
    store,
    sender,
    attemptMs,
    owner,
    pushMs: 200,
    pollMs: 100,
    retry: { scheduleMs: [100], random },
    now: () => wallClock() + aheadMs,
    clock: { read: async () => ({ now: wallClock(), isOff: false }), fromLocal: (at) => at - aheadMs, lagMs: () => 0 },
    elapsed: () => performance.now(),
    newId: ulid,
    onDisabled: () => {},
    onDefect: (error) => defects.push(error),
  });
  const stop = () => worker.stop();
  ends.push(() => sender.close(), stop);
  return { stop, defects };
}

async function addWebhook(store: Store, url: string, siteId = shortId()): Promise<{ siteId: string; webhookId: string }> {
  const id = shortId();
  const line = { siteId, actor: "test", action: "test", detail: {}, at: Date.now() };
  const previous = { secret: newSigningSecret(), until: Date.now() + dayMs };
  const address = { url, secrets: { current: newSigningSecret(), previous } };
  await store.webhooks.add(line, { siteId, id, sendEmpty: true }, address);
  return { siteId, webhookId: id };
}

describe.each(["sqlite", "postgres"] as const)("the worker on %s", (engine) => {
  test("a receiver that hangs is given up in time and retried, and delays no other", async () => {
    const open = await createOn(engine);
    const store = await open();
    const [hanging, quick] = [await startReceiver(), await startReceiver()];
    hanging.behave = () => {};
    const key = await addWebhook(store, hanging.url);
    await addWebhook(store, quick.url);
    const { defects } = start(store, "a", { attemptMs: 700 });
    await eventually("the first call hangs", () => hanging.got.length === 1);
    const during = quick.got.length;
    await eventually("the other goes on", () => quick.got.length >= during + 2);
    await eventually("it is tried again", () => hanging.got.length >= 2);
    const [line] = await store.pushes.listLog(key, 10);
    expect(line).toMatchObject({ ok: false, httpStatus: null, error: say("no_answer_within", { seconds: 0.7 }) });
    expect(new Set(hanging.got.map((got) => got.headers["webhook-id"])).size).toBe(1);
    expect(defects).toEqual([]);
  });

  test("the receivers of one site that hang hold ten pushes at most, and the others of the site follow", async () => {
    const open = await createOn(engine);
    const store = await open();
    const [hanging, quick] = [await startReceiver(), await startReceiver()];
    const called = new Set<string>();
    const held: (() => void)[] = [];
    hanging.behave = ({ path }, response) => {
      called.add(path);
      held.push(() => void response.writeHead(200).end());
    };
    const siteId = shortId();
    for (let i = 0; i < 14; i += 1) await addWebhook(store, `${hanging.url}/${i}`, siteId);
    await addWebhook(store, quick.url);
    const { defects } = start(store, "a");
    await eventually("ten of them hang", () => held.length >= 10);
    const during = quick.got.length;
    await eventually("another site goes on", () => quick.got.length >= during + 4);
    expect(called.size).toBe(10);
    hanging.behave = ({ path }, response) => {
      called.add(path);
      response.writeHead(200).end();
    };
    for (const answer of held) answer();
    await eventually("all were called", () => called.size === 14);
    expect(defects).toEqual([]);
  });

  test("a node whose clock is ahead plans pushes and their retries by the clock that all nodes share", async () => {
    const open = await createOn(engine);
    const store = await open();
    const receiver = await startReceiver();
    const dueTimes: number[] = [];
    receiver.behave = (_got, response) => response.writeHead(receiver.got.length > 2 ? 200 : 503).end();
    const { siteId } = await addWebhook(store, receiver.url);
    start(store, "a", { aheadMs: hourMs });
    await eventually("a push was retried and accepted", async () => {
      const [webhook] = await store.webhooks.list(siteId);
      dueTimes.push(webhook?.dueAt ?? 0);
      return receiver.got.length > 3;
    });
    expect(Math.max(...dueTimes)).toBeLessThan(Date.now() + hourMs / 2);
  });

  test("several nodes push a webhook one at a time, each period once and in order", async () => {
    const open = await createOn(engine);
    const store = await open();
    const receiver = await startReceiver();
    let underWay = 0;
    let maxUnderWay = 0;
    receiver.behave = (_got, response) => {
      maxUnderWay = Math.max(maxUnderWay, (underWay += 1));
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(200).end();
      }, 30);
    };
    await addWebhook(store, receiver.url);
    const nodes = [start(store, "a"), start(engine === "postgres" ? await open() : store, "b")];
    await eventually("many periods were pushed", () => receiver.got.length >= 6);
    for (const { stop } of nodes) await stop();
    const ids = receiver.got.map((got) => Number(String(got.headers["webhook-id"]).split("_")[2]));
    expect(ids).toEqual(ids.map((_, i) => i + 1));
    expect(maxUnderWay).toBe(1);
    expect(nodes.flatMap(({ defects }) => defects)).toEqual([]);
  });

  test("periods that waited are all pushed in order, each once", async () => {
    const open = await createOn(engine);
    const store = await open();
    const receiver = await startReceiver();
    const { siteId, webhookId } = await addWebhook(store, receiver.url);
    const waited = 96;
    for (let number = 0; number < waited; number++) {
      const [startsAt, endsAt] = [number, number + 1].map((n) => Date.now() - (waited - n) * 200);
      const times = { startsAt: startsAt as number, endsAt: endsAt as number, now: Date.now(), dueAt: 0 };
      await store.periods.close({ siteId, number, ...times });
    }
    const { stop } = start(store, "a");
    await eventually("everything was pushed", () => receiver.got.length >= waited);
    await stop();
    const ids = receiver.got.map((got) => got.headers["webhook-id"]);
    expect(ids).toEqual(ids.map((_, i) => `push_${webhookId}_${i + 1}`));
  });

  test("a stop waits for the push under way, and nothing is pushed afterwards", async () => {
    const open = await createOn(engine);
    const store = await open();
    const receiver = await startReceiver();
    let answered = false;
    receiver.behave = (_got, response) => {
      setTimeout(() => {
        answered = true;
        response.writeHead(200).end();
      }, 300);
    };
    const key = await addWebhook(store, receiver.url);
    const { stop } = start(store, "a");
    await eventually("a push is under way", () => receiver.got.length === 1);
    await stop();
    expect(answered).toBe(true);
    expect(await store.pushes.listLog(key, 10)).toMatchObject([{ ok: true, httpStatus: 200 }]);
    await sleep(600);
    expect(receiver.got).toHaveLength(1);
  });

  test.each([
    ["claims a push", "claim", hourMs, 0],
    ["claims a push, and whose clock is set back then,", "claim", -hourMs, 0],
    ["renews the lease of a push", "renewLease", hourMs, 1],
  ] as const)(
    "a machine that is suspended while it %s does not send it after another node",
    async (_what, step, movedMs, calls) => {
      const store = await (await createOn(engine))();
      const receiver = await startReceiver();
      // The call is repeated with the secret before.
      receiver.behave = (_got, response) => response.writeHead(401).end();
      const key = await addWebhook(store, receiver.url);
      let wallMs = 0;
      /** Only the wall clock goes on, or is set back, while the database answers. Another node takes the push over meanwhile. */
      async function suspend(): Promise<void> {
        if (wallMs !== 0) return;
        wallMs = movedMs;
        const later = Date.now() + hourMs;
        const claimed = await store.pushes.claim(key, { owner: "b", now: later, until: later + 60_000 });
        expect(claimed?.period.number).toBe(1);
        await store.pushes.settle({ ...key, owner: "b", number: 1, at: Date.now(), calls: [], ok: true });
      }
      const pushes: Store["pushes"] = {
        ...store.pushes,
        async [step](...given: [never, never]) {
          const leased = await store.pushes[step](...given);
          if (leased) await suspend();
          return leased as never;
        },
      };
      const { defects } = start({ ...store, pushes }, "a", { wallClock: () => Date.now() + wallMs });
      const idsOf = () => receiver.got.map((got) => got.headers["webhook-id"]);
      await eventually("the next period is pushed", () => idsOf().includes(`push_${key.webhookId}_2`));
      expect(idsOf().filter((id) => id === `push_${key.webhookId}_1`)).toHaveLength(calls);
      expect(defects).toEqual([]);
    },
  );

  test("a push that another node has taken over is left to that node", async () => {
    const open = await createOn(engine);
    const store = await open();
    const receiver = await startReceiver();
    let release: () => void = () => {};
    receiver.behave = (_got, response) => {
      release = () => void response.writeHead(500).end();
    };
    const key = await addWebhook(store, receiver.url);
    const { stop, defects } = start(store, "a");
    await eventually("a push is under way", () => receiver.got.length === 1);
    // As if this node had been suspended for longer than its lease.
    const later = Date.now() + 60_000;
    const claimed = await store.pushes.claim(key, { owner: "b", now: later, until: later + 60_000 });
    expect(claimed?.period.number).toBe(1);
    release();
    await stop();
    expect(await store.pushes.listLog(key, 10)).toEqual([]);
    expect(await store.webhooks.listWithSecrets(key.siteId)).toMatchObject([{ attempts: 0, failingSince: null }]);
    expect(defects).toEqual([]);
  });
});
