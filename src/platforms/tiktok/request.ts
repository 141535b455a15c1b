// Translates conversions to the web events of TikTok's Events API.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { applyMapping, hashed, oneWordOf, textField } from "../shared/mapping.ts";
import { idsOf, priceOf } from "../shared/items.ts";
import { placeForms } from "../shared/places.ts";
import { dedupId, isLimited, testCodeOf } from "../shared/settings.ts";
import { type Body, browserOf, orderDataOf, unixSeconds, validId } from "../shared/values.ts";

// Checked 2026-11-15.
const version = "v1.3";
export const api = `https://business-api.tiktok.com/open_api/${version}`;

export const events: EventNames = {
  standard: {
    purchase: "Purchase",
    lead: "Lead",
    // A deal that was won in the CRM is the sale.
    closed_won: "Purchase",
    signup: "CompleteRegistration",
    add_to_cart: "AddToCart",
    add_to_wishlist: "AddToWishlist",
    begin_checkout: "InitiateCheckout",
    add_payment_info: "AddPaymentInfo",
    subscribe: "Subscribe",
    start_trial: "StartTrial",
    contact: "Contact",
    schedule: "Schedule",
    submit_application: "SubmitApplication",
    application_approval: "ApplicationApproval",
    search: "Search",
    view_item: "ViewContent",
    download: "Download",
    find_location: "FindLocation",
    customize_product: "CustomizeProduct",
  },
  others: "own name",
  customNames: {
    maxLength: 50,
    // As far as TikTok's help pages list them.
    reserved: ["addbilling", "browse", "checkout", "clickform", "consult", "registration", "startcheckout"],
  },
};

const alphanumeric = (value: string | number) =>
  String(value)
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, "");

export const fields: readonly Field[] = [
  textField(
    "user.external_id",
    "Your own id of the person, as your pixel has it; hashed before it is sent.",
    hashed((text) => text),
  ),
  textField(
    "user.zip_code",
    "Postal code; hashed before it is sent.",
    hashed((text) => alphanumeric(placeForms.zip(text))),
  ),
  textField("user.city", "City; TikTok accepts it unhashed.", alphanumeric),
  textField("user.state", "State; TikTok accepts it unhashed.", alphanumeric),
  textField("user.country", "Country; TikTok accepts it unhashed.", alphanumeric),
  textField("lead.lead_id", "TikTok's own id of a lead from one of its forms."),
  textField("properties.content_type", "product or product_group.", oneWordOf(["product", "product_group"])),
  textField("properties.description", "A text about the event."),
  textField("properties.query", "What the person searched for."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${api}/event/track/`,
  headers: { "content-type": "application/json", "access-token": settings.access_token ?? "" },
  body: JSON.stringify({
    event_source: settings.event_source ?? "web",
    event_source_id: settings.pixel_code ?? "",
    ...testCodeOf(conversions, settings),
    data: conversions.map((conversion) => toEvent(conversion, settings, now)),
  }),
});

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { page, referrer } = browserOf(conversion);
  const isCrm = settings.event_source === "crm";
  const event: Body = {
    event: eventNameOf(conversion, settings, events) ?? undefined,
    event_time: unixSeconds(conversion.time, now),
    event_id: dedupId(conversion, settings),
    // Sent also when it is empty: TikTok's events always have it.
    user: userOf(conversion),
    properties: orderDataOf(conversion),
    page: !isCrm && (page || referrer) ? { url: page || undefined, referrer: referrer || undefined } : undefined,
    limited_data_use: isLimited(conversion, settings) || undefined,
  };
  if (conversion.items) addItems(event, conversion.items, conversion.currency);
  applyMapping(event, conversion, settings, { fields, personal: "user" });
  if (isCrm) event.lead = { ...(event.lead as Body), lead_event_source: settings.crm_name ?? "CRM" };
  return event;
}

function addItems(event: Body, items: readonly Item[], currency: string): void {
  const properties = (event.properties ??= {}) as Body;
  properties.contents = items.map((item) => ({
    content_id: item.id,
    content_name: item.name,
    content_category: item.category,
    brand: item.brand,
    price: priceOf(item, currency),
    quantity: item.quantity,
  }));
  properties.content_ids = idsOf(items);
  properties.content_type = "product";
}

export function isSendable(conversion: Conversion, settings: ConnectionSettings): boolean {
  if (conversion.person?.emailSha256 || settings.without_person === "send") return true;
  const { phone, ttclid, ttp, ip, user_agent: agent } = userOf(conversion);
  return Boolean(phone || ttclid || ttp || (ip && agent));
}

function userOf(conversion: Conversion): Body {
  const { person, clickIds, browserIds } = conversion;
  const { address, userAgent } = browserOf(conversion);
  return {
    email: person?.emailSha256 || undefined,
    phone: person?.phoneSha256,
    first_name: person?.firstNameSha256,
    last_name: person?.lastNameSha256,
    ttclid: validId(clickIds.ttclid?.value),
    ttp: validId(browserIds._ttp),
    ip: address || undefined,
    user_agent: userAgent || undefined,
  };
}
