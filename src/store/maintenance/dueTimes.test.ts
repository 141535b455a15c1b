// Due times that a clock which ran ahead has written, on both engines. PostgreSQL compares with its own clock, so the rows are
// placed around the present time.

import { afterAll, describe, expect, test } from "vitest";
import { auditLine, newEvent, newSite, queuedDelivery, settlementOf } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { unpaced } from "../../background/pace.ts";
import { shortId } from "../../kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import { createStatisticsJob } from "../../statistics/worker.ts";
import { connectDatabase } from "../connect.ts";
import { lockoutRule } from "../sites/keyUse.ts";
import { dueTimeStore } from "./dueTimes.ts";

const maxDelayMs = 1.2 * dayMs;
/** A busy machine may take this long for all tests of this file. */
const slowMs = hourMs / 2;

const hourOf = (time: number) => Math.floor(time / hourMs);

describe.each(["sqlite", "postgres"] as const)("due times on %s", async (engine) => {
  const { store, location, close } = await createNodes(engine);
  afterAll(close);
  const now = Date.now();
  const ahead = now + hourMs;

  /** A queued delivery that was settled at `at`, and is due at `dueAt`. */
  async function queued(siteId: string, at: number, dueAt: number): Promise<string> {
    const item = newEvent(siteId, { orderId: null, receivedAt: at });
    await store.events.accept(item);
    await store.deliveries.settle(settlementOf(item, "queued", { at, dueAt }));
    return item.event.id;
  }
  const correct = (siteId: string) => store.dueTimes.correctDeliveries({ siteId, connectionId: "c1" }, maxDelayMs);
  const dueIn = async (siteId: string, id: string) => {
    const [delivery] = await store.deliveries.listByEvent(siteId, id);
    return (delivery?.dueAt ?? 0) - now;
  };

  test("a retry that a clock an hour ahead has planned is due after the delay that was meant", async () => {
    const siteId = await newSite(store);
    const id = await queued(siteId, ahead, ahead + 10_000);
    expect(await correct(siteId)).toBe(1);
    expect(await dueIn(siteId, id)).toBeGreaterThanOrEqual(10_000);
    expect(await dueIn(siteId, id)).toBeLessThan(10_000 + slowMs);
    expect(await correct(siteId)).toBe(0);
  });

  test("retries that a right clock has planned keep their times, however late", async () => {
    const siteId = await newSite(store);
    const id = await queued(siteId, now, now + 10 * hourMs);
    expect(await correct(siteId)).toBe(0);
    expect(await dueIn(siteId, id)).toBe(10 * hourMs);
  });

  test("no delay is longer than the longest retry", async () => {
    const siteId = await newSite(store);
    const id = await queued(siteId, ahead, ahead + 30 * dayMs);
    expect(await correct(siteId)).toBe(1);
    expect(await dueIn(siteId, id)).toBeLessThan(maxDelayMs + slowMs);
  });

  test("a lease that a node with a wrong clock was given by the right one stays as it is", async () => {
    const siteId = await newSite(store);
    const deliveries = [queuedDelivery()];
    const ownership = { by: "row", owner: "node-b", at: now, dueAt: now + hourMs / 2 } as const;
    await store.events.accept(newEvent(siteId, { orderId: null, receivedAt: ahead }, { deliveries, ownership }));
    expect(await correct(siteId)).toBe(0);
  });

  test("a delivery that is due later than the longest retry is due then, whenever it was changed", async () => {
    const siteId = await newSite(store);
    const id = await queued(siteId, now, now + 30 * dayMs);
    expect(await correct(siteId)).toBe(1);
    expect(await dueIn(siteId, id)).toBeGreaterThanOrEqual(maxDelayMs);
    expect(await dueIn(siteId, id)).toBeLessThan(maxDelayMs + slowMs);
  });

  test.runIf(engine === "postgres")(
    "a node whose clock differs from the database's corrects nothing: it is not known which one is right",
    async () => {
      const siteId = await newSite(store);
      const id = await queued(siteId, now + dayMs, now + dayMs + 10_000);
      const db = connectDatabase(location);
      try {
        for (const wrongMs of [-hourMs, hourMs]) {
          const node = dueTimeStore(db, () => Date.now() + wrongMs);
          expect(await node.correctDeliveries({ siteId, connectionId: "c1" }, maxDelayMs)).toBe(0);
          await node.correctOthers(maxDelayMs);
        }
      } finally {
        await db.close();
      }
      expect(await dueIn(siteId, id)).toBe(dayMs + 10_000);
      expect(await correct(siteId)).toBe(1);
    },
  );

  test("a leased delivery keeps its owner and gets a whole lease from now on", async () => {
    const siteId = await newSite(store);
    const item = newEvent(siteId, { orderId: null, receivedAt: ahead });
    await store.events.accept(item);
    expect(await correct(siteId)).toBe(1);
    const [delivery] = await store.deliveries.listByEvent(siteId, item.event.id);
    expect(delivery?.owner).toBe("node-a");
    expect(await dueIn(siteId, item.event.id)).toBeGreaterThanOrEqual(30_000);
    expect(await dueIn(siteId, item.event.id)).toBeLessThan(30_000 + slowMs);
  });

  test.runIf(engine === "sqlite")("what a process whose clock ran ahead took from a former one is due at once", async () => {
    const siteId = await newSite(store);
    const item = newEvent(siteId, { orderId: null, receivedAt: now });
    await store.events.accept(item);
    await store.deliveries.releaseLeases(ahead);
    expect(await dueIn(siteId, item.event.id)).toBe(hourMs);
    expect(await correct(siteId)).toBe(1);
    expect(await dueIn(siteId, item.event.id)).toBeLessThan(slowMs);
  });

  test("all rows of a large backlog are corrected, also those that are due at the same moment", async () => {
    const siteId = await newSite(store);
    const ids = await Promise.all(Array.from({ length: 450 }, () => queued(siteId, ahead, ahead + 1000)));
    await queued(siteId, now, now + 2 * hourMs);
    expect(await correct(siteId)).toBe(ids.length);
    expect(await store.deliveries.findDue(Number.MAX_SAFE_INTEGER)).toContainEqual({
      siteId,
      connectionId: "c1",
    });
    const rows = await sql(
      location,
      `SELECT COUNT(*) AS n FROM deliveries WHERE site_id = '${siteId}' AND due_at > ${now + 30 * minuteMs}`,
    );
    expect(Number(rows[0]?.n)).toBe(1);
  });

  test("a webhook that failed while the clock ran ahead is pushed after the delay that was meant", async () => {
    const siteId = await newSite(store);
    const [id, untouched] = [shortId(), shortId()];
    const address = { url: "https://totals.example/in", secrets: { current: "s", previous: null } };
    for (const one of [id, untouched])
      await store.webhooks.add(auditLine(siteId, "test", now), { siteId, id: one, sendEmpty: true }, address);
    await store.periods.close({ siteId, number: 0, startsAt: 0, endsAt: now, now, dueAt: now });
    const fail = async (webhookId: string, at: number) => {
      await store.pushes.claim({ siteId, webhookId }, { owner: "a", now: at, until: at + 1000 });
      const failure = { failures: 1, failingSince: at, dueAt: at + 5000, disabled: null };
      const settled = { siteId, webhookId, owner: "a", number: 1, at, calls: [] };
      await store.pushes.settle({ ...settled, ok: false, ...failure });
    };
    await fail(id, ahead);
    await fail(untouched, now);
    await store.dueTimes.correctOthers(maxDelayMs);
    const webhooks = await store.webhooks.list(siteId);
    const [one, other] = [id, untouched].map((wanted) => webhooks.find((hook) => hook.id === wanted));
    expect((one?.dueAt ?? 0) - now).toBeGreaterThanOrEqual(5000);
    expect((one?.dueAt ?? 0) - now).toBeLessThan(5000 + slowMs);
    expect((one?.failingSince ?? 0) - now).toBeLessThan(slowMs);
    expect(other).toMatchObject({ dueAt: now + 5000, failingSince: now });
    // A period that was closed while the clock ran ahead is due at once.
    await store.periods.close({ siteId, number: 1, startsAt: now, endsAt: ahead, now: ahead, dueAt: ahead });
    await store.dueTimes.correctOthers(maxDelayMs);
    const due = await store.pushes.findDue(Date.now() + minuteMs);
    expect(due.filter((hook) => hook.siteId === siteId)).toHaveLength(2);
  });

  /** A site whose events all arrive in the present hour, and are counted by clocks that are wrong by `wrongMs`. */
  async function countedSite() {
    const siteId = await newSite(store);
    const hour = hourOf(now);
    return {
      siteId,
      accept: () => store.events.accept(newEvent(siteId, { orderId: null, receivedAt: now }, { deliveries: [] })),
      rollUp: async (wrongMs: number) => {
        const job = createStatisticsJob({
          store,
          sites: () => [{ id: siteId }],
          owner: shortId(),
          pace: unpaced,
          now: () => Date.now() + wrongMs,
          elapsed: () => performance.now(),
          onDefect(error) {
            throw error;
          },
        });
        await job.run();
        await job.release();
      },
      counted: async () =>
        (await store.statistics.listFigures(siteId, hour, hour + 5))
          .filter(({ kind }) => kind === "conversion")
          .reduce((sum, { count }) => sum + count, 0),
    };
  }

  test("an event of an hour that a clock three hours ahead took for closed is counted after the correction", async () => {
    const { siteId, accept, rollUp, counted } = await countedSite();
    await accept();
    await rollUp(3 * hourMs);
    expect(await counted()).toBe(1);
    await accept();
    await store.dueTimes.correctStatistics();
    await rollUp(0);
    expect(await counted()).toBe(2);
    expect((await store.statistics.findHead(siteId))?.toHour).toBeLessThanOrEqual(hourOf(Date.now()));
    // It is computed once more when it is closed by a right clock.
    await accept();
    await rollUp(2 * hourMs + 10 * minuteMs);
    expect(await counted()).toBe(3);
  });

  test("an hour that a clock ahead finds unchanged is counted again after the second correction, too", async () => {
    const { accept, rollUp, counted } = await countedSite();
    await accept();
    for (let i = 0; i < 2; i++) {
      await rollUp(3 * hourMs);
      await store.dueTimes.correctStatistics();
    }
    await accept();
    await rollUp(0);
    expect(await counted()).toBe(2);
  });

  test("a host that was locked while the clock ran ahead is not locked when the clock is right", async () => {
    const siteId = await newSite(store);
    const count = (at: number) => store.keyUse.countWrongKey(siteId, "shop.example", at, lockoutRule);
    for (let i = 0; i < lockoutRule.keys; i++) await count(ahead);
    expect(await store.keyUse.listLockouts(siteId, ahead)).toHaveLength(1);
    expect(await store.keyUse.listLockouts(siteId, now)).toEqual([]);
    expect(await count(now)).toBe(0);
    for (let i = 2; i < lockoutRule.keys; i++) expect(await count(now)).toBe(0);
    expect(await count(now)).toBe(now + lockoutRule.lockMs);
  });

  test("leases and rate limits of a clock that ran ahead do not bind a right one", async () => {
    const siteId = await newSite(store);
    const { platformSignIns, rateCounters } = store;
    expect(await platformSignIns.claimRefresh(siteId, "c", "a", ahead, ahead + 10_000)).toBe(true);
    expect(await platformSignIns.claimRefresh(siteId, "c", "b", ahead, ahead + 10_000)).toBe(false);
    expect(await platformSignIns.claimRefresh(siteId, "c", "b", now, now + 10_000)).toBe(true);
    const limit = { key: siteId, max: 1, windowMs: minuteMs };
    expect(await rateCounters.count([limit], ahead)).toBe(0);
    expect(await rateCounters.count([limit], ahead)).toBe(ahead + minuteMs);
    expect(await rateCounters.count([limit], now)).toBe(0);
    expect(await rateCounters.count([limit], now)).toBe(now + minuteMs);
  });
});
