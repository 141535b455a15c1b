// HubSpot custom events: each conversion is an occurrence of an event that the account has defined, on the timeline of a contact.
// HubSpot finds contacts by plain email, which the relay does not keep, by its own cookie, by a contact's id, or by a property
// that the account chose.

import type { Platform, Setting } from "../platform.ts";
import { textAt } from "../shared/json.ts";
import { readVerification } from "../shared/verify.ts";
import { bearer, digits, getRequest, oneOf, requiredSecret } from "../shared/settings.ts";
import { targetsCheck } from "../shared/targets.ts";
import { base, eventOf, events, fields, hasContact, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

const property = (name: string, label: string, help: string): Setting => ({
  name,
  label,
  help,
  check: (value) =>
    /^[a-z][a-z0-9_]{0,49}$/.test(value) ? null : "must be the internal name of a property: lower-case letters, digits and _",
});

export const hubspot = {
  id: "hubspot",
  name: "HubSpot",
  description: "Records conversions as custom events of contacts in a HubSpot account.",
  docs: { url: "https://developers.hubspot.com/docs/api-reference/latest/events/send-event-data/guide", checked: "2026-11-18" },
  guide: {
    credentials: [
      "Custom events need an Enterprise subscription. In HubSpot, open Data Management > Custom events and create one event for each kind of conversion, or one for all; copy its internal name, which begins with pe and the number of the account.",
      "Add properties for value, currency and order id to the event, and enter their internal names here: HubSpot knows none of its own for them.",
      "Open Settings > Integrations > Private apps, create an app with the scope analytics.behavioral_events.send, and copy its access token.",
      "Enter the name of each event: event.purchase=pe…, event.lead=pe…, or one default event for all.",
      "Say how contacts are found: HubSpot's tracking code on your pages sets the cookie that the tag reads; senders that know the contact's id map objectId to it.",
    ],
    sends: [
      ["eventName", "the custom event that the connection has for the event"],
      ["occurredAt", "the time of the conversion"],
      ["uuid", "the event id"],
      ["utk", "the cookie hubspotutk, unchanged"],
      ["objectId", "the mapped field"],
      [
        "properties named in the settings",
        "value, currency and orderId, each as text; the hashed email where a property is named for it",
      ],
      ["properties.hs_utm_source, hs_utm_medium …", "UTM fields"],
      ["properties.hs_page_url, hs_referrer", "the page of the visit without its query, and the origin of the page before it"],
      ["properties.hs_user_agent", "user agent of the visit"],
    ],
    notSent: [
      "Email, phone and names: HubSpot wants them as plain text, and the relay keeps only hashes.",
      "Items: HubSpot's events have no lists.",
      "Refunds, unless the connection has a custom event for them: as an occurrence of another event they would look like a sale.",
      "Events without a contact that HubSpot can find.",
    ],
    limits: [
      "500 events in a request, 50 properties of 256 characters in an event; longer texts are cut.",
      "One invalid event fails the whole request, so the batch is halved until it is found.",
      "A custom event that HubSpot does not know stops only its own events: they wait, and are retried as soon as event.NAME or default_event is corrected (until then every hour at first, later once a day). How HubSpot reports it is not documented: HTTP 404, and 400 with a message about the event name, are read so.",
      "HubSpot does not say whether an event with the same uuid counts once. After a lost answer, an event may stand twice on the timeline.",
      "An event can be neither changed nor deleted in HubSpot.",
      "With email_sha256_property, HubSpot finds the contact whose property has the same hash: define the event with that property as its custom matching ID.",
    ],
  },
  settings: [
    {
      name: "hub_id",
      label: "Account number",
      help: "The number of the HubSpot account (Hub ID), next to the account's name.",
      required: true,
      check: digits(1, 12),
    },
    requiredSecret("access_token", "Access token", "Of a private app with the scope analytics.behavioral_events.send."),
    {
      name: "default_event",
      label: "Default custom event",
      help: "The internal name of the custom event for events without their own. Without it, only events with their own are sent.",
      check: targetsCheck(events),
    },
    property(
      "value_property",
      "Property for the value",
      "The internal name of the event's property for the value, of type number.",
    ),
    property("currency_property", "Property for the currency", "The internal name of the event's property for the currency."),
    property("order_property", "Property for the order id", "The internal name of the event's property for the order id."),
    property(
      "email_sha256_property",
      "Property for the hashed email",
      "The internal name of the event's property for the SHA-256 of the email, by which HubSpot finds contacts that have the same.",
    ),
    {
      name: "default_properties",
      label: "HubSpot's own properties",
      help: "yes sends UTM fields, page and user agent in the hs_ properties. no: for events that were defined without them.",
      default: "yes",
      ...oneOf(["yes", "no"]),
    },
  ],
  account: (settings) => settings.hub_id ?? "",
  ids: ["hubspotutk"],
  events,
  fields,
  batch: 500,
  lanes: 4,
  // Of a private app; HubSpot allows more at this endpoint.
  quota: { requests: 100, seconds: 10 },
  // A wrong event fails the whole request, so only those with the same one share it.
  group: (conversion, settings) => eventOf(conversion, settings) ?? "",
  skips: ["no_test_mode", "opted_out", "no_refunds", "no_target", "no_match_key"],
  matchKeys: { names: "hubspotutk cookie, contact id or property for the hashed email", has: hasContact },
  toRequest,
  readResponse,
  verify: (settings) =>
    readVerification(
      getRequest(`${base}/account-info/v3/details`, bearer(settings)),
      (body) => textAt(body, "portalId") === settings.hub_id,
      { otherwise: "the access token belongs to another account than hub_id", unchecked: "default_event" },
    ),
} satisfies Platform;
