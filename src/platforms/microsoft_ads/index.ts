// Microsoft Advertising has two APIs: the Conversions API of a UET tag for events of the last seven days, and the upload of
// offline conversions for older events and where there is no tag token. They feed different goals and do not deduplicate
// across each other, so a conversion goes to exactly one of them.

import type { Platform, SkipRule } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import { at, listAt, parseJson, textAt } from "../shared/json.ts";
import { dedupSetting, digits, oneOf, secretSetting, tokenSettings } from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { confirmations } from "./confirmations.ts";
import { corrections } from "./corrections.ts";
import {
  ageAtReceipt,
  apiOf,
  emptyRequest,
  events,
  fields,
  hasMatchKey,
  maxConversionsApiAgeMs,
  readGoals,
  tagRequest,
  toRequest,
} from "./request.ts";
import { readResponse } from "./response.ts";

const checkDigits = digits(1, 20);

const notSetUp: SkipRule = {
  code: "not_set_up",
  reason: "no UET tag token, and offline conversions are not set up for this event",
  applies: (conversion, settings) => !apiOf(conversion, settings) && ageAtReceipt(conversion) < maxConversionsApiAgeMs,
};
const tooOld: SkipRule = {
  code: "not_set_up",
  reason: "older than 7 days, and offline conversions are not set up for this event",
  applies: (conversion, settings) => !apiOf(conversion, settings),
};

export const microsoftAds = {
  id: "microsoft_ads",
  name: "Microsoft Advertising",
  description: "Sends conversions to a UET tag, and late ones to a goal for offline conversions.",
  docs: {
    url: "https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In Microsoft Advertising open Conversions > UET tag. Note the tag's number, edit the tag, go to the next page, choose Use Conversions API and copy the token. It may take 15 minutes until the token works.",
      "Create an event conversion goal on that tag, with the action equal to the name under which the event is sent.",
      "For events older than 7 days create a goal for offline conversions too. Enter its exact name here, and the numbers of the ad account and the manager account.",
      "For those also get a developer token in the developer portal, register a web application in Microsoft Entra, set its id and secret (cleancast oauth app set microsoft_ads client_id=… client_secret=@file), and sign in (cleancast sign-in SITE microsoft_ads).",
      "If your account does not offer Use Conversions API yet, leave the tag token empty: every event is then sent as an offline conversion.",
    ],
    sends: [
      ["eventName", "the event, under the name chosen for it"],
      ["eventId", "the event id"],
      ["eventTime, or ConversionTime", "the time of the event"],
      ["userData.msclkid, or MicrosoftClickId", "the newest msclkid"],
      ["userData.anonymousId", "the visitor id in the _uetvid cookie"],
      ["userData.em, or HashedEmailAddress", "hashed email, normalised by Microsoft's rules"],
      ["userData.ph, or HashedPhoneNumber", "hashed phone number, with the plus sign"],
      ["userData.clientUserAgent, .clientIpAddress", "IP address and user agent of the visit"],
      ["eventSourceUrl", "the page of the visit, without its query"],
      ["customData.transactionId", "orderId"],
      ["customData.value, .currency, or ConversionValue, ConversionCurrencyCode", "value and currency"],
      ["customData.items", "items: id, name, price and quantity"],
      ["customData.itemIds, .pageType", "the ids of the items, and purchase, cart or product for such an event with items"],
      ["adStorageConsent", "G or D, as the person decided; left out while unknown"],
    ],
    notSent: [
      "Names and UTM fields: Microsoft has no fields for them.",
      "Order id, event id and items of offline conversions: there are no fields for them.",
      "Category and brand of items: Microsoft has no fields for them.",
      "A click id that is not a UUID: it would make the event invalid.",
      "Refunds, unless a name is chosen for the event refund: every event counts as revenue. With the site's setting corrections, a refund restates or retracts an offline conversion instead.",
      "Page views: the tag in the browser reports those already.",
    ],
    consent: "Microsoft rejects an event without any identifier, so events of people who opted out are skipped.",
    limits: [
      "An answer of success that does not say how many events were received proves nothing: the event is sent again with the same event id, by which Microsoft counts it once.",
      "Events may be 7 days old for the Conversions API, 90 days for offline conversions.",
      "With both APIs, the age of an event on receipt decides which one takes it, on every attempt: the two do not recognise each other's conversions. So a backfill, a replay or a resumed connection sends an event that was received when it was young for 7 days only. To backfill older ones, do so before the tag's token is entered.",
      "An offline goal that Microsoft does not know stops only its own events: they wait, and are retried as soon as offline_goal or offline_goals is corrected (until then every hour at first, later once a day). A wrong token stops the connection until it is connected again.",
      "Hashed email and phone of offline conversions count only if enhanced conversions is enabled for the goal.",
      "An email that was received as a hash follows Microsoft's rules only if the tag has seen the address; otherwise the hash is sent unchanged and matches the person unless the address had dots or a plus before the @.",
      "Accepted does not mean attributed. For offline conversions the relay asks Microsoft for its report of the goal and day, from 30 hours later on. The report has counts by reason and not single conversions, and counts all uploads to the goal, so the confirmation of a conversion may be unknown. There is no report for the Conversions API.",
    ],
  },
  oauth: {
    authorizeUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
    tokenUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
    scopes: ["https://ads.microsoft.com/msads.manage", "offline_access"],
    pkce: true,
    clientAuth: "body",
    refresh: "rotates",
  },
  settings: [
    {
      name: "tag_id",
      label: "UET tag ID",
      help: "The number of the UET tag that the goals belong to: Conversions > UET tag.",
      required: true,
      check: checkDigits,
    },
    secretSetting(
      "tag_token",
      "UET tag token",
      "The token of this tag for the Conversions API: edit the tag, then Use Conversions API. For events of the last 7 days.",
    ),
    secretSetting(
      "access_token",
      "Access token",
      "Filled by signing in. Only offline conversions need it: events older than 7 days, or all without a tag token.",
    ),
    ...tokenSettings,
    {
      name: "developer_token",
      label: "Developer token",
      help: "From the Microsoft Advertising developer portal. Only offline conversions need it.",
      secret: true,
    },
    {
      name: "account_id",
      label: "Ad account ID",
      help: "The number of the ad account that owns the offline goal: aid in the URL of its pages.",
      check: checkDigits,
    },
    {
      name: "customer_id",
      label: "Manager account ID",
      help: "The number of the manager account: cid in the URL of its pages. Microsoft requires it for most users.",
      check: checkDigits,
    },
    {
      name: "offline_goal",
      label: "Offline goal",
      help: "The exact name of the offline conversion goal for all events without their own. It must be at least two hours old.",
    },
    {
      name: "offline_goals",
      label: "Offline goals per event",
      help: 'A JSON object of event names and goal names: {"lead": "Offline lead"}.',
      multiline: true,
      check: (value) => (readGoals(value) ? null : "must be a JSON object of event names and goal names"),
    },
    dedupSetting,
    {
      name: "msclkid_form",
      label: "Form of msclkid",
      help: "with_dashes writes the click id as a UUID for the Conversions API, which asks for one; in URLs it often has no dashes. as_captured sends it unchanged.",
      default: "with_dashes",
      ...oneOf(["with_dashes", "as_captured"]),
    },
  ],
  requires: [["tag_token"], ["access_token", "developer_token", "account_id"]],
  account: (settings) => settings.tag_id ?? "",
  ids: ["msclkid", "_uetvid"],
  events,
  fields,
  // Retries use the API that was chosen first, so its limit applies.
  maxAgeDays: (conversion, settings) => (apiOf(conversion, settings) === "conversions api" ? 7 : 90),
  batch: 1000,
  lanes: 4,
  group: (conversion, settings) => apiOf(conversion, settings) ?? "",
  skips: ["no_test_mode", "no_refunds", notSetUp, tooOld, "no_match_key"],
  matchKeys: { names: "msclkid, hashed email or phone", has: hasMatchKey },
  toRequest: agreedOnly(toRequest, { keepsClicks: true }),
  readResponse,
  verify: (settings) =>
    settings.tag_token
      ? {
          by: "call",
          request: emptyRequest(settings),
          // A wrong token is refused with 401 before the events are counted; a right one finds that there are none.
          isVerification: ({ status, body }) => status === 400 && at(parseJson(body), "error") !== undefined,
          otherwise: "Microsoft's answer to an empty request could not be read",
          // Late events need these, and are sent by another API.
          ...(settings.access_token ? { unchecked: "access_token, offline_goal" } : {}),
        }
      : readVerification(
          tagRequest(settings),
          (body) => listAt(body, "UetTags").some((tag) => textAt(tag, "Id") === settings.tag_id),
          {
            otherwise: "the ad account has no UET tag with this tag_id",
            unchecked: "offline_goal",
          },
        ),
  confirmations,
  corrections,
} satisfies Platform;
