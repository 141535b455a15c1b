// Real stores, workers and lanes, with a wall clock that runs an hour ahead while the receivers are down, and is then corrected.

import { afterEach, describe, expect, test, vi } from "vitest";
import { newEvent, queuedDelivery } from "../../test/support/events.ts";
import { createNodes, sql } from "../../test/support/nodes.ts";
import { http } from "../../test/support/lanes.ts";
import { eventually } from "../../test/support/relay.ts";
import { createBreaker } from "../delivery/lanes/breaker.ts";
import { createLanes } from "../delivery/lanes/lanes.ts";
import { createQuota } from "../delivery/lanes/quota.ts";
import type { Sender } from "../delivery/send.ts";
import { startWorker } from "../delivery/due/worker.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { newSigningSecret } from "../kernel/ids.ts";
import { startOutbound } from "../outbound/worker.ts";
import { connect } from "../sites/connect.ts";
import { createDirectory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import { ownedByAny } from "../store/deliveries/ownership.ts";
import { startDueTimes } from "./dueTimes.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function setUp(engine: "sqlite" | "postgres") {
  const { store, location, close } = await createNodes(engine);
  ends.push(close);
  const directory = createDirectory(store);
  const clock = { set: hourMs, passed: 0 };
  const now = () => Date.now() + clock.set;
  const elapsed = () => performance.now() + clock.passed;
  const by = { actor: "test", now: now(), checkAddress: () => null };
  const { id: siteId } = await addSite({ store, directory }, "shop.example.com", by);
  const site = directory.site(siteId) ?? expect.unreachable("it was added");
  const url = "https://hooks.example.com/in";
  const { connection } = await connect({ store, directory }, site, "webhook", { url }, by);
  const address = {
    url: "https://totals.example.com/in",
    secrets: { current: newSigningSecret(), previous: null },
  };
  const line = { siteId, actor: "test", action: "test", detail: {}, at: now() };
  await store.webhooks.add(line, { siteId, id: shortId(), sendEmpty: true }, address);

  const state = { isDown: true, pushed: 0, calls: 0 };
  const sender: Sender = {
    async send(_request, { platform }) {
      state.calls += 1;
      if (state.isDown) return http(503);
      if (platform === "outbound") state.pushed += 1;
      return http(200);
    },
    close: () => Promise.resolve(),
  };
  const fail = (error: unknown) => {
    throw error;
  };
  const retry = { scheduleMs: [50], random: () => 0.5 };

  /** Starts what delivers and pushes, as a process does. */
  function startNode() {
    const node = { store, directory, owner: shortId(), now, elapsed, pollMs: 100, onDefect: fail };
    const lanes = createLanes({
      ...node,
      sender,
      settle: store.deliveries.settle,
      tokens: { fresh: async (one) => one },
      breaker: createBreaker(),
      quota: createQuota(),
      retry,
      attemptMs: 1000,
      markForReconnection: async () => {},
    });
    const parts = [
      startWorker({ ...node, lanes, leaseMs: 5000 }),
      startOutbound({ ...node, sender, attemptMs: 1000, pushMs: 200, retry, newId: ulid, onDisabled: fail }),
    ];
    /** Resolves after the first look of the correction, which would otherwise come between the first retries. */
    const looked = Promise.withResolvers<void>();
    const findDue: typeof store.deliveries.findDue = async (at) => {
      const found = await store.deliveries.findDue(at);
      looked.resolve();
      return found;
    };
    const dueTimes = startDueTimes({
      store: { ...store, deliveries: { ...store.deliveries, findDue } },
      retryScheduleMs: [50],
      pushRetryMs: [50],
      onDefect: fail,
    });
    const stop = async () => {
      for (const part of [...parts, dueTimes]) await part.stop();
      await lanes.close();
    };
    ends.push(stop);
    return { stop, dueTimes, looked: looked.promise };
  }

  const accept = async (count: number) => {
    const deliveries = [queuedDelivery(connection.id, "webhook")];
    for (let i = 0; i < count; i++) {
      const fields = { orderId: shortId(), receivedAt: now(), time: now() };
      await store.events.accept(newEvent(siteId, fields, { deliveries, ownership: ownedByAny(now()) }));
    }
  };
  const count = async (where: string) => Number((await sql(location, `SELECT COUNT(*) AS n FROM ${where}`))[0]?.n);
  /** What is planned for a time that is more than half an hour away. */
  const farAway = async () => {
    const late = `due_at > ${Date.now() + hourMs / 2}`;
    return [await count(`deliveries WHERE state = 'queued' AND ${late}`), await count(`webhooks WHERE ${late}`)];
  };
  return { clock, state, startNode, accept, count, farAway };
}

describe.each(["sqlite", "postgres"] as const)("a clock that is corrected on %s", (engine) => {
  test.each([
    ["while the node runs", false],
    ["before it starts again", true],
  ])("deliveries and pushes go on when the clock is corrected %s", async (_when, isRestarted) => {
    const { clock, state, startNode, accept, count, farAway } = await setUp(engine);
    const node = startNode();
    await node.looked;
    await accept(8);
    await eventually("retries are planned an hour ahead", async () => {
      const [deliveries = 0, webhooks = 0] = await farAway();
      return deliveries === 8 && webhooks === 1;
    });
    if (isRestarted) await node.stop();
    clock.set = 0;
    state.isDown = false;
    // Longer than a breaker stays open.
    clock.passed = 10_000;
    if (isRestarted) startNode();
    else node.dueTimes.correct();
    await accept(2);
    await eventually("all are sent", async () => (await count("deliveries WHERE state = 'sent'")) === 10);
    await eventually("the totals are pushed", () => state.pushed > 2);
    expect(await farAway()).toEqual([0, 0]);
  });
});

test("due times are corrected at once each time the clock is set back, and a minute after the last", async () => {
  vi.useFakeTimers();
  ends.push(async () => void vi.useRealTimers());
  let corrections = 0;
  let held: Promise<void> | null = null;
  const dueTimes = startDueTimes({
    store: {
      deliveries: { findDue: async () => [] },
      dueTimes: { correctOthers: async () => void (corrections += 1), correctStatistics: async () => held },
    } as unknown as Parameters<typeof startDueTimes>[0]["store"],
    retryScheduleMs: [50],
    pushRetryMs: [50],
    onDefect: () => expect.unreachable(),
  });
  ends.push(() => dueTimes.stop());
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return corrections;
  };
  expect(await after(1)).toBe(1);
  dueTimes.correct();
  expect(await after(1)).toBe(2);
  dueTimes.correct();
  expect([await after(1), await after(minuteMs - 2)]).toEqual([3, 3]);
  expect([await after(2), await after(30 * minuteMs)]).toEqual([4, 4]);
  // The clock is set back again while a correction waits for the database.
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  dueTimes.correct();
  expect(await after(1)).toBe(5);
  dueTimes.correct();
  held = null;
  resolve();
  expect([await after(1), await after(minuteMs + 1), await after(20 * minuteMs)]).toEqual([6, 7, 7]);
});

test("a connection that cannot be corrected keeps no other waiting, and is tried again a minute later", async () => {
  vi.useFakeTimers();
  ends.push(async () => void vi.useRealTimers());
  const due = ["a", "b", "c"].map((siteId) => ({ siteId, connectionId: "c1" }));
  const failing = new Set(["a"]);
  const corrected: string[] = [];
  const defects: unknown[] = [];
  const dueTimes = startDueTimes({
    store: {
      deliveries: { findDue: async () => due },
      dueTimes: {
        correctOthers: async () => {},
        correctStatistics: async () => {},
        async correctDeliveries({ siteId }: { siteId: string }) {
          if (failing.has(siteId)) throw new Error(`${siteId} is damaged`);
          corrected.push(siteId);
          return 0;
        },
      },
      slices: { divide: async (siteIds: Iterable<string>) => new Map([["", new Map([["", [...siteIds]]])]]) },
      health: { isMachineError: () => false },
    } as unknown as Parameters<typeof startDueTimes>[0]["store"],
    retryScheduleMs: [50],
    pushRetryMs: [50],
    onDefect: (error) => defects.push(error),
  });
  ends.push(() => dueTimes.stop());
  await vi.advanceTimersByTimeAsync(1);
  expect([corrected, defects]).toEqual([["b", "c"], [new Error("a is damaged")]]);
  failing.clear();
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(corrected.slice(2).toSorted()).toEqual(["a", "b", "c"]);
});
