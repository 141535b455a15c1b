// Amazon Ads Events API (open beta): conversions outside of Amazon for an advertiser of Amazon DSP.

import type { Platform, SkipRule } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import {
  bearer,
  checkToken,
  dedupSetting,
  digits,
  getRequest,
  oneOf,
  requiredSecret,
  tokenSettings,
} from "../shared/settings.ts";
import { allFields, consentOf, currencies, events, hosts, matchKeysOf, regionOf, sources, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

const noConsent: SkipRule = {
  code: "no_consent",
  reason: "Amazon requires a recorded consent or an IP address in Europe",
  applies: (conversion, settings) => regionOf(settings) === "eu" && !consentOf(conversion, settings),
};

export const amazonAds = {
  id: "amazon_ads",
  name: "Amazon Ads",
  description: "Sends conversions to an advertiser of Amazon DSP, through the Events API (open beta).",
  docs: { url: "https://advertising.amazon.com/API/docs/en-us/guides/events/events", checked: "2026-11-15" },
  guide: {
    credentials: [
      "Create a security profile for Login with Amazon, and apply for access to the Amazon Ads API with it. Amazon approves each client; nothing works before that.",
      "Copy the client id of the profile, and set up the app with its id and secret; then sign in as a user of the advertiser.",
      "In Amazon DSP, copy the number of the advertiser (its CFID, not the entity id).",
      "Choose the region of the advertiser's account, and the country of your customers.",
    ],
    sends: [
      ["eventDescription.name", "the event's own name"],
      ["eventDescription.conversionType", "Amazon's type for the event, or OTHER"],
      ["eventTime", "the time of the conversion, as ISO 8601 with milliseconds"],
      ["countryCode", "the country of the connection, or a mapped one"],
      ["matchKeys EMAIL, PHONE, FIRST_NAME, LAST_NAME", "email, phone (digits only) and names, each as SHA-256"],
      ["value, currencyCode", `value and currency of a purchase; Amazon takes ${currencies.join(", ")}`],
      ["unitsSold", "how many pieces the items of a purchase are"],
      ["eventId", "the event id, or the order id if the connection is set so"],
      ["consent.amazonConsent", "GRANTED, if the person agreed"],
      ["consent.tcf, consent.gpp", "the strings of your consent banner, where a connection maps them"],
      ["consent.geo.ipAddress", "the IP address of the visit, where no decision is known"],
    ],
    notSent: [
      "aref: Amazon takes tokens that are made from it, in a form that it does not publish. It is captured for later.",
      "Values in other currencies, and values of events that are no purchases: Amazon would take them for scores.",
      "LIMITED_DATA_USE: Amazon does not process such an event at all.",
      "User agent, UTM fields and the items themselves: Amazon has no field for them.",
      "Refunds: Amazon cannot revoke a purchase.",
    ],
    consent:
      "Amazon requires a match key, so events of people who opted out are skipped. In Europe it also requires the consent, or an IP address by which it finds the country: events with neither are skipped.",
    limits: [
      "Each event of a request is accepted or rejected on its own.",
      "For events with the same event id Amazon keeps the latest.",
      "Amazon removes everything but a to z, digits, ., @, - and + from an email before it is hashed, and everything but a to z and digits from names. The relay hashes that form too, when it gets the plain value. Hashes that you send, and those that the tag makes in the browser, are used as they are: there the form differs for addresses with other characters, such as _, and for names with accents.",
      "The maximum age of an event is not documented; Amazon attributes best within two days.",
      "Amazon limits requests by its load, and says how long to wait.",
    ],
  },
  oauth: {
    authorizeUrl: "https://www.amazon.com/ap/oa",
    tokenUrl: "https://api.amazon.com/auth/o2/token",
    scopes: ["advertising::campaign_management"],
    pkce: false,
    clientAuth: "body",
    refresh: "keeps",
  },
  settings: [
    {
      name: "advertiser_id",
      label: "Advertiser ID",
      help: "The number of the advertiser in Amazon DSP (CFID).",
      required: true,
      check: digits(3, 24),
    },
    {
      name: "client_id",
      label: "Client ID",
      help: "The client id of your Login with Amazon profile, amzn1.application-oa2-client.…; the one of the app that signs in.",
      required: true,
      check: checkToken,
    },
    requiredSecret("access_token", "Access token", "Filled by signing in. It expires after an hour."),
    ...tokenSettings,
    {
      name: "region",
      label: "Region",
      help: "na (North America), eu (Europe) or fe (Far East): where the advertiser's account is.",
      default: "na",
      ...oneOf(Object.keys(hosts)),
    },
    {
      name: "country",
      label: "Country",
      help: "Where your customers are, as two letters. Map countryCode if there are several.",
      required: true,
      check: (value) => (/^[A-Z]{2}$/.test(value) ? null : "must be two capital letters, like US"),
    },
    {
      name: "data_set",
      label: "Data set",
      help: "The name of the event data set, if you have several.",
      check: (value) =>
        /^[A-Za-z][\w-]{4,99}$/.test(value) ? null : "must be 5 to 100 letters, digits, _ and -, beginning with a letter",
    },
    {
      name: "event_source",
      label: "Where conversions happen",
      help: `One of ${sources.join(", ")}.`,
      default: "WEBSITE",
      ...oneOf(sources),
    },
    dedupSetting,
  ],
  account: (settings) => settings.advertiser_id ?? "",
  events,
  fields: allFields,
  batch: 500,
  lanes: 4,
  skips: ["no_test_mode", "no_refunds", "no_match_key", noConsent],
  matchKeys: { names: "email, phone or name", has: (conversion) => matchKeysOf(conversion).length > 0 },
  toRequest,
  readResponse,
  verify: (settings) =>
    readVerification(
      getRequest(`${hosts[regionOf(settings)]}/v2/profiles`, {
        ...bearer(settings),
        "amazon-advertising-api-clientid": settings.client_id ?? "",
      }),
      (body) => Array.isArray(body) && body.length > 0,
      { otherwise: "the token may use no advertising profile in this region", unchecked: "advertiser_id" },
    ),
} satisfies Platform;
