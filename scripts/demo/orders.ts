// The shop's own list of orders, and its comparison with the events: a few orders never arrived, some have another value, some
// were refunded.

import { idAt } from "../../src/kernel/ids.ts";
import { defaultReconciledEvent } from "../../src/kernel/reconciliation.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { isEventOf } from "../../src/reconcile/classify.ts";
import { startRun } from "../../src/reconcile/manage.ts";
import { createStep } from "../../src/reconcile/worker.ts";
import { findSite, type SiteContext } from "../../src/sites/manage.ts";
import type { Candidate } from "../../src/store/reconciliation/candidates.ts";
import { listedId, type Order } from "../../src/store/reconciliation/orders.ts";
import type { Run } from "../../src/store/reconciliation/runs.ts";
import { confirmConversions } from "./confirmations.ts";
import type { Random } from "./random.ts";
import { owner, type CreatedSite } from "./sites.ts";

const pageSize = 500;
/** The last two days are never compared, so a shorter history has nothing to show. */
const minDays = 4;

export async function compareOrders(
  context: SiteContext,
  random: Random,
  { siteId }: CreatedSite,
  { from, now }: { from: number; now: number },
): Promise<void> {
  if (now - from < minDays * dayMs) return;
  const { store, directory } = context;
  // There is no run yet, so no order has any event.
  const beforeRuns = { siteId, id: "" };
  for (let after: string | null = idAt(from); after !== null;) {
    const { events, last }: { events: Candidate[]; last: string | null } = await store.orderCandidates.listFree(
      beforeRuns,
      after,
      idAt(now),
      pageSize,
    );
    await confirmConversions(store, random, siteId, events, now);
    const sold = events.filter(({ name }) => isEventOf(name, defaultReconciledEvent));
    const orders = sold.flatMap((event) => listOrders(random, siteId, event, now));
    if (orders.length) await store.orders.write(orders);
    after = last;
  }
  const by = { actor: owner, now: now - 5 * hourMs };
  const step = createStep({
    store,
    directory,
    now: () => by.now,
    onDefect(error) {
      throw error;
    },
  });
  let run: Run | null = await startRun(store, findSite(context, siteId), {}, by);
  while (run?.state === "running") run = await step(run);
}

/** Returns the order of an event as the shop has it, and sometimes another whose event was lost. */
function listOrders(random: Random, siteId: string, event: Candidate, now: number): Order[] {
  const { orderId, time, value, currency, emailSha256 } = event;
  // The shop's list does not have every event: some are orders by telephone.
  if (orderId === null || random.chance(0.01)) return [];
  const spelling = random.chance(0.3) ? `#${orderId}` : orderId;
  const listed = { orderId: spelling, time: time - random.integer(1, 90) * 1000, value, currency, emailSha256 };
  const order: Order = {
    siteId,
    id: listedId(listed),
    ...listed,
    value: value !== null && random.chance(0.012) ? value + 4.9 : value,
    status: random.chance(0.02) ? "refunded" : "paid",
    listedAt: now,
  };
  if (!random.chance(0.018)) return [order];
  const lost = { ...listed, orderId: `${orderId}-2`, time: listed.time + 60_000, emailSha256: null };
  return [order, { ...order, ...lost, id: listedId(lost), status: "paid" }];
}
