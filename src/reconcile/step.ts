// Does the next step of a reconciliation. A step reads a few orders or events, and writes its rows with its progress. In the
// embedded store it runs on the thread that accepts events, so it is small, lets events in between its parts, and the caller
// pauses between two steps.

import { idAt } from "../kernel/ids.ts";
import { dayMs, hourMs, maxEventAgeMs } from "../kernel/time.ts";
import type { CandidateHead } from "../store/reconciliation/candidates.ts";
import { idOfOrder, type Order, type OrderCursor } from "../store/reconciliation/orders.ts";
import type { Run, RunRow } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { foundById, isEventOf, isSameValue, rowOfEvent, rowOfOrder, type Found } from "./classify.ts";
import { addRow, newTally, removeRow, type Tally } from "../store/reconciliation/tally.ts";
import { watchStep } from "./pace.ts";
import { dayOf } from "./window.ts";

type StepStore = Pick<Store, "orders" | "orderCandidates" | "reconciliations">;

type StepOptions = {
  store: StepStore;
  /** IANA name; the day of a weak match is one of this zone. */
  timeZone: string;
  /** The most orders or events of this step. */
  limit: number;
  now: number;
  /** Called between two parts of the step. */
  letOthersIn: () => Promise<void>;
};

type StepWish = Omit<StepOptions, "letOthersIn"> & Partial<Pick<StepOptions, "letOthersIn">>;

/** The clock of a sender may be ahead by minutes. */
const maxAheadMs = hourMs;

/** Returns the run after the step; null when it was cancelled, or another process has made the step. */
export async function stepRun(wish: StepWish, run: Run): Promise<Run | null> {
  const options: StepOptions = { letOthersIn: watchStep().letOthersIn, ...wish };
  const tally: Tally = { ...newTally(), ...(structuredClone(run.tally) as Partial<Tally>) };
  const { rows, phase, cursor } =
    run.phase === "orders" ? await readOrders(options, run, tally) : await readEvents(options, run, tally);
  const next = { phase, cursor, tally: tally as Record<string, unknown> };
  await options.letOthersIn();
  const isDone = await options.store.reconciliations.step(run, { ...next, rows, at: options.now });
  if (!isDone) return null;
  return { ...run, ...next, state: phase === "done" ? "done" : "running", updatedAt: options.now };
}

type StepResult = Pick<Run, "phase" | "cursor"> & { rows: RunRow[] };

const readCursor = (text: string): OrderCursor | null => {
  const at = text.indexOf(" ");
  return at < 0 ? null : { time: Number(text.slice(0, at)), id: text.slice(at + 1) };
};

async function readOrders(options: StepOptions, run: Run, tally: Tally): Promise<StepResult> {
  const { store, limit, letOthersIn } = options;
  const orders = await store.orders.listPage(run.siteId, run, readCursor(run.cursor), limit);
  await letOthersIn();
  const events = await store.orderCandidates.byOrderIds(
    run.siteId,
    orders.flatMap(({ orderId }) => orderId ?? []),
  );
  await letOthersIn();
  const byOrder = Map.groupBy(
    events.filter(({ name }) => isEventOf(name, run.event)),
    ({ orderId }) => idOfOrder(orderId ?? ""),
  );
  const found = orders.map((order) => foundById(order, byOrder.get(order.id) ?? []));
  const weak = await findWeakly(
    options,
    run,
    orders.filter((_, i) => !found[i]),
  );
  const rows = orders.map((order, i) => rowOfOrder(run, order, found[i] ?? weak.get(order.id) ?? null));
  for (const row of rows) addRow(tally, row);
  const last = orders.at(-1);
  return orders.length < limit || !last
    ? { rows, phase: "events", cursor: "" }
    : { rows, phase: "orders", cursor: `${last.time} ${last.id}` };
}

/** The listed orders that events name, by event. */
async function findOwners({ store }: Pick<StepOptions, "store">, { siteId }: Run, events: readonly CandidateHead[]) {
  const ids = events.flatMap(({ id, orderId }) => (orderId === null ? [] : [[id, idOfOrder(orderId)] as const]));
  const orders = await store.orders.find(siteId, [...new Set(ids.map(([, orderId]) => orderId))]);
  return new Map(
    ids.flatMap(([id, orderId]) => {
      const order = orders.get(orderId);
      return order ? [[id, order] as const] : [];
    }),
  );
}

/**
 * Finds, for each order, an event of the same person, day, value and currency whose own order id belongs to no listed order. The
 * day is that of the conversion, however late its sender reported it. Each event stands for one order.
 */
export async function findWeakly(
  options: Pick<StepOptions, "store" | "timeZone">,
  run: Run,
  orders: readonly Order[],
): Promise<Map<string, Found>> {
  const { store, timeZone } = options;
  const wanted = orders.flatMap(({ id, time, value, currency, emailSha256 }) =>
    emailSha256 === null || value === null ? [] : [{ id, time, value, currency, emailSha256, day: dayOf(time, timeZone) }],
  );
  if (wanted.length === 0) return new Map();
  const byPerson = Map.groupBy(wanted, ({ emailSha256 }) => emailSha256);
  const fits = (event: CandidateHead, order: (typeof wanted)[number]) =>
    event.currency === order.currency &&
    isSameValue(order.value, event.value, order.currency, 0) &&
    dayOf(event.time, timeZone) === order.day;
  const found = await store.orderCandidates.byPeople(
    run.siteId,
    wanted.map(({ emailSha256, time }) => ({
      emailSha256,
      from: time - dayMs - maxAheadMs,
      to: time + dayMs + maxEventAgeMs,
    })),
    (event) =>
      event.emailSha256 !== null &&
      isEventOf(event.name, run.event) &&
      (byPerson.get(event.emailSha256) ?? []).some((order) => fits(event, order)),
  );
  if (found.length === 0) return new Map();
  const owners = await findOwners(options, run, found);
  const ids = found.map(({ id }) => id);
  const taken = await store.reconciliations.listTaken(run, ids);
  const chosen = new Map<string, Found>();
  for (const order of wanted) {
    const free = found.find(
      (event) => event.emailSha256 === order.emailSha256 && !owners.has(event.id) && !taken.has(event.id) && fits(event, order),
    );
    if (!free) continue;
    taken.add(free.id);
    chosen.set(order.id, { foundBy: "weak", events: [free] });
  }
  return chosen;
}

async function readEvents(options: StepOptions, run: Run, tally: Tally): Promise<StepResult> {
  const { store, limit } = options;
  const first = idAt(Math.max(0, run.from - maxAheadMs));
  const end = idAt(run.to + maxEventAgeMs);
  const page = await store.orderCandidates.listFree(run, run.cursor === "" ? first : run.cursor, end, limit);
  const free = page.events.filter(({ name, time }) => time >= run.from && time < run.to && isEventOf(name, run.event));
  const owners = await findOwners(options, run, free);
  const known = await store.reconciliations.findRows(run, [...new Set([...owners.values()].map(({ id }) => id))]);
  const rows = new Map<string, RunRow>();
  for (const event of free) {
    const order = owners.get(event.id);
    if (!order) {
      const row = rowOfEvent(run, event);
      addRow(tally, row);
      rows.set(row.id, row);
      continue;
    }
    // The order is outside of the window, or has its events already.
    const before = rows.get(order.id) ?? known.get(order.id);
    if (!before || before.eventId !== null) continue;
    const found = foundById(
      order,
      free.filter(({ id }) => owners.get(id)?.id === order.id),
    );
    const row = rowOfOrder(run, order, found);
    removeRow(tally, { ...before, eventId: null });
    addRow(tally, row);
    rows.set(row.id, row);
  }
  return {
    rows: [...rows.values()],
    phase: page.last === null ? "done" : "events",
    cursor: page.last ?? "",
  };
}
