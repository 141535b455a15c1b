// Releases a filtered event ("not a bot"): it is delivered after all, and its person is never filtered again.

import { attribute, lookUpPerson } from "../identity/attribution.ts";
import { orderEventIdOf } from "../kernel/ids.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { allowPerson } from "../sites/manage.ts";
import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import { toConversion } from "./conversion.ts";
import { planDeliveries, stageFor } from "./plan.ts";

type Context = { store: Store; directory: Directory };

/** Returns how many deliveries were queued. */
export async function releaseEvent(context: Context, site: Site, event: StoredEvent, by: By): Promise<number> {
  const { store } = context;
  const { settings } = site;
  const { emailSha256 } = event.person;
  if (event.status !== "filtered") throw new Refusal("event", say("event_not_filtered", { id: event.id }));
  if (event.isErased) throw new Refusal("event", say("person_of_event_erased", { id: event.id }));

  // The rule comes first: the person's next event must not be filtered again.
  if (emailSha256 !== undefined) await allowPerson(context, site, emailSha256, { ...by, eventId: event.id });
  const known = await lookUpPerson(store.people, site, emailSha256);
  const attribution = attribute(known, event.time, { keepMs: settings.keepMs, isTrusted: true });
  const ofOrder = event.mode === "live" ? orderEventIdOf(event) : null;
  const conversion = toConversion(event, ofOrder ?? event.id, attribution);
  const released = await store.events.release({
    siteId: site.id,
    eventId: event.id,
    attribution,
    deliveries: planDeliveries(conversion, site.connections, by.now),
    orderEventId: ofOrder,
    claimUntil: by.now + (event.orderId ? settings.dedupOrderMs : settings.dedupNoOrderMs),
    stage: stageFor(event, site, by.now),
    now: by.now,
  });
  if (!released) throw new Refusal("event", say("event_released", { id: event.id }));
  const detail = { id: event.id, reasons: event.filterReasons };
  await store.audit.add({ siteId: site.id, actor: by.actor, action: "event released", detail, at: by.now });
  return released.filter(({ state }) => state === "queued").length;
}
