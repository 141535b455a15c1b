// Reads the orders that were never received in the form of an import of conversions, so that they can be exported, or sent at
// once. Emails are known by their hash alone, where the list had them; an order without one cannot be sent.

import { idOfOrder, type Order } from "../store/reconciliation/orders.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import type { Cell } from "../tables/formulas.ts";
import { isEventOf } from "./classify.ts";
import { listRows } from "./rows.ts";
import { findWeakly } from "./step.ts";

export type MissingOrder = {
  hashed_email: string;
  event: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  eventTime: string;
};

export const missingColumns = ["hashed_email", "event", "value", "currency", "orderId", "eventTime"] as const;

/** The cells of an order in the exported file. */
export const missingCells = (order: MissingOrder): Cell[] => missingColumns.map((name) => order[name]);

type MissingPage = {
  /** By the key of the order. */
  orders: Map<string, MissingOrder>;
  /** Orders of the page that are left out. */
  withoutEmail: number;
  /** Orders whose event has arrived since they were compared. */
  receivedSince: number;
  /** Orders left out because an event of the same person, day and value is here, under another order id or none. */
  similar: number;
  /** The cursor of the next page; null at the end. */
  next: string | null;
};

type MissingStore = Pick<Store, "orders" | "orderCandidates" | "reconciliations">;

type MissingOptions = {
  store: MissingStore;
  /** IANA name; the day of a similar event is one of this zone. */
  timeZone: string;
  /** Also orders to which a similar event may belong: they may be counted twice. */
  withSimilar?: boolean | undefined;
};

export async function readMissingPage(
  { store, timeZone, withSimilar = false }: MissingOptions,
  run: Run,
  at: { after: string; limit: number },
): Promise<MissingPage> {
  const { rows, next } = await listRows(store, run, { class: "missing_here" }, at);
  const ids = rows.map(({ id }) => id);
  const listed = await store.orders.find(run.siteId, ids);
  const page: MissingPage = { orders: new Map(), withoutEmail: 0, receivedSince: 0, similar: 0, next };
  const received = await findReceived(store, run, [...listed.values()]);
  const similar = withSimilar ? null : await findWeakly({ store, timeZone }, run, [...listed.values()]);
  for (const id of ids) {
    const order = listed.get(id);
    // It was purged, or its person erased, or the list was corrected since.
    if (!order || order.status !== "paid") continue;
    const { orderId } = order;
    if (received.has(id)) page.receivedSince += 1;
    else if (order.emailSha256 === null) page.withoutEmail += 1;
    else if (similar?.has(id)) page.similar += 1;
    else
      page.orders.set(id, {
        hashed_email: order.emailSha256,
        event: run.event,
        value: order.value,
        currency: order.currency,
        orderId,
        eventTime: new Date(order.time).toISOString(),
      });
  }
  return page;
}

/** Returns the ids of orders whose events are here now. A claim would not find them: a late sender may know another email. */
async function findReceived(store: MissingStore, run: Run, orders: readonly Order[]): Promise<Set<string>> {
  const orderIds = orders.flatMap(({ orderId }) => orderId ?? []);
  const events = await store.orderCandidates.byOrderIds(run.siteId, orderIds);
  return new Set(events.filter(({ name }) => isEventOf(name, run.event)).map(({ orderId }) => idOfOrder(orderId ?? "")));
}

const pageSize = 200;

/** Reads all of them, page by page. */
export async function* readMissing(options: MissingOptions, run: Run): AsyncGenerator<MissingPage> {
  for (let after: string | null = ""; after !== null;) {
    const page: MissingPage = await readMissingPage(options, run, { after, limit: pageSize });
    yield page;
    after = page.next;
  }
}

/** A part of a sending: those after a cursor. */
export type MissingPart = { after: string; withSimilar?: boolean | undefined };

/** What became of the orders of one part of a sending. */
export type SentMissing = {
  sent: number;
  withoutEmail: number;
  /** Orders that arrived since, also while they were sent. */
  receivedSince: number;
  similar: number;
  filtered: number;
  refused: number;
  /** Why orders were refused, by reason. */
  reasons: Record<string, number>;
  /** The cursor of the next part; null at the end. */
  next: string | null;
  /** The platform whose queue is full; then nothing was sent, and the same part is due later. */
  waitingFor: string | null;
};
