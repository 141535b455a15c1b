// How long claimed deliveries can be sent, and which are due again when a setting is corrected, with a real store and lanes that only note
// what they are given.

import { afterAll, describe, expect, test } from "vitest";
import { newAttempt, newEvent, newSite, queuedDelivery, settlementOf } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { localClock } from "../../background/sharedClock.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import { waitUntilCorrected } from "../../platforms/shared/batchRejection.ts";
import { changeConnection, connect } from "../../sites/connect.ts";
import { createDirectory } from "../../sites/directory.ts";
import { findSite } from "../../sites/manage.ts";
import { ownedByAny } from "../../store/deliveries/ownership.ts";
import type { Settlement } from "../../store/deliveries/delivery.ts";
import type { Job } from "../job.ts";
import { sendDue } from "./claim.ts";

const start = Date.UTC(2026, 10, 1, 12);
const by = { actor: "test", now: start, checkAddress: () => null };
const settings = {
  webhook: { url: "https://hooks.example.com/in" },
  meta: { pixel_id: "1234567890123456", access_token: "token" },
};

describe.each(["sqlite", "postgres"] as const)("how long a delivery can be sent on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  afterAll(close);

  /** A delivery of an event that was received at `start`. Times are days from then. */
  async function setUp(platform: keyof typeof settings) {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = findSite({ directory }, siteId);
    const { connection } = await connect({ store, directory }, site, platform, settings[platform], by);
    await directory.refresh();
    const key = { siteId, connectionId: connection.id };
    const item = newEvent(
      siteId,
      { receivedAt: start, time: start },
      { deliveries: [queuedDelivery(connection.id, platform)], ownership: ownedByAny(start) },
    );
    await store.events.accept(item);
    let attempts = 0;
    let lastJob: Job | undefined;
    const timeOf = (days: number) => start + Math.round(days * dayMs);

    /** Claims the delivery. Returns for how many days it can be sent then. */
    async function claim(days: number): Promise<number> {
      const at = timeOf(days);
      const jobs: Job[] = [];
      const lanes = {
        send: (job: Job) => (jobs.push(job), Promise.resolve({ ok: true } as const)),
        inHand: () => new Set<string>(),
        withdraw: () => false,
        capacity: () => 10,
        depths: () => [],
        idle: () => Promise.resolve(),
        close: () => Promise.resolve(),
      };
      const now = () => at;
      await sendDue(
        {
          store,
          directory,
          lanes,
          owner: "node-a",
          leaseMs: minuteMs,
          now,
          elapsed: now,
          clock: localClock(now),
          onDefect: (error) => expect.unreachable(String(error)),
        },
        key,
        { onCapacity() {}, pollAgain() {} },
      );
      expect(jobs).toHaveLength(1);
      lastJob = jobs[0];
      return ((jobs[0]?.expiresAt ?? 0) - at) / dayMs;
    }

    const settle = (state: Settlement["state"], reason: string | null, at: number, isAttempt: boolean) => {
      if (isAttempt) attempts += 1;
      const attempt = isAttempt ? newAttempt(state, { number: attempts, startedAt: at, reason }) : null;
      const { connectionId } = key;
      return store.deliveries.settle(settlementOf(item, state, { connectionId, reason, dueAt: at, attempts, at, attempt }));
    };

    return {
      siteId,
      connection,
      claim,
      /** An attempt at `start` after which the claimed delivery waits. */
      wait: (reason: string, dueAt: number) =>
        store.deliveries.settle(
          settlementOf(item, "queued", { connectionId: key.connectionId, reason, dueAt, attempts: (attempts += 1), at: start }),
        ),
      dueAt: async () => (await store.deliveries.listByEvent(siteId, item.event.id))[0]?.dueAt,
      /** An attempt that ends in this state, on a claimed delivery. */
      attempt: (days: number, state: Settlement["state"] = "queued") => settle(state, "HTTP 503", timeOf(days), true),
      /** The claimed delivery waits without an attempt, for which its job has this reason. */
      block: (days: number) =>
        settle("queued", lastJob?.queuedFor === undefined ? "unavailable" : lastJob.queuedFor, timeOf(days), false),
      pause: (days: number) => store.deliveries.endPending(key, { state: "parked", reason: "paused" }, timeOf(days)),
      resume: (days: number) => store.deliveries.releaseParked(siteId, key.connectionId, timeOf(days)),
      replay: (days: number) =>
        store.syncLog.requeue(siteId, [{ eventId: item.event.id, ...key }], ["rejected", "expired"], timeOf(days)),
    };
  }

  test("a delivery to a platform without an age limit is retried for a week from its receipt", async () => {
    const { claim, attempt } = await setUp("webhook");
    for (let day = 0; day < 7; day++) {
      expect(await claim(day)).toBe(7 - day);
      await attempt(day);
    }
    expect(await claim(7.5)).toBeLessThan(0);
  });

  test("what waited for a paused connection for longer than a week is sent, and retried for another one", async () => {
    const { claim, attempt, block, pause, resume } = await setUp("webhook");
    await claim(0);
    await attempt(0);
    await pause(1);
    await resume(30);
    expect(await claim(30)).toBe(7);
    await block(30);
    expect(await claim(30.5)).toBe(7);
    await attempt(30.5);
    expect(await claim(31.5)).toBe(6);
    await attempt(31.5);
    expect(await claim(33)).toBe(4.5);
  });

  test("what waits behind an endpoint that is dead for good expires, however long it waits between two attempts", async () => {
    const never = await setUp("webhook");
    await never.claim(0);
    await never.block(0);
    expect(await never.claim(8)).toBe(-1);
    const rarely = await setUp("webhook");
    let left = 7;
    let day = 0;
    for (; left > 0 && day < 200; day += 3) {
      left = await rarely.claim(day);
      await rarely.attempt(day);
    }
    expect(day).toBeGreaterThan(90);
    expect(day).toBeLessThan(105);
  });

  test.each(["rejected", "expired"] as const)("a delivery that was %s can be replayed after any time", async (state) => {
    const { claim, attempt, replay } = await setUp("webhook");
    await claim(7.4);
    await attempt(7.4, "queued");
    await claim(7.5);
    await attempt(7.5, state);
    await replay(8);
    expect(await claim(8)).toBe(7);
    await attempt(8);
    expect(await claim(8 + hourMs / dayMs)).toBeCloseTo(7 - hourMs / dayMs, 9);
    await attempt(9, state);
    await replay(400);
    expect(await claim(400)).toBe(7);
  });

  test("what waits for a setting is tried again as soon as the connection is changed, and nothing else is", async () => {
    const { siteId, connection, claim, dueAt, wait } = await setUp("meta");
    const change = async (changed: Record<string, string>) => {
      await directory.refresh();
      const site = findSite({ directory }, siteId);
      const existing = site.connections.find(({ id }) => id === connection.id) ?? expect.unreachable("it is connected");
      await changeConnection({ store, directory }, site, existing, { settings: changed }, { ...by, now: start + hourMs });
    };
    const { error } = waitUntilCorrected("No such rule", "event.lead");
    await claim(0);
    await wait("HTTP 503", start + dayMs);
    await change({ limited_data: "always" });
    expect(await dueAt()).toBe(start + dayMs);
    await claim(1);
    await wait(error, start + 2 * dayMs);
    await change({ "event.lead": "Lead" });
    expect(await dueAt()).toBe(start + hourMs);
  });

  test("neither a pause nor a replay lifts the age limit of a platform", async () => {
    const { claim, attempt, pause, resume, replay } = await setUp("meta");
    expect(await claim(0)).toBe(7);
    await attempt(0);
    await pause(1);
    await resume(9);
    expect(await claim(9)).toBe(-2);
    await attempt(9, "expired");
    await replay(10);
    expect(await claim(10)).toBe(-3);
  });
});
