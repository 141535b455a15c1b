// Campaign Manager 360 through the Data Manager API: offline conversions of Floodlight activities, found by click id.

import type { Platform } from "../platform.ts";
import {
  dataManagerLimits,
  dataManagerScope,
  eventSourceSetting,
  googleSignIn,
  numericOrderIdsSetting,
} from "../shared/dataManager/request.ts";
import { dataManagerConfirmations } from "../shared/dataManager/confirmations.ts";
import { ingestWarnings, readIngested } from "../shared/dataManager/response.ts";
import { verifyByTestEvent } from "../shared/verify.ts";
import { digits, requiredSecret, tokenSettings } from "../shared/settings.ts";
import { targetsCheck } from "../shared/targets.ts";
import { activitiesOf, clickOf, events, toRequest } from "./request.ts";

export const cm360 = {
  id: "cm360",
  name: "Campaign Manager 360",
  description:
    "Sends conversions to Floodlight activities of Campaign Manager 360, which Display & Video 360 and Search Ads 360 use too, through the Data Manager API.",
  docs: {
    url: "https://developers.google.com/data-manager/api/devguides/events/cm360/offline/send-events",
    checked: "2026-11-16",
  },
  guide: {
    credentials: [
      "In the Google Cloud console create a project, enable the Data Manager API in it, and create an OAuth client of the type web application. The one of Google Ads can serve both.",
      "In Campaign Manager 360 open Admin > User profiles: the profile of the Google account that signs in needs access to the advertiser, and a role with the permission Insert offline conversions.",
      "Set the client's id and secret (cleancast oauth app set cm360 client_id=… client_secret=@file), then sign in (cleancast sign-in SITE cm360) with that account.",
      "Copy the id of the advertiser: it is the Floodlight configuration id. If the advertiser belongs to a parent advertiser, copy the id of the parent.",
      "Open Floodlight > Activities, and create an activity for each kind of conversion. Its number is next to its name.",
    ],
    sends: [
      ["productDestinationId", "the Floodlight activities chosen for the event, else those for all events"],
      ["eventTimestamp", "the time of the event"],
      ["transactionId", "orderId, else the event id; also the event id where another email came with the same orderId before"],
      ["conversionValue, currency", "value and currency"],
      ["adIdentifiers.dclid", "the newest dclid"],
      ["adIdentifiers.gclid", "where there is no dclid: the newest gclid, or the one in the _gcl_aw cookie, of the last 60 days"],
      ["consent", "granted or denied, as the person decided; left out while unknown"],
    ],
    notSent: [
      "Events without a dclid or gclid: Campaign Manager 360 finds the ad by it.",
      "wbraid and gbraid: Campaign Manager 360 does not list them among its identifiers.",
      "Contact data: it is for enhanced conversions, which need Google's customer data terms. The click id is enough.",
      "IP address and user agent: Google forbids the IP address for people in Europe, and the person's location is unknown.",
      "Items and custom Floodlight variables (u1, u2 …): their form for Floodlight was not found in the documentation.",
      "UTM fields: Google has no field for them.",
      "Refunds, unless an activity is chosen for the event refund: Google counts every event as revenue.",
      "Order ids that hold an email address: the event id is sent instead.",
    ],
    consent: "Google rejects an event without an identifier, so events of people who opted out are skipped.",
    testMode: "Sent with validateOnly: Google validates the request and stores nothing.",
    limits: [
      "The limit applies to the whole Cloud project, so to all connections that use your app, and to Google Ads too if it uses the same project; Google also allows 100,000 requests a day.",
      "One invalid event fails the whole request; the others are resent without it.",
      "An activity that Google does not know stops only its own events: they wait, and are retried as soon as event.NAME or activity is corrected (until then every hour at first, later once a day). A fault of the account stops the connection until it is connected again.",
      "Accepted means received. The relay asks Google from half an hour later on if the conversions of a request count. A click of the last hour may not be known yet: such a conversion is sent again six hours later.",
      "The same conversion must not be sent to one activity through Search Ads 360 too: it would count twice.",
    ],
  },
  oauth: googleSignIn([dataManagerScope]),
  settings: [
    {
      name: "floodlight_configuration",
      label: "Floodlight configuration ID",
      help: "The id of the advertiser in Campaign Manager 360, or of its parent advertiser.",
      required: true,
      check: digits(1, 20),
    },
    requiredSecret(
      "access_token",
      "Access token",
      "Filled by signing in. A pasted token needs the scope datamanager and expires after an hour.",
    ),
    ...tokenSettings,
    {
      name: "activity",
      label: "Floodlight activity",
      help: "The number of the Floodlight activity for all events without their own; several are separated by commas.",
      check: targetsCheck(events),
    },
    eventSourceSetting,
    numericOrderIdsSetting,
  ],
  account: (settings) => settings.floodlight_configuration ?? "",
  ids: ["dclid", "gclid", "_gcl_aw"],
  events,
  maxAgeDays: 28,
  ...dataManagerLimits,
  // The destinations apply to all events of a request, so events with other activities need another one.
  group: (conversion, settings) => activitiesOf(conversion, settings).join(),
  skips: ["no_match_key", "no_refunds", "no_target"],
  matchKeys: { names: "dclid or gclid", has: clickOf },
  toRequest,
  readResponse: readIngested("activity"),
  warnings: ingestWarnings,
  verify: verifyByTestEvent,
  confirmations: dataManagerConfirmations("activity"),
} satisfies Platform;
