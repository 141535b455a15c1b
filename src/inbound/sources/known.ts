// Finds what the relay knows of the people and orders that a request names only by the sender's own ids.

import { isRefund } from "../../delivery/corrections/find.ts";
import type { Mode, Person } from "../../kernel/event.ts";
import { forEachConcurrently, threadShare } from "../../kernel/concurrency.ts";
import { maskAddresses } from "../../kernel/maskAddresses.ts";
import type { Site, Source } from "../../sites/directory.ts";
import type { Mapped, Outcome } from "../../sources/run.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import { senderRef } from "../../store/sources/senderRefs.ts";
import type { Store } from "../../store/store.ts";

export type Known = {
  customer: (outcome: Mapped) => Person | null;
  /** The order id that the sender's other id stands for: of a refund the one that it refers to, else the one that it names. */
  orderId: (outcome: Mapped) => string | null;
  /** The person of a stored purchase; undefined where the order is not known. */
  buyer: (outcome: Mapped) => Person | undefined;
  /** The events of the order of a refund. */
  order: (outcome: Mapped) => readonly StoredEvent[];
};

type KnownStore = Pick<Store, "events" | "senderRefs">;

export const hasEmail = ({ fields }: Mapped) => fields.email !== undefined || fields.hashed_email !== undefined;

/** Most requests name an email, and need no look-up. */
export const isComplete = (one: Outcome) => one.is === "ignored" || (one.is === "conversion" && hasEmail(one));

export const nothingKnown: Known = { customer: () => null, orderId: () => null, buyer: () => undefined, order: () => [] };

export async function findKnown(
  outcomes: readonly Outcome[],
  { site, source }: { site: Site; source: Source },
  store: KnownStore,
): Promise<Known> {
  const mapped = outcomes.filter((one): one is Mapped => one.is !== "ignored");
  const customerRef = ({ customer }: Mapped) => (customer === null ? null : senderRef(source.id, "customer", customer));
  const orderRef = ({ is, orderRef: other, fields }: Mapped) => {
    const id = is === "refund" ? other : is === "learned" && other !== null ? textOf(fields.orderId) : null;
    return id === null ? null : senderRef(source.id, "order", id);
  };
  const wanted = mapped.flatMap((one) => [hasEmail(one) || one.is === "learned" ? null : customerRef(one), orderRef(one)]);
  const refs = [...new Set(wanted.filter((ref) => ref !== null))];
  const found: Awaited<ReturnType<typeof store.senderRefs.find>> =
    refs.length > 0 ? await store.senderRefs.find(site.id, source.id, refs) : new Map();
  const eventIds = [...found.values()].flatMap(({ eventId }) => eventId ?? []);
  const events = eventIds.length > 0 ? await store.events.getMany(site.id, eventIds) : new Map<string, never>();
  const customer = (one: Mapped): Person | null => {
    const known = found.get(customerRef(one) ?? "");
    const event = events.get(known?.eventId ?? "");
    return event && event !== "damaged" && !event.isErased ? event.person : (known?.person ?? null);
  };
  const orderId = (one: Mapped) => found.get(orderRef(one) ?? "")?.orderId ?? textOf(one.fields.orderId) ?? one.orderRef;
  const orders = await readOrders(
    store,
    site,
    mapped.filter(({ is }) => is === "refund"),
    orderId,
  );
  return {
    customer,
    orderId,
    buyer: (one) => buyerOf(one, orders.get(one) ?? []),
    order: (one) => ((orders.get(one)?.length ?? 0) < maxEventsOfOrder ? (orders.get(one) ?? []) : []),
  };
}

/** Two persons may have one order id: a refund that waited names its own by the hash. */
function buyerOf({ fields }: Mapped, order: readonly StoredEvent[]): Person | undefined {
  const sales = order.filter((event) => !isRefund(event) && !event.isErased);
  const own = sales.find(({ person }) => person.emailSha256 !== undefined && person.emailSha256 === fields.hashed_email);
  return (own ?? sales[0])?.person;
}

/** Events of one order that are looked at. One with more is a placeholder such as `test`. */
const maxEventsOfOrder = 50;
/** Orders that are read at the same time. */
const maxReads = 4;

/** Reads the order of each refund: every order once, and in slices, because a request may have hundreds of refunds. */
async function readOrders(
  store: KnownStore,
  site: Site,
  refunds: readonly Mapped[],
  orderIdOf: (refund: Mapped) => string | null,
): Promise<Map<Mapped, readonly StoredEvent[]>> {
  const orders = new Map<string, { orderId: string; mode: Mode; refunds: Mapped[] }>();
  for (const refund of refunds) {
    const given = orderIdOf(refund);
    if (given === null) continue;
    const { mode } = refund;
    const orderId = maskAddresses(given);
    const order = orders.get(`${mode} ${orderId}`);
    if (order) order.refunds.push(refund);
    else orders.set(`${mode} ${orderId}`, { orderId, mode, refunds: [refund] });
  }
  const found = new Map<Mapped, readonly StoredEvent[]>();
  const rest = threadShare.begin(site.id);
  await forEachConcurrently(orders.values(), maxReads, async ({ orderId, mode, refunds: ofOrder }) => {
    await rest();
    const events = await store.events.list(site.id, { orderId, mode, limit: maxEventsOfOrder });
    const accepted = events.filter(({ status }) => status === "accepted");
    for (const refund of ofOrder) found.set(refund, accepted);
  });
  return found;
}

export const textOf = (value: string | number | undefined) => (value === undefined ? null : String(value));
