// Reconciles 5,000 orders with every kind of trouble, computes the same numbers again from the raw rows of the database, with none of
// the code under test, and compares every one.

import { afterAll, expect, test } from "vitest";
import type { FilterReason } from "../../src/kernel/event.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { makeReport } from "../../src/reconcile/report.ts";
import { stepRun } from "../../src/reconcile/step.ts";
import { ownedByAny } from "../../src/store/deliveries/ownership.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import { listedId, type Order } from "../../src/store/reconciliation/orders.ts";
import type { Run } from "../../src/store/reconciliation/runs.ts";
import { newTally } from "../../src/store/reconciliation/tally.ts";
import { newEvent, newSite, unattributed } from "../support/events.ts";
import { createNodes, sql } from "../support/nodes.ts";
import { sha256 } from "../support/sha256.ts";

const timeZone = "America/New_York";
// Midnights in New York. The clocks are set back on 1 November.
const from = Date.parse("2026-10-20T00:00:00-04:00");
const to = Date.parse("2026-11-11T00:00:00-05:00");
const now = to + 60 * dayMs;
const orders = 5000;

const { store, location, close } = await createNodes("sqlite");
afterAll(close);

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const states = ["sent", "sent", "sent", "skipped", "queued", "parked", "rejected", "expired"] as const;
/** Few people share the beginning of a hash, which indexes have. */
const person = (i: number) => sha256(i.toString(16).padStart(5, "0").padEnd(64, "a"));

async function fill(siteId: string): Promise<void> {
  const random = createRandom(4711);
  const pick = <One>(some: readonly One[]): One => some[Math.floor(random() * some.length)] as One;
  const listed: Order[] = [];
  const events: NewEvent[] = [];
  for (let i = 0; i < orders; i++) {
    const edges = [from, from - 1, to - 1, to, Date.parse("2026-11-01T05:59:59.999Z"), Date.parse("2026-11-01T06:00:00Z")];
    const time = i % 50 === 0 ? pick(edges) : from + Math.floor(random() * (to - from));
    const orderId = i % 23 === 0 ? null : `${pick(["#", "", " ", "# "])}Shop-${i}`;
    const value = i % 41 === 0 ? null : Math.round(random() * 20_000) / 100;
    const currency = pick(["EUR", "EUR", "USD"]);
    const emailSha256 = i % 5 === 0 && orderId !== null ? null : person(i % 4000);
    const order = { orderId, time, value, currency, emailSha256 };
    const status = pick(["paid", "paid", "paid", "paid", "refunded", "cancelled", "pending"] as const);
    if (i % 19 !== 0) listed.push({ siteId, id: listedId(order), status, listedAt: now, ...order });
    // Lost on the way, also for refunded and pending ones.
    if (i % 7 === 0) continue;
    const late = pick([0, hourMs, 3 * dayMs, 20 * dayMs, 80 * dayMs]);
    const isWeak = orderId === null || i % 11 === 0;
    const spelled = isWeak ? pick([null, `other-${i}`]) : pick([`shop-${i}`, `SHOP-${i}`, `#Shop-${i}`, ` shop-${i} `]);
    const copies = i % 29 === 0 ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const filterReasons: FilterReason[] =
        i % 37 === 0 && copy === 0 ? [{ code: pick(["blocked person", "only bot visits"]), detail: null }] : [];
      const isOff = i % 13 === 0;
      const given = value === null ? null : isOff ? value + 1 : value;
      events.push(
        newEvent(
          siteId,
          {
            id: ulid(time + late),
            name: i % 43 === 0 ? "lead" : pick(["purchase", "Order Completed"]),
            mode: i % 47 === 0 ? "test" : "live",
            orderId: spelled,
            value: given,
            currency: i % 17 === 0 ? "GBP" : currency,
            time: i % 31 === 0 ? time + dayMs : time,
            receivedAt: time + late,
            person: { emailSha256: person(copy === 0 ? i % 4000 : 9000 + i) },
          },
          {
            filterReasons,
            attribution: {
              ...unattributed,
              clickIds: i % 3 === 0 ? { gclid: { value: "CLICK-G", seenAt: time } } : {},
              browserIds: i % 4 === 0 ? { _fbc: `fb.1.${time}.CLICK-F` } : {},
            },
            ownership: ownedByAny(now),
            deliveries: filterReasons.length
              ? []
              : (["google_ads", "meta"] as const)
                  .filter((platform) => platform === "google_ads" || i % 2 === 0)
                  .map((platform) => ({ connectionId: platform, platform, state: "queued", reason: null })),
          },
        ),
      );
    }
  }
  await store.orders.write(listed);
  await Promise.all(events.map((one) => store.events.accept(one)));
  const settled = events.flatMap(({ event, deliveries }) =>
    deliveries.map(async ({ connectionId }) => {
      const state = pick(states);
      if (state === "queued") return;
      const reason = state === "sent" ? null : `${state} ${Math.floor(random() * 3)}`;
      const ended = { owner: "", state, reason, dueAt: 0, attempts: 1, at: now, attempt: null };
      await store.deliveries.settle({ siteId, eventId: event.id, connectionId, ...ended });
    }),
  );
  await Promise.all(settled);
  for (const { event } of events.filter((_, i) => i % 2 === 0)) {
    const said = pick([
      { state: "confirmed", reason: null },
      { state: "not counted", reason: "no ad click" },
      { state: "unknown", reason: "several reasons" },
    ] as const);
    const confirmation = { ...said, detail: null };
    const asked = { subject: "t", eventIds: [event.id], acceptedAt: now, asked: 1, dueAt: now };
    const answers = [{ eventId: event.id, confirmation, countedAs: confirmation }];
    await store.confirmations.answer({ siteId, connectionId: "google_ads", ...asked }, "google_ads", answers, 0, now);
  }
}

async function reconcile(siteId: string): Promise<Run> {
  let run: Run = {
    siteId,
    id: ulid(),
    state: "running",
    phase: "orders",
    cursor: "",
    from,
    to,
    event: "purchase",
    tolerance: 0,
    tally: newTally(),
    isReadable: true,
    startedBy: "test",
    startedAt: now,
    updatedAt: now,
  };
  const at = { siteId, actor: "test", action: "reconciliation started", detail: {}, at: now };
  await store.reconciliations.start(run, at);
  while (run.state === "running")
    run = (await stepRun({ store, timeZone, limit: 500, now, letOthersIn: () => Promise.resolve() }, run)) ?? run;
  return run;
}

type Row = Record<string, string | number | null>;
const keyOf = (orderId: unknown) => String(orderId).trim().toLowerCase().replace(/^#+/, "").trim();
const localDay = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
const count = (counts: Record<string, number>, name: string, n = 1) => void (counts[name] = (counts[name] ?? 0) + n);
const rounded = (counts: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(counts).flatMap(([name, sum]) => (Math.abs(sum) < 1e-6 ? [] : [[name, Number(sum.toFixed(2))]])),
  );

/** Everything from the rows, the simplest way. */
async function recompute(siteId: string) {
  const read = async (table: string, order: string) =>
    (await sql(location, `SELECT * FROM ${table} WHERE site_id = '${siteId}' ORDER BY ${order}`)) as Row[];
  const listed = await read("orders", "time, id");
  const events = (await read("events", "id")).filter(({ name, mode }) => mode === "live" && name !== "lead");
  const deliveries = Map.groupBy(await read("deliveries", "event_id"), ({ event_id: id }) => id);
  const confirmations = new Map((await read("confirmations", "event_id")).map((row) => [row.event_id, row]));
  const byKey = Map.groupBy(
    events.filter(({ order_id: id }) => id !== null),
    ({ order_id: id }) => keyOf(id),
  );
  const listedKeys = new Set(listed.flatMap(({ order_id: id }) => (id === null ? [] : [keyOf(id)])));
  const inWindow = listed.filter(({ time }) => Number(time) >= from && Number(time) < to);
  const taken = new Set<unknown>();
  const result = {
    orders: 0,
    received: 0,
    classes: {} as Record<string, number>,
    foundBy: {} as Record<string, number>,
    listed: {} as Record<string, number>,
    receivedValue: {} as Record<string, number>,
    filtered: {} as Record<string, number>,
    connections: {} as Record<string, Record<string, number>>,
  };
  const at = (connection: string) => (result.connections[connection] ??= {});
  const matched = new Map<Row, { events: Row[]; foundBy: string }>();
  for (const order of inWindow) {
    const own = order.order_id === null ? [] : (byKey.get(keyOf(order.order_id)) ?? []);
    for (const one of own) taken.add(one.id);
    if (own.length)
      matched.set(order, {
        events: own,
        foundBy: own.some((one) => one.order_id === order.order_id) ? "exact" : "other spelling",
      });
  }
  for (const order of inWindow) {
    if (matched.has(order) || order.email_sha256 === null || order.value === null) continue;
    const weak = events.find(
      (one) =>
        !taken.has(one.id) &&
        (one.order_id === null || !listedKeys.has(keyOf(one.order_id))) &&
        String(one.person).slice(0, 64) === order.email_sha256 &&
        one.currency === order.currency &&
        one.value !== null &&
        Math.abs(Number(one.value) - Number(order.value)) < 0.005 &&
        localDay.format(Number(one.time)) === localDay.format(Number(order.time)),
    );
    if (!weak) continue;
    taken.add(weak.id);
    matched.set(order, { events: [weak], foundBy: "weak" });
  }
  for (const order of inWindow) {
    const found = matched.get(order);
    const accepted = (found?.events ?? []).filter(({ status }) => status === "accepted");
    const event = accepted[0] ?? found?.events[0];
    const isVoid = order.status === "refunded" || order.status === "cancelled";
    const isOther = Math.abs(Number(order.value) - Number(event?.value)) > 0.005 || event?.value === null;
    const ofClass = !event
      ? order.status === "paid"
        ? "missing_here"
        : "not_due"
      : isVoid
        ? "status_changed"
        : accepted.length > 1
          ? "duplicate"
          : order.value !== null && order.currency !== event.currency
            ? "currency_differs"
            : order.value !== null && isOther
              ? "value_differs"
              : "matched";
    count(result.classes, ofClass);
    if (found) count(result.foundBy, found.foundBy);
    if (ofClass === "not_due") continue;
    result.orders += 1;
    count(result.listed, String(order.currency), Number(order.value ?? 0));
    const worth = order.value === null ? [event?.currency, event?.value] : [order.currency, order.value];
    const addWorth = (connection: string, name: string) => {
      if (worth[1] != null) count(at(connection), `${name} ${worth[0]}`, Number(worth[1]));
    };
    for (const connection of ["google_ads", "meta"]) {
      if (event) continue;
      count(at(connection), "not received");
      addWorth(connection, "deliverable");
    }
    if (!event) continue;
    result.received += 1;
    if (event.status === "filtered") {
      count(result.filtered, (JSON.parse(String(event.reasons)) as FilterReason[])[0]?.code ?? "");
      continue;
    }
    count(result.receivedValue, String(event.currency), Number(event.value ?? 0));
    const planned = deliveries.get(String(event.id)) ?? [];
    for (const connection of ["google_ads", "meta"]) {
      const delivery = planned.find(({ connection_id: id }) => id === connection);
      if (!delivery) {
        count(at(connection), "not connected");
        continue;
      }
      const { state, reason } = delivery;
      count(at(connection), String(state));
      if (state !== "sent") count(at(connection), `${state}: ${reason ?? ""}`);
      if (String(event.attribution).includes(connection === "meta" ? "CLICK-F" : "CLICK-G")) count(at(connection), "attributed");
      if (state !== "skipped") addWorth(connection, "deliverable");
      if (state !== "sent") continue;
      addWorth(connection, "accepted");
      if (connection === "google_ads") count(at(connection), `said ${confirmations.get(String(event.id))?.state ?? "nothing"}`);
    }
  }
  for (const event of events) {
    const isIn = Number(event.time) >= from && Number(event.time) < to;
    if (isIn && !taken.has(event.id) && (event.order_id === null || !listedKeys.has(keyOf(event.order_id))))
      count(result.classes, "extra_here");
  }
  return result;
}

test("a reconciliation of 5,000 orders with every kind of trouble equals what the rows say, in every number", async () => {
  const siteId = await newSite(store);
  await fill(siteId);
  const run = await reconcile(siteId);
  const known = ["google_ads", "meta"].map((platform) => ({ id: platform, platform, createdAt: 0 }));
  const report = makeReport(run, known);
  const truth = await recompute(siteId);
  expect(report.classes).toEqual(truth.classes);
  // A kind of trouble that does not occur would test nothing.
  expect(Object.keys(truth.classes)).toHaveLength(8);
  expect(Object.keys(truth.foundBy)).toHaveLength(3);
  expect(report.foundBy).toEqual(truth.foundBy);
  expect([report.orders, report.received]).toEqual([truth.orders, truth.received]);
  expect(rounded(Object.fromEntries(report.values.map(({ currency, listed }) => [currency, listed])))).toEqual(
    rounded(truth.listed),
  );
  expect(rounded(Object.fromEntries(report.values.map(({ currency, received }) => [currency, received])))).toEqual(
    rounded(truth.receivedValue),
  );
  const filtered = Object.values(truth.filtered).reduce((sum, one) => sum + one, 0);
  for (const one of report.connections) {
    const ofTruth = truth.connections[one.connectionId] ?? {};
    const n = (name: string) => ofTruth[name] ?? 0;
    const [accepted, waiting, failed] = [n("sent"), n("queued") + n("parked"), n("rejected") + n("expired")];
    expect(one).toMatchObject({
      accepted,
      skipped: n("skipped"),
      waiting,
      failed,
      filtered,
      notReceived: n("not received"),
      notConnected: n("not connected"),
      deliverable: accepted + waiting + failed + n("not received"),
    });
    for (const { currency, ...money } of one.values) {
      expect(money.accepted).toBeCloseTo(n(`accepted ${currency}`), 2);
      expect(money.deliverable).toBeCloseTo(n(`deliverable ${currency}`), 2);
    }
    const steps = Object.fromEntries(one.funnel.map(({ step, count: passed }) => [step, passed]));
    expect(steps).toMatchObject({
      orders: truth.orders,
      received: truth.received,
      "not filtered": truth.received - filtered,
      attributed: n("attributed"),
      due: accepted + waiting + failed,
      accepted,
    });
    for (const { losses } of one.funnel)
      for (const { count: lost, rows } of losses) {
        if (rows.state === undefined || rows.state === "none" || rows.confirmation) continue;
        const reason = rows.reason === "(none)" ? "" : rows.reason;
        expect([rows.state, reason, lost]).toEqual([rows.state, reason, n(`${rows.state}: ${reason}`)]);
      }
    expect(one.confirmed).toBe(one.platform === "google_ads" ? n("said confirmed") : null);
  }
});
