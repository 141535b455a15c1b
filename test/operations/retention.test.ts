// The purge removes expired rows in small steps under traffic, and keeps every row that is not expired.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpaced } from "../../src/background/pace.ts";
import { createPurgeJob, runSteps, type PurgeOptions } from "../../src/maintenance/purge.ts";
import { emailRef } from "../../src/store/events/eventRow.ts";
import { idAt, ulid } from "../../src/kernel/ids.ts";
import type { Database, Row, Value } from "../../src/store/engine/database.ts";
import { connectDatabase, type StoreLocation } from "../../src/store/connect.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import { snapshotDay } from "../../src/store/confirmations/snapshots.ts";
import { packAttribution } from "../../src/store/people/personCodec.ts";
import { fillTable } from "../../src/store/copy/rows.ts";
import { dayMs as day, hourMs, minuteMs } from "../../src/kernel/time.ts";
import { freshFolder, migratedDatabase } from "../support/databases.ts";
import { newEvent, queuedDelivery, unattributed } from "../support/events.ts";
import { engines } from "../support/relay.ts";
import { sha256 } from "../support/sha256.ts";

const now = Date.UTC(2026, 10, 15, 12);
const settings = { keepMs: 90 * day, keepEventsMs: 90 * day, keepLogMs: 90 * day };
const person = sha256("a".repeat(64));
const never = Number.MAX_SAFE_INTEGER;

const idOf = (ms: number, n: number) => idAt(ms).slice(0, 10) + String(n).padStart(16, "0");
const hourOf = (ms: number) => Math.floor(ms / hourMs);

const tables = {
  events:
    "site_id,id,key_id,mode,status,reasons,name,value,currency,order_id,email_ref,time,received_at,person,attribution,extra,plan,owner,uses_order_event_id",
  deliveries: "site_id,event_id,connection_id,platform,state,reason,attempts,due_at,owner,updated_at",
  attempts: "site_id,event_id,connection_id,number,started_at,duration_ms,state,reason,http_status,batch,request,response",
  statistics_hours: "site_id,hour,rolled_at,due_at",
  statistics: "site_id,hour,charted_hour,kind,name,currency,count,value",
};
type Rows = Record<keyof typeof tables, Value[][]>;

/** Creates `count` events from `at` on, one a second, each with a delivery in `state` and one attempt. */
function seeds(siteId: string, at: number, count: number, state = "sent"): Rows {
  const rows: Rows = { events: [], deliveries: [], attempts: [], statistics_hours: [], statistics: [] };
  for (let n = 0; n < count; n += 1) {
    const ms = at + n * 1000;
    const id = idOf(ms, n);
    const attribution = packAttribution(unattributed);
    const plan = '[["c","sandbox","row"]]';
    rows.events.push([
      siteId,
      id,
      "k",
      "live",
      "accepted",
      null,
      "purchase",
      1,
      "EUR",
      id,
      emailRef(person),
      ms,
      ms,
      person,
      attribution,
      null,
      plan,
      "",
      0,
    ]);
    rows.deliveries.push([siteId, id, "c", "sandbox", state, null, 1, ms, "", ms]);
    rows.attempts.push([siteId, id, "c", 1, ms, 5, state, null, 200, 1, "POST /", "{}"]);
  }
  const hours = new Set(rows.events.map((row) => hourOf(Number(row[12]))));
  for (const hour of hours) {
    const counted = rows.events.filter((row) => hourOf(Number(row[12])) === hour).length;
    rows.statistics_hours.push([siteId, hour, (hour + 2) * hourMs, never]);
    rows.statistics.push([siteId, hour, hour, "conversion", "purchase", "EUR", counted, counted]);
  }
  return rows;
}

describe.each(engines)("retention on %s", (engine) => {
  const expired = engine === "sqlite" ? 20_000 : 3000;
  let location: StoreLocation;
  let db: Database;
  let store: Store;

  beforeAll(async () => {
    location =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await migratedDatabase(), connections: 6 };
    store = await createStore(location, Buffer.alloc(32, 7), ulid);
    db = connectDatabase(location);
  });

  afterAll(async () => {
    await db.close();
    await store.close();
  });

  async function seed(rows: Rows): Promise<void> {
    for (const [table, columns] of Object.entries(tables))
      for (let at = 0; at < rows[table as keyof Rows].length; at += 5000)
        await fillTable(db, table, columns.split(","), rows[table as keyof Rows].slice(at, at + 5000));
  }

  const count = async (table: string, siteId: string, where = "1 = 1") =>
    Number((await db.all(`SELECT COUNT(*) AS n FROM ${table} WHERE site_id = $1 AND ${where}`, [siteId]))[0]?.n);

  /** Runs one round; `elapsed` does not advance, so that every step has the maximum size. */
  async function round(siteId: string, changed: Partial<PurgeOptions> = {}): Promise<void> {
    // The last round was a minute ago, so the clock does not look wrong.
    await store.purge.saveRun("one", { at: now - 60_000, lagMs: 0 });
    const options: PurgeOptions = {
      store,
      sites: () => [{ id: siteId, keys: [{ id: "k" }], sources: [], settings }],
      owner: "one",
      pace: unpaced,
      now: () => now,
      elapsed: () => 0,
      onDefect: (error) => {
        throw error;
      },
      ...changed,
    };
    return createPurgeJob(options).run();
  }

  test("thousands of expired events are purged under inbound traffic, in steps of at most 5,000", async () => {
    await seed(seeds("s", now - 100 * day, expired));
    await seed(seeds("s", now - 80 * day, 50));
    const steps: number[] = [];
    const accepted: string[] = [];
    let between = 0;
    const recorded = {
      ...store.purge,
      async events(...asked: Parameters<Store["purge"]["events"]>) {
        const step = await store.purge.events(...asked);
        steps.push(step.removed);
        between = Math.max(between, accepted.length);
        return step;
      },
    };
    let purging = true;
    const traffic = (async () => {
      while (purging) {
        accepted.push(await acceptOne(store, "s", accepted.length));
      }
    })();
    await round("s", { store: { ...store, purge: recorded } }).finally(() => (purging = false));
    await traffic;

    expect(Math.max(...steps)).toBeLessThanOrEqual(5000);
    expect(steps.reduce((sum, one) => sum + one, 0)).toBe(expired);
    // Events were accepted between the steps. How many depends on how busy the machine is.
    expect(between).toBeGreaterThan(1);
    expect(await count("events", "s")).toBe(50 + accepted.length);
    expect(await count("deliveries", "s", "connection_id = 'c'")).toBe(50);
    expect(await count("attempts", "s")).toBe(50);
    // The statistics stay, and are not computed again from the remaining rows.
    expect(await sum("s")).toBe(expired + 50);
    await store.statistics.replaceHour("s", hourOf(now - 100 * day), [], { rolledAt: now, dueAt: now });
    expect(await sum("s")).toBe(expired + 50);
  });

  const sum = async (siteId: string) =>
    Number((await db.all(`SELECT SUM(count) AS n FROM statistics WHERE site_id = $1`, [siteId]))[0]?.n);

  test.each(["queued", "parked"])(
    "an event with a delivery that is %s is kept, and purged when the delivery has ended",
    async (state) => {
      await seed(seeds(state, now - 200 * day, 3, state));
      await round(state);
      expect([await count("events", state), await count("attempts", state)]).toEqual([3, 3]);
      // Events that wait are no lag of the purge.
      expect(await store.purge.readRun()).toEqual({ at: now, lagMs: 0 });
      await db.write((tx) => tx.all(`UPDATE deliveries SET state = 'expired' WHERE site_id = $1`, [state]));
      await round(state);
      expect([await count("events", state), await count("deliveries", state)]).toEqual([0, 0]);
    },
  );

  test("events are kept until the statistics of their hour are computed", async () => {
    const rows = seeds("unmade", now - 200 * day, 3);
    await seed({ ...rows, statistics_hours: [], statistics: [] });
    await round("unmade");
    expect(await count("events", "unmade")).toBe(3);
    // They are 110 days past their retention, which the metrics show.
    expect(await store.purge.readRun()).toEqual({ at: now, lagMs: 110 * day });
  });

  test("a purge that takes long says between its turns how far it is behind", async () => {
    await seed(seeds("long", now - 200 * day, 300));
    let passed = 0;
    const lags: number[] = [];
    const saveRun: typeof store.purge.saveRun = async (owner, run) => {
      lags.push(run.lagMs);
      await store.purge.saveRun(owner, run);
    };
    const slow = { ...store, purge: { ...store.purge, saveRun } };
    // Two pauses are longer than a turn.
    const pace: PurgeOptions["pace"] = { ...unpaced, rest: async () => void (passed += 16_000) };
    await round("long", { store: slow, pace, elapsed: () => passed });
    expect(lags.length).toBeGreaterThan(1);
    expect(lags[0]).toBeGreaterThan(109 * day);
    expect(lags.at(-1)).toBe(0);
    expect(await count("events", "long")).toBe(0);
  });

  test("reports of quality are kept for ninety days, also of a connection that gets no more of them", async () => {
    const key = { siteId: "reports", connectionId: "c" };
    for (const age of [0, 89, 91]) await store.snapshots.add(key, { day: snapshotDay(now - age * day), reports: [] });
    await store.snapshots.add({ ...key, connectionId: "ended" }, { day: snapshotDay(now - 91 * day), reports: [] });
    await round("reports");
    expect(await count("quality_snapshots", "reports")).toBe(2);
    expect(await count("quality_snapshots", "reports", "connection_id = 'ended'")).toBe(0);
  });

  test("an event from before the kept statistics does not stop the purge of newer events", async () => {
    const waiting = seeds("ancient", now - 900 * day, 1, "parked");
    await seed({ ...waiting, statistics_hours: [], statistics: [] });
    await seed(seeds("ancient", now - 200 * day, 3));
    await round("ancient");
    expect(await count("events", "ancient")).toBe(1);
  });

  test("answers are left to the purge of their events where both end in the same hour, and in the turn that continues", async () => {
    const asked: number[] = [];
    const syncLog: Store["syncLog"] = {
      ...store.syncLog,
      purge: async (_siteId, before) => {
        asked.push(before);
        return 0;
      },
    };
    const at = now + 20 * minuteMs;
    const purge = (siteId: string, keepLogMs: number, changed: Partial<PurgeOptions> = {}) =>
      round(siteId, {
        store: { ...store, syncLog },
        now: () => at,
        sites: () => [{ id: siteId, keys: [], sources: [], settings: { ...settings, keepLogMs } }],
        ...changed,
      });
    for (const keepLogMs of [90 * day, 90 * day - 10 * minuteMs, 90 * day - hourMs, 30 * day, 91 * day])
      await purge("answers", keepLogMs);
    // The last whole hour, twice; the others are the sites' own periods.
    expect(asked.map((before) => at - before)).toEqual([
      90 * day + 20 * minuteMs,
      90 * day + 20 * minuteMs,
      90 * day - hourMs,
      30 * day,
      91 * day,
    ]);

    await seed(seeds("answers", now - 100 * day, 12));
    asked.length = 0;
    let elapsed = 0;
    const turns: string[] = [];
    const events: Store["purge"]["events"] = async (siteId, ages, after) => {
      turns.push(`${asked.length} after ${(elapsed += 20_000) / 1000} s`);
      return store.purge.events(siteId, ages, after, 3);
    };
    const slow = { ...store, syncLog, purge: { ...store.purge, events } };
    await purge("answers", 90 * day, { store: slow, elapsed: () => elapsed });
    expect(await count("events", "answers")).toBe(0);
    // While a turn ends before the events do, no answer is looked for.
    expect(turns.every((turn) => turn.startsWith("0 "))).toBe(true);
    expect(turns.length).toBeGreaterThan(3);
    expect(asked).toEqual([now - 90 * day]);
  });

  test("a clock far ahead of every stored event purges nothing for the first hour", async () => {
    await seed(seeds("ahead", now - 10 * day, 3));
    let elapsed = 0;
    const options: PurgeOptions = {
      store,
      sites: () => [{ id: "ahead", keys: [], sources: [], settings }],
      owner: "one",
      pace: unpaced,
      now: () => now + 400 * day + elapsed,
      elapsed: () => elapsed,
      onDefect: (error) => {
        throw error;
      },
    };
    const purge = createPurgeJob(options);
    await purge.run();
    expect(await count("events", "ahead")).toBe(3);
    elapsed = 3_600_000;
    await purge.run();
    expect(await count("events", "ahead")).toBe(0);
  });

  test("a duplicate is detected until its window ends, also after its event was purged", async () => {
    const claims = [
      ["old", now - 1],
      ["young", now + 1],
    ] as const;
    await fillTable(
      db,
      "dedup_claims",
      ["site_id", "claim", "event_id", "person_ref", "expires_at"],
      claims.map(([claim, until]) => ["claims", claim, "gone", 1, until]),
    );
    await round("claims");
    expect(await db.all(`SELECT claim FROM dedup_claims WHERE site_id = 'claims'`)).toEqual([{ claim: "young" }]);
  });

  test("grants of unknown persons are purged after 400 days; refusals and the operator's decisions stay", async () => {
    const old = now - 401 * day;
    const visitor = "visitor-1";
    const decisions: Value[][] = [
      ["agreed", visitor, "granted", old],
      ["known", visitor, "granted", old],
      ["young", visitor, "granted", now - 399 * day],
      ["refused", visitor, "denied", old],
      ["told", "operator", "granted", old],
    ];
    await fillTable(
      db,
      "consents",
      ["site_id", "subject", "given_by", "state", "decided_at"],
      decisions.map((one) => ["c", ...one]),
    );
    await fillTable(
      db,
      "consent_history",
      ["site_id", "subject", "given_by", "state", "decided_at", "id"],
      decisions.map((one, i) => ["c", ...one, `${i}`]),
    );
    await fillTable(db, "identities", ["site_id", "email_sha256", "record", "oldest_at"], [["c", "known", "I", now]]);
    await round("c");
    for (const table of ["consents", "consent_history"]) {
      const left = await db.all(`SELECT subject FROM ${table} WHERE site_id = 'c' ORDER BY subject`);
      expect(left.map((row: Row) => row.subject)).toEqual(["known", "refused", "told", "young"]);
    }
  });

  test("key uses except the last are purged after 90 days, statistics and audit lines after 800", async () => {
    const uses = [hourOf(now - 300 * day), hourOf(now - 200 * day)];
    await fillTable(
      db,
      "key_uses",
      ["site_id", "key_id", "hour", "uses", "last_used_at"],
      uses.map((hour) => ["n", "k", hour, 1, hour]),
    );
    for (const at of [now - 801 * day, now - 799 * day]) {
      await fillTable(
        db,
        "visit_counts",
        ["site_id", "hour", "bucket", "reason", "writer", "visits"],
        [["n", hourOf(at), "human", "", "", 1]],
      );
      await fillTable(
        db,
        "inbound_counts",
        ["site_id", "hour", "kind", "writer", "count"],
        [["n", hourOf(at), "duplicate", "", 1]],
      );
      await fillTable(db, "statistics", tables.statistics.split(","), [
        ["n", hourOf(at), hourOf(at), "conversion", "x", "", 1, 0],
      ]);
      await fillTable(
        db,
        "statistics_segments",
        ["site_id", "segment", "name", "hour", "charted_hour", "figures"],
        [["n", "source", "x", hourOf(at), hourOf(at), "[]"]],
      );
      await fillTable(db, "statistics_hours", tables.statistics_hours.split(","), [["n", hourOf(at), at, never]]);
      await fillTable(
        db,
        "audit",
        ["site_id", "id", "at", "actor", "action", "detail"],
        [["n", idOf(at, 1), at, "me", "x", "{}"]],
      );
    }
    await round("n");
    expect(await db.all(`SELECT hour FROM key_uses WHERE site_id = 'n'`)).toEqual([{ hour: uses[1] }]);
    for (const table of ["visit_counts", "inbound_counts", "statistics", "statistics_segments", "statistics_hours", "audit"])
      expect([table, await count(table, "n")]).toEqual([table, 1]);
  });

  test("of sources, whole requests are gone before a day is over, lists after a month, and what was remembered with the events", async () => {
    const [siteId, sourceId] = ["of-sources", "src"];
    const kept = { shape: "[]", type: "", request: "the whole request" };
    const listed = { outcome: "accepted", reason: null, detail: null, type: "", deliveryId: null, eventId: null } as const;
    const refs = { siteId, sourceId, eventId: null, person: { emailSha256: person }, orderId: null };
    for (const at of [now - 19 * hourMs, now - 21 * hourMs])
      await store.sourceRequests.addShape({ siteId, sourceId, id: ulid(at), at, ...kept });
    for (const at of [now - 29 * day, now - 31 * day])
      await store.sourceRequests.add([{ siteId, sourceId, id: ulid(at), at, ...listed, dueAt: null, attempts: 0 }]);
    for (const days of [89, 91])
      await store.senderRefs.save(siteId, [{ ...refs, ref: `customer ${days}`, seenAt: now - days * day }]);
    await round(siteId, { sites: () => [{ id: siteId, keys: [], sources: [{ id: sourceId }], settings }] });
    // A round may come four hours later.
    expect(await count("source_shapes", siteId)).toBe(2);
    expect(await count("source_shapes", siteId, "request IS NOT NULL")).toBe(1);
    expect((await store.sourceRequests.listShapes(siteId, sourceId, now)).map(({ request }) => request)).toEqual([
      kept.request,
      null,
    ]);
    // What a late round has not reached is not shown either.
    expect((await store.sourceRequests.listShapes(siteId, sourceId, now + 6 * hourMs))[0]).toMatchObject({ request: null });
    expect(await count("source_requests", siteId)).toBe(1);
    expect(await db.all(`SELECT ref FROM sender_refs WHERE site_id = $1`, [siteId])).toEqual([{ ref: "customer 89" }]);
  });

  test("a site of which nothing is purged is purged less often, and short-lived rows always after ten minutes", async () => {
    await store.purge.saveRun("one", { at: now - 60_000, lagMs: 0 });
    const runs: number[] = [];
    let at = now;
    const purge = createPurgeJob({
      store: {
        ...store,
        traffic: {
          ...store.traffic,
          async purge(...asked) {
            runs.push((at - now) / minuteMs);
            return store.traffic.purge(...asked);
          },
        },
      },
      sites: () => [{ id: "idle", keys: [], sources: [], settings }],
      owner: "one",
      pace: unpaced,
      now: () => at,
      elapsed: () => at - now,
      onDefect: (error) => {
        throw error;
      },
    });
    const runFor = async (ms: number) => {
      for (const end = at + ms; at < end; at += 10 * minuteMs) await purge.run();
    };
    await runFor(day);
    expect(runs).toEqual([0, 20, 60, 140, 300, 540, 780, 1020, 1260]);
    await seed(seeds("idle", now - 90 * day, 3));
    await fillTable(
      db,
      "platform_sign_ins",
      ["site_id", "id", "platform", "record", "expires_at"],
      [["idle", "x", "meta", "", at]],
    );
    await runFor(10 * minuteMs);
    expect([await count("platform_sign_ins", "idle"), await count("events", "idle")]).toEqual([0, 3]);
    await runFor(5 * hourMs);
    expect(await count("events", "idle")).toBe(0);
    // Where something was purged, there may soon be more.
    expect(runs.slice(9)).toEqual([1500, 1510, 1530, 1570, 1650]);
  });

  test("nodes divide the sites, and the others purge those of a node that ended", async () => {
    const ids = ["d1", "d2", "d3", "d4", "d5", "d6"];
    for (const id of ids) await seed(seeds(id, now - 200 * day, 3));
    for (const owner of ["one", "two"]) await store.nodes.renew(owner, idAt(now), minuteMs);
    const sites = () => ids.map((id) => ({ id, keys: [], sources: [], settings }));
    const left = async () => {
      const counts = await Promise.all(ids.map((id) => count("events", id)));
      return ids.filter((_id, i) => (counts[i] ?? 0) > 0);
    };
    await round("", { sites });
    const ofTwo = await left();
    expect(ofTwo.length).toBeGreaterThan(0);
    expect(ofTwo.length).toBeLessThan(ids.length);
    await round("", { sites });
    expect(await left()).toEqual(ofTwo);
    await store.nodes.remove("two");
    await round("", { sites });
    expect(await left()).toEqual([]);
    await store.nodes.remove("one");
  });

  test("events that a node may have in hand are kept", async () => {
    await seed(seeds("in hand", now - 200 * day, 3));
    await store.nodes.renew("one", idAt(now - 201 * day), minuteMs);
    await round("in hand");
    expect(await count("events", "in hand")).toBe(3);
    await store.nodes.renew("one", idAt(now), minuteMs);
    await round("in hand");
    expect(await count("events", "in hand")).toBe(0);
    await store.nodes.remove("one");
  });
});

test("purge steps shrink when they take long, grow when they are short, and end at a time", async () => {
  let clock = 0;
  const sizes: number[] = [];
  const rested: number[] = [];
  const pace = { stepMs: 5, rest: async (ms: number) => void rested.push(Math.round(ms * 10) / 10) };
  const stepping = { pace, elapsed: () => clock, mayContinue: async () => true };
  // A millisecond for each ten rows.
  await runSteps(stepping, 500, async (_after, size) => {
    clock += size / 10;
    sizes.push(size);
    return { removed: size, next: sizes.length < 8 ? "" : null };
  });
  expect(sizes).toEqual([32, 32, 32, 32, 32, 32, 32, 32]);
  expect(rested).toEqual([3.2, 3.2, 3.2, 3.2, 3.2, 3.2, 3.2]);
  sizes.length = 0;
  await runSteps(stepping, 500, async (_after, size) => {
    clock += sizes.length < 4 ? 0.1 : 50;
    sizes.push(size);
    return { removed: 0, next: sizes.length < 9 ? "" : null };
  });
  expect(sizes).toEqual([32, 64, 128, 256, 500, 250, 125, 62, 31]);
  sizes.length = 0;
  const until = clock + 25;
  await runSteps({ ...stepping, until }, 500, async (_after, size) => {
    clock += 10;
    sizes.push(size);
    return { removed: 0, next: "" };
  });
  expect(sizes).toHaveLength(3);
});

/** Accepts one event, as the pipeline does. */
async function acceptOne(store: Store, siteId: string, n: number): Promise<string> {
  const orderId = `live-${n}`;
  const accepted = newEvent(
    siteId,
    { receivedAt: now, orderId, person: { emailSha256: sha256(person) } },
    { claim: orderId, claimUntil: now + day, deliveries: [queuedDelivery("live")] },
  );
  await store.events.accept(accepted);
  return accepted.event.id;
}
