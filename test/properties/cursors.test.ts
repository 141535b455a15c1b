// Promises of ids and cursors: ids sort by time, and pages that follow each other's cursors list everything once.

import * as fc from "fast-check";
import { afterAll, expect } from "vitest";
import { pageOf, readCursor } from "../../src/api/lists.ts";
import { deliveryStates, type DeliveryState } from "../../src/kernel/event.ts";
import { idAt, lastId, createUlids, timeOfId, ulid } from "../../src/kernel/ids.ts";
import { Refusal } from "../../src/kernel/refusal.ts";
import type { LogFilter, LogLine } from "../../src/store/deliveries/syncLog/syncLog.ts";
import { byNode, newAttempt, newEvent, newSite, settlementOf } from "../support/events.ts";
import { createNodes } from "../support/nodes.ts";
import { sha256Of } from "../support/sha256.ts";
import { anyText, property } from "./property.ts";

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

property("an id tells its time, and ids sort by time", [time, time], (one, other) => {
  const [first, second] = [ulid(one), ulid(other)];
  expect([timeOfId(first), timeOfId(second)]).toEqual([one, other]);
  expect(first).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
  if (one < other) expect(first < second && first < idAt(other)).toBe(true);
  expect(idAt(one) <= first && first < lastId).toBe(true);
});

property(
  "the ids of a process never decrease, also when the clock does",
  [fc.array(time, { minLength: 2, maxLength: 50 })],
  (clock) => {
    const newId = createUlids({ isMonotonic: true });
    const ids = clock.map((at) => newId(at));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  },
);

property(
  "many ids of one millisecond are in order too",
  [time, fc.integer({ min: 2, max: 40_000 })],
  (at, count) => {
    const newId = createUlids({ isMonotonic: true });
    let last = "";
    for (let i = 0; i < count; i++) {
      const id = newId(at);
      if (id <= last) throw new Error(`${id} after ${last}`);
      last = id;
    }
  },
  { runs: 5 },
);

property(
  "a cursor is read as it was made, and every other text is refused with a sentence",
  [time, fc.stringMatching(/^[0-9a-z]{1,40}$/), anyText],
  (at, connectionId, text) => {
    const id = ulid(at);
    expect(readCursor(id)).toEqual({ id, connectionId: "" });
    expect(readCursor(`${id}/${connectionId}`)).toEqual({ id, connectionId });
    try {
      expect(readCursor(text)?.id).toBe(text.slice(0, 26));
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
    }
  },
);

property(
  "pages of a list have every row once, in its order",
  [fc.uniqueArray(fc.nat(500), { maxLength: 60 }), fc.integer({ min: 1, max: 20 })],
  (numbers, limit) => {
    const rows = numbers.toSorted((a, b) => a - b).map((number) => ({ id: String(number).padStart(4, "0") }));
    const seen: { id: string }[] = [];
    for (let after: string | null = ""; after !== null;) {
      const from: string = after;
      const page = pageOf(rows.filter(({ id }) => id > from).slice(0, limit + 1), limit);
      expect(page.items.length).toBeLessThanOrEqual(limit);
      seen.push(...page.items);
      after = page.next;
    }
    expect(seen).toEqual(rows);
  },
);

const { store, close } = await createNodes("sqlite");
afterAll(close);
const now = Date.UTC(2026, 10, 15);

type Planned = {
  at: number;
  name: string;
  email: number;
  order: number | null;
  mode: "live" | "test";
  states: DeliveryState[];
};

const planned: fc.Arbitrary<Planned> = fc.record({
  at: fc.integer({ min: 0, max: 3 * 3_600_000 }),
  name: fc.constantFrom("purchase", "lead"),
  email: fc.nat(2),
  order: fc.option(fc.nat(2)),
  mode: fc.constantFrom("live", "live", "test"),
  states: fc.array(fc.constantFrom(...deliveryStates), { minLength: 1, maxLength: 3 }),
});

const filter: fc.Arbitrary<LogFilter> = fc.record(
  {
    connectionId: fc.constantFrom("c0", "c1", "c2", "none"),
    platform: fc.constantFrom("meta", "webhook", "none"),
    states: fc.uniqueArray(fc.constantFrom(...deliveryStates), { minLength: 1, maxLength: 3 }),
    eventName: fc.constantFrom("purchase", "lead"),
    mode: fc.constantFrom("live", "test"),
    orderId: fc.nat(2).map((order) => `order-${order}`),
    emailSha256: fc.nat(2).map((email) => sha256Of(`person ${email}`)),
    from: fc.integer({ min: 0, max: 3 * 3_600_000 }).map((at) => now + at),
    to: fc.integer({ min: 0, max: 3 * 3_600_000 }).map((at) => now + at),
  },
  { requiredKeys: [] },
);

const platformAt = (at: number) => (at === 1 ? "webhook" : "meta");

/** Writes an event whose deliveries are in the given states: some with rows, some as outcomes, some as plans. */
async function write(siteId: string, { at, name, email, order, mode, states }: Planned): Promise<void> {
  const item = newEvent(
    siteId,
    {
      receivedAt: now + at,
      name,
      mode,
      orderId: order === null ? null : `order-${order}`,
      person: { emailSha256: sha256Of(`person ${email}`) },
    },
    {
      ownership: byNode(),
      deliveries: states.map((state, i) => ({
        connectionId: `c${i}`,
        platform: platformAt(i),
        state: state === "skipped" || state === "parked" ? state : "queued",
        reason: state === "skipped" || state === "parked" ? "because" : null,
      })),
    },
  );
  await store.events.accept(item);
  let number = 0;
  for (const [position, state] of states.entries()) {
    if (state === "skipped" || state === "parked") continue;
    const settlement = settlementOf(item, state, { connectionId: `c${position}`, reason: "because" });
    const attempt = newAttempt(state);
    const settlements = [{ ...settlement, attempt, at: now, position, platform: platformAt(position), settings: "" }];
    await store.deliveries.settleFirst({ siteId, eventId: item.event.id, number, settlements });
    number += 1;
  }
}

const isIn = (line: LogLine, { connectionId, platform, states, eventName, mode, orderId, from = 0, to = Infinity }: LogFilter) =>
  (connectionId === undefined || line.connectionId === connectionId) &&
  (platform === undefined || line.platform === platform) &&
  (states === undefined || states.includes(line.state)) &&
  (eventName === undefined || line.event === eventName) &&
  (mode === undefined || line.mode === mode) &&
  (orderId === undefined || line.orderId === orderId) &&
  line.receivedAt >= from &&
  line.receivedAt < to;

async function listAll(siteId: string, wanted: LogFilter, limit: number): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  let before: { eventId: string; connectionId: string } | null = null;
  do {
    const page = await store.syncLog.listPage(siteId, wanted, { before, limit });
    if (page.lines.length > limit) throw new Error("a page is longer than its limit");
    lines.push(...page.lines);
    before = page.next;
  } while (before);
  return lines;
}

property(
  "pages of the sync log have every delivery of a filter once, newest first",
  [
    fc.array(planned, { maxLength: 8 }),
    fc.array(fc.tuple(filter, fc.integer({ min: 1, max: 7 })), { minLength: 1, maxLength: 6 }),
  ],
  async (events, filters) => {
    const siteId = await newSite(store);
    for (const one of events) await write(siteId, one);
    const all = await listAll(siteId, {}, 100);
    const states = events.flatMap((one) => one.states);
    expect(all.map(({ state }) => state).toSorted()).toEqual(states.toSorted());
    const keys = all.map(({ eventId, connectionId }) => `${eventId}/${connectionId}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(all.map(({ eventId }) => eventId)).toEqual(
      all
        .map(({ eventId }) => eventId)
        .toSorted()
        .toReversed(),
    );
    for (const [wanted, limit] of filters) {
      const found = await listAll(siteId, wanted, limit);
      const ofPerson = new Set(
        (await listAll(siteId, wanted.emailSha256 ? { emailSha256: wanted.emailSha256 } : {}, 100)).map(({ eventId }) => eventId),
      );
      const expected = all.filter((line) => isIn(line, wanted) && ofPerson.has(line.eventId));
      expect(found.map(({ eventId, connectionId }) => `${eventId}/${connectionId}`)).toEqual(
        expected.map(({ eventId, connectionId }) => `${eventId}/${connectionId}`),
      );
    }
  },
  { runs: 40 },
);
