// The sync log on both engines: pages, filters, replay, cancel and purge.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAttempt, newEvent, queuedDelivery, settlementOf } from "../../../../test/support/events.ts";
import { createNodes } from "../../../../test/support/nodes.ts";
import type { ConfirmationReason, ConfirmationState } from "../../../kernel/confirmation.ts";
import type { DeliveryState } from "../../../kernel/event.ts";
import { shortId } from "../../../kernel/ids.ts";
import { hourMs } from "../../../kernel/time.ts";
import { connectDatabase } from "../../connect.ts";
import type { Database } from "../../engine/database.ts";
import { finalAt, type Figure } from "../../statistics/statistics.ts";
import { syncLogStore, type LogFilter } from "./syncLog.ts";
import { syncLogChangeStore, type LogKey } from "./changes.ts";
import { sha256 } from "../../../../test/support/sha256.ts";
import { maxRowsOfTurn } from "../../../../test/support/turns.ts";

const now = Date.UTC(2026, 10, 15, 12);
const day = 86_400_000;
type Wanted = {
  at?: number;
  name?: string;
  orderId?: string | null;
  email?: string;
  deliveries: [connectionId: string, state: DeliveryState, platform?: string][];
};

describe.each(["sqlite", "postgres"] as const)("the sync log on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  async function addEvent(siteId: string, wanted: Wanted): Promise<string> {
    const { at = now, name = "purchase", orderId = null, email = "e".repeat(64), deliveries } = wanted;
    const item = newEvent(
      siteId,
      { receivedAt: at, name, orderId, person: { emailSha256: sha256(email) } },
      {
        claimUntil: at + day,
        deliveries: deliveries.map(([connectionId, , platform]) => queuedDelivery(connectionId, platform)),
      },
    );
    await store.events.accept(item);
    for (const [connectionId, state] of deliveries) {
      if (state === "queued") continue;
      const reason = state === "sent" ? null : `why ${state}`;
      const attempt = newAttempt(state, {
        startedAt: at + 1,
        durationMs: 4,
        reason,
        request: "POST /somewhere",
        response: "an answer",
      });
      await store.deliveries.settle(settlementOf(item, state, { connectionId, reason, at: at + 5, attempt }));
    }
    return item.event.id;
  }

  test.runIf(engine === "sqlite")(
    "pages and counts that match little read few rows in a turn, however many are asked for at once",
    async () => {
      const siteId = shortId();
      const connections = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const parked = connections.map((connectionId) => ({ ...queuedDelivery(connectionId), state: "parked" }) as const);
      const accept = () => store.events.accept(newEvent(siteId, { receivedAt: now }, { deliveries: parked }));
      await Promise.all(Array.from({ length: 200 }, accept));
      const filters: LogFilter[] = [
        { eventName: "nothing" },
        { states: ["sent"] },
        { states: ["parked"], eventName: "nothing" },
        { states: ["sent", "parked"], mode: "test" },
      ];
      for (const filter of filters) {
        const rows = await maxRowsOfTurn(location, async (db) => {
          const log = syncLogStore(db);
          const list = () => log.listPage(siteId, filter, { before: null, limit: 200 });
          for (const page of await Promise.all(Array.from({ length: 10 }, list))) expect(page).toEqual({ lines: [], next: null });
        });
        expect(rows).toBeLessThan(2000);
      }
      const counted = await maxRowsOfTurn(location, async (db) => {
        const log = syncLogStore(db);
        const count = () => log.count(siteId, { states: ["parked", "sent"] });
        expect(await Promise.all(Array.from({ length: 5 }, count))).toEqual(Array(5).fill(4000));
      });
      expect(counted).toBeLessThan(2000);
    },
  );

  test("many deliveries of a connection are counted some at a time", async () => {
    const siteId = shortId();
    const parked = [{ ...queuedDelivery(), state: "parked" }] as const;
    const accept = () => store.events.accept(newEvent(siteId, { receivedAt: now }, { deliveries: parked }));
    for (let n = 0; n < 9; n += 1) await Promise.all(Array.from({ length: 500 }, accept));
    expect(await store.syncLog.count(siteId, { states: ["parked"] })).toBe(4500);
    expect(await store.syncLog.count(siteId, { states: ["parked"], connectionId: "c1", to: now })).toBe(0);
  });

  async function all(siteId: string, filter: LogFilter, limit = 100): Promise<LogKey[]> {
    const keys: LogKey[] = [];
    let before: LogKey | null = null;
    do {
      const page = await store.syncLog.listPage(siteId, filter, { before, limit });
      expect(page.lines.length).toBeLessThanOrEqual(limit);
      keys.push(...page.lines.map(({ eventId, connectionId }) => ({ eventId, connectionId })));
      before = page.next;
    } while (before);
    return keys;
  }
  const ids = async (siteId: string, filter: LogFilter) => (await all(siteId, filter)).map((key) => key.eventId);
  const stateOf = async (siteId: string, eventId: string) => (await store.deliveries.listByEvent(siteId, eventId))[0];

  async function confirm(
    siteId: string,
    eventId: string,
    state: ConfirmationState,
    reason: ConfirmationReason | null = null,
    connectionId = "c1",
  ): Promise<void> {
    const confirmation = { state, reason, detail: null };
    const question = {
      siteId,
      connectionId,
      subject: "t-1",
      eventIds: [eventId],
      acceptedAt: now,
      asked: 1,
      dueAt: now,
    };
    const answers = [{ eventId, confirmation, countedAs: confirmation }];
    await store.confirmations.answer(question, "google_ads", answers, 0, now);
  }

  test("deliveries are found by their confirmation and its reason, page by page", async () => {
    const siteId = shortId();
    const sent: Wanted["deliveries"] = [
      ["c1", "sent", "google_ads"],
      ["c2", "sent", "meta"],
    ];
    const events: string[] = [];
    for (let i = 0; i < 6; i++) events.push(await addEvent(siteId, { at: now + i, deliveries: sent }));
    const [confirmed = "", lost = "", denied = "", mixed = "", unasked = "", newest = ""] = events;
    await confirm(siteId, confirmed, "confirmed");
    await confirm(siteId, lost, "not counted", "no ad click");
    await confirm(siteId, denied, "not counted", "consent");
    await confirm(siteId, mixed, "unknown", "several reasons");
    await confirm(siteId, newest, "not counted", "no ad click");
    const by = (state: ConfirmationState, reason?: ConfirmationReason): LogFilter => ({
      confirmation: { state, platforms: ["google_ads"], ...(reason && { reason }) },
    });
    expect(await ids(siteId, by("not counted"))).toEqual([newest, denied, lost]);
    expect(await all(siteId, by("not counted"), 1)).toHaveLength(3);
    expect(await ids(siteId, by("not counted", "no ad click"))).toEqual([newest, lost]);
    expect(await ids(siteId, by("confirmed"))).toEqual([confirmed]);
    expect(await ids(siteId, by("unknown"))).toEqual([unasked, mixed]);
    expect(await ids(siteId, by("unknown", "several reasons"))).toEqual([mixed]);
    expect(await ids(siteId, { ...by("not counted"), connectionId: "c2" })).toEqual([]);
    expect(await ids(siteId, { ...by("not counted"), eventId: lost })).toEqual([lost]);
    expect(await ids(siteId, { ...by("not counted"), from: now + 2 })).toEqual([newest, denied]);
    expect(await ids(siteId, { ...by("not counted"), states: ["queued"] })).toEqual([]);
    expect(await store.syncLog.count(siteId, by("not counted"))).toBe(3);
    const page = await store.syncLog.listPage(siteId, { connectionId: "c1" }, { before: null, limit: 2 });
    expect(page.lines.map(({ confirmation }) => confirmation?.reason)).toEqual(["no ad click", undefined]);
  });

  test("log lines have the fields of delivery and event, newest first", async () => {
    const siteId = shortId();
    const old = await addEvent(siteId, { at: now - 5000, deliveries: [["c1", "sent"]] });
    const id = await addEvent(siteId, { orderId: "A-1", deliveries: [["c1", "rejected", "meta"]] });
    const { lines, next } = await store.syncLog.listPage(siteId, {}, { before: null, limit: 10 });
    expect(lines.map((line) => line.eventId)).toEqual([id, old]);
    expect(next).toBeNull();
    expect(lines[0]).toEqual({
      siteId,
      eventId: id,
      connectionId: "c1",
      platform: "meta",
      state: "rejected",
      reason: "why rejected",
      attempts: 1,
      dueAt: 0,
      owner: "",
      updatedAt: now + 5,
      event: "purchase",
      value: 12.5,
      currency: "EUR",
      orderId: "A-1",
      mode: "live",
      receivedAt: now,
      erased: false,
      confirmation: null,
    });
  });

  describe("filters", () => {
    const siteId = shortId();
    const made: Record<string, string> = {};

    beforeAll(async () => {
      made.first = await addEvent(siteId, {
        at: now - 3 * day,
        name: "lead",
        orderId: "A-1",
        email: "a".repeat(64),
        deliveries: [
          ["c1", "sent", "meta"],
          ["c2", "skipped", "google_ads"],
        ],
      });
      made.second = await addEvent(siteId, {
        at: now - 2 * day,
        orderId: "A-2",
        deliveries: [
          ["c1", "rejected", "meta"],
          ["c2", "queued", "google_ads"],
        ],
      });
      made.third = await addEvent(siteId, {
        at: now - day,
        name: "Lead",
        orderId: "A-2",
        email: "a".repeat(64),
        deliveries: [
          ["c1", "expired", "meta"],
          ["c3", "parked", "meta"],
          ["c2", "sent", "google_ads"],
        ],
      });
      await addEvent(shortId(), { orderId: "A-1", deliveries: [["c1", "rejected", "meta"]] });
    });

    test.each<[string, LogFilter, string[]]>([
      ["nothing", {}, ["third c3", "third c2", "third c1", "second c2", "second c1", "first c2", "first c1"]],
      ["a connection", { connectionId: "c1" }, ["third c1", "second c1", "first c1"]],
      ["a platform", { platform: "meta" }, ["third c3", "third c1", "second c1", "first c1"]],
      ["a platform that nothing went to", { platform: "x" }, []],
      ["a state", { states: ["rejected"] }, ["second c1"]],
      ["those that wait", { states: ["queued"] }, ["second c2"]],
      ["those that were sent", { states: ["sent"] }, ["third c2", "first c1"]],
      [
        "several states",
        { states: ["expired", "parked", "skipped", "queued"] },
        ["third c3", "third c1", "second c2", "first c2"],
      ],
      ["several states with sent", { states: ["sent", "rejected"] }, ["third c2", "second c1", "first c1"]],
      ["a state of a connection", { connectionId: "c2", states: ["skipped"] }, ["first c2"]],
      ["a state of a platform", { platform: "meta", states: ["parked", "sent"] }, ["third c3", "first c1"]],
      ["an event's name, whatever its case", { eventName: "LEAD" }, ["third c3", "third c2", "third c1", "first c2", "first c1"]],
      ["an order", { orderId: "A-2" }, ["third c3", "third c2", "third c1", "second c2", "second c1"]],
      ["a person", { emailSha256: sha256("a".repeat(64)) }, ["third c3", "third c2", "third c1", "first c2", "first c1"]],
      ["a person and a state", { emailSha256: sha256("a".repeat(64)), states: ["sent"] }, ["third c2", "first c1"]],
      ["a time", { from: now - 2 * day, to: now - day }, ["second c2", "second c1"]],
      ["a time of a state", { from: now - 2 * day, states: ["rejected", "expired"] }, ["third c1", "second c1"]],
      ["a person and a time", { emailSha256: sha256("a".repeat(64)), to: now - 2 * day }, ["first c2", "first c1"]],
    ])("the log is filtered by %s, in pages of any size, and counted", async (_what, filter, expected) => {
      const names = Object.fromEntries(Object.entries(made).map(([name, id]) => [id, name]));
      for (const limit of [100, 2, 1]) {
        const keys = await all(siteId, filter, limit);
        expect(keys.map((key) => `${names[key.eventId]} ${key.connectionId}`)).toEqual(expected);
      }
      expect(await store.syncLog.count(siteId, filter)).toBe(expected.length);
    });

    test("the log is filtered by an event", async () => {
      expect(await all(siteId, { eventId: made.second as string })).toHaveLength(2);
      expect(await all(siteId, { eventId: "nothing" })).toEqual([]);
    });
  });

  test("deliveries of events that are not selected can be left out, and chosen deliveries are found", async () => {
    const siteId = shortId();
    const skipped = { connectionId: "c2", platform: "meta", state: "skipped" } as const;
    const item = newEvent(
      siteId,
      { receivedAt: now },
      {
        claimUntil: now + day,
        deliveries: [
          queuedDelivery("c1"),
          { ...queuedDelivery("c2", "meta"), ...skipped, reason: "event not selected" },
          { ...queuedDelivery("c3", "meta"), ...skipped, connectionId: "c3", reason: "no click id" },
        ],
      },
    );
    await store.events.accept(item);
    const eventId = item.event.id;
    const second = await addEvent(siteId, { at: now + 1, deliveries: [["c1", "sent"]] });
    const connections = async (filter: LogFilter, limit?: number) =>
      (await all(siteId, filter, limit)).map(({ connectionId }) => connectionId);
    expect(await connections({ eventId })).toEqual(["c3", "c2", "c1"]);
    expect(await connections({ eventId, withoutUnselected: true })).toEqual(["c3", "c1"]);
    expect(await connections({ withoutUnselected: true, states: ["skipped"] })).toEqual(["c3"]);
    for (const limit of [100, 1]) {
      expect(await connections({ chosen: [{ eventId }] }, limit)).toEqual(["c3", "c2", "c1"]);
      const chosen = [{ eventId, connectionId: "c2" }, { eventId: second }];
      expect(await connections({ chosen }, limit)).toEqual(["c1", "c2"]);
    }
    expect(await store.syncLog.count(siteId, { chosen: [{ eventId }], states: ["skipped"] })).toBe(2);
  });

  test("a rare event name is found behind many others, though a call reads a bounded number of rows", async () => {
    const siteId = shortId();
    const rare = await addEvent(siteId, { at: now - day, name: "rare", deliveries: [["c1", "sent"]] });
    await Promise.all(Array.from({ length: 1200 }, (_, n) => addEvent(siteId, { at: now - n, deliveries: [["c1", "queued"]] })));
    expect(await ids(siteId, { eventName: "rare" })).toEqual([rare]);
    expect(await store.syncLog.count(siteId, { eventName: "purchase" })).toBe(1200);
  });

  test("hours whose final figures count no such delivery are not read", async () => {
    const siteId = shortId();
    const hour = Math.floor(now / hourMs);
    const [skippedHour, readHour] = [hour - 1, hour - 2];
    for (let n = 0; n < 5; n++)
      await Promise.all(
        Array.from({ length: 120 }, (_, i) => addEvent(siteId, { at: now + n * 120 + i, deliveries: [["c1", "queued"]] })),
      );
    const uncounted = await addEvent(siteId, {
      at: skippedHour * hourMs,
      deliveries: [["c1", "sent", "ga4"]],
    });
    const counted = await addEvent(siteId, { at: readHour * hourMs, deliveries: [["c1", "sent", "ga4"]] });
    const sent = { kind: "delivery", name: "ga4 sent", currency: "", count: 1, value: 0 } as const;
    const roll = (at: number, figures: Figure[], dueAt: number) =>
      store.statistics.replaceHour(siteId, at, figures, { rolledAt: now, dueAt });
    await store.statistics.saveHead(siteId, { fromHour: readHour, toHour: hour + 1 });
    await roll(hour, [], finalAt);
    await roll(readHour, [sent], finalAt);
    await roll(skippedHour, [], finalAt);
    for (const filter of [{ states: ["sent"] as const }, { platform: "ga4" }])
      expect(await ids(siteId, filter)).toEqual([counted]);
    await roll(skippedHour, [], now + hourMs);
    expect(await ids(siteId, { states: ["sent"] })).toEqual([uncounted, counted]);
    await roll(skippedHour, [{ ...sent, kind: "test", name: "" }], finalAt);
    expect(await ids(siteId, { states: ["sent"] })).toEqual([uncounted, counted]);
  });

  test("replayed deliveries are due at once, keep their attempts, and can be claimed", async () => {
    const siteId = shortId();
    const id = await addEvent(siteId, { deliveries: [["c1", "rejected"]] });
    const sent = await addEvent(siteId, { deliveries: [["c1", "sent"]] });
    const keys = [id, sent].map((eventId) => ({ eventId, connectionId: "c1" }));
    expect(await store.syncLog.requeue(siteId, keys, ["rejected", "expired"], now + 100)).toBe(1);
    expect(await stateOf(siteId, id)).toMatchObject({
      state: "queued",
      attempts: 1,
      dueAt: now + 100,
      owner: "",
    });
    expect(await stateOf(siteId, sent)).toMatchObject({ state: "sent" });
    expect(await store.deliveries.listAttempts(siteId, id)).toHaveLength(1);
    const claimed = await other.deliveries.claimDue(
      { siteId, connectionId: "c1" },
      { by: "row", owner: "b", at: now + 200, dueAt: now + 9000 } as const,
      10,
    );
    expect(claimed.map((one) => one.eventId)).toEqual([id]);
  });

  test("a replay that runs again, because its commit was not confirmed, does not queue what was sent meanwhile", async () => {
    const siteId = shortId();
    const events = [
      await addEvent(siteId, { deliveries: [["c1", "rejected"]] }),
      await addEvent(siteId, { deliveries: [["c1", "sent"]] }),
    ];
    const keys = events.map((eventId) => ({ eventId, connectionId: "c1" }));
    const key = { siteId, connectionId: "c1" };
    /** Another node attempts one of the two, with the same result as before. */
    async function sendOne(): Promise<void> {
      const lease = { by: "row", owner: "node-b", at: now + 200, dueAt: now + 9000 } as const;
      for (const { eventId } of await store.deliveries.claimDue(key, lease, 1)) {
        const state = eventId === events[0] ? "rejected" : "sent";
        const attempt = newAttempt(state, { number: 2, startedAt: now + 201 });
        const settled = { owner: "node-b", attempts: 2, at: now + 300, attempt };
        await store.deliveries.settle(settlementOf({ event: newEvent(siteId, { id: eventId }).event }, state, settled));
      }
    }
    const db = connectDatabase(location);
    const unconfirmed: Database = {
      ...db,
      async write(work, options) {
        await db.write(work, options);
        await sendOne();
        return db.write(work, options);
      },
    };
    expect(await syncLogChangeStore(unconfirmed).requeue(siteId, keys, ["rejected", "sent"], now + 100)).toBe(2);
    await db.close();
    const found = await Promise.all(events.map((eventId) => stateOf(siteId, eventId)));
    expect(found.map((one) => one?.attempts).toSorted()).toEqual([1, 2]);
    expect(found.filter((one) => one?.state === "queued")).toMatchObject([{ attempts: 1, dueAt: now + 100, owner: "" }]);
  });

  test("a replay does not requeue deliveries of an erased person, even if both run at once", async () => {
    const siteId = shortId();
    const emails = Array.from({ length: 40 }, (_, n) => n.toString(16).padStart(64, "0"));
    const keys = await Promise.all(
      emails.map(async (email) => ({
        eventId: await addEvent(siteId, { email, deliveries: [["c1", "rejected"]] }),
        connectionId: "c1",
      })),
    );
    await store.erase.events(siteId, sha256(emails[0] as string), now);
    expect(await store.syncLog.requeue(siteId, keys.slice(0, 1), ["rejected"], now)).toBe(0);

    await Promise.all([
      ...emails.map((email) => other.erase.events(siteId, sha256(email), now)),
      store.syncLog.requeue(siteId, keys, ["rejected"], now + 1),
    ]);
    const states = await Promise.all(keys.map(({ eventId }) => stateOf(siteId, eventId)));
    expect(states.filter((one) => one?.state === "queued")).toEqual([]);
  });

  test("cancelling ends queued and parked deliveries and leaves leased ones alone", async () => {
    const siteId = shortId();
    const leased = await addEvent(siteId, { deliveries: [["c1", "queued"]] });
    const parked = await addEvent(siteId, { deliveries: [["c1", "parked"]] });
    const sent = await addEvent(siteId, { deliveries: [["c1", "sent"]] });
    const dead = await addEvent(siteId, { at: now - 60_000, deliveries: [["c1", "queued"]] });
    const keys = [leased, parked, sent, dead].map((eventId) => ({ eventId, connectionId: "c1" }));
    expect(await store.syncLog.cancel(siteId, keys, now + 10)).toBe(2);
    expect(await stateOf(siteId, leased)).toMatchObject({ state: "queued", owner: "node-a" });
    expect(await stateOf(siteId, parked)).toMatchObject({ state: "skipped", reason: "cancelled" });
    expect(await stateOf(siteId, dead)).toMatchObject({ state: "skipped", reason: "cancelled" });
    expect(await stateOf(siteId, sent)).toMatchObject({ state: "sent" });
    // The former owner comes too late.
    await store.deliveries.settle({
      siteId,
      eventId: dead,
      connectionId: "c1",
      owner: "node-a",
      state: "sent",
      reason: null,
      dueAt: 0,
      attempts: 1,
      at: now,
      attempt: null,
    });
    expect(await stateOf(siteId, dead)).toMatchObject({ state: "skipped" });
  });

  test("texts of old attempts are purged in steps, while deliveries and attempts stay", async () => {
    const siteId = shortId();
    const old = await Promise.all(
      Array.from({ length: 7 }, (_, n) =>
        addEvent(siteId, {
          at: now - 100 * day + n,
          deliveries: [
            ["c1", "sent"],
            ["c2", "rejected"],
          ],
        }),
      ),
    );
    const young = await addEvent(siteId, { at: now - day, deliveries: [["c1", "sent"]] });
    const steps: number[] = [];
    for (let removed = 1; removed > 0;) steps.push((removed = await store.syncLog.purge(siteId, now - 90 * day, 5)));
    expect(steps).toEqual([10, 4, 0]);
    for (const id of old) {
      const attempts = await store.deliveries.listAttempts(siteId, id);
      expect(attempts).toHaveLength(2);
      for (const attempt of attempts)
        expect(attempt).toMatchObject({
          request: "(removed)",
          response: null,
          durationMs: 4,
          httpStatus: 200,
        });
    }
    expect(await store.deliveries.listAttempts(siteId, young)).toMatchObject([
      { request: "POST /somewhere", response: "an answer" },
    ]);
    expect(await ids(siteId, { states: ["rejected"] })).toEqual(old.toReversed());
  });
});
