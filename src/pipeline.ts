// Relays a validated event: looks up the person, filters, attributes, plans, stores, sends (see ARCHITECTURE.md).

import { dispatch } from "./delivery/dispatch.ts";
import type { Lanes } from "./delivery/lanes/lanes.ts";
import type { ReservedId } from "./delivery/ownership.ts";
import { toConversion } from "./delivery/conversion.ts";
import { planDeliveries, stageFor, type PlannedDelivery } from "./delivery/plan.ts";
import { addClickIds, attribute, lookUpPerson, lookUpTimeoutMs } from "./identity/attribution.ts";
import { withLateVerdicts } from "./identity/lateVerdicts.ts";
import { addKnownForms } from "./identity/person.ts";
import type { Attribution, Conversion, Event, FilterReason, Identity, Result, SeenId } from "./kernel/event.ts";
import { threadShare } from "./kernel/concurrency.ts";
import { orderEventIdOf } from "./kernel/ids.ts";
import type { Site } from "./sites/directory.ts";
import type { NewDelivery } from "./store/deliveries/delivery.ts";
import { duplicateKey, orderClaim, personRefOf } from "./store/events/claims.ts";
import type { NewEvent } from "./store/events/events.ts";
import type { Store } from "./store/store.ts";
import { filterReasons } from "./traffic/filter.ts";
import type { TrafficMemory } from "./traffic/frequency.ts";
import { evidenceOf } from "./traffic/verdict.ts";

export type Received = {
  event: Event;
  reservedId: ReservedId;
  /** As the sender gave it; part of the duplicate key when there is no order id. */
  eventTime: number | null;
  emailDomain: string | null;
  /** Click ids that the sender gave; undefined where it gave none. */
  clickIds?: Readonly<Record<string, SeenId>> | undefined;
  /** The claim of the sender's own id of the delivery, and what the request taught about its ids: see the store. */
  delivery?: NewEvent["delivery"];
  refs?: NewEvent["refs"];
  /** The sender's own trace, where traces are made. */
  traceParent?: string | undefined;
};

/** Adds a step to the trace of an event, and returns its work. */
export type TraceStep = <T>(name: "look up" | "accept", event: Pick<Event, "id">, work: Promise<T>) => Promise<T>;

export type Exit =
  /** `findFirst` finds the event that came first; null where it is not known. */
  | { exit: "duplicate"; findFirst: () => Promise<string | null> }
  | { exit: "filtered"; reasons: FilterReason[] }
  | { exit: "dispatched"; results: Record<string, Result> };

export type RelayContext = {
  store: Store;
  lanes: Lanes;
  /** What is known of the sources of visits; absent in commands, which see no visits. */
  memory?: Pick<TrafficMemory, "keysOf" | "recall">;
  now: () => number;
  /** Called with the evidence against the visits of a person, when a conversion of theirs is durable. */
  onConverted?: (siteId: string, evidence: ReadonlySet<string>, at: number) => void;
  /** Measures a step; absent where no traces are made. */
  trace?: TraceStep | undefined;
  /** Called when the event and these deliveries are durable. */
  onPlanned?: (planned: readonly NewDelivery[]) => void;
};

/** Sends nothing to a platform before the event, its claim and its deliveries are durable. Releases the event's id. */
export async function relay(received: Received, site: Site, deadline: number, context: RelayContext): Promise<Exit> {
  try {
    const prepared = await prepare(received, site, deadline, context);
    return await send(await accept(prepared, deadline, context));
  } finally {
    received.reservedId.release();
  }
}

/** Their preparation, commit, first requests and settlements take about two milliseconds of the embedded store's thread, or one. */
const sliceEvents = { alone: 16, shared: 8 };

/**
 * Relays the events of one request. An event that fails does not fail the others. Releases the events' ids.
 *
 * A server commits all of them together. The embedded store writes on the thread that accepts events, so that they become durable some at
 * a time, and events of others in between; all of them are durable when this resolves.
 */
export const relayBatch = (batch: readonly Received[], site: Site, deadline: number, context: RelayContext) =>
  acceptEach(batch, site, deadline, context, send);

async function acceptEach<T>(
  batch: readonly Received[],
  site: Site,
  deadline: number,
  context: RelayContext,
  goOn: (accepted: Accepted) => T | Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const beginOne = (one: Received) => {
    const accepting = prepare(one, site, deadline, context).then((prepared) => accept(prepared, deadline, context));
    return { first: settled(accepting), result: settled(accepting.then(goOn)) };
  };
  try {
    // Most requests of sources have one, which needs no slices.
    if (batch.length === 1) return await Promise.all(batch.map((one) => beginOne(one).result));
    if (context.store.engine !== "postgres")
      return await Promise.all(await threadShare.beginSome(site.id, batch, sliceEvents, beginOne));
    const preparing = await threadShare.map(site.id, batch, (one) => settled(prepare(one, site, deadline, context)));
    const prepared = await Promise.all(preparing);
    // All are handed to the store before it begins to write.
    return await Promise.allSettled(
      prepared.map(async (one) => {
        if (one.status === "rejected") throw one.reason as Error;
        return goOn(await accept({ ...one.value, batch }, deadline, context));
      }),
    );
  } finally {
    for (const { reservedId } of batch) reservedId.release();
  }
}

/** Handles the failure at once: the other events of the batch are still being prepared. */
const settled = async <T>(work: Promise<T>) => (await Promise.allSettled([work]))[0];

/** What became of an event when it was stored. `dispatched` goes on in the background. */
export type Acceptance = Exclude<Exit, { exit: "dispatched" }> | { exit: "accepted"; sent: Promise<unknown> };

/** The same, but it resolves when all are durable: the deliveries go on without the sender. */
export const acceptBatch = (batch: readonly Received[], site: Site, deadline: number, context: RelayContext) =>
  acceptEach(batch, site, deadline, context, inBackground);

const inBackground = (accepted: Accepted): Acceptance =>
  "send" in accepted ? { exit: "accepted", sent: accepted.send() } : accepted;

type Prepared = {
  reservedId: ReservedId;
  event: Event;
  attribution: Attribution;
  reasons: FilterReason[];
  /** Against the person's visits; null for one who never visited. */
  evidence: ReadonlySet<string> | null;
  claims: ReturnType<typeof claimsOf>;
  conversion: Conversion;
  planned: PlannedDelivery[];
  stage: ReturnType<typeof stageFor>;
  /** Events with the same object are committed together. */
  batch: object | null;
  delivery: NewEvent["delivery"];
  refs: NewEvent["refs"];
};

/** Only reads. */
async function prepare(
  received: Received,
  site: Site,
  deadline: number,
  { store, memory, trace }: RelayContext,
): Promise<Prepared> {
  const { settings } = site;
  const { receivedAt, person } = received.event;
  const { emailSha256 } = person;

  const timeoutMs = lookUpTimeoutMs(deadline - receivedAt);
  const lookUp = lookUpPerson(store.people, site, emailSha256, timeoutMs);
  const found = await (trace ? trace("look up", received.event, lookUp) : lookUp);
  const known = memory ? withLateVerdicts(found, site, memory, receivedAt) : found;
  const identity = known.identity === "unreadable" ? null : known.identity;
  const event = identity ? withKnownForms(received.event, identity.forms) : received.event;

  const reasons = filterReasons({ emailSha256, emailDomain: received.emailDomain, identity }, settings);

  const evidence = identity?.visits.length ? evidenceOf(identity.visits) : null;

  const isTrusted = emailSha256 !== undefined && settings.allowedPersons.includes(emailSha256);
  const attribution = attribute(known, event.time, { keepMs: settings.keepMs, isTrusted });
  if (received.clickIds) addClickIds(attribution, received.clickIds, event.time);

  const claims = claimsOf(received, site);
  const conversion = toConversion(event, claims.orderEventId ?? event.id, attribution);
  const planned = reasons.length ? [] : planDeliveries(conversion, site.connections, receivedAt);
  const stage = stageFor(event, site, receivedAt);
  const { reservedId, delivery, refs } = received;
  return { reservedId, event, attribution, reasons, evidence, claims, conversion, planned, stage, batch: null, delivery, refs };
}

const send = async (accepted: Accepted): Promise<Exit> =>
  "send" in accepted ? { exit: "dispatched", results: await accepted.send() } : accepted;

type Accepted = Exclude<Exit, { exit: "dispatched" }> | { send: () => Promise<Record<string, Result>> };

async function accept(prepared: Prepared, deadline: number, context: RelayContext): Promise<Accepted> {
  const { reservedId, event, attribution, reasons, claims, conversion, planned, stage, batch, delivery, refs } = prepared;
  const { store, lanes, now, trace } = context;
  const ownership = reservedId.own(event.siteId, planned, event.receivedAt);
  const openEvent = ownership.by === "node" ? ownership.event : null;
  const accepting = store.events
    .accept({
      event,
      attribution,
      filterReasons: reasons,
      ...claims,
      deliveries: planned,
      ownership,
      answerBy: deadline,
      batch,
      delivery,
      refs,
      stage,
    })
    .catch((error: unknown) => {
      openEvent?.abandon();
      throw error;
    });
  const acceptance = await (trace ? trace("accept", event, accepting) : accepting);
  if (acceptance.duplicate) {
    openEvent?.close();
    return { exit: "duplicate", findFirst: () => findFirst(store, event.siteId, prepared) };
  }
  if (prepared.evidence && event.mode === "live") context.onConverted?.(event.siteId, prepared.evidence, event.receivedAt);
  // Nothing was planned, so no open event was made.
  if (reasons.length) return { exit: "filtered", reasons };
  const { platformEventId, isRepeated } = acceptance;
  if (isRepeated) openEvent?.close();
  const final = isRepeated && stage ? stage.repeated : planned;
  context.onPlanned?.(final);

  // The store gave the event another id than planned, which is rare.
  const sent = conversion.platformEventId === platformEventId ? conversion : { ...conversion, platformEventId };
  return { send: () => dispatch({ event, conversion: sent, planned: final, ownership }, lanes, deadline - now()) };
}

/** Finds the event of which another one is a duplicate. The answer does not depend on it. */
async function findFirst({ events }: Store, siteId: string, { claims, delivery }: Prepared): Promise<string | null> {
  for (const claim of [claims.orderEventId, claims.claim, delivery?.claim])
    if (claim) {
      const eventId = await events.findIdByClaim(siteId, claim).catch(() => null);
      if (eventId !== null) return eventId;
    }
  return null;
}

function withKnownForms(event: Event, forms: Identity["forms"]): Event {
  const person = addKnownForms(event.person, forms);
  return person === event.person ? event : { ...event, person };
}

/** What the event claims, and until when. A live event with an order id claims its order event id. */
function claimsOf(received: Received, { settings }: Site) {
  const { event } = received;
  const eventIdOfOrder = orderEventIdOf(event);
  const personRef = eventIdOfOrder ? personRefOf(eventIdOfOrder, event.person.emailSha256) : 0;
  return {
    personRef,
    claim: eventIdOfOrder
      ? orderClaim(eventIdOfOrder, event.mode, personRef)
      : duplicateKey(event, received.eventTime, received.clickIds),
    claimUntil: event.receivedAt + (eventIdOfOrder ? settings.dedupOrderMs : settings.dedupNoOrderMs),
    orderEventId: event.mode === "live" ? eventIdOfOrder : null,
  };
}
