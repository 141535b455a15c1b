// Google Ads through the Data Manager API. One invalid event fails the whole request, so events that Google is known to
// reject are skipped. An accepted request says nothing about attribution, which Google decides half an hour later.

import type { Platform, Setting } from "../platform.ts";
import {
  dataManagerLimits,
  dataManagerScope,
  eventSourceSetting,
  googleSignIn,
  hasOrderId,
  numericOrderIdsSetting,
} from "../shared/dataManager/request.ts";
import { dataManagerConfirmations } from "../shared/dataManager/confirmations.ts";
import { ingestWarnings, readIngested } from "../shared/dataManager/response.ts";
import { verifyByTestEvent } from "../shared/verify.ts";
import { digits, oneOf, requiredSecret, secretSetting, tokenSettings } from "../shared/settings.ts";
import { targetsCheck } from "../shared/targets.ts";
import { agreedOnly } from "../shared/values.ts";
import { corrections } from "./corrections.ts";
import { pickers, withoutHyphens } from "./pickers.ts";
import { actionsOf, clickDays, clickOf, events, fields, isForTag, toRequest, userDataOf } from "./request.ts";

const checkCustomerId = (value: string) =>
  /^\d{3}-?\d{3}-?\d{4}$/.test(value) ? null : "must be a customer id of ten digits, like 123-456-7890";

const customVariableSetting = (number: number): Setting => ({
  name: `custom_variable_${number}`,
  label: `Custom variable ${number}`,
  help: `The tag of a custom variable of the account, as in Goals > Conversions > Custom variables. Map its value to customVariables.${number}.`,
  check: (value) => (/^[A-Za-z]\w{0,99}$/.test(value) ? null : "must be the tag of a custom variable: letters, digits and _"),
});

export const googleAds = {
  id: "google_ads",
  name: "Google Ads",
  description: "Sends conversions to Google Ads conversion actions through the Data Manager API.",
  docs: {
    url: "https://developers.google.com/data-manager/api/reference/rest/v1/events/ingest",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In the Google Cloud console create a project, enable the Data Manager API in it, and create an OAuth client of the type web application.",
      "Set the client's id and secret (cleancast oauth app set google_ads client_id=… client_secret=@file), then sign in (cleancast sign-in SITE google_ads) with a Google account that may edit the Google Ads account.",
      "In Google Ads open Goals > Conversions and create a conversion action that imports from clicks. Its number is in the page's URL as ctId.",
      "Enter the customer id of the account that owns the action. If you access it through a manager account, enter that id too.",
    ],
    sends: [
      ["productDestinationId", "the conversion actions chosen for the event, else those for all events"],
      ["eventTimestamp", "the time of the event"],
      [
        "transactionId",
        "orderId, else the event id; also the event id where another email came with the same orderId before, unless tag_conversions is on",
      ],
      ["conversionValue, currency", "value and currency"],
      ["adIdentifiers.gclid", "the newest gclid, or the one in the _gcl_aw cookie"],
      ["adIdentifiers.wbraid, .gbraid", "the newest wbraid, else gbraid, where there is no gclid"],
      [
        "adIdentifiers.sessionAttributes",
        "gad_source and gad_campaignid of the click with its time, page and referrer of the visit and its user agent; unless visit_data is none",
      ],
      [
        "adIdentifiers.landingPageDeviceInfo",
        "user agent of the visit, unless visit_data is none; its IP address with visit_data=session_and_ip",
      ],
      [
        "userData.userIdentifiers",
        "hashed email and phone, when enhanced conversions for leads or tag_conversions is on and the click has no wbraid or gbraid",
      ],
      ["consent", "granted or denied, as the person decided; left out while unknown"],
      ["cartData.items", "items: merchantProductId, quantity and unitPrice, if every item has a price"],
      ["cartData.merchantId, merchantFeedLabel, merchantFeedLanguageCode", "the Merchant Center account of the connection"],
      ["customVariables", "mapped fields, under the names that the connection has for them"],
    ],
    notSent: [
      "Names: Google accepts them only with country and postal code, which events do not have.",
      "The IP address, unless visit_data is session_and_ip: Google forbids it for people in the European Economic Area, the United Kingdom and Switzerland.",
      "UTM fields, unless you map them to custom variables: Google has no field for them.",
      "Refunds, unless a conversion action is chosen for the event refund: Google counts every event as revenue. With the site's setting corrections, a refund changes the value of the purchase instead.",
      "Order ids that hold an email address: the event id is sent instead.",
      "Click ids with spaces or other invalid characters.",
      "Items of a click with wbraid or gbraid, which Google ignores; name, category and brand of items, which Google takes from Merchant Center.",
    ],
    consent: "Google rejects an event without click id and contact hashes, so events of people who opted out are skipped.",
    testMode: "Sent with validateOnly: Google validates the request and stores nothing.",
    limits: [
      "The limit applies to the whole Cloud project, so to all connections that use your app; Google also allows 100,000 requests a day.",
      "One invalid event fails the whole request; the others are resent without it.",
      "A conversion action that Google does not know, or that is less than some hours old, stops only its own events: they wait, and are retried as soon as event.NAME or conversion_action is corrected (until then every hour at first, later once a day). An event with several actions waits until all of them are right. A fault of the account stops the connection until it is connected again.",
      "Accepted means received. The relay asks Google from half an hour later on if the conversions of a request count. Google answers with counts by reason and not for single conversions, so the confirmation of a conversion may be unknown where a request had several.",
      "With tag_conversions, the conversion actions are those of the Google tag, and each conversion adds click id and contact data to the one that the tag reported with the same order id. Which of them Google found is not reported.",
      "The form of sessionAttributes is that of Google's snippet for forms; the API's reference calls it an encoded text only.",
      "Actions that count one conversion per click do not accept wbraid or gbraid.",
    ],
  },
  // The second scope is only for the lists of accounts and conversion actions.
  oauth: googleSignIn([dataManagerScope, "https://www.googleapis.com/auth/adwords"]),
  settings: [
    {
      name: "customer_id",
      label: "Customer ID",
      help: "The Google Ads account that owns the conversion actions, like 123-456-7890. Not its manager account.",
      required: true,
      check: checkCustomerId,
    },
    requiredSecret(
      "access_token",
      "Access token",
      "Filled by signing in. A pasted token needs the scope datamanager and expires after an hour.",
    ),
    ...tokenSettings,
    {
      name: "conversion_action",
      label: "Conversion action",
      help: "The number of the conversion action for all events without their own; several are separated by commas.",
      check: targetsCheck(events),
    },
    {
      name: "login_customer_id",
      label: "Manager account",
      help: "The manager account through which you access the account. Empty if you access it directly.",
      check: checkCustomerId,
    },
    {
      name: "enhanced_conversions_for_leads",
      label: "Enhanced conversions for leads",
      help: "on sends hashed email and phone, also for events without a click id. Enable it in Google Ads and accept the customer data terms there first: otherwise Google rejects the events.",
      default: "off",
      ...oneOf(["on", "off"]),
    },
    {
      name: "tag_conversions",
      label: "Additional data for the Google tag",
      help: "on adds to conversions that the Google tag reports, by order id: choose conversion actions of the type website, and switch enhanced conversions on there. Order ids are sent as they are, and events without one are skipped.",
      default: "off",
      ...oneOf(["on", "off"]),
    },
    {
      name: "visit_data",
      label: "Data of the visit",
      help: "session sends the parameters of the ad click, page, referrer and user agent of the visit; session_and_ip also its IP address, which Google forbids for people in Europe; none sends the click id only.",
      default: "session",
      ...oneOf(["none", "session", "session_and_ip"]),
    },
    ...[1, 2, 3].map(customVariableSetting),
    eventSourceSetting,
    numericOrderIdsSetting,
    {
      name: "merchant_id",
      label: "Merchant Center account",
      help: "The number of the Merchant Center account that has your items. Only needed for reports by product.",
      check: digits(1, 20),
    },
    {
      name: "feed_label",
      label: "Merchant Center feed label",
      help: "The label of the feed that has your items, US for example.",
      check: (value) => (/^[A-Z0-9_-]{1,20}$/.test(value) ? null : "must be capital letters, digits, - and _"),
    },
    {
      name: "feed_language",
      label: "Merchant Center feed language",
      help: "The language of the feed that has your items, as two letters.",
      check: (value) => (/^[a-z]{2}$/.test(value) ? null : "must be two small letters, like en"),
    },
    secretSetting(
      "developer_token",
      "Developer token",
      "Only for lists of accounts and conversion actions to choose from. Conversions do not need it.",
    ),
  ],
  pickers,
  account: (settings) => withoutHyphens(settings.customer_id),
  ids: ["gclid", "wbraid", "gbraid", "_gcl_aw", "gad_source", "gad_campaignid"],
  events,
  fields,
  // Google documents no limit.
  maxAgeDays: clickDays,
  ...dataManagerLimits,
  // The destinations apply to all events of a request, so events with other actions need another one. A wrong action then
  // fails only its own events.
  group: (conversion, settings) => actionsOf(conversion, settings).join(),
  skips: [
    "no_match_key",
    "no_refunds",
    "no_target",
    {
      code: "no_order_id",
      reason: "no order id, by which Google finds the conversion of its tag",
      applies: (conversion, settings) => isForTag(settings) && !hasOrderId(conversion),
    },
  ],
  matchKeys: {
    names: "gclid, wbraid or gbraid",
    has: (conversion, settings) => userDataOf(conversion, settings, null) || clickOf(conversion),
  },
  toRequest: agreedOnly(toRequest, { keepsClicks: true }),
  readResponse: readIngested("conversion_action"),
  warnings: ingestWarnings,
  verify: verifyByTestEvent,
  confirmations: dataManagerConfirmations("conversion action"),
  corrections,
} satisfies Platform;
