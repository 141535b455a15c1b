// Statistics always equal what the stored events add up to, rolled up or not: on both engines, with the real worker.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpaced } from "../background/pace.ts";
import { readShare } from "../background/share.ts";
import { newEvent, queuedDelivery, unattributed } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import type { Attribution, DeliveryState } from "../kernel/event.ts";
import { idAt, shortId } from "../kernel/ids.ts";
import type { Segment } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { hourMs } from "../kernel/time.ts";
import { createStatistics } from "./read.ts";
import { moneyOf } from "./aggregate.ts";
import { createStatisticsJob } from "./worker.ts";

const now = Date.UTC(2026, 10, 15, 12, 30);
const day = 24 * hourMs;
const attribution: Attribution = {
  ...unattributed,
  identity: "found",
  clickIds: { gclid: { value: "g", seenAt: now } },
  utm: { utm_campaign: "spring" },
};

test("hours with figures of many names are read a few at a time", async () => {
  const [hours, namesOfHour] = [60 * 24, 400];
  const toHour = Math.floor(now / hourMs);
  const read: number[] = [];
  const figure = { kind: "conversion", currency: "", count: 1, value: 0 } as const;
  const none = async () => [];
  const store = {
    statistics: {
      findHead: async () => ({ fromHour: 0, toHour }),
      findPreviousHour: async () => null,
      async listFigures(_siteId: string, from: number, to: number) {
        read.push(to - from);
        return Array.from({ length: (to - from) * namesOfHour }, (_, i) => ({
          ...figure,
          name: `n${i % namesOfHour}`,
          hour: from + Math.floor(i / namesOfHour),
        }));
      },
    },
    traffic: { listCounts: none },
    inboundCounts: { list: none },
    confirmations: { listCounts: none },
  } as unknown as Store;
  const range = { from: (toHour - hours) * hourMs, to: toHour * hourMs, step: "day", timeZone: "UTC" } as const;
  const { total } = await createStatistics(store, () => now).read("s", range);
  expect(total.conversions).toBe(hours * namesOfHour);
  expect(Math.max(...read)).toBeLessThanOrEqual(6);
});

describe.each(["sqlite", "postgres"] as const)("statistics on %s", (engine) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ store, close } = await createNodes(engine));
  });
  afterAll(() => close());

  async function add(siteId: string, at: number, changes: { value?: number; isFiltered?: boolean; time?: number } = {}) {
    const { value = 10.1, isFiltered = false, time = at } = changes;
    const item = newEvent(
      siteId,
      { receivedAt: at, value, time },
      {
        attribution,
        filterReasons: isFiltered ? [{ code: "blocked person", detail: null }] : [],
        deliveries: isFiltered ? [] : [queuedDelivery("c")],
        ownership: { by: "row", owner: "node", at, dueAt: at },
      },
    );
    await store.events.accept(item);
    return item.event.id;
  }

  const settle = (siteId: string, eventId: string, state: DeliveryState) =>
    store.deliveries.settle({
      siteId,
      eventId,
      connectionId: "c",
      owner: "node",
      state,
      reason: null,
      dueAt: 0,
      attempts: 1,
      at: now,
      attempt: null,
    });

  const workerAt = (siteId: string, at: number, owner = "a") =>
    createStatisticsJob({
      store,
      sites: () => [{ id: siteId }],
      pace: unpaced,
      owner,
      now: () => at,
      elapsed: () => at,
      onDefect: (error) => {
        throw error;
      },
    });

  const read = async (siteId: string, from: number, to: number, step: "hour" | "day" = "day") => {
    const statistics = createStatistics(store, () => now);
    const report = await statistics.read(siteId, { from, to, step, timeZone: "Europe/Berlin" });
    return {
      steps: report.steps.map(({ conversions }) => conversions).filter(Boolean),
      conversions: report.total.conversions,
      values: moneyOf(report.total.values),
      filtered: report.total.filtered,
      before: report.before.conversions,
      stepsBefore: report.steps.map(({ before }) => before.conversions).filter(Boolean),
      platforms: Object.fromEntries(report.details.platforms),
      gclid: report.details.clickIds.get("gclid"),
    };
  };
  const readSegment = async (siteId: string, from: number, to: number, segment: Segment) => {
    const range = { from, to, step: "day" as const, timeZone: "Europe/Berlin", segment };
    const { steps, total, before, details } = await createStatistics(store, () => now).read(siteId, range);
    return {
      steps: steps.map(({ conversions }) => conversions).filter(Boolean),
      total: [total.conversions, total.withClickId, total.sent, total.due, moneyOf(total.values)],
      before: [before.conversions, before.withClickId, before.sent, before.due, moneyOf(before.values)],
      campaigns: [...details.campaigns.keys()],
      delivered: [...details.delivered].map(([name, { conversions }]) => [name, conversions]),
    };
  };
  const end = Math.ceil(now / hourMs) * hourMs;

  test("before, during and after the rollup of past hours, the numbers are the same", async () => {
    const siteId = shortId();
    for (const ago of [0, 0, 60_000, hourMs, day, 3 * day, 10 * day]) {
      const id = await add(siteId, now - ago);
      await settle(siteId, id, "sent");
    }
    await add(siteId, now - 2 * day, { isFiltered: true });
    const expected = {
      steps: [1, 1, 4],
      conversions: 6,
      values: [{ currency: "EUR", value: 60.6 }],
      filtered: 1,
      before: 1,
      stepsBefore: [1],
      platforms: { sandbox: { sent: 6 } },
      gclid: 6,
    };
    const week = () => read(siteId, end - 7 * day, end);
    const segment = {
      steps: [1, 1, 4],
      total: [6, 6, 6, 6, [{ currency: "EUR", value: 60.6 }]],
      before: [1, 1, 1, 1, [{ currency: "EUR", value: 10.1 }]],
      campaigns: ["spring"],
      delivered: [["sandbox", 6]],
    };
    const expectAll = async () => {
      expect(await week()).toEqual(expected);
      for (const one of [
        { segment: "event", name: "purchase" },
        { segment: "source", name: "google" },
        { segment: "campaign", name: "spring" },
        { segment: "platform", name: "sandbox" },
      ] as const)
        expect(await readSegment(siteId, end - 7 * day, end, one), one.segment).toEqual(segment);
      const other = { segment: "source", name: "bing" } as const;
      expect((await readSegment(siteId, end - 7 * day, end, other)).total).toEqual([0, 0, 0, 0, []]);
    };
    await expectAll();
    await workerAt(siteId, now).run();
    expect(await store.statistics.findHead(siteId)).toMatchObject({ fromHour: 0 });
    await expectAll();
    await store.statistics.restart(siteId);
    await expectAll();
    expect(await store.statistics.listDueHours(siteId, Number.MAX_SAFE_INTEGER - 1, 9)).toEqual([Math.floor(now / hourMs) - 1]);
  });

  test("an event that arrives late is charted on the day it happened, before and after the rollup", async () => {
    const siteId = shortId();
    const ids = [
      await add(siteId, now - hourMs),
      await add(siteId, now - hourMs, { time: now - 2 * day, value: 50 }),
      await add(siteId, now - 2 * hourMs, { time: now - 30 * day }),
    ];
    for (const id of ids) await settle(siteId, id, "sent");
    const expectAll = async () => {
      const week = await read(siteId, end - 7 * day, end);
      expect(week).toMatchObject({ steps: [1, 1], conversions: 2, before: 0, values: [{ currency: "EUR", value: 60.1 }] });
      // Deliveries count when they were made.
      expect(week.platforms).toEqual({ sandbox: { sent: 3 } });
      expect(await read(siteId, end - 3 * day, end - day)).toMatchObject({
        conversions: 1,
        values: [{ currency: "EUR", value: 50 }],
      });
      const ofEvent = await readSegment(siteId, end - 7 * day, end, { segment: "event", name: "purchase" });
      expect(ofEvent).toMatchObject({ steps: [1, 1], total: [2, 2, 3, 3, [{ currency: "EUR", value: 60.1 }]] });
    };
    await workerAt(siteId, now).run();
    await expectAll();
    // A week that ends before the late event arrived shows it too.
    expect(await read(siteId, end - 35 * day, end - 28 * day)).toMatchObject({ conversions: 1 });
    await store.statistics.restart(siteId);
    const live = await read(siteId, end - 7 * day, end);
    expect(live).toMatchObject({ steps: [1, 1], conversions: 2 });
  });

  test("an hour is rolled up again while its deliveries wait, and after one was replayed", async () => {
    const siteId = shortId();
    const id = await add(siteId, now - 2 * hourMs);
    await workerAt(siteId, now).run();
    const states = async () => (await read(siteId, end - day, end)).platforms.sandbox;
    expect(await states()).toEqual({ queued: 1 });
    await settle(siteId, id, "rejected");
    await workerAt(siteId, now + 6 * hourMs).run();
    expect(await states()).toEqual({ rejected: 1 });

    const at = now + 20 * day;
    await store.syncLog.requeue(siteId, [{ eventId: id, connectionId: "c" }], ["rejected"], at);
    await workerAt(siteId, at + 1000).run();
    expect(await states()).toEqual({ rejected: 1 });
    await workerAt(siteId, at + 6 * 60_000).run();
    expect(await states()).toEqual({ queued: 1 });
  });

  test("later hours are rolled up when they are over, by the node that has the site in its share", async () => {
    const siteId = shortId();
    await add(siteId, now);
    await workerAt(siteId, now).run();
    expect(await store.statistics.findHead(siteId)).toBeNull();
    const later = now + 40 * day;
    const mark = idAt(now);
    for (const owner of ["a", "b"]) await store.nodes.renew(owner, mark, 60_000);
    const isMine = await readShare({ store, owner: "a" });
    const [mine, other] = isMine(siteId) ? ["a", "b"] : ["b", "a"];
    await workerAt(siteId, later, other).run();
    expect(await store.statistics.findHead(siteId)).toBeNull();
    await workerAt(siteId, later, mine).run();
    expect(await store.statistics.findHead(siteId)).toMatchObject({ fromHour: 0 });
    await add(siteId, later);
    await store.nodes.remove(mine);
    await workerAt(siteId, later + 2 * hourMs, other).run();
    await store.nodes.remove(other);
    expect((await store.statistics.findHead(siteId))?.toHour).toBe(Math.floor(later / hourMs) + 1);
  });

  test("concurrent readers get the full count of a running hour that has more events than a portion", async () => {
    const siteId = shortId();
    await Promise.all(Array.from({ length: 600 }, (_, n) => add(siteId, now - 1000 + n, { value: 1 })));
    const statistics = createStatistics(store, () => now);
    const range = { from: end - day, to: end, step: "hour" as const, timeZone: "UTC" };
    const reports = await Promise.all(Array.from({ length: 5 }, () => statistics.read(siteId, range)));
    expect(reports.map(({ total }) => total.conversions)).toEqual([600, 600, 600, 600, 600]);
    expect(reports[0]?.steps).toHaveLength(24);
  });
});
