// Concurrency, batching, withdrawal and idleness of lanes.

import { describe, expect, test } from "vitest";
import {
  allOf,
  connectionTo,
  failOnUnhandledRejections,
  fillLanes,
  http,
  ids,
  job,
  jobs,
  leasedUntil,
  nextTick,
  sandbox,
  sandboxBatch,
  sandboxLanes,
  sendAll,
  sent,
  setUp,
  start,
  webhook,
  within,
} from "../../../test/support/lanes.ts";
import type { Mode, Result } from "../../kernel/event.ts";
import { platformOf } from "../../platforms/index.ts";
import type { OpenEvent } from "../ownership.ts";
import type { Job } from "../job.ts";

failOnUnhandledRejections();

describe("free lanes", () => {
  test("a conversion that finds a free lane is sent at once", async () => {
    const relay = setUp([sandbox]);
    const first = job(sandbox);
    const result = relay.lanes.send(first);
    await Promise.resolve();
    expect(relay.calls.map((call) => call.ids)).toEqual([[first.eventId]]);
    await relay.answer();
    expect(await result).toEqual(sent);
  });

  test("conversions that are ready at the same moment share a request", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const some = jobs(7, sandbox);
    expect(await allOf(relay.lanes, some)).toEqual(some.map(() => sent));
    expect(relay.calls.map((call) => call.ids)).toEqual([ids(some)]);
  });

  test("conversions that do not fit into one request use further free lanes", async () => {
    const relay = setUp([sandbox]);
    const results = sendAll(relay.lanes, jobs(sandboxBatch + 1, sandbox));
    await nextTick();
    expect(relay.calls.map((call) => call.ids.length)).toEqual([sandboxBatch, 1]);
    while (relay.openCalls()) await relay.answer();
    await Promise.all(results);
  });

  test("a conversion with several targets counts once for each of them towards the limit of a request", async () => {
    const settings = { pixel_id: "o8z6j", access_token: "token", "event.purchase": "aaaaa,bbbbb" };
    const x = connectionTo("x", { settings });
    const sizeOf = (body: string) => (JSON.parse(body) as { conversions: unknown[] }).conversions.length;
    const relay = setUp([x], {
      reply: ({ request }) => http(200, `{"data":{"conversions_processed":${sizeOf(request.body)}}}`),
    });
    const some = jobs(300, x);
    expect(await allOf(relay.lanes, some)).toEqual(some.map(() => sent));
    // X takes 500 in a request.
    expect(relay.calls.map(({ request }) => sizeOf(request.body))).toEqual([500, 100]);
  });

  test("a request has a bounded number of items", async () => {
    const segment = connectionTo("segment", { settings: { source: "s", write_key: "key" } });
    const relay = setUp([segment], { reply: () => http(200, '{"success":true}') });
    const withItems = (one: Job, count: number): Job => ({
      ...one,
      conversion: {
        ...one.conversion,
        items: Array.from({ length: count }, (_, i) => ({ id: `${i}`, quantity: 1 })),
      },
    });
    const counts = [40, 0, 60, 1, 100, 0, 100];
    const some = jobs(counts.length, segment).map((one, i) => withItems(one, counts[i] ?? 0));
    expect(await allOf(relay.lanes, some)).toEqual(some.map(() => sent));
    const sizeOf = (body: string) => (JSON.parse(body) as { batch: unknown[] }).batch.length;
    // Segment gets at most 100 in a request.
    expect(relay.calls.map(({ request }) => sizeOf(request.body))).toEqual([3, 1, 2, 1]);
  });

  test("a job that is withdrawn before it starts leaves the lanes idle", async () => {
    const relay = setUp([sandbox]);
    const one = job(sandbox);
    const result = relay.lanes.send(one);
    expect(relay.lanes.withdraw(one)).toBe(true);
    expect(await result).toMatchObject({ status: "queued" });
    expect(await within(500, relay.lanes.idle())).toBeUndefined();
    expect(relay.calls).toEqual([]);
  });

  test("conversions that arrive one by one use one lane each", async () => {
    const relay = setUp([sandbox]);
    const some = jobs(sandboxLanes, sandbox);
    const results: Promise<Result>[] = [];
    for (const one of some) {
      results.push(relay.lanes.send(one));
      await nextTick();
    }
    expect(relay.calls.map((call) => call.ids)).toEqual(some.map((one) => [one.eventId]));
    for (const _ of some) await relay.answer();
    expect(await Promise.all(results)).toEqual(some.map(() => sent));
  });

  test("the sender receives the platform and whether the customer chose the address", async () => {
    const relay = setUp([sandbox, webhook], { reply: () => http(200) });
    await Promise.all([relay.lanes.send(job(sandbox)), relay.lanes.send(job(webhook))]);
    expect(relay.calls.map((call) => call.to)).toEqual([
      { platform: "sandbox", customerAddress: false },
      { platform: "webhook", customerAddress: true },
    ]);
  });

  test("a connection that hangs delays no other, not even one to the same platform", async () => {
    const other = connectionTo("webhook", { id: "other" });
    const relay = setUp([webhook, other], {
      reply: (call) => (call.request.url.includes("other") ? http(200) : new Promise(() => {})),
    });
    relay.change({ ...other, settings: { url: "https://other.example.com/" } });
    void allOf(relay.lanes, jobs(100, webhook));
    expect(await within(500, relay.lanes.send(job(other)))).toEqual(sent);
  });

  test("connections with the same id on two sites have lanes of their own", async () => {
    const twin = { ...sandbox, siteId: "site2" };
    const relay = setUp([sandbox, twin]);
    await fillLanes(relay);
    void relay.lanes.send(job(twin));
    await nextTick();
    expect(relay.openCalls()).toBe(sandboxLanes + 1);
  });
});

describe("busy lanes", () => {
  test("conversions that arrive while all lanes are busy leave as one batch, oldest first", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const late = jobs(7, sandbox);
    const results = sendAll(relay.lanes, late);
    await nextTick();
    expect(relay.calls).toHaveLength(sandboxLanes);
    await relay.answer();
    expect(relay.calls.at(-1)?.ids).toEqual(ids(late));
    while (relay.openCalls()) await relay.answer();
    expect(await Promise.all(results)).toEqual(late.map(() => sent));
    expect(relay.calls).toHaveLength(sandboxLanes + 1);
  });

  test("a batch is never larger than the platform allows", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const late = jobs(sandboxBatch * 2 + 5, sandbox);
    const results = sendAll(relay.lanes, late);
    while (relay.openCalls()) await relay.answer();
    await Promise.all(results);
    const sizes = relay.calls.slice(sandboxLanes).map((call) => call.ids.length);
    expect(sizes).toEqual([sandboxBatch, sandboxBatch, 5]);
    expect(relay.calls.slice(sandboxLanes).flatMap((call) => call.ids)).toEqual(ids(late));
  });

  test("a platform without batches gets one conversion per request", async () => {
    const relay = setUp([webhook], { reply: async () => (await nextTick(), http(200)) });
    const many = jobs(100, webhook);
    await Promise.all(sendAll(relay.lanes, many));
    expect(relay.calls.every((call) => call.ids.length === 1)).toBe(true);
    expect(relay.calls.flatMap((call) => call.ids).toSorted()).toEqual(ids(many));
  });

  test.each([
    ["sandbox", 600, 2, 40],
    ["webhook", 300, 50, 4],
  ])("%s never has more requests in flight than lanes, whatever arrives", async (platform, count, atOnce, slowest) => {
    const connection = connectionTo(platform);
    const lanes = platformOf(platform)?.lanes ?? 0;
    const full = Promise.withResolvers<void>();
    const relay = setUp([connection], {
      reply: async () => {
        // However slow the machine is, no answer arrives before every lane is in use.
        if (relay.maxOpen() === lanes) full.resolve();
        await full.promise;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * slowest));
        return http(Math.random() < 0.3 ? 503 : Math.random() < 0.1 ? 400 : 200);
      },
    });
    const results: Promise<Result>[] = [];
    for (let left = count; left > 0; left -= atOnce) {
      results.push(...sendAll(relay.lanes, jobs(atOnce, connection)));
      await nextTick();
    }
    await Promise.all(results);
    await relay.lanes.idle();
    expect(relay.maxOpen()).toBe(lanes);
    expect(relay.settled).toHaveLength(count);
    expect(new Set(relay.settled.map((one) => one.eventId)).size).toBe(count);
  });

  test("test and live events never share a request", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const mixed = Array.from({ length: 10 }, (_, i) => job(sandbox, { mode: i % 3 === 0 ? "test" : "live" }));
    const results = sendAll(relay.lanes, mixed);
    while (relay.openCalls()) await relay.answer();
    expect(await Promise.all(results)).toEqual(mixed.map(() => sent));
    const byMode = (mode: Mode) => ids(mixed.filter((one) => one.conversion.mode === mode));
    expect(relay.calls.slice(sandboxLanes).map((call) => call.ids)).toEqual([byMode("test"), byMode("live")]);
  });

  test("capacity shrinks with waiting jobs and requests in flight, and recovers", async () => {
    const relay = setUp([sandbox]);
    const whole = sandboxLanes * sandboxBatch;
    expect(relay.lanes.capacity(sandbox)).toBe(whole);
    await fillLanes(relay);
    const results = sendAll(relay.lanes, jobs(10, sandbox));
    expect(relay.lanes.capacity(sandbox)).toBe(whole - sandboxLanes - 10);
    while (relay.openCalls()) await relay.answer();
    await Promise.all(results);
    await relay.lanes.idle();
    expect(relay.lanes.capacity(sandbox)).toBe(whole);
    void allOf(relay.lanes, jobs(whole + 50, sandbox));
    expect(relay.lanes.capacity(sandbox)).toBe(0);
  });
});

test("a breaker that opened while the wall clock ran ahead closes after its own pause", async () => {
  let status = 503;
  const relay = setUp([sandbox], { reply: () => http(status) });
  const lease = { ownership: leasedUntil(start + 2 * 3_600_000) };
  relay.clock.set = 3_600_000;
  for (let i = 0; i < 5; i++) await relay.lanes.send(job(sandbox, lease));
  relay.clock.set = 0;
  await relay.lanes.send(job(sandbox, lease));
  expect(relay.settled.at(-1)).toMatchObject({ dueAt: start + 5000, attempt: null });
  expect(relay.lanes.capacity(sandbox)).toBe(0);
  relay.clock.now += 5000;
  status = 200;
  expect(relay.lanes.capacity(sandbox)).toBeGreaterThan(0);
  expect(await relay.lanes.send(job(sandbox, lease))).toEqual(sent);
});

describe("withdrawal", () => {
  test("a waiting job that is withdrawn is due at once and untried", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const waiting = job(sandbox, { attemptsMade: 3 });
    const result = relay.lanes.send(waiting);
    relay.clock.now += 500;
    expect(relay.lanes.withdraw(waiting)).toBe(true);
    expect(await result).toMatchObject({ status: "queued" });
    expect(relay.settled).toMatchObject([
      { eventId: waiting.eventId, state: "queued", dueAt: start + 500, attempts: 3, attempt: null },
    ]);
    while (relay.openCalls()) await relay.answer();
    expect(relay.calls.flatMap((call) => call.ids)).not.toContain(waiting.eventId);
  });

  test("a job can be withdrawn once, and the jobs around it stay queued", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const [a, b, c] = jobs(3, sandbox) as [Job, Job, Job];
    void allOf(relay.lanes, [a, b, c]);
    expect(relay.lanes.withdraw(b)).toBe(true);
    expect(relay.lanes.withdraw(b)).toBe(false);
    await relay.answer();
    expect(relay.calls.at(-1)?.ids).toEqual(ids([a, c]));
  });

  test("a job in flight cannot be withdrawn, and its result still arrives", async () => {
    const relay = setUp([sandbox]);
    const one = job(sandbox);
    const result = relay.lanes.send(one);
    await nextTick();
    expect(relay.lanes.withdraw(one)).toBe(false);
    await relay.answer();
    expect(await result).toEqual(sent);
    expect(relay.settled).toHaveLength(1);
  });

  test("withdrawing a finished or unknown job changes nothing, and the lanes become idle", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const one = job(sandbox);
    await relay.lanes.send(one);
    await relay.lanes.idle();
    expect(relay.lanes.withdraw(one)).toBe(false);
    expect(relay.lanes.withdraw(job(webhook))).toBe(false);
    expect(await within(200, relay.lanes.idle())).not.toBe("never");
  });
});

describe("idle", () => {
  test("lanes that never sent anything are idle", async () => {
    expect(await within(200, setUp([sandbox]).lanes.idle())).not.toBe("never");
  });

  test("lanes are idle only when no connection has a request in flight or a waiting job", async () => {
    const relay = setUp([sandbox, webhook]);
    await fillLanes(relay);
    void allOf(relay.lanes, [...jobs(3, sandbox), job(webhook)]);
    let idle = false;
    const all = Promise.all([relay.lanes.idle(), relay.lanes.idle()]).then(() => (idle = true));
    while (relay.openCalls()) {
      expect(idle).toBe(false);
      await relay.answer();
    }
    await all;
    expect(relay.settled).toHaveLength(sandboxLanes + 4);
  });

  test("lanes are idle only when the last settlement is written", async () => {
    const written = Promise.withResolvers<void>();
    const relay = setUp([sandbox], { reply: () => http(200), settle: () => written.promise });
    void relay.lanes.send(job(sandbox));
    await nextTick();
    const idle = relay.lanes.idle();
    expect(await within(30, idle)).toBe("never");
    written.resolve();
    expect(await within(200, idle)).not.toBe("never");
  });

  test("lanes are idle only when a withdrawn job is settled: the store is closed after it", async () => {
    const writes: (() => void)[] = [];
    const relay = setUp([sandbox], {
      settle: ({ attempt }) => (attempt ? Promise.resolve() : new Promise((resolve) => writes.push(() => resolve()))),
    });
    await fillLanes(relay);
    const waiting = job(sandbox);
    void relay.lanes.send(waiting);
    relay.lanes.withdraw(waiting);
    while (relay.openCalls()) await relay.answer();
    const idle = relay.lanes.idle();
    expect(await within(30, idle)).toBe("never");
    for (const write of writes) write();
    expect(await within(200, idle)).not.toBe("never");
  });

  test("lanes become idle again after new work", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    for (let i = 0; i < 3; i++) {
      void relay.lanes.send(job(sandbox));
      expect(await within(200, relay.lanes.idle())).not.toBe("never");
      expect(relay.settled).toHaveLength(i + 1);
    }
  });
});

describe("what happens while a job waits or is sent", () => {
  test("an event is in hand from the moment its job arrives until its result is durable", async () => {
    const relay = setUp([sandbox]);
    const openEvent: OpenEvent = {
      settle: () => Promise.resolve(),
      close: () => {},
      abandon: () => {},
      leaseLeftMs: () => Infinity,
    };
    const ownership = { by: "node", owner: "node-a", at: start, event: openEvent } as const;
    const [first, retry] = [job(sandbox, { ownership }), job(sandbox, { attemptsMade: 1 })];
    const inHand = () => [...relay.lanes.inHand(first)];
    expect(inHand()).toEqual([]);
    const results = [relay.lanes.send(first), relay.lanes.send(retry)];
    expect(inHand()).toEqual([first.eventId, retry.eventId]);
    await nextTick();
    expect(inHand()).toEqual([first.eventId, retry.eventId]);
    await relay.answer();
    await Promise.all(results);
    expect(inHand()).toEqual([]);
  });

  test("a batch that waited for a second is looked at again, and what changed is given back unsent", async () => {
    const looked: string[][] = [];
    const [kept, changed] = [job(sandbox), job(sandbox, { attemptsMade: 1 })];
    const relay = setUp([sandbox], {
      recheck: async (waiting) => {
        looked.push(ids(waiting));
        return new Set(waiting.filter((one) => one === changed));
      },
    });
    await fillLanes(relay);
    const results = sendAll(relay.lanes, [kept, changed]);
    relay.clock.now += 1000;
    while (relay.openCalls()) await relay.answer();
    expect(await Promise.all(results)).toEqual([sent, { ok: false, status: "queued", error: "changed while it waited" }]);
    expect(looked).toEqual([[kept.eventId, changed.eventId]]);
    expect(relay.calls.flatMap((call) => call.ids)).not.toContain(changed.eventId);
    expect(relay.settled.find((one) => one.eventId === changed.eventId)).toMatchObject({
      state: "queued",
      attempts: 1,
      attempt: null,
      dueAt: start + 1000,
    });
  });

  test("a batch that waited for less is sent without another look", async () => {
    const relay = setUp([sandbox], { recheck: () => Promise.reject(new Error("not asked for")) });
    await fillLanes(relay);
    const results = sendAll(relay.lanes, jobs(2, sandbox));
    relay.clock.now += 999;
    while (relay.openCalls()) await relay.answer();
    expect(await Promise.all(results)).toEqual([sent, sent]);
  });
});

describe("jobs of a backfill", () => {
  const backfill = (count: number) => jobs(count, webhook, { isBackfill: true });
  const webhookLanes = platformOf("webhook")?.lanes ?? 0;

  test("jobs of a backfill use at most half of the lanes, and live events take the others at once", async () => {
    const relay = setUp([webhook]);
    const past = backfill(webhookLanes * 2);
    void sendAll(relay.lanes, past);
    await nextTick();
    expect(relay.openCalls()).toBe(webhookLanes / 2);
    const live = jobs(3, webhook);
    void sendAll(relay.lanes, live);
    await nextTick();
    expect(relay.calls.slice(webhookLanes / 2).flatMap((call) => call.ids)).toEqual(ids(live));
    while (relay.openCalls()) await relay.answer();
    expect(relay.settled.filter(({ state }) => state === "sent")).toHaveLength(webhookLanes * 2 + 3);
  });

  test("a live event that waits goes before every job of a backfill that waited longer", async () => {
    const relay = setUp([webhook]);
    const first = jobs(webhookLanes, webhook);
    void sendAll(relay.lanes, first);
    await nextTick();
    const past = backfill(3);
    const live = jobs(2, webhook);
    void sendAll(relay.lanes, [...past.slice(0, 2), live[0] as Job, ...past.slice(2), live[1] as Job]);
    for (let i = 0; i < 5; i++) await relay.answer();
    expect(relay.calls.slice(webhookLanes).flatMap((call) => call.ids)).toEqual([...ids(live), ...ids(past)]);
    while (relay.openCalls()) await relay.answer();
    await relay.lanes.idle();
  });

  test("a job of a backfill shares no request with live events, and can be withdrawn", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const [past, other] = jobs(2, sandbox, { isBackfill: true }) as [Job, Job];
    const live = job(sandbox);
    void sendAll(relay.lanes, [past, other, live]);
    expect(relay.lanes.withdraw(other)).toBe(true);
    await relay.answer();
    await relay.answer();
    expect(relay.calls.slice(sandboxLanes).map((call) => call.ids)).toEqual([ids([live]), ids([past])]);
    while (relay.openCalls()) await relay.answer();
    await relay.lanes.idle();
    expect(relay.lanes.depths()).toEqual([]);
  });
});
