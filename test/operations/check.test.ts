// The check names each way in which rows can contradict each other, and finds nothing among rows that the store wrote.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Event, FilterReason, Sha256 } from "../../src/kernel/event.ts";
import { idAt, shortId, ulid } from "../../src/kernel/ids.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { checkRows } from "../../src/maintenance/check.ts";
import { rollUpHour } from "../../src/statistics/hourlyRollup.ts";
import type { NewDelivery } from "../../src/store/deliveries/delivery.ts";
import type { FirstSettlement } from "../../src/store/deliveries/outcomes.ts";
import type { Database, Row } from "../../src/store/engine/database.ts";
import { sealWith } from "../../src/store/engine/seal.ts";
import { possibleClaims } from "../../src/store/events/claims.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import { emptyTable, fillTable } from "../../src/store/copy/rows.ts";
import { createSnapshot } from "../../src/store/maintenance/snapshot.ts";
import { connectDatabase, type StoreLocation } from "../../src/store/connect.ts";
import type { Store } from "../../src/store/store.ts";
import { byNode, auditLine, newAttempt, newEvent, queuedDelivery, settlementOf } from "../support/events.ts";
import { encryptionKey, createNodes } from "../support/nodes.ts";
import { engines } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";

const now = Date.UTC(2026, 10, 15, 12, 30);
const past = now - 3 * hourMs;
const person = sha256Of("ada@example.com");
const skipped: NewDelivery = {
  connectionId: "c3",
  platform: "segment",
  state: "skipped",
  reason: "not selected",
};

/** An event with the claims that the pipeline makes. */
function claiming(siteId: string, fields: Partial<Event>, more: Partial<NewEvent> = {}): NewEvent {
  const made = newEvent(
    siteId,
    { receivedAt: past, time: past, person: { emailSha256: person }, ...fields },
    { ownership: byNode(), ...more },
  );
  const { claims, personRef } = possibleClaims(made.event);
  const hasOrderEventId = claims.length === 2 && made.event.orderId !== null;
  return {
    ...made,
    claim: claims.at(-1) ?? "",
    orderEventId: hasOrderEventId ? (claims[0] ?? null) : null,
    personRef,
    claimUntil: made.event.receivedAt + (made.event.orderId === null ? hourMs : 90 * dayMs),
  };
}

/** Ends a first attempt. */
const firstSettlement = (item: NewEvent, position: number, state: "sent" | "rejected"): FirstSettlement => ({
  ...settlementOf(item, state, { connectionId: `c${position + 1}`, at: past, attempt: newAttempt(state) }),
  position,
  platform: "sandbox",
  settings: "abcdef",
});

type Ids = Record<"siteId" | "first" | "rival" | "open" | "filtered" | "replayed", string>;

/** Writes the rows of a site with the store: whatever an event can become. */
async function fill(store: Store): Promise<Ids> {
  const siteId = shortId();
  const line = auditLine(siteId, "site added", past);
  await store.configuration.addSite(line, { name: siteId, settings: {}, hosts: [`${siteId}.example.com`] });
  const two = [queuedDelivery("c1"), queuedDelivery("c2"), skipped];
  const bots: FilterReason[] = [{ code: "only bot visits", detail: null }];
  const rivalOf: Sha256 = sha256Of("grace@example.com");
  const first = claiming(siteId, {}, { deliveries: two });
  const rival = claiming(siteId, { person: { emailSha256: rivalOf } }, { deliveries: two });
  const replayed = claiming(siteId, { orderId: null }, { deliveries: [queuedDelivery("c1")] });
  const filtered = claiming(siteId, { orderId: "bot" }, { filterReasons: bots, deliveries: [] });
  // It hands its order event id over to the next one, and keeps its duplicate key.
  const replaced = claiming(siteId, { orderId: "both" }, { filterReasons: bots, deliveries: [] });
  const replacing = { orderId: "both", person: { emailSha256: rivalOf } };
  const tested = claiming(siteId, { mode: "test", orderId: "T" }, { deliveries: [skipped] });
  const open = claiming(siteId, { orderId: "open", receivedAt: now, time: now }, { deliveries: two });
  await store.nodes.renew("node-a", idAt(now), 60_000);
  const others = [replaced, claiming(siteId, replacing, { deliveries: [skipped] })];
  for (const item of [first, rival, replayed, filtered, tested, open, ...others]) {
    const accepted = await store.events.accept(item);
    expect(accepted.duplicate).toBe(false);
  }
  const settle = (item: NewEvent, number: number, settlements: FirstSettlement[]) =>
    store.deliveries.settleFirst({ siteId, eventId: item.event.id, number, settlements });
  await settle(first, 0, [firstSettlement(first, 0, "sent")]);
  await settle(first, 1, [firstSettlement(first, 1, "rejected")]);
  await settle(rival, 0, [firstSettlement(rival, 0, "sent"), firstSettlement(rival, 1, "sent")]);
  await settle(replayed, 0, [firstSettlement(replayed, 0, "sent")]);
  const key = { eventId: replayed.event.id, connectionId: "c1" };
  expect(await store.syncLog.requeue(siteId, [key], ["sent"], past)).toBe(1);
  expect(await store.syncLog.cancel(siteId, [key], past + 1)).toBe(1);
  const hour = Math.floor(past / hourMs);
  await store.keyUse.addUses([{ siteId: "", keyId: "api key", hour, uses: 1, lastUsedAt: past }]);
  for (const id of ["used", "removed"]) {
    const source = { siteId, id, kind: "custom", name: id, settings: {}, tokens: [], tokenHashes: [], secrets: {} };
    const added = { ...source, state: "active", createdAt: past, updatedAt: past } as const;
    await store.configuration.saveSource(auditLine(siteId, "source added", past), added);
    await store.keyUse.addUses([{ siteId, keyId: id, hour, uses: 1, lastUsedAt: past }]);
  }
  await store.configuration.removeSource(auditLine(siteId, "source removed", past), "removed");
  await rollUpHour(store, siteId, hour, now);
  await store.people.change(siteId, async (rows) => {
    const visit = { visitorId: "v1", seenAt: past, browser: null, clickIds: {}, browserIds: {}, utm: {} };
    await rows.lockIdentity(person, past);
    await rows.saveIdentity(person, { visits: [visit], firstUtm: {}, forms: {} }, past);
    await rows.lockVisitor("v1", past);
    await rows.saveVisitor("v1", { visits: [visit], emailSha256s: [person] }, past);
  });
  const ids = { first, rival, open, filtered, replayed };
  const named = Object.entries(ids).map(([name, { event }]) => [name, event.id]);
  return { siteId, ...Object.fromEntries(named) } as Ids;
}

type Damage = {
  /** Changes rows of one table. */
  table: string;
  sql: (ids: Ids) => string;
  finds: string[];
};

const eventOf = (id: string) => `event_id = '${id}'`;

const damages: Record<string, Damage> = {
  "a claim was lost": {
    table: "dedup_claims",
    sql: ({ rival }) => `DELETE FROM dedup_claims WHERE ${eventOf(rival)}`,
    finds: ["events without their claim"],
  },
  "an event uses the order event id of another one": {
    table: "events",
    sql: ({ rival }) => `UPDATE events SET uses_order_event_id = 1 WHERE id = '${rival}'`,
    finds: ["events with the order event id of another event"],
  },
  "a claim names an event that does not exist": {
    table: "dedup_claims",
    sql: ({ replayed }) => `UPDATE dedup_claims SET event_id = '${ulid(past)}' WHERE ${eventOf(replayed)}`,
    finds: ["claims without their event"],
  },
  "a claim names the event of another order": {
    table: "dedup_claims",
    sql: ({ first, replayed }) => `UPDATE dedup_claims SET event_id = '${first}' WHERE ${eventOf(replayed)}`,
    finds: ["claims that are not their event's"],
  },
  "a claim has the reference of another person": {
    table: "dedup_claims",
    sql: ({ first }) => `UPDATE dedup_claims SET person_ref = person_ref + 1 WHERE ${eventOf(first)}`,
    finds: ["claims that are not their event's"],
  },
  "an outcome was lost": {
    table: "outcomes",
    sql: ({ first }) => `DELETE FROM outcomes WHERE ${eventOf(first)} AND number = 0`,
    finds: ["open events that no node owns", "hours whose statistics differ from their deliveries"],
  },
  "an outcome was lost that has a delivery": {
    table: "outcomes",
    sql: ({ first }) => `DELETE FROM outcomes WHERE ${eventOf(first)} AND number = 1`,
    finds: ["open events that no node owns", "deliveries whose first attempt is open"],
  },
  "an outcome is there twice": {
    table: "outcomes",
    sql: ({ siteId, first }) =>
      `INSERT INTO outcomes (site_id, event_id, number, results) VALUES ('${siteId}', '${first}', 2, '[[1]]')`,
    finds: ["outcomes that are there twice"],
  },
  "an outcome has a number that is too high": {
    table: "outcomes",
    sql: ({ first }) => `UPDATE outcomes SET number = 5 WHERE ${eventOf(first)} AND number = 1`,
    finds: ["outcomes whose numbers are not in sequence"],
  },
  "outcomes of a takeover have a number that is too low": {
    table: "outcomes",
    sql: ({ rival }) =>
      `UPDATE outcomes SET number = -1, results = '[[0,1,1,200,1,"",null],[1,1,1,200,1,"",null],"taken"]' WHERE ${eventOf(rival)}`,
    finds: ["outcomes whose numbers are not in sequence"],
  },
  "an outcome names no entry of the plan": {
    table: "outcomes",
    sql: ({ siteId, first }) =>
      `INSERT INTO outcomes (site_id, event_id, number, results) VALUES ('${siteId}', '${first}', 2, '[[2]]')`,
    finds: ["outcomes that no plan has", "outcomes without their delivery"],
  },
  "an outcome cannot be read": {
    table: "outcomes",
    sql: ({ rival }) => `UPDATE outcomes SET results = '[[' WHERE ${eventOf(rival)}`,
    finds: ["outcomes that cannot be read", "hours whose statistics differ from their deliveries"],
  },
  "the delivery of an outcome was lost": {
    table: "deliveries",
    sql: ({ first }) => `DELETE FROM deliveries WHERE ${eventOf(first)}`,
    finds: [
      "attempts without their delivery",
      "outcomes without their delivery",
      "hours whose statistics differ from their deliveries",
    ],
  },
  "a delivery ended in another way than it was counted": {
    table: "deliveries",
    sql: ({ first }) => `UPDATE deliveries SET state = 'expired' WHERE ${eventOf(first)}`,
    finds: ["hours whose statistics differ from their deliveries"],
  },
  "a delivery has a row while its owner sends it": {
    table: "deliveries",
    sql: ({ siteId, open }) =>
      `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
       VALUES ('${siteId}', '${open}', 'c1', 'sandbox', 'skipped', 0, 0, '', 0)`,
    finds: ["deliveries whose first attempt is open"],
  },
  "an attempt has a number that is too high": {
    table: "attempts",
    sql: ({ first }) => `UPDATE attempts SET number = 7 WHERE ${eventOf(first)}`,
    finds: ["attempts whose numbers are not in sequence"],
  },
  "an attempt was lost": {
    table: "attempts",
    sql: ({ first }) => `DELETE FROM attempts WHERE ${eventOf(first)}`,
    finds: ["deliveries with missing attempts"],
  },
  "a node lost its mark": {
    table: "nodes",
    sql: () => `DELETE FROM nodes`,
    finds: ["open events that no node owns"],
  },
  "a filtered event has a plan": {
    table: "events",
    sql: ({ filtered }) => `UPDATE events SET plan = '[["c9","sandbox","skipped"]]' WHERE id = '${filtered}'`,
    finds: ["filtered events with deliveries"],
  },
  "an event was lost": {
    table: "events",
    sql: ({ rival }) => `DELETE FROM events WHERE id = '${rival}'`,
    finds: [
      "outcomes without their event",
      "hours whose statistics differ from their events",
      "sites whose totals exceed their events",
      "claims without their event",
    ],
  },
  "a test event became a live one": {
    table: "events",
    sql: () => `UPDATE events SET mode = 'live' WHERE mode = 'test'`,
    finds: [
      "events without their claim",
      "hours whose statistics differ from their events",
      "sites whose totals lack events",
      "claims that are not their event's",
    ],
  },
  "a conversion was counted twice": {
    table: "totals",
    sql: () => `UPDATE totals SET conversions = conversions + 1`,
    finds: ["sites whose totals exceed their events"],
  },
  "a removed event was not counted": {
    table: "totals",
    sql: () => `UPDATE totals SET removed_events = 0`,
    finds: ["sites whose totals lack events"],
  },
  "statistics miss a test event": {
    table: "statistics",
    sql: () => `DELETE FROM statistics WHERE kind = 'test'`,
    finds: ["hours whose statistics differ from their events"],
  },
  "statistics miss the source of a conversion": {
    table: "statistics",
    sql: () => `DELETE FROM statistics WHERE kind = 'source'`,
    finds: ["hours whose statistics differ from their events"],
  },
  "the figures of a segment are damaged": {
    table: "statistics_segments",
    sql: () => `UPDATE statistics_segments SET figures = '[['`,
    finds: ["statistics_segments whose figures cannot be read"],
  },
  "a person's visits seem younger than they are": {
    table: "identities",
    sql: () => `UPDATE identities SET oldest_at = oldest_at + 1`,
    finds: ["identities whose age is not that of their oldest visit"],
  },
  "a visitor names no person": {
    table: "visitors",
    sql: () => `UPDATE visitors SET record = REPLACE(record, '${person}', 'ada')`,
    finds: ["visitors of no person"],
  },
  "a record is of no person": {
    table: "identities",
    sql: () => `UPDATE identities SET email_sha256 = 'ada'`,
    finds: ["identities of no person"],
  },
  "a key was used that does not exist": {
    table: "key_uses",
    sql: ({ siteId }) => `INSERT INTO key_uses (site_id, key_id, hour, uses, last_used_at) VALUES ('${siteId}', 'gone', 1, 1, 1)`,
    finds: ["uses of keys that do not exist"],
  },
};

async function check(location: StoreLocation, at = now) {
  const snapshot = await createSnapshot(location);
  if (!snapshot) throw new Error("there is no database");
  try {
    return await checkRows(snapshot, sealWith(encryptionKey), at);
  } finally {
    await snapshot.close();
  }
}

describe.each(engines)("the check on %s", async (engine) => {
  const { store, location, close } = await createNodes(engine);
  const db: Database = connectDatabase(location);
  let ids: Ids;
  beforeAll(async () => {
    ids = await fill(store);
  });
  afterAll(async () => {
    await db.close();
    await close();
  });

  /** Puts the rows of a table back after `work`. */
  async function undoing(table: string, work: () => Promise<void>): Promise<void> {
    const rows = await db.all(`SELECT * FROM ${table}`);
    try {
      await work();
    } finally {
      const columns = Object.keys(rows[0] ?? {});
      await emptyTable(db, table);
      if (rows.length)
        await fillTable(
          db,
          table,
          columns,
          rows.map((row: Row) => columns.map((one) => row[one] ?? null)),
        );
    }
  }
  const change = (sql: string) => db.write((tx) => tx.all(sql));

  test("rows that the store wrote are without fault, also when windows and hours have passed", async () => {
    for (const at of [now, now + 90 * dayMs, now + 900 * dayMs]) expect(await check(location, at)).toEqual([]);
  });

  test.each(Object.entries(damages))("%s", async (_name, { table, sql, finds }) => {
    await undoing(table, async () => {
      await change(sql(ids));
      const found = await check(location);
      expect(found.map(({ what }) => what)).toEqual(finds);
      for (const { count, example, advice } of found)
        expect({ count, example, advice }).toEqual({
          count: expect.any(Number),
          example: expect.stringMatching(/./),
          advice: expect.stringMatching(/\.$/),
        });
    });
    expect(await check(location)).toEqual([]);
  });

  test("an event that was purged may leave its claim, and its totals count it", async () => {
    const purge = { before: now + 100 * dayMs, statisticsFrom: 0 };
    await undoing("events", () =>
      undoing("statistics_hours", () =>
        undoing("deliveries", () =>
          undoing("attempts", () =>
            undoing("outcomes", async () => {
              let next: string | null = "";
              while (next !== null) ({ next } = await store.purge.events(ids.siteId, purge, next, 100));
              expect(await store.events.get(ids.siteId, ids.first)).toBe(null);
              expect(await check(location)).toEqual([]);
            }),
          ),
        ),
      ),
    );
  });

  test("a person who was erased, and a site that is being deleted, are without fault", async () => {
    const site = await fill(store);
    await store.erase.events(site.siteId, person, now);
    expect(await check(location)).toEqual([]);
    await store.deletedSites.delete(auditLine("", "site deleted", now), site.siteId);
    for (let next: string | null = "0"; next !== null;) {
      const step = await store.deletedSites.purge(site.siteId, next, 4);
      if (step.removed > 0) expect(await check(location)).toEqual([]);
      ({ next } = step);
    }
  });

  test("a site that was moved to another installation is without fault, whatever it left here", async () => {
    await undoing("site_moves", () =>
      undoing("events", async () => {
        await change(`INSERT INTO site_moves (site_id, move_id, run_id, state, peer, started_at, updated_at)
          VALUES ('${ids.siteId}', 'm1', 'r1', 'moved', 'elsewhere', ${now}, ${now})`);
        expect(await check(location)).toEqual([]);
        await change(`DELETE FROM events WHERE id = '${ids.rival}'`);
        expect((await check(location)).map(({ what }) => what)).toEqual([]);
      }),
    );
  });

  test("a window that was made longer asks for no claim of the time before", async () => {
    await undoing("dedup_claims", () =>
      undoing("sites", async () => {
        await change(`DELETE FROM dedup_claims WHERE ${eventOf(ids.first)}`);
        expect((await check(location)).map(({ what }) => what)).toEqual(["events without their claim"]);
        const line = { ...auditLine(ids.siteId, "settings changed", now), detail: { dedup_order: "400d" } };
        await store.configuration.changeSettings(line, () => ({ dedupOrderMs: 400 * dayMs }));
        expect(await check(location)).toEqual([]);
      }),
    );
  });
});
