// Segment, and RudderStack, which has the same API on the customer's own data plane. Segment answers 200 to nearly
// everything, so this file skips what Segment would drop.

import type { Platform } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import { at } from "../shared/json.ts";
import { getRequest, oneOf, requiredSecret } from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { accountOf, events, fields, hosts, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const segment = {
  id: "segment",
  name: "Segment",
  description: "Sends conversions as track calls to a Segment source, or to a RudderStack data plane.",
  docs: {
    url: "https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In Segment open Connections > Sources and add an HTTP API source, or choose an existing one.",
      "Copy the write key from the source's Settings > API keys, and workspace and source from the URL of the page.",
      "Choose the region of your workspace. Events for a European workspace are lost if they go to the US host.",
      "For RudderStack enter the URL of your data plane and the write key of an HTTP source.",
    ],
    sends: [
      ["messageId", "the event id, with a prefix of this connection"],
      ["event", "the event, under the name in Segment's specification or the chosen one"],
      ["timestamp, sentAt", "the time of the event, and of the attempt"],
      ["anonymousId", "a pseudonym made from the hashed email, else from the event id; unless userId or anonymousId is mapped"],
      ["properties.order_id, .event_id", "orderId and the event id"],
      ["properties.total and .revenue, or .value; .currency", "value and currency"],
      [
        "properties.products",
        "items: product_id, name, category, brand, price and quantity; of an event about one product, such as Product Added, directly in properties",
      ],
      ["properties.gclid, .fbclid, .msclkid …", "the newest click id of each kind"],
      ["context.traits.email_sha256, .phone_sha256", "hashed email and phone"],
      ["context.campaign", "UTM fields; utm_campaign as name"],
      ["context.ip, .userAgent, .page", "IP address, user agent and page of the visit"],
      ["context.consent.categoryPreferences", "the person's choice for the consent categories"],
    ],
    notSent: [
      "email, phone and names: Segment expects them in plain text, and the relay has only hashes. Destinations would hash them again under those names.",
      "Browser ids: Segment has no fields for them.",
      "Name, category and brand of items that are longer than 24 KB together; the items themselves if even their ids are.",
    ],
    consent:
      "The event is sent without anything that identifies the person, under an id made from the event id, and with consent denied for the categories; without categories, an empty object denies all.",
    testMode: "Segment has no test mode: test events are skipped. Check the source's debugger after a live event.",
    limits: [
      "32 KB for an event, 500 KB for a request.",
      "Segment accepts nearly everything, even with a write key of another region: check in the debugger that events arrive.",
      "Sources that require OAuth are not supported.",
      "Segment recognises duplicates for at least 24 hours.",
    ],
  },
  // The base URL is the customer's.
  customerAddress: true,
  settings: [
    {
      name: "source",
      label: "Source",
      help: "Workspace and source, as in the URL of the source's page: acme/website. Distinguishes your connections.",
      required: true,
      check: (value) =>
        /^[\w.-]{1,100}(?:\/[\w.-]{1,100})?$/.test(value) ? null : "must be workspace/source, like acme/website",
    },
    requiredSecret("write_key", "Write key", "Segment: source > Settings > API keys. RudderStack: source > Setup."),
    {
      name: "region",
      label: "Region",
      help: "us, or eu for workspaces in the European Union. In the wrong region events are lost without an error.",
      default: "us",
      ...oneOf(Object.keys(hosts)),
    },
    {
      name: "base_url",
      label: "Data plane URL",
      help: "Only for RudderStack and proxies: the URL before /v1, like https://example.dataplane.rudderstack.com.",
      check: (value) =>
        value.length <= 300 && URL.canParse(value) && /^https?:\/\/[^?#@\s]+$/i.test(value)
          ? null
          : "must be an https address without query",
    },
    {
      name: "consent_categories",
      label: "Consent categories",
      help: "The ids of the consent categories that a person's choice applies to, separated by commas: C0002,C0004.",
      check: (value) => (/^[\w.-]+(?:\s*,\s*[\w.-]+)*$/.test(value) ? null : "must be a list of ids separated by commas"),
    },
  ],
  account: accountOf,
  ids: `gclid wbraid gbraid dclid gclsrc gad_source gad_campaignid srsltid fbclid ttclid msclkid li_fat_id epik ScCid rdt_cid
    twclid oppref ndclid aleid alart spclid qclid tblci dicbo ob_click_id aref _kx irclickid yclid`.split(/\s+/),
  events,
  fields,
  // 2,500 are allowed, but also only 500 KB, which is about 400 typical events.
  batch: 250,
  // Even with the longest texts, they leave enough of the 500 KB to the events.
  batchItems: 100,
  lanes: 16,
  quota: { requests: 1000, seconds: 1 },
  skips: ["no_test_mode"],
  toRequest: agreedOnly(toRequest),
  readResponse,
  verify: (settings) =>
    settings.base_url
      ? {
          by: "nothing",
          reason: "a data plane of your own has no call that checks a write key; look at its live events",
        }
      : // The write key is part of the path, which is never logged.
        readVerification(
          getRequest(`https://cdn.segment.com/v1/projects/${encodeURIComponent(settings.write_key ?? "")}/settings`, {}),
          (body) => at(body, "integrations") !== undefined,
          { otherwise: "Segment's answer about the source could not be read", unchecked: "region" },
        ),
} satisfies Platform;
