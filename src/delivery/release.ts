// Releases a filtered event ("not a bot"): it is delivered after all, and its person is never filtered again.

import { attribute, lookUpPerson } from "../identity/attribution.ts";
import { orderEventIdOf } from "../kernel/ids.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { allowPerson } from "../sites/manage.ts";
import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import { planDeliveries, toConversion } from "./plan.ts";

type Context = { store: Store; directory: Directory };

/** Returns how many deliveries were queued. */
export async function releaseEvent(context: Context, site: Site, event: StoredEvent, by: By): Promise<number> {
  const { store } = context;
  const { settings } = site;
  const { emailSha256 } = event.person;
  if (event.status !== "filtered") throw new Refusal("event", `Event ${event.id} is not filtered; there is nothing to release.`);
  if (!emailSha256) throw new Refusal("event", `The person of event ${event.id} was erased; it cannot be delivered any more.`);

  // The rule comes first: the person's next event must not be filtered again.
  await allowPerson(context, site, emailSha256, { ...by, eventId: event.id });
  const known = await lookUpPerson(store.people, site, emailSha256);
  const attribution = attribute(known, event.time, { keepMs: settings.keepMs, isTrusted: true });
  const ofOrder = event.mode === "live" ? orderEventIdOf(event) : null;
  const conversion = toConversion(event, ofOrder ?? event.id, attribution);
  const planned = planDeliveries(conversion, site.connections, by.now);
  const isReleased = await store.events.release({
    siteId: site.id,
    eventId: event.id,
    attribution,
    deliveries: planned,
    orderEventId: ofOrder,
    claimUntil: by.now + (event.orderId ? settings.dedupOrderMs : settings.dedupNoOrderMs),
    now: by.now,
  });
  if (!isReleased) throw new Refusal("event", `Event ${event.id} was released by another user meanwhile.`);
  const detail = { id: event.id, reasons: event.filterReasons };
  await store.audit.add({ siteId: site.id, actor: by.actor, action: "event released", detail, at: by.now });
  return planned.filter(({ state }) => state === "queued").length;
}
