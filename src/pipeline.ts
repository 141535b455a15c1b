// Relays a validated event: looks up the person, filters, attributes, plans, stores, sends (see ARCHITECTURE.md).

import { hash } from "node:crypto";
import { dispatch } from "./delivery/dispatch.ts";
import type { Lanes } from "./delivery/lanes/lanes.ts";
import { planDeliveries, withPlatformEventId } from "./delivery/plan.ts";
import type { Event, FilterReason, Identity, Result } from "./kernel/event.ts";
import { attribute, lookUpPerson, lookUpTimeoutMs } from "./identity/attribution.ts";
import { addKnownForms } from "./identity/person.ts";
import { orderEventId } from "./kernel/ids.ts";
import type { Site } from "./sites/directory.ts";
import type { ReservedId } from "./delivery/openEvents.ts";
import type { NewDelivery } from "./store/deliveries/delivery.ts";
import { orderClaim } from "./store/events/claims.ts";
import { emailRef } from "./store/events/eventRow.ts";
import { toPlan } from "./store/events/plan.ts";
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
  /** Called when the event and these deliveries are durable. */
  onPlanned?: (planned: readonly NewDelivery[]) => void;
};

/** Sends nothing to a platform before the event, its claim and its deliveries are durable. Releases the event's id. */
export function relay(
  received: Received,
  site: Site,
  deadline: number,
  context: RelayContext,
): Promise<Exit> {
  return relayEvent(received, site, deadline, context).finally(() => received.reservedId?.release());
}

async function relayEvent(
  received: Received,
  site: Site,
  deadline: number,
  context: RelayContext,
): Promise<Exit> {
  const { store, lanes, owner, leaseMs } = context;
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
  const acceptance = await store.events
    .accept({
      event,
      attribution,
      filterReasons: reasons,
      claim: claims.claim,
      claimUntil: claims.claimUntil,
      orderEventId: claims.orderEventId,
      deliveries: planned,
      plan: isLeased ? toPlan(planned, false) : plan,
      owner,
      leaseUntil: isLeased ? lease.until : null,
      answerBy: deadline,
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
  const results = await dispatch(toSend, openEvent, lanes, deadline, context.now());
  return { exit: "dispatched", results };
}

function withKnownForms(event: Event, forms: Identity["forms"]): Event {
  const person = addKnownForms(event.person, forms);
  return person === event.person ? event : { ...event, person };
}

/** Returns the duplicate key, and the order event id of a live event with an order id. */
function claimsOf(received: Received, { id, settings }: Site) {
  const { event } = received;
  const eventIdOfOrder = event.orderId === null ? null : orderEventId(id, event.name, event.orderId);
  return {
    claim: duplicateKey(received, eventIdOfOrder),
    claimUntil: event.receivedAt + (eventIdOfOrder ? settings.dedupOrderMs : settings.dedupNoOrderMs),
    orderEventId: event.mode === "live" ? eventIdOfOrder : null,
  };
}

/** Of two events with the same key within the window, the second is a duplicate. The row that holds the key names the site. */
function duplicateKey({ event, eventTime }: Received, eventIdOfOrder: string | null): string {
  const { mode, person, value, currency } = event;
  if (eventIdOfOrder) return orderClaim(eventIdOfOrder, mode, emailRef(person.emailSha256));
  // Platforms match event names regardless of case, so the key does too.
  const name = event.name.trim().toLowerCase();
  const fields = JSON.stringify([mode, name, null, person.emailSha256, value, currency, eventTime]);
  return hash("sha256", fields, "base64url").slice(0, 27);
}
