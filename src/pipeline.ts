// The story of an event, from the door to the answer. ARCHITECTURE.md draws it as a ladder.

import { hash } from "node:crypto";
import { dispatch, planDeliveries } from "./delivery/dispatch.ts";
import type { Lanes } from "./delivery/lanes.ts";
import type { Event, FilterReason, Result } from "./kernel/event.ts";
import { attribute, lookUp, lookUpMs } from "./identity/attribution.ts";
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

export type Relay = {
  store: Store;
  lanes: Lanes;
  /** This node, as the owner of leases. */
  owner: string;
  leaseMs: number;
  /** The event is durable, with these deliveries. */
  onPlanned?: (planned: readonly NewDelivery[]) => void;
};

/** Nothing goes to a platform before the event, its claim and its deliveries are durable. */
export async function relay(received: Received, site: Site, deadline: number, on: Relay): Promise<Exit> {
  const { event } = received;
  const { consentMode } = site.settings;
  const timeoutMs = lookUpMs(deadline - event.receivedAt);
  const known = await lookUp(on.store.people, site.id, event.person.emailSha256, consentMode, timeoutMs);
  const identity = known.identity === "unreadable" ? null : known.identity;
  const person = { ...identity?.forms, ...event.person };

  const reasons = filterReasons(
    { emailSha256: person.emailSha256, emailDomain: received.emailDomain, identity },
    site.settings,
  );
  const trusts = site.settings.allowedPersons.includes(person.emailSha256);
  const attribution = attribute(known, event.time, { keepMs: site.settings.keepMs, trusts });
  const complete: Event = { ...event, person };
  const planned = reasons.length
    ? []
    : planDeliveries(complete, attribution, site.connections, event.receivedAt);

  const ofOrder = event.orderId === null ? null : orderEventId(site.id, event.name, event.orderId);
  const lease = { owner: on.owner, until: event.receivedAt + on.leaseMs };
  const acceptance = await on.store.events.accept({
    event: complete,
    attribution,
    filterReasons: reasons,
    claim: duplicateKey(received, ofOrder),
    claimUntil: event.receivedAt + (ofOrder ? site.settings.dedupOrderMs : site.settings.dedupNoOrderMs),
    orderEventId: event.mode === "live" ? ofOrder : null,
    deliveries: planned,
    owner: lease.owner,
    leaseUntil: lease.until,
    answerBy: deadline,
  });
  if (acceptance.duplicate) return { exit: "duplicate" };
  if (reasons.length) return { exit: "filtered", reasons };
  on.onPlanned?.(planned);

  const { platformEventId } = acceptance;
  const dispatched = {
    event: complete,
    platformEventId,
    attribution,
    planned,
    connections: site.connections,
  };
  return { exit: "dispatched", results: await dispatch(dispatched, lease, on.lanes, deadline) };
}

/**
 * Two events with the same key inside the window are one. The site is part of the row that holds the key. With an order
 * id the key begins like the order event id, which is claimed with it: so both lie on one page of the database.
 */
function duplicateKey({ event, eventTime }: Received, ofOrder: string | null): string {
  const { mode, person, value, currency } = event;
  if (ofOrder)
    return `${ofOrder} ${hash("sha256", `${mode} ${ofOrder} ${person.emailSha256}`, "base64url").slice(0, 22)}`;
  // Platforms match names without regard to case, so that is how they are the same.
  const name = event.name.trim().toLowerCase();
  return hash(
    "sha256",
    JSON.stringify([mode, name, null, person.emailSha256, value, currency, eventTime]),
    "base64url",
  );
}
