// Relays a validated event: looks up the person, filters, attributes, plans, stores, sends (see ARCHITECTURE.md).

import { dispatch } from "./delivery/dispatch.ts";
import type { Lanes } from "./delivery/lanes/lanes.ts";
import { planDeliveries, withPlatformEventId, type PlannedDelivery } from "./delivery/plan.ts";
import type { Attribution, Event, FilterReason, Identity, Result } from "./kernel/event.ts";
import { attribute, lookUpPerson, lookUpTimeoutMs } from "./identity/attribution.ts";
import { addKnownForms } from "./identity/person.ts";
import { orderEventIdOf } from "./kernel/ids.ts";
import type { Site } from "./sites/directory.ts";
import type { OpenEvent, ReservedId } from "./delivery/openEvents.ts";
import type { NewDelivery } from "./store/deliveries/delivery.ts";
import { duplicateKey, orderClaim, personRefOf } from "./store/events/claims.ts";
import { toPlan, type PlanEntry } from "./store/events/plan.ts";
import type { Store } from "./store/store.ts";
import { filterReasons } from "./traffic/filter.ts";

export type Received = {
  event: Event;
  /** null where every delivery gets a row of its own, as in an import. */
  reservedId: ReservedId | null;
  /** As the sender gave it; part of the duplicate key when there is no order id. */
  eventTime: number | null;
  emailDomain: string | null;
};

export type Exit =
  | { exit: "duplicate" }
  | { exit: "filtered"; reasons: FilterReason[] }
  | { exit: "dispatched"; results: Record<string, Result> };

export type RelayContext = {
  store: Store;
  lanes: Lanes;
  /** This node, as the owner of leases. */
  owner: string;
  leaseMs: number;
  now: () => number;
  /** Converts a time of this node's clock to that of leases and due times. */
  toSharedTime?: (at: number) => number;
  /** Called when the event and these deliveries are durable. */
  onPlanned?: (planned: readonly NewDelivery[]) => void;
};

/** Sends nothing to a platform before the event, its claim and its deliveries are durable. Releases the event's id. */
export function relay(received: Received, site: Site, deadline: number, context: RelayContext): Promise<Exit> {
  return relayEvent(received, site, deadline, context).finally(() => received.reservedId?.release());
}

async function relayEvent(received: Received, site: Site, deadline: number, context: RelayContext): Promise<Exit> {
  const prepared = await prepare(received, site, deadline, context);
  return acceptAndSend(prepared, deadline, context);
}

/**
 * Relays the events of one request: all that are accepted become durable with one commit. An event that fails does not fail
 * the others. Releases the events' ids.
 */
export async function relayBatch(
  batch: readonly Received[],
  site: Site,
  deadline: number,
  context: RelayContext,
): Promise<PromiseSettledResult<Exit>[]> {
  try {
    const prepared = await Promise.allSettled(batch.map((one) => prepare(one, site, deadline, context)));
    // All are handed to the store before it begins to write.
    return await Promise.allSettled(
      prepared.map((one) =>
        one.status === "fulfilled"
          ? acceptAndSend({ ...one.value, batch }, deadline, context)
          : Promise.reject(one.reason as Error),
      ),
    );
  } finally {
    for (const { reservedId } of batch) reservedId?.release();
  }
}

type Prepared = {
  event: Event;
  attribution: Attribution;
  reasons: FilterReason[];
  claims: ReturnType<typeof claimsOf>;
  planned: PlannedDelivery[];
  plan: PlanEntry[];
  openEvent: OpenEvent | null;
  /** Set where the deliveries are leased one by one. */
  leaseUntil: number | null;
  leasedAt: number;
  /** The events that are committed together with this one. */
  batch: object | null;
};

/** Only reads. */
async function prepare(
  received: Received,
  site: Site,
  deadline: number,
  { store, owner, leaseMs, now, toSharedTime = (at) => at }: RelayContext,
): Promise<Prepared> {
  const { settings } = site;
  const { receivedAt, person } = received.event;
  const { emailSha256 } = person;

  const timeoutMs = lookUpTimeoutMs(deadline - receivedAt);
  const known = await lookUpPerson(store.people, site.id, emailSha256, settings.consentMode, timeoutMs);
  const identity = known.identity === "unreadable" ? null : known.identity;
  const event = identity ? withKnownForms(received.event, identity.forms) : received.event;

  const reasons = filterReasons({ emailSha256, emailDomain: received.emailDomain, identity }, settings);

  const isTrusted = settings.allowedPersons.includes(emailSha256);
  const attribution = attribute(known, event.time, { keepMs: settings.keepMs, isTrusted });

  const claims = claimsOf(received, site);
  const lease = { owner, until: receivedAt + leaseMs };
  const platformEventId = claims.orderEventId ?? event.id;
  const planned = reasons.length
    ? []
    : planDeliveries({ event, attribution, platformEventId }, site.connections, lease, receivedAt);

  // This node owns the event until its first attempts are settled, if there are any.
  const isAttempted = planned.some(({ job }) => job);
  const plan = toPlan(planned, true);
  const openEvent = isAttempted ? (received.reservedId?.open(site.id, plan) ?? null) : null;
  const isLeased = isAttempted && openEvent === null;
  // The wall clock may be set back while the event is accepted, which would prolong the lease.
  const leaseEndsAt = isLeased ? lease.until - now() + performance.now() : undefined;
  if (isLeased) for (const { job } of planned) if (job) job.leaseEndsAt = leaseEndsAt;
  return {
    event,
    attribution,
    reasons,
    claims,
    planned,
    plan: isLeased ? toPlan(planned, false) : plan,
    openEvent,
    leaseUntil: isLeased ? toSharedTime(lease.until) : null,
    leasedAt: isLeased ? toSharedTime(receivedAt) : receivedAt,
    batch: null,
  };
}

async function acceptAndSend(
  { event, attribution, reasons, claims, planned, plan, openEvent, leaseUntil, leasedAt, batch }: Prepared,
  deadline: number,
  context: RelayContext,
): Promise<Exit> {
  const acceptance = await context.store.events
    .accept({
      event,
      attribution,
      filterReasons: reasons,
      claim: claims.claim,
      claimUntil: claims.claimUntil,
      personRef: claims.personRef,
      orderEventId: claims.orderEventId,
      deliveries: planned,
      plan,
      owner: context.owner,
      leaseUntil,
      leasedAt,
      answerBy: deadline,
      batch,
    })
    .catch((error: unknown) => {
      openEvent?.abandon();
      throw error;
    });
  if (acceptance.duplicate) {
    openEvent?.close();
    return { exit: "duplicate" };
  }
  if (reasons.length) return { exit: "filtered", reasons };
  context.onPlanned?.(planned);

  const toSend = withPlatformEventId(planned, acceptance.platformEventId);
  const results = await dispatch(toSend, openEvent, context.lanes, deadline, context.now());
  return { exit: "dispatched", results };
}

function withKnownForms(event: Event, forms: Identity["forms"]): Event {
  const person = addKnownForms(event.person, forms);
  return person === event.person ? event : { ...event, person };
}

/** Returns the duplicate key, and the order event id of a live event with an order id. */
function claimsOf(received: Received, { settings }: Site) {
  const { event } = received;
  const eventIdOfOrder = orderEventIdOf(event);
  const personRef = eventIdOfOrder ? personRefOf(eventIdOfOrder, event.person.emailSha256) : 0;
  return {
    personRef,
    claim: eventIdOfOrder ? orderClaim(eventIdOfOrder, event.mode, personRef) : duplicateKey(event, received.eventTime),
    claimUntil: event.receivedAt + (eventIdOfOrder ? settings.dedupOrderMs : settings.dedupNoOrderMs),
    orderEventId: event.mode === "live" ? eventIdOfOrder : null,
  };
}
