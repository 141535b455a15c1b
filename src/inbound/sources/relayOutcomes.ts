// Turns the outcomes of a request into events, and stores them: people and orders that a request names only by the sender's own
// ids are looked up first, and what it teaches about those ids is remembered. One that cannot be complete yet waits, durably
// (lookUpJob.ts): for a look-up at the sender, or for the sender's own event about that customer or order, because senders keep no
// order. Plain contact data ends here, as hashes.

import { isRefund } from "../../delivery/corrections/find.ts";
import type { ReservedId } from "../../delivery/ownership.ts";
import { hashPerson, readEmail } from "../../identity/person.ts";
import { clicksOfVisits, readCarried, type Links } from "../../identity/links.ts";
import { identifyVisitor } from "../../identity/visits.ts";
import type { Person, Visit } from "../../kernel/event.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { orderEventIdOf, ulid } from "../../kernel/ids.ts";
import { dayMs } from "../../kernel/time.ts";
import type { Acceptance, Received } from "../../pipeline.ts";
import type { Site, Source } from "../../sites/directory.ts";
import { validValues } from "../../sites/sources.ts";
import { kindOf } from "../../sources/kinds/index.ts";
import { lookUpOf, type WaitingEvent } from "../../sources/lookUp.ts";
import type { Mapped, Outcome } from "../../sources/run.ts";
import { deliveryClaim } from "../../store/events/claims.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import { senderRef, type SenderRef } from "../../store/sources/senderRefs.ts";
import { lookUpReason, turnReason, type WaitingRequest } from "../../store/sources/sourceRequests.ts";
import type { Store } from "../../store/store.ts";
import { filterReasons } from "../../traffic/filter.ts";
import { FieldFault } from "../fieldFault.ts";
import { newEvent, readExtra, readFields, type Fields } from "../fields.ts";
import { findKnown, hasEmail, isComplete, nothingKnown, textOf, type Known } from "./known.ts";
import { restOfRefund } from "./refundRest.ts";
import { ignored, resultOf, type SourceResult } from "./results.ts";

export type RelayOptions = {
  store: Pick<Store, "events" | "people" | "senderRefs" | "sourceRequests">;
  links: Links;
  acceptBatch: (batch: readonly Received[], site: Site, deadline: number) => Promise<PromiseSettledResult<Acceptance>[]>;
  reserveId: (now: number) => ReservedId;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

type Context = {
  site: Site;
  source: Source;
  receivedAt: number;
  deadline: number;
  /** The event has waited before, and its row is there. */
  hasWaited?: true;
};

/** How long a repeated delivery of a sender counts as a duplicate. */
const deliveryMs = 90 * dayMs;

type ReadOutcome = { about: Mapped; fields: Fields; refs: readonly SenderRef[] };

/** `refused` is what becomes of it where it cannot wait; null where the sender has to repeat it then. */
type WaitingOutcome = { waiting: WaitingRequest; result: SourceResult; refused: SourceResult | null };

/** Resolves when everything is durable. Fails where the sender has to repeat the request. */
export async function relayOutcomes(
  outcomes: readonly Outcome[],
  context: Context,
  options: RelayOptions,
): Promise<SourceResult[]> {
  // Nothing is awaited for most requests: each promise on their way costs as much as reading a field.
  const known = outcomes.every(isComplete) ? nothingKnown : await findKnown(outcomes, context, options.store);
  const linked = outcomes.some(isLinked) ? await findLinked(outcomes, context, options) : nothingLinked;
  const learned: SenderRef[] = [];
  const readOne = (outcome: Outcome): ReadOutcome | WaitingOutcome | SourceResult => {
    if (outcome.is === "ignored")
      return { ...resultOf(outcome), outcome: "ignored", reason: outcome.reason, detail: outcome.detail };
    const fields = readOutcome(outcome, known, linked.get(outcome), context);
    const isLookUp = needsLookUp(outcome, known);
    const hasKey = isLookUp && hasLookUpKey(outcome, context);
    if (isLookUp && !hasKey && outcome.is === "conversion") return ignored(outcome, "needs a lookup");
    const reason = context.hasWaited ? null : reasonToWait(outcome, fields, hasKey);
    if (reason !== null && !isFiltered(outcome, context)) return waitFor(outcome, reason, fields, context);
    if ("outcome" in fields) return reason === null ? fields : { ...resultOf(outcome), outcome: "filtered" };
    const refs = refsOf(outcome, fields, context);
    if (outcome.is !== "learned") return { about: outcome, fields, refs };
    learned.push(...refs);
    return { ...resultOf(outcome), outcome: "learned" };
  };
  const read = outcomes.length > 1 ? await threadShare.map(context.site.id, outcomes, readOne) : outcomes.map(readOne);
  // No id is reserved before all entries are read: a defect in between would leave it reserved.
  const entries = read.map((one) => ("fields" in one ? { about: one.about, received: receive(one, context, options) } : one));
  const batch = entries.flatMap((one) => ("received" in one ? [one.received] : []));
  // The look-up of each event then finds the visit with the person.
  for (const { visitorId, outcome } of linked.values()) {
    const entry = read.find((one): one is ReadOutcome => "fields" in one && one.about === outcome);
    if (entry && outcome.mode === "live") await identifyBuyer(visitorId, entry.fields.person, context, options);
  }
  const waiting = entries.flatMap((one) => ("waiting" in one ? [one] : []));
  const { senderRefs, sourceRequests } = options.store;
  const accepting = batch.length > 0 ? options.acceptBatch(batch, context.site, context.deadline) : [];
  const [acceptances, excess]: [Awaited<typeof accepting>, readonly WaitingRequest[], unknown?] =
    learned.length + waiting.length === 0
      ? [await accepting, []]
      : await Promise.all([
          accepting,
          waiting.length > 0 ? sourceRequests.addWaiting(waiting.map((one) => one.waiting)) : [],
          learned.length > 0 ? senderRefs.save(context.site.id, learned) : undefined,
        ]);
  const isExcess = (one: WaitingOutcome) => excess.includes(one.waiting);
  if (waiting.some((one) => one.refused === null && isExcess(one))) throw new Error("too many requests of the source wait");
  let at = 0;
  return entries.map((entry) => {
    if ("outcome" in entry) return entry;
    if ("waiting" in entry) return entry.refused && isExcess(entry) ? entry.refused : entry.result;
    const acceptance = acceptances[at++];
    if (acceptance?.status !== "fulfilled") throw acceptance?.reason ?? new Error("an event has no result");
    const { exit } = acceptance.value;
    return { ...resultOf(entry.about), outcome: exit, eventId: exit === "duplicate" ? null : entry.received.event.id };
  });
}

/** Neither the request nor the relay knows the person, or the order of a refund. */
const needsLookUp = (outcome: Mapped, known: Known) =>
  outcome.lookUp !== null &&
  (outcome.is === "refund" ? known.buyer(outcome) === undefined : !hasEmail(outcome) && known.customer(outcome) === null);

/** True where the source has a key to look up with. */
function hasLookUpKey({ lookUp: name }: Mapped, { source, receivedAt }: Context): boolean {
  const kind = kindOf(source.kind);
  const lookUp = kind && name !== null ? lookUpOf(kind, name) : null;
  return lookUp !== null && lookUp !== undefined && validValues(source, lookUp.key, receivedAt).length > 0;
}

/** Another request of the sender may explain the customer, or bring the order, a moment later. */
export const mayComeLater = ({ is }: Pick<Mapped, "is">, { reason }: { reason: string | null }) =>
  (is === "conversion" && reason === "unknown customer") || (is === "refund" && reason === "unknown order");

/** Null for one that need not wait. */
function reasonToWait(outcome: Mapped, read: Fields | SourceResult, isLookUp: boolean): string | null {
  if (isLookUp) return lookUpReason;
  if ("outcome" in read) return mayComeLater(outcome, read) ? read.reason : null;
  // Two nodes would take the same refunds off at once: of a site, one node ends the waiting, one request after the other.
  return outcome.is === "refund" ? turnReason : null;
}

/** What waits keeps only a hash of the email: rules about its domain are for now. */
function isFiltered(outcome: Mapped, { site }: Context): boolean {
  const email = emailOf(outcome);
  if (!email) return false;
  const { emailSha256 } = hashPerson({ email }, {});
  return filterReasons({ emailSha256, emailDomain: email.domain, identity: null }, site.settings).length > 0;
}

const emailOf = ({ fields: { email } }: Mapped) => (typeof email === "string" ? readEmail(email) : null);

function waitFor(
  outcome: Mapped,
  reason: string,
  read: Fields | SourceResult,
  { site, source, receivedAt }: Context,
): WaitingOutcome {
  const { email: _email, phone: _phone, firstName: _first, lastName: _last, ...fields } = outcome.fields;
  // Also one whose order is not known names its person: another one may have the same order id.
  const email = emailOf(outcome);
  const emailSha256 = "outcome" in read ? email && hashPerson({ email }, {}).emailSha256 : read.person.emailSha256;
  const { is, type, deliveryId, deliveredAt, mode, customer, orderRef, link, lookUp, isSum, needsOrder } = outcome;
  const event: WaitingEvent = {
    is,
    type,
    deliveryId,
    deliveredAt,
    mode,
    fields: { ...fields, ...(emailSha256 && { hashed_email: emailSha256 }) },
    customer,
    orderRef,
    link,
    lookUp: reason === lookUpReason ? lookUp : null,
    ...(isSum && { isSum }),
    ...(needsOrder && { needsOrder }),
    receivedAt,
  };
  const result: SourceResult = { ...resultOf(outcome), outcome: "waiting", reason };
  const row = { siteId: site.id, sourceId: source.id, id: ulid(receivedAt), at: receivedAt, dueAt: receivedAt, attempts: 0 };
  const waiting = { ...result, ...row, reason, waiting: JSON.stringify(event) };
  return { result, waiting, refused: "outcome" in read && reason !== lookUpReason ? read : null };
}

/** The visit from which a payment page was opened. */
type Linked = { outcome: Mapped; visitorId: string; visits: readonly Visit[] };

const isLinked = (one: Outcome) => one.is === "conversion" && one.link !== null;

const nothingLinked: ReadonlyMap<Outcome, Linked> = new Map();

async function findLinked(
  outcomes: readonly Outcome[],
  { site }: Context,
  { store, links }: RelayOptions,
): Promise<Map<Outcome, Linked>> {
  const found = new Map<Outcome, Linked>();
  for (const outcome of outcomes) {
    if (outcome.is !== "conversion" || outcome.link === null) continue;
    const { token, openedAt } = outcome.link;
    const visitorId = links.open("payment", site.id, token, openedAt);
    if (visitorId === null) continue;
    const visits = await readCarried(store.people, site.id, visitorId, site.settings.consentMode);
    if (visits.length > 0) found.set(outcome, { outcome, visitorId, visits });
  }
  return found;
}

/** Whoever pays gave the email in the same visit. */
async function identifyBuyer(visitorId: string, person: Person, context: Context, { store }: RelayOptions): Promise<void> {
  const { emailSha256, emailGoogleSha256, emailMicrosoftSha256, emailRedditSha256 } = person;
  if (emailSha256 === undefined) return;
  const forms = {
    ...(emailGoogleSha256 && { emailGoogleSha256 }),
    ...(emailMicrosoftSha256 && { emailMicrosoftSha256 }),
    ...(emailRedditSha256 && { emailRedditSha256 }),
  };
  const { id, settings } = context.site;
  const rules = { consentMode: settings.consentMode, keepMs: settings.keepMs, at: context.receivedAt };
  await identifyVisitor(store, id, visitorId, { emailSha256, forms }, rules);
}

const maxPersonText = 512;

/** Reads the fields as the inbound endpoint does. */
function readOutcome(
  outcome: Mapped,
  known: Known,
  linked: Linked | undefined,
  { site, receivedAt }: Context,
): Fields | SourceResult {
  const { fields, is } = outcome;
  const isRefundOutcome = is === "refund";
  const orderId = is === "conversion" ? textOf(fields.orderId) : known.orderId(outcome);
  if (isRefundOutcome && orderId === null) return ignored(outcome, "unknown order");
  const buyer = known.buyer(outcome);
  if (isRefundOutcome && !hasEmail(outcome) && !buyer) return ignored(outcome, "unknown order");
  // What waits keeps the hash of the email alone, and the order knows the rest of its buyer.
  const isBuyer = buyer?.emailSha256 !== undefined && buyer.emailSha256 === fields.hashed_email;
  const person = hasEmail(outcome) && !isBuyer ? undefined : (buyer ?? known.customer(outcome) ?? undefined);
  const body: Record<string, unknown> = {
    ...fields,
    orderId,
    event: isRefundOutcome ? "refund" : is === "learned" ? "learned" : fields.event,
  };
  if (isBuyer) delete body.hashed_email;
  // A person has the click of the visit in the identity record, but a test leaves nothing there.
  const needsClicks = linked && (outcome.mode === "test" || (!hasEmail(outcome) && !person));
  const clicks = needsClicks ? clicksOfVisits(linked.visits, receivedAt) : {};
  const hasClicks = Object.keys(clicks).length > 0;
  // Senders check names and numbers less than we do, and a clock may run ahead: none of it may cost a conversion.
  for (const name of ["phone", "firstName", "lastName"]) body[name] = cut(body[name]);
  if (typeof fields.eventTime === "string" && Date.parse(fields.eventTime) > receivedAt) delete body.eventTime;
  const unnamed = hasClicks && site.settings.conversionsWithoutEmail ? {} : undefined;
  const read = readFields({ fields: body, exact: () => undefined }, site, receivedAt, person ?? unnamed);
  if (!(read instanceof FieldFault)) {
    if (isRefundOutcome) return readRefund(outcome, read, known.order(outcome), site);
    return hasClicks ? { ...read, clickIds: { ...clicks, ...read.clickIds } } : read;
  }
  if (read.message === "email or hashed_email required")
    return ignored(outcome, outcome.customer === null ? "no person" : "unknown customer");
  return ignored(outcome, read.message.startsWith("eventTime is older") ? "too old" : "wrong field", read.message);
}

/** A refund counts with what others of its order leave of it. */
function readRefund(outcome: Mapped, read: Fields, all: readonly StoredEvent[], { id: siteId }: Site): Fields | SourceResult {
  const order = outcome.needsOrder ? all.filter((event) => mayBeOf(read.person, event)) : all;
  if (outcome.needsOrder && order.every(isRefund)) return ignored(outcome, "unknown order");
  const own = orderEventIdOf({ siteId, ...read });
  if (order.some((event) => isRefund(event) && orderEventIdOf(event) === own))
    return { ...resultOf(outcome), outcome: "duplicate" };
  if (read.value === 0) return ignored(outcome, "no value");
  const rest = restOfRefund({ ...read, isSum: outcome.isSum === true }, order);
  if (rest === "nothing") return ignored(outcome, "repeats another event");
  return rest === "unknown order" ? ignored(outcome, rest) : { ...read, ...rest };
}

/** Two shops of a site may number their orders alike. */
const mayBeOf = ({ emailSha256 }: Person, { person, isErased }: StoredEvent) =>
  !isErased && (person.emailSha256 === undefined || person.emailSha256 === emailSha256);

/** What is cut may end with half of a surrogate pair. */
const cut = (value: unknown) =>
  typeof value === "string" && value.length > maxPersonText ? value.slice(0, maxPersonText).toWellFormed() : value;

/** What the outcome teaches: whom a customer id belongs to, and which order another id names. */
function refsOf(
  { is, customer, orderRef }: Mapped,
  { person, orderId }: Fields,
  { site, source, receivedAt }: Context,
): SenderRef[] {
  const common = { siteId: site.id, sourceId: source.id, eventId: null, seenAt: receivedAt };
  const refs: SenderRef[] = [];
  if (customer !== null && person.emailSha256 !== undefined && is !== "refund")
    refs.push({ ...common, ref: senderRef(source.id, "customer", customer), person, orderId: null });
  // An order whose other id is its order id is found without.
  if (orderRef !== null && orderId !== null && orderRef !== orderId && is !== "refund")
    refs.push({ ...common, ref: senderRef(source.id, "order", orderRef), person: null, orderId });
  return refs;
}

/** Reserves an id: pass the result to the relay, which releases it. */
function receive({ about, fields, refs }: ReadOutcome, context: Context, { reserveId }: RelayOptions): Received {
  const { mode, deliveryId, deliveredAt, is } = about;
  const { site, source, receivedAt } = context;
  const reservedId = reserveId(receivedAt);
  const extra = readExtra(about.fields, site);
  const event = newEvent(fields, { id: reservedId.id, siteId: site.id, keyId: source.id, mode, receivedAt, extra });
  return {
    event,
    reservedId,
    eventTime: fields.eventTime,
    emailDomain: fields.emailDomain,
    clickIds: fields.clickIds,
    // One delivery may carry a conversion and refunds of its order.
    delivery:
      deliveryId === null
        ? null
        : { claim: deliveryClaim(source.id, mode, `${is} ${deliveryId}`, deliveredAt), until: receivedAt + deliveryMs },
    ...(refs.length > 0 && { refs }),
  };
}
