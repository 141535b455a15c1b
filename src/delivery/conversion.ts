import type { Attribution, Conversion, Event } from "../kernel/event.ts";
import { costFields } from "../platforms/valueRules.ts";

/** A sender may write an amount as decimal text. Anything else is no amount. */
function readCost(given: unknown): number {
  const amount = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  return typeof amount === "number" && amount > 0 && Number.isFinite(amount) ? amount : 0;
}

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
  const costs = event.extra ? costFields.reduce((sum, field) => sum + readCost(event.extra?.[field]), 0) : 0;
  if (costs > 0) conversion.costs = costs;
  if (event.leadId !== undefined && !withheld) conversion.leadId = event.leadId;
  return conversion;
}
