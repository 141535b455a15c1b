// Every number of a report is the count of the rows that its filter lists, whatever happened to the processes that made them.

import { expect, test } from "vitest";
import { newEvent, newSite, auditLine, queuedDelivery, settlementOf, unattributed } from "../../test/support/events.ts";
import { newLocation, createAt } from "../../test/support/nodes.ts";
import { engines } from "../../test/support/relay.ts";
import { sha256 } from "../../test/support/sha256.ts";
import type { CountedAs } from "../kernel/confirmation.ts";
import { unselectedReason } from "../kernel/event.ts";
import { ulid } from "../kernel/ids.ts";
import { rowClasses, type RowClass } from "../kernel/reconciliation.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import type { NewEvent } from "../store/events/events.ts";
import { listedId, type Order } from "../store/reconciliation/orders.ts";
import type { Run, RunRow } from "../store/reconciliation/runs.ts";
import { newConnectionTally, newTally, type ConnectionTally } from "../store/reconciliation/tally.ts";
import type { Store } from "../store/store.ts";
import { makeReport } from "./report.ts";
import { listRows, type RowFilter } from "./rows.ts";
import { stepRun } from "./step.ts";

const from = Date.UTC(2026, 10, 1);
const to = from + 7 * dayMs;
const now = to + 3 * dayMs;
const connections = [
  { id: "c1", platform: "sandbox", createdAt: 0 },
  { id: "c2", platform: "google_ads", createdAt: 0 },
  { id: "c3", platform: "meta", createdAt: to },
];

/** Every combination of what may become of an order, from a counter, so that each run has the same. */
async function fill(store: Store, siteId: string, count: number): Promise<void> {
  const orders: Order[] = [];
  const received: Promise<void>[] = [];
  for (let i = 0; i < count; i++) {
    const time = from + Math.floor((i * 7 * dayMs) / count);
    const emailSha256 = i % 6 === 0 ? sha256(String(i % 10).repeat(64)) : null;
    const orderId = i % 29 === 0 ? null : `${i % 4 === 0 ? "#" : ""}A-${i}`;
    const listed = { orderId, time, value: 10 + (i % 3), currency: i % 17 === 0 ? "USD" : "EUR", emailSha256 };
    const status = i % 19 === 0 ? "refunded" : i % 23 === 0 ? "pending" : "paid";
    if (i % 13 !== 0) orders.push({ siteId, id: listedId(listed), status, listedAt: now, ...listed });
    if (i % 7 === 0) continue;
    for (let copies = i % 31 === 0 ? 2 : 1; copies > 0; copies--) received.push(receive(store, siteId, i, time));
  }
  await Promise.all(received);
  await store.orders.write(orders);
}

async function receive(store: Store, siteId: string, i: number, time: number): Promise<void> {
  const fields = { orderId: `A-${i}`, receivedAt: time + hourMs, value: 10 + (i % 5 === 0 ? 0 : i % 3) };
  if (i % 11 === 0) {
    const filterReasons = [{ code: i % 2 ? "blocked person" : "bot", detail: null }] as never;
    await store.events.accept(newEvent(siteId, fields, { filterReasons, deliveries: [] }));
    return;
  }
  const clickIds = i % 3 === 0 ? { gclid: { value: `click-${i}`, seenAt: time } } : {};
  const deliveries = [
    queuedDelivery("c1", "sandbox"),
    ...(i % 4 === 1
      ? [{ connectionId: "c2", platform: "google_ads", state: "skipped", reason: `reason ${i % 3}` } as const]
      : []),
    ...(i % 4 === 3 ? [queuedDelivery("c2", "google_ads")] : []),
  ];
  const item = newEvent(siteId, fields, { deliveries, attribution: { ...unattributed, clickIds } });
  await store.events.accept(item);
  const state = (["sent", "rejected", "rejected", "expired", "parked"] as const)[i % 5] ?? "sent";
  // More reasons than a tally keeps.
  const reason = state === "rejected" ? `fault ${i % 97}` : null;
  if (i % 9 !== 0) await store.deliveries.settle(settlementOf(item, state, { reason }));
  if (i % 4 === 3) await confirm(store, item, answers[i % 5] ?? null);
}

const answers: readonly (CountedAs | null)[] = [
  { state: "confirmed", reason: null },
  { state: "confirmed", reason: "duplicate" },
  { state: "not counted", reason: "no ad click" },
  { state: "unknown", reason: "several reasons" },
  null,
];

/** Google accepts the conversion, and says later what became of it; null: it has not answered. */
async function confirm(store: Store, { event }: NewEvent, answer: CountedAs | null): Promise<void> {
  const of = { siteId: event.siteId, connectionId: "c2" };
  await store.deliveries.settle(settlementOf({ event }, "sent", { connectionId: "c2" }));
  if (!answer) return;
  const question = { ...of, subject: event.id, eventIds: [event.id], acceptedAt: now, asked: 1, dueAt: now };
  const confirmation = { ...answer, detail: null };
  // Sums may count another answer than the row has: Google's counts name no conversion.
  const countedAs = { state: "confirmed", reason: null } as const;
  await store.confirmations.answer(question, "google_ads", [{ eventId: event.id, confirmation, countedAs }], 3, now);
}

test.each(engines)("on %s every number of the funnel equals its rows, after restarts and lost steps", async (engine) => {
  const location = await newLocation(engine);
  let store = await createAt(location);
  try {
    const siteId = await newSite(store);
    await fill(store, siteId, 450);
    let run = newRun(siteId);
    expect(await store.reconciliations.start(run, auditLine(siteId))).toBe(true);
    for (let i = 0; run.state === "running"; i++) {
      const options = { store, timeZone: "UTC", limit: 7 + (i % 40), now };
      if (i % 5 === 1) await expect(stepRun(failing(options, store), run)).rejects.toThrow("killed");
      if (i % 11 === 2) {
        // The process ends after the commit and before it knows of it.
        await stepRun(options, run);
        await store.close();
        store = await createAt(location);
      }
      const stored = (await store.reconciliations.find(run)) ?? expect.unreachable("no run");
      run = stored.state === "running" ? ((await stepRun({ ...options, store }, stored)) ?? stored) : stored;
    }
    await compare(store, run);
  } finally {
    await store.close();
  }
});

function failing<T extends { store: Pick<Store, "reconciliations"> }>(options: T, store: Store): T {
  const step = () => Promise.reject(new Error("killed"));
  return { ...options, store: { ...store, reconciliations: { ...store.reconciliations, step } } };
}

async function readAllRows(store: Store, run: Run, filter: RowFilter): Promise<RunRow[]> {
  const all: RunRow[] = [];
  for (let after: string | null = ""; after !== null;) {
    const page: Awaited<ReturnType<typeof listRows>> = await listRows(store, run, filter, { after, limit: 500 });
    all.push(...page.rows);
    after = page.next;
  }
  return all;
}

test("what was never received is no loss of a connection that does not take the event", () => {
  const tally = { ...newTally(), orders: 10, received: 6, missed: { EUR: 40 } };
  const tallied = (states: ConnectionTally["states"]) => ({ ...newConnectionTally("linkedin"), states });
  const report = (states: ConnectionTally["states"]) =>
    makeReport({ to, tally: { ...tally, connections: { c1: tallied(states) } } }, []).connections[0];
  expect(report({ skipped: { [unselectedReason]: 6 } })).toMatchObject({ deliverable: 0, values: [], skipped: 6 });
  const worth = [{ currency: "EUR", accepted: 0, deliverable: 40 }];
  expect(report({ skipped: { [unselectedReason]: 5, "no email": 1 } })).toMatchObject({ deliverable: 4, values: worth });
  expect(report({ skipped: { [unselectedReason]: 5 }, sent: { "": 1 } })).toMatchObject({ deliverable: 5, accepted: 1 });
  expect(report({})).toMatchObject({ deliverable: 4, values: worth });
});

async function compare(store: Store, run: Run): Promise<void> {
  const report = makeReport(run, connections);
  const count = async (filter: RowFilter) => (await readAllRows(store, run, filter)).length;
  const all = await readAllRows(store, run, {});
  const ofClass = (name: RowClass) => all.filter((row) => row.class === name).length;
  for (const name of rowClasses) {
    expect([name, report.classes[name] ?? 0]).toEqual([name, ofClass(name)]);
    expect(await count({ class: name })).toBe(ofClass(name));
    // A class that does not occur would test nothing.
    expect([name, ofClass(name) > 0]).toEqual([name, true]);
  }
  const counted = all.filter((row) => row.class !== "not_due" && row.class !== "extra_here");
  expect(report.orders).toBe(counted.length);
  expect(report.received).toBe(counted.filter(({ eventId }) => eventId !== null).length);
  // The first order is in dollars.
  expect(report.values.map(({ currency }) => currency)).toEqual(["EUR", "USD"]);
  for (const { currency, listed, received } of report.values) {
    const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
    expect(listed).toBeCloseTo(sum(counted.filter((row) => row.orderCurrency === currency).map((row) => row.orderValue)), 3);
    const events = counted.filter((row) => row.eventCurrency === currency && row.filtered === null);
    expect(received).toBeCloseTo(sum(events.map((row) => row.eventValue)), 3);
  }

  expect(report.connections.map(({ connectionId }) => connectionId)).toEqual(["c1", "c2", "c3"]);
  for (const one of report.connections) {
    const { accepted, skipped, waiting, failed, filtered, notReceived, notConnected } = one;
    const at = { connection: one.connectionId };
    expect(accepted + skipped + waiting + failed + filtered + notReceived + notConnected).toBe(report.orders);
    // The last one was connected after the period: what was never received is no loss of it.
    const deliverable = one.connectionId === "c3" ? 0 : accepted + waiting + failed + notReceived;
    expect(one.deliverable).toBe(deliverable);
    for (const { currency, ...money } of one.values) {
      const ofCurrency = counted.filter((row) => row.orderCurrency === currency);
      const worth = (rows: readonly RunRow[]) => rows.reduce((sum, { orderValue }) => sum + (orderValue ?? 0), 0);
      const isIn = (row: RunRow, states: readonly string[]) =>
        row.filtered === null &&
        row.outcomes.some(({ connectionId, state }) => connectionId === one.connectionId && states.includes(state));
      const given = ofCurrency.filter((row) => isIn(row, ["sent", "queued", "parked", "rejected", "expired"]));
      expect(money.accepted).toBeCloseTo(worth(ofCurrency.filter((row) => isIn(row, ["sent"]))), 3);
      expect(money.deliverable).toBeCloseTo(worth([...given, ...ofCurrency.filter(({ eventId }) => eventId === null)]), 3);
    }
    expect(one.values.length > 0).toBe(deliverable > 0);
    expect({
      accepted: await count({ ...at, state: "sent" }),
      skipped: await count({ ...at, state: "skipped" }),
      waiting: await count({ ...at, state: "waiting" }),
      failed: await count({ ...at, state: "failed" }),
      notReceived: await count({ class: "missing_here" }),
      notConnected: await count({ ...at, state: "none" }),
    }).toEqual({ accepted, skipped, waiting, failed, notReceived, notConnected });
    let before = report.orders;
    for (const { step, count: passed, losses, narrows } of one.funnel) {
      const lost = losses.reduce((sum, loss) => sum + loss.count, 0);
      expect([one.connectionId, step, before - passed]).toEqual([one.connectionId, step, lost]);
      if (narrows) before = passed;
      for (const { reason, count: expected, rows } of losses)
        expect([one.connectionId, step, reason, await count(rows)]).toEqual([one.connectionId, step, reason, expected]);
      if (step === "attributed") expect(await count({ ...at, attributed: true })).toBe(passed);
      if (step === "confirmed") expect(await count({ ...at, confirmation: "confirmed" })).toBe(passed);
    }
  }
  const [sandbox, google] = report.connections;
  // The reasons beyond the limit are counted together, and listed together.
  expect(sandbox?.funnel.at(-1)?.losses.map(({ reason }) => reason)).toContain("rejected: other reasons");
  // A platform that cannot be asked has no such step: a zero would look like a loss.
  expect([sandbox?.confirmed, sandbox?.funnel.at(-1)?.step]).toEqual([null, "accepted"]);
  expect(google?.funnel.at(-1)).toMatchObject({ step: "confirmed", count: google?.confirmed });
  expect(
    google?.funnel
      .at(-1)
      ?.losses.map(({ reason }) => reason)
      .toSorted(),
  ).toEqual(["not answered yet", "not counted: no ad click", "unknown: several reasons"]);
  expect(google?.funnel.find(({ step }) => step === "attributed")?.count).toBeGreaterThan(0);
}

const newRun = (siteId: string): Run => ({
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
});
