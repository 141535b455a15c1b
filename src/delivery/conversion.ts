import type { Attribution, Conversion, Event } from "../kernel/event.ts";

/** Returns the part of an event that platforms may see. Nothing that identifies a person is in it when consent withholds that. */
export function toConversion(event: Event, platformEventId: string, attribution: Attribution): Conversion {
  const { withheld } = attribution;
  const conversion: Conversion = {
    platformEventId,
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
  // Like the value, they say nothing about the person.
  if (event.items) conversion.items = event.items;
  if (event.leadId !== undefined && !withheld) conversion.leadId = event.leadId;
  return conversion;
}
