// Backfills on both engines: counting, steps, restart, cancel and two nodes.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, newEvent, newSite, queuedDelivery, settlementOf, unattributed } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { localClock } from "../../background/sharedClock.ts";
import { shortId } from "../../kernel/ids.ts";
import { dayMs, minuteMs } from "../../kernel/time.ts";
import { connectPlatform, disconnect } from "../../sites/connect.ts";
import { createDirectory, type Connection, type Site } from "../../sites/directory.ts";
import { findSite } from "../../sites/manage.ts";
import type { Store } from "../../store/store.ts";
import { sendDue } from "../due/claim.ts";
import type { Job } from "../job.ts";
import { createBreaker } from "../lanes/breaker.ts";
import { connectionKey, createDeliverer } from "../lanes/deliver.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { cancelBackfill, countBackfill, startBackfill } from "./backfill.ts";
import { stepBackfill } from "./worker.ts";
import { say, toJson } from "../../kernel/messages/message.ts";

const inEnglish = (value: unknown): unknown => JSON.parse(toJson(value));

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now, checkAddress: () => null };
const metaSettings = { pixel_id: "1234567890", access_token: "token-of-meta" };
const person = (letter: string) => ({ emailSha256: sha256(letter.repeat(64)) });

describe.each(["sqlite", "postgres"] as const)("backfills on %s", async (engine) => {
  const { store, other, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function setUp(): Promise<{ site: Site; connection: Connection }> {
    const siteId = await newSite(store);
    await directory.refresh();
    const wanted = { settings: metaSettings };
    const { connection } = await connectPlatform(context, findSite(context, siteId), "meta", wanted, by);
    return { site: findSite(context, siteId), connection };
  }

  type Added = {
    days?: number;
    letter?: string;
    mode?: "live" | "test";
    connection?: string;
    platform?: string;
  };

  /** Accepts an event that was received some days ago, and sent to another connection then. */
  async function addEvent(site: Site, { days = 1, letter = "a", mode = "live", ...to }: Added = {}) {
    const receivedAt = now - days * dayMs - minuteMs;
    const { connection = "c1", platform = "sandbox" } = to;
    const deliveries = [queuedDelivery(connection, platform)];
    const fields = { receivedAt, mode, orderId: shortId(), person: person(letter) };
    const item = newEvent(site.id, fields, { deliveries });
    await store.events.accept(item);
    await store.deliveries.settle(settlementOf(item, "sent", { connectionId: connection }));
    return item.event.id;
  }

  const count = (site: Site, connection: Connection, days: number) =>
    countBackfill(store, site, connection, { days, now, maxMs: Infinity });

  const workerOf = (on: Store, at = now) => ({
    store: on,
    directory,
    lanes: { capacity: () => 1 },
    owner: shortId(),
    now: () => at,
    elapsed: () => at,
    onDefect: (error: unknown) => expect.unreachable(String(error)),
  });

  const statesOf = async (site: Site, { id }: Connection, eventIds: readonly string[]) => {
    const byEvent = await store.deliveries.listByEvents(site.id, eventIds);
    return eventIds.map((one) => byEvent.get(one)?.find(({ connectionId }) => connectionId === id)?.state ?? "none");
  };

  /** Attempts what is queued, as the worker of deliveries would. */
  async function attempt(site: Site, { id }: Connection, at: number, state: "sent" | "rejected" = "sent") {
    const owner = shortId();
    const key = { siteId: site.id, connectionId: id };
    const claimed = await store.deliveries.claimDue(key, { by: "row", owner, at: at, dueAt: at + 30_000 } as const, 500);
    for (const { eventId, connectionId, siteId } of claimed)
      await store.deliveries.settle({
        siteId,
        eventId,
        connectionId,
        owner,
        state,
        reason: null,
        dueAt: 0,
        attempts: 1,
        at,
        attempt: null,
      });
    return claimed.map(({ eventId }) => eventId);
  }

  const runningOf = async ({ siteId, id }: Connection) =>
    (await store.backfills.find(siteId, id)) ?? expect.unreachable("no backfill");

  test("a count names every reason for which an event is left out", async () => {
    const { site, connection } = await setUp();
    const sendable = [await addEvent(site), await addEvent(site, { days: 3 })];
    await addEvent(site, { days: 8 });
    await addEvent(site, { days: 40 });
    await addEvent(site, { mode: "test" });
    await addEvent(site, { letter: "b" });
    await store.erase.events(site.id, person("b").emailSha256, now);
    await addEvent(site, { letter: "c" });
    await store.people.change(site.id, (rows) => rows.decide(person("c").emailSha256, "operator", "denied", now));
    await addEvent(site, { connection: connection.id, platform: "meta" });
    const filtered = newEvent(
      site.id,
      { receivedAt: now - dayMs },
      {
        filterReasons: [{ code: "blocked person", detail: null }],
        deliveries: [],
      },
    );
    await store.events.accept(filtered);
    const refund = newEvent(site.id, { receivedAt: now - dayMs, name: "refund" }, { deliveries: [] });
    await store.events.accept(refund);

    expect(inEnglish(await count(site, connection, 30))).toEqual({
      found: 9,
      sendable: sendable.length,
      leftOut: {
        "too old for Meta": 1,
        "in test mode": 1,
        erased: 1,
        "without consent": 1,
        "already delivered": 1,
        "filtered as bots or by a rule": 1,
        "Meta takes no refunds": 1,
      },
      isComplete: true,
    });
    expect((await count(site, connection, 2)).sendable).toBe(1);
    await expect(count(site, connection, 0)).rejects.toThrow("days must be a whole number from 1 to 400.");
  });

  test("a backfill queues each sendable event once, in steps, and ends with its results", async () => {
    const { site, connection } = await setUp();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await addEvent(site));
    const old = await addEvent(site, { days: 10 });
    await startBackfill(store, connection, { days: 30, perMinute: 120, total: 5 }, by);

    await stepBackfill(workerOf(store), await runningOf(connection));
    expect(await statesOf(site, connection, ids)).toEqual(["queued", "queued", "none", "none", "none"]);
    // The next chunk waits until these were attempted, and until the pace allows it.
    await stepBackfill(workerOf(store, now + minuteMs), await runningOf(connection));
    expect((await runningOf(connection)).tally.queued).toBe(2);
    expect(await attempt(site, connection, now + 10)).toHaveLength(2);
    await stepBackfill(workerOf(store, now + 500), await runningOf(connection));
    expect((await runningOf(connection)).tally.queued).toBe(2);

    for (let at = now + 1000; at < now + 6000; at += 1000) {
      await stepBackfill(workerOf(other, at), await runningOf(connection));
      await attempt(site, connection, at, at === now + 2000 ? "rejected" : "sent");
    }
    expect(inEnglish(await runningOf(connection))).toMatchObject({
      state: "done",
      total: 5,
      tally: { queued: 5, outcomes: { sent: 4, rejected: 1 }, leftOut: { "too old for Meta": 1 } },
    });
    expect(await statesOf(site, connection, [old])).toEqual(["none"]);
    // A second backfill sends nothing that was accepted, and nothing that was rejected.
    expect(inEnglish(await count(site, connection, 30))).toMatchObject({
      sendable: 0,
      leftOut: { "already delivered": 4, "rejected by the platform before": 1, "too old for Meta": 1 },
    });
  });

  test("of two nodes that make the same step at once, one queues the events", async () => {
    const { site, connection } = await setUp();
    const ids = [await addEvent(site), await addEvent(site)];
    await startBackfill(store, connection, { days: 2, perMinute: 60, total: 2 }, by);
    const row = await runningOf(connection);
    await Promise.all([stepBackfill(workerOf(store), row), stepBackfill(workerOf(other), row)]);
    expect((await statesOf(site, connection, ids)).toSorted()).toEqual(["none", "queued"]);
    expect((await runningOf(connection)).tally.queued).toBe(1);
    await expect(startBackfill(store, connection, { days: 2, perMinute: 60, total: 2 }, { ...by, now: now + 1 })).rejects.toThrow(
      "is running. Cancel it first.",
    );
  });

  test("a cancelled backfill queues nothing more, and what was not attempted is not sent", async () => {
    const { site, connection } = await setUp();
    const ids = [await addEvent(site), await addEvent(site), await addEvent(site)];
    await startBackfill(store, connection, { days: 2, perMinute: 120, total: 3 }, by);
    const row = await runningOf(connection);
    await stepBackfill(workerOf(store), row);
    const cancelled = await cancelBackfill(store, connection, { ...by, now: now + 1 });
    expect(cancelled).toMatchObject({ state: "cancelled", reason: say("cancelled_by", { actor: "test" }) });
    expect(await statesOf(site, connection, ids)).toEqual(["skipped", "skipped", "none"]);
    await stepBackfill(workerOf(store, now + minuteMs), row);
    expect(await statesOf(site, connection, ids)).toEqual(["skipped", "skipped", "none"]);
    await expect(cancelBackfill(store, connection, by)).rejects.toThrow("No backfill");
    // They can still be sent by a later one.
    expect((await count(site, connection, 2)).sendable).toBe(3);
  });

  test("what a cancelled backfill had given back without an attempt is not sent", async () => {
    const { site, connection } = await setUp();
    const id = await addEvent(site);
    await startBackfill(store, connection, { days: 2, perMinute: 60, total: 1 }, by);
    await stepBackfill(workerOf(store), await runningOf(connection));
    const key = { siteId: site.id, connectionId: connection.id };
    const breaker = createBreaker();
    const times = { now: () => now, elapsed: () => now };
    const onDefect = (error: unknown) => expect.unreachable(String(error));
    const deliverer = createDeliverer({
      ...times,
      directory,
      sender: { send: () => expect.unreachable("nothing is sent"), close: async () => {} },
      settle: store.deliveries.settle,
      markForReconnection: async () => {},
      tokens: { fresh: async (one) => one },
      breaker,
      retry: { scheduleMs: [1000], random: () => 0.5 },
      attemptMs: 8000,
      onDefect,
    });
    const sending: Promise<void>[] = [];
    const lanes = {
      inHand: () => new Set<string>(),
      capacity: () => 1,
      async send(job: Job) {
        // Another batch has found meanwhile that the platform is down.
        breaker.recordRetryAfter(connectionKey(key), now, 60);
        sending.push(deliverer.deliver([{ job, since: { at: now, elapsed: now }, resolve() {} }]));
        return { ok: true } as const;
      },
    } satisfies Partial<Lanes>;
    const claiming = { ...times, store, directory, lanes: lanes as never, owner: "n", leaseMs: minuteMs, onDefect };
    await sendDue({ ...claiming, clock: localClock(times.now) }, key, { onCapacity() {}, pollAgain() {} });
    expect(sending).toHaveLength(1);
    await Promise.all(sending);
    await cancelBackfill(store, connection, { ...by, now: now + 1 });
    expect(await statesOf(site, connection, [id])).toEqual(["skipped"]);
  });

  test("a person who is erased before a step is not queued, and one erased after it is not sent", async () => {
    const { site, connection } = await setUp();
    const first = await addEvent(site, { letter: "d" });
    const second = await addEvent(site, { letter: "e" });
    await startBackfill(store, connection, { days: 2, perMinute: 60, total: 2 }, by);
    await stepBackfill(workerOf(store), await runningOf(connection));
    await store.erase.events(site.id, person("d").emailSha256, now);
    await store.erase.events(site.id, person("e").emailSha256, now);
    expect(await attempt(site, connection, now + 10)).toEqual([]);
    await stepBackfill(workerOf(store, now + minuteMs), await runningOf(connection));
    expect(await statesOf(site, connection, [first, second])).toEqual(["skipped", "none"]);
    expect(inEnglish(await runningOf(connection))).toMatchObject({ state: "done", tally: { leftOut: { erased: 1 } } });
  });

  test("a backfill waits while its connection is paused or cannot send, and ends when it is removed", async () => {
    const { site, connection } = await setUp();
    const ids = [await addEvent(site)];
    await startBackfill(store, connection, { days: 2, perMinute: 60, total: 1 }, by);
    await store.configuration.setConnectionState(
      { siteId: site.id, ...by, action: "paused", detail: {}, at: now },
      connection.id,
      "paused",
      null,
    );
    await directory.refresh();
    await stepBackfill(workerOf(store), await runningOf(connection));
    expect(await statesOf(site, connection, ids)).toEqual(["none"]);
    await disconnect(context, connection, by);
    await stepBackfill(workerOf(store), await runningOf(connection));
    expect(inEnglish(await runningOf(connection))).toMatchObject({ state: "cancelled", reason: "disconnected" });
  });

  test("what a removed connection delivered to the same account is not sent again; another account gets it", async () => {
    const { site, connection } = await setUp();
    await addEvent(site, { connection: connection.id, platform: "meta" });
    await disconnect(context, connection, by);
    const connectAgain = async (pixel: string) => {
      const wanted = { settings: { ...metaSettings, pixel_id: pixel } };
      return (await connectPlatform(context, findSite(context, site.id), "meta", wanted, by)).connection;
    };
    const same = await connectAgain(metaSettings.pixel_id);
    expect(await count(site, same, 2)).toMatchObject({ sendable: 0, leftOut: { "already delivered": 1 } });
    const another = await connectAgain("9876543210");
    expect(await count(site, another, 2)).toMatchObject({ sendable: 1, leftOut: {} });
  });

  test("a platform that dates conversions on arrival gets no past ones", async () => {
    const { site } = await setUp();
    const receivedAt = now - dayMs;
    const clickIds = { ob_click_id: { value: "v1-click", seenAt: receivedAt } };
    const item = newEvent(site.id, { receivedAt }, { deliveries: [], attribution: { ...unattributed, clickIds } });
    await store.events.accept(item);
    const { connection } = await connectPlatform(context, site, "outbrain", { settings: {} }, by);
    expect(inEnglish(await count(site, connection, 2))).toMatchObject({
      sendable: 0,
      leftOut: { "too late for Outbrain, which would date them today": 1 },
    });
  });

  test("an event that was skipped is sent by a backfill after its setting was corrected", async () => {
    const siteId = await newSite(store);
    await directory.refresh();
    const google = { customer_id: "123-456-7890", access_token: "token-of-google" };
    const first = await connectPlatform(context, findSite(context, siteId), "google_ads", { settings: google }, by);
    const reason = "no conversion action for this event";
    const deliveries = [{ connectionId: first.connection.id, platform: "google_ads", state: "skipped", reason } as const];
    const receivedAt = now - dayMs;
    const attribution = { ...unattributed, clickIds: { gclid: { value: "Cj0-click", seenAt: receivedAt } } };
    const item = newEvent(siteId, { receivedAt }, { deliveries, attribution, ownership: byNode() });
    await store.events.accept(item);
    const before = findSite(context, siteId);
    expect((await count(before, first.connection, 2)).leftOut).toEqual({ [reason]: 1 });

    const settings = { ...google, conversion_action: "987654" };
    const { connection } = await connectPlatform(context, before, "google_ads", { settings }, by);
    const site = findSite(context, siteId);
    expect((await count(site, connection, 2)).sendable).toBe(1);
    await startBackfill(store, connection, { days: 2, perMinute: 60, total: 1 }, by);
    await stepBackfill(workerOf(store), await runningOf(connection));
    expect(await attempt(site, connection, now + 10)).toEqual([item.event.id]);
    expect(await statesOf(site, connection, [item.event.id])).toEqual(["sent"]);
  });
});
