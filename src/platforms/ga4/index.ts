// Google Analytics 4 through the Measurement Protocol, which answers 204 to everything, also to events that it drops.
// Such events are skipped here, and test events go to its validation server, which reports errors.

import type { Platform } from "../platform.ts";
import { verifyNever } from "../shared/verify.ts";
import { googleSignIn } from "../shared/dataManager/request.ts";
import { digits, oneOf, requiredSecret, secretSetting, tokenSettings } from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { confirmations } from "./confirmations.ts";
import { clientOf, collectors, events, fields, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const ga4 = {
  id: "ga4",
  name: "Google Analytics 4",
  description: "Sends conversions as events to a web stream of a Google Analytics 4 property.",
  docs: {
    url: "https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In Google Analytics open Admin > Data streams and choose your web stream. Copy the measurement id, which starts with G-.",
      "On the same page open Measurement Protocol API secrets, accept the terms if asked, create a secret and copy its value.",
      "Mark the events that matter to you as key events under Admin > Events.",
      "Optional: to learn which purchases Google counted, set up an OAuth app (cleancast oauth app set ga4 client_id=… client_secret=@file) in a Cloud project with the Google Analytics Data API, sign in (cleancast sign-in SITE ga4) with an account that may read the property, and set property_id.",
    ],
    sends: [
      ["client_id", "the _ga cookie, else a pseudonym made from the hashed email, else from the event id"],
      ["timestamp_micros", "the time of the event"],
      ["events[0].name", "the event, under Google's name for it or the chosen one"],
      ["params.transaction_id", "orderId; for purchases and refunds without one the event id"],
      ["params.event_id", "the event id"],
      ["params.value, .currency", "value and currency"],
      [
        "params.items",
        "items: item_id, item_name, item_category, item_brand, price and quantity, with the events for which Google documents them; refunds too",
      ],
      ["params.session_id", "the _ga_ cookie of this property"],
      ["user_data.sha256_email_address", "hashed email, normalised by Google's rules"],
      ["user_data.sha256_phone_number", "hashed phone number, with the plus sign"],
      ["consent", "granted or denied, as the person decided; left out while unknown"],
    ],
    notSent: [
      "Click ids and UTM fields: Google Analytics has no field for them and takes the source from the session. A mapping can put UTM fields into parameters of your own.",
      "IP address, location and device: events are matched to the visit by client id and session.",
      "Names: Google hashes them with their spaces, and the relay has no such hash.",
      "Order ids of more than 100 characters: Google would drop them. Texts of items are cut to 100.",
      "Items of other events, leads and custom ones for example: Google drops an event with a list that it does not expect.",
    ],
    consent:
      "The event is sent with ad_user_data and ad_personalization denied, without cookies and contact data, under a client id made from the event id.",
    testMode: "Sent to Google's validation server, which reports errors and records nothing. It does not check the API secret.",
    limits: [
      "Google's collector returns no result: with a wrong API secret or measurement id, events just never arrive. Look at the realtime report after connecting, or sign in: a day later Google is asked which purchases it has.",
      "To match the visit, events should arrive within 48 hours of it.",
      "There is no general deduplication: an attempt that got no response and is repeated may count twice. Purchases are reported to count once per transaction id.",
      "Names of custom events have up to 40 letters, digits and underscores: Closed Won is sent as closed_won, and a name that Google reserves begins with custom_.",
      "Texts have up to 100 characters. Longer mapped texts are cut.",
      "An event without a _ga cookie shows as a new user with unassigned traffic.",
    ],
  },
  // The sign-in is for confirmations only. Events are sent with the API secret.
  oauth: { ...googleSignIn(["https://www.googleapis.com/auth/analytics.readonly"]), isForReading: true },
  settings: [
    {
      name: "measurement_id",
      label: "Measurement ID",
      help: "G- and some letters and digits: Admin > Data streams > your stream. Not the stream id, which is a number.",
      required: true,
      check: (value) => (/^G-[A-Z0-9]{4,20}$/.test(value) ? null : "must be a measurement id like G-AB12CD34EF"),
    },
    requiredSecret("api_secret", "API secret", "Admin > Data streams > your stream > Measurement Protocol API secrets > Create."),
    {
      name: "region",
      label: "Region",
      help: "global, or eu if the data must be collected in the European Union. Test events are validated by the global server.",
      default: "global",
      ...oneOf(Object.keys(collectors)),
    },
    {
      name: "without_client_id",
      label: "Events without a client ID",
      help: "pseudonym sends events of people whose _ga cookie is not known under a generated client id, which counts as a new user. skip does not send them.",
      default: "pseudonym",
      ...oneOf(["pseudonym", "skip"]),
    },
    {
      name: "user_data",
      label: "Hashed contact data",
      help: "on sends hashed email and phone; the property uses them once user-provided data collection is switched on there. off leaves them out.",
      default: "on",
      ...oneOf(["on", "off"]),
    },
    {
      name: "property_id",
      label: "Property id",
      help: "A number, under Admin > Property details. With it and a sign-in, Google is asked which purchases it counted. Not needed to send events.",
      check: digits(1, 20),
    },
    secretSetting(
      "access_token",
      "Access token",
      "Filled by signing in; reads which purchases were counted. Not needed to send events.",
    ),
    ...tokenSettings,
  ],
  account: (settings) => settings.measurement_id ?? "",
  ids: ["_ga"],
  events,
  fields,
  maxAgeDays: 3,
  // A request has one client id and one time, so it cannot carry two people.
  batch: 1,
  lanes: 32,
  skips: ["no_match_key"],
  matchKeys: {
    names: "Google Analytics client id",
    has: (conversion, settings) => settings.without_client_id !== "skip" || clientOf(conversion),
  },
  toRequest: agreedOnly(toRequest),
  readResponse,
  verify: verifyNever("Google Analytics", "the realtime report"),
  acceptsEverything: true,
  confirmations,
} satisfies Platform;
