// "Not a bot": a filtered event goes out after all, and its person is never filtered again.

import { attribute, lookUp } from "../identity/attribution.ts";
import { orderEventId } from "../kernel/ids.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { allowPerson } from "../sites/manage.ts";
import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import { planDeliveries } from "./dispatch.ts";

type Desk = { store: Store; directory: Directory };

/** Returns how many deliveries are on their way. */
export async function releaseEvent(desk: Desk, site: Site, event: StoredEvent, by: By): Promise<number> {
  const { store } = desk;
  if (event.status !== "filtered")
    throw new Refusal("event", `Event ${event.id} is not filtered; there is nothing to release.`);
  if (!event.person.emailSha256)
    throw new Refusal(
      "event",
      `The person of event ${event.id} was erased; it cannot be delivered any more.`,
    );

  // First the rule, then the event: whoever is released and comes again must not be filtered again.
  await allowPerson(desk, site, event.person.emailSha256, { ...by, eventId: event.id });
  const known = await lookUp(store.people, site.id, event.person.emailSha256, site.settings.consentMode);
  const attribution = attribute(known, event.time, { keepMs: site.settings.keepMs, trusts: true });
  const deliveries = planDeliveries(event, attribution, site.connections, by.now);
  const keepMs = event.orderId ? site.settings.dedupOrderMs : site.settings.dedupNoOrderMs;
  const isReleased = await store.events.release({
    siteId: site.id,
    eventId: event.id,
    attribution,
    deliveries,
    orderEventId:
      event.orderId && event.mode === "live" ? orderEventId(site.id, event.name, event.orderId) : null,
    claimUntil: by.now + keepMs,
    now: by.now,
  });
  if (!isReleased) throw new Refusal("event", `Event ${event.id} was released by somebody else meanwhile.`);
  const detail = { id: event.id, reasons: event.filterReasons };
  await store.audit.add({ siteId: site.id, actor: by.actor, action: "event released", detail, at: by.now });
  return deliveries.filter(({ state }) => state === "queued").length;
}
