// Turns the outcomes of a request into events, and stores them: people and orders that a request names only by the sender's own
// ids are looked up first, and what it teaches about those ids is remembered. Plain contact data ends here, as hashes.

import type { ReservedId } from "../../delivery/ownership.ts";
import { isRefund } from "../../delivery/corrections/find.ts";
import type { Person } from "../../kernel/event.ts";
import { maskAddresses, maskAndCut } from "../../kernel/maskAddresses.ts";
import { dayMs } from "../../kernel/time.ts";
import type { Acceptance, Received } from "../../pipeline.ts";
import type { Site, Source } from "../../sites/directory.ts";
import type { IgnoreReason } from "../../sources/kind.ts";
import type { Ignored, Mapped, Outcome } from "../../sources/run.ts";
import { deliveryClaim } from "../../store/events/claims.ts";
import { senderRef, type SenderRef } from "../../store/sources/senderRefs.ts";
import type { SourceOutcome } from "../../store/sources/sourceRequests.ts";
import type { Store } from "../../store/store.ts";
import { FieldFault } from "../fieldFault.ts";
import { newEvent, readExtra, readFields, type Fields } from "../fields.ts";

export type RelayOptions = {
  store: Pick<Store, "events" | "senderRefs">;
  acceptBatch: (batch: readonly Received[], site: Site, deadline: number) => Promise<PromiseSettledResult<Acceptance>[]>;
  reserveId: (now: number) => ReservedId;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** What became of one entry, for people. */
export type SourceResult = {
  outcome: SourceOutcome;
  reason: string | null;
  detail: string | null;
  type: string;
  deliveryId: string | null;
  eventId: string | null;
};

type Context = { site: Site; source: Source; receivedAt: number; deadline: number };

/** How long a repeated delivery of a sender counts as a duplicate. */
const deliveryMs = 90 * dayMs;

type Entry = { about: Pick<Mapped, "type" | "deliveryId">; result: SourceResult } | { about: Mapped; received: Received };

/** Resolves when everything is durable. Fails where the sender has to repeat the request. */
export async function relayOutcomes(
  outcomes: readonly Outcome[],
  context: Context,
  options: RelayOptions,
): Promise<SourceResult[]> {
  const known = await lookUp(outcomes, context, options);
  const learned: SenderRef[] = [];
  const read = outcomes.map((outcome): Ignored | (Mapped & { read: Fields }) | SourceResult => {
    if (outcome.is === "ignored") return outcome;
    const fields = readOutcome(outcome, known, context);
    if ("reason" in fields) return fields;
    const refs = refsOf(outcome, fields, context);
    if (outcome.is !== "learned") return { ...outcome, read: fields };
    learned.push(...refs);
    return { ...resultOf(outcome), outcome: "learned" };
  });
  // No id is reserved before all entries are read: a defect in between would leave it reserved.
  const entries = read.map((one): Entry => {
    if ("read" in one) return { about: one, received: receive(one, context, options) };
    if ("outcome" in one) return { about: one, result: one };
    return { about: one, result: { ...resultOf(one), outcome: "ignored", reason: one.reason, detail: one.detail } };
  });
  const batch = entries.flatMap((one) => ("received" in one ? [one.received] : []));
  const [acceptances] = await Promise.all([
    batch.length > 0 ? options.acceptBatch(batch, context.site, context.deadline) : [],
    learned.length > 0 ? options.store.senderRefs.save(context.site.id, learned) : undefined,
  ]);
  let at = 0;
  return entries.map((entry) => {
    if ("result" in entry) return entry.result;
    const acceptance = acceptances[at++];
    if (acceptance?.status !== "fulfilled") throw acceptance?.reason ?? new Error("an event has no result");
    const { exit } = acceptance.value;
    return { ...resultOf(entry.about), outcome: exit, eventId: exit === "duplicate" ? null : entry.received.event.id };
  });
}

const maxDeliveryId = 200;

const resultOf = ({ type, deliveryId }: Pick<Mapped, "type" | "deliveryId">): SourceResult => ({
  outcome: "accepted",
  reason: null,
  detail: null,
  type: maskAddresses(type),
  deliveryId: deliveryId === null ? null : maskAndCut(deliveryId, maxDeliveryId),
  eventId: null,
});

type Known = {
  customer: (outcome: Mapped) => Person | null;
  /** The order id that the sender's other id stands for. */
  orderId: (outcome: Mapped) => string | null;
  /** The person of a stored purchase; undefined where the order is not known. */
  buyer: (outcome: Mapped) => Person | undefined;
};

const hasEmail = ({ fields }: Mapped) => fields.email !== undefined;

/** Most requests name an email, and need no look-up. */
async function lookUp(outcomes: readonly Outcome[], { site, source }: Context, { store }: RelayOptions): Promise<Known> {
  const mapped = outcomes.filter((one): one is Mapped => one.is === "conversion" || one.is === "refund");
  const customerRef = ({ customer }: Mapped) => (customer === null ? null : senderRef(source.id, "customer", customer));
  const orderRef = ({ orderRef: id }: Mapped) => (id === null ? null : senderRef(source.id, "order", id));
  const wanted = mapped.flatMap((one) => [
    ...(hasEmail(one) ? [] : [customerRef(one)]),
    ...(one.is === "refund" ? [orderRef(one)] : []),
  ]);
  const refs = [...new Set(wanted.filter((ref) => ref !== null))];
  const found = refs.length > 0 ? await store.senderRefs.find(site.id, source.id, refs) : new Map<string, never>();
  const orderId = (one: Mapped) => {
    const known = found.get(orderRef(one) ?? "") as Pick<SenderRef, "orderId"> | undefined;
    return known?.orderId ?? textOf(one.fields.orderId);
  };
  const buyers = new Map<Mapped, Person>();
  for (const one of mapped.filter((refund) => refund.is === "refund" && !hasEmail(refund))) {
    const id = orderId(one);
    const buyer = id === null ? undefined : await findBuyer(store, site, id, one.mode);
    if (buyer) buyers.set(one, buyer);
  }
  return {
    customer: (one) => (found.get(customerRef(one) ?? "") as Pick<SenderRef, "person"> | undefined)?.person ?? null,
    orderId,
    buyer: (one) => buyers.get(one),
  };
}

const textOf = (value: string | number | undefined) => (value === undefined ? null : String(value));

/** Events of one order that are looked at. */
const maxEventsOfOrder = 20;

async function findBuyer(
  store: RelayOptions["store"],
  site: Site,
  orderId: string,
  mode: Mapped["mode"],
): Promise<Person | undefined> {
  const events = await store.events.list(site.id, { orderId: maskAddresses(orderId), mode, limit: maxEventsOfOrder });
  return events.find((event) => !isRefund(event) && !event.isErased && event.status === "accepted")?.person;
}

type Refused = SourceResult & { reason: IgnoreReason };

const ignored = (outcome: Mapped, reason: IgnoreReason, detail: string | null = null): Refused => ({
  ...resultOf(outcome),
  outcome: "ignored",
  reason,
  detail,
});

const maxPersonText = 512;

/** Reads the fields as the inbound endpoint does. */
function readOutcome(outcome: Mapped, known: Known, { site, receivedAt }: Context): Fields | Refused {
  const { fields, is } = outcome;
  const isRefundOutcome = is === "refund";
  const orderId = isRefundOutcome ? known.orderId(outcome) : textOf(fields.orderId);
  if (isRefundOutcome && orderId === null) return ignored(outcome, "unknown order");
  const buyer = known.buyer(outcome);
  if (isRefundOutcome && !hasEmail(outcome) && !buyer) return ignored(outcome, "unknown order");
  const person = buyer ?? (hasEmail(outcome) ? undefined : (known.customer(outcome) ?? undefined));
  const body: Record<string, unknown> = {
    ...fields,
    orderId,
    event: isRefundOutcome ? "refund" : is === "learned" ? "learned" : fields.event,
  };
  // Senders check names and numbers less than we do, and a clock may run ahead: none of it may cost a conversion.
  for (const name of ["phone", "firstName", "lastName"]) body[name] = cut(body[name]);
  if (typeof fields.eventTime === "string" && Date.parse(fields.eventTime) > receivedAt) delete body.eventTime;
  const read = readFields({ fields: body, exact: () => undefined }, site, receivedAt, person);
  if (!(read instanceof FieldFault)) return read;
  if (read.message === "email or hashed_email required")
    return ignored(outcome, outcome.customer === null ? "no person" : "unknown customer");
  return ignored(outcome, read.message.startsWith("eventTime is older") ? "too old" : "wrong field", read.message);
}

const cut = (value: unknown) =>
  typeof value === "string" ? value.replaceAll("\0", "").slice(0, maxPersonText).toWellFormed() : value;

/** What the outcome teaches: whom a customer id belongs to, and which order another id names. */
function refsOf(
  { is, customer, orderRef }: Mapped,
  { person, orderId }: Fields,
  { site, source, receivedAt }: Context,
): SenderRef[] {
  const common = { siteId: site.id, sourceId: source.id, seenAt: receivedAt };
  const refs: SenderRef[] = [];
  if (customer !== null && person.emailSha256 !== undefined && is !== "refund")
    refs.push({ ...common, ref: senderRef(source.id, "customer", customer), person, orderId: null });
  if (orderRef !== null && orderId !== null && is === "conversion")
    refs.push({ ...common, ref: senderRef(source.id, "order", orderRef), person: null, orderId });
  return refs;
}

/** Reserves an id: pass the result to the relay, which releases it. */
function receive(outcome: Mapped & { read: Fields }, context: Context, { reserveId }: RelayOptions): Received {
  const { read, mode, deliveryId, is } = outcome;
  const { site, source, receivedAt } = context;
  const reservedId = reserveId(receivedAt);
  const extra = readExtra(outcome.fields, site);
  const event = newEvent(read, { id: reservedId.id, siteId: site.id, keyId: source.id, mode, receivedAt, extra });
  const refs = refsOf(outcome, read, context);
  return {
    event,
    reservedId,
    eventTime: read.eventTime,
    emailDomain: read.emailDomain,
    clickIds: read.clickIds,
    // One delivery may carry a conversion and refunds of its order.
    delivery:
      deliveryId === null
        ? null
        : { claim: deliveryClaim(source.id, mode, `${is} ${deliveryId}`), until: receivedAt + deliveryMs },
    ...(refs.length > 0 && { refs }),
  };
}
