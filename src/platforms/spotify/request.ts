// Translates conversions to events of Spotify's Conversions API.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { applyMapping, textField } from "../shared/mapping.ts";
import { bearer, dedupId, isLimited } from "../shared/settings.ts";
import { amountOf, type Body, browserOf, isoTime, listOf, unlessEmpty, validId } from "../shared/values.ts";

/** Checked 2026-11-15. Spotify's own address ends with the slash. */
const endpoint = "https://capi.spotify.com/capi-direct/events/";

const standard = {
  purchase: "PURCHASE",
  closed_won: "PURCHASE",
  lead: "LEAD",
  contact: "LEAD",
  signup: "SIGN_UP",
  add_to_cart: "ADD_TO_CART",
  begin_checkout: "CHECK_OUT",
  view_item: "PRODUCT",
  page_view: "VIEW",
} as const;

const custom = [1, 2, 3, 4, 5].map((number) => `CUSTOM_EVENT_${number}`);

export const events: EventNames = {
  standard,
  others: { name: "CUSTOM_EVENT_1" },
  choices: [...new Set<string>(Object.values(standard)), ...custom],
  withValue: "PURCHASE",
};

export const fields: readonly Field[] = [textField("event_details.content_name", "Name of the product or page.")];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: endpoint,
  headers: { "content-type": "application/json", ...bearer(settings) },
  body: JSON.stringify({
    conversion_events: {
      capi_connection_id: settings.connection_id,
      events: conversions.map((conversion) => toEvent(conversion, settings, now)),
    },
  }),
});

const nameOf = (conversion: Conversion, settings: ConnectionSettings) => eventNameOf(conversion, settings, events) ?? "";

/** Returns undefined without an identifier, of which Spotify requires one. After an opt-out there is none. */
export function userDataOf(conversion: Conversion, settings: ConnectionSettings): Body | undefined {
  const { person, browserIds, consent } = conversion;
  if (consent === "denied") return undefined;
  return unlessEmpty({
    ip_address: browserOf(conversion).address || undefined,
    device_id: validId(browserIds.__spdt),
    hashed_emails: listOf(person?.emailSha256),
    hashed_phone_number: phoneOf(person, settings),
  });
}

function phoneOf(person: Conversion["person"], { phone_form }: ConnectionSettings): string | undefined {
  if (phone_form === "none") return undefined;
  return phone_form === "digits" ? person?.phoneDigitsSha256 : person?.phoneSha256;
}

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { value, currency } = conversion;
  const event: Body = {
    event_name: nameOf(conversion, settings),
    event_id: dedupId(conversion, settings),
    // Spotify requires a time in the past, and senders' clocks may run ahead.
    event_time: isoTime(Math.min(conversion.time, now - 1000)),
    user_data: userDataOf(conversion, settings),
    event_details: unlessEmpty({
      currency: value === null ? undefined : currency,
      amount: value === null ? undefined : amountOf(value, currency),
    }),
    event_source_url: browserOf(conversion).page || undefined,
    action_source: settings.action_source ?? "WEB",
    opt_out_targeting: isLimited(conversion, settings),
  };
  applyMapping(event, conversion, settings, { fields });
  return event;
}
