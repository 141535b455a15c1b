// Relays a validated event: looks up the person, filters, attributes, plans, stores, sends (see ARCHITECTURE.md).

import { hash } from "node:crypto";
import { dispatch } from "./delivery/dispatch.ts";
import type { Lanes } from "./delivery/lanes/lanes.ts";
import { planDeliveries, withPlatformEventId } from "./delivery/plan.ts";
import type { Event, FilterReason, Result } from "./kernel/event.ts";
import { attribute, lookUpPerson, lookUpTimeoutMs } from "./identity/attribution.ts";
import { orderEventId } from "./kernel/ids.ts";
import type { Site } from "./sites/directory.ts";
import type { NewDelivery } from "./store/deliveries/delivery.ts";
import type { Store } from "./store/store.ts";
import { filterReasons } from "./traffic/filter.ts";

export type Received = {
  event: Event;
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

/** Sends nothing to a platform before the event, its claim and its deliveries are durable. */
export async function relay(
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
  const event = identity ? { ...received.event, person: { ...identity.forms, ...person } } : received.event;

  const reasons = filterReasons({ emailSha256, emailDomain: received.emailDomain, identity }, settings);

  const isTrusted = settings.allowedPersons.includes(emailSha256);
  const attribution = attribute(known, event.time, { keepMs: settings.keepMs, isTrusted });

  const claims = claimsOf(received, site);
  const lease = { owner, until: receivedAt + leaseMs };
  const platformEventId = claims.orderEventId ?? event.id;
  const planned = reasons.length
    ? []
    : planDeliveries({ event, attribution, platformEventId }, site.connections, lease, receivedAt);

  const acceptance = await store.events.accept({
    event,
    attribution,
    filterReasons: reasons,
    ...claims,
    deliveries: planned,
    owner,
    leaseUntil: lease.until,
    answerBy: deadline,
  });
  if (acceptance.duplicate) return { exit: "duplicate" };
  if (reasons.length) return { exit: "filtered", reasons };
  context.onPlanned?.(planned);

  const toSend = withPlatformEventId(planned, acceptance.platformEventId);
  return { exit: "dispatched", results: await dispatch(toSend, lanes, deadline, context.now()) };
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

/**
 * Of two events with the same key within the window, the second is a duplicate. The row that holds the key also names the
 * site. With an order id the key begins with the order event id, which is claimed too: both rows are on one database page.
 */
function duplicateKey({ event, eventTime }: Received, eventIdOfOrder: string | null): string {
  const { mode, person, value, currency } = event;
  if (eventIdOfOrder) {
    const digest = hash("sha256", `${mode} ${eventIdOfOrder} ${person.emailSha256}`, "base64url");
    return `${eventIdOfOrder} ${digest.slice(0, 22)}`;
  }
  // Platforms match event names regardless of case, so the key does too.
  const name = event.name.trim().toLowerCase();
  return hash(
    "sha256",
    JSON.stringify([mode, name, null, person.emailSha256, value, currency, eventTime]),
    "base64url",
  );
}
