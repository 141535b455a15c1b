import type { Attribution, Conversion, Event } from "../kernel/event.ts";

/** What platforms may see of an event. Everything that identifies a person goes when consent withholds it. */
export function conversionOf(event: Event, eventId: string, attribution: Attribution): Conversion {
  const { withheld } = attribution;
  return {
    platformEventId: eventId,
    name: event.name,
    mode: event.mode,
    value: event.value,
    currency: event.currency,
    orderId: event.orderId,
    time: event.time,
    receivedAt: event.receivedAt,
    person: withheld ? null : event.person,
    clickIds: withheld ? {} : attribution.clickIds,
    browserIds: withheld ? {} : attribution.browserIds,
    utm: withheld ? {} : attribution.utm,
    browser: withheld ? null : attribution.browser,
    consent: withheld || attribution.consent === "unreadable" ? "denied" : attribution.consent,
    extra: withheld ? {} : (event.extra ?? {}),
  };
}
