import type { Guide } from "../platform.ts";

export const googleAdsGuide: Guide = {
  credentials: [
    "In the Google Cloud console create a project, switch on the Data Manager API in it, and create an OAuth client of the type web application.",
    "Set the client's id and secret (cleancast oauth app set), then sign in (cleancast sign-in) with a Google account that may edit the Google Ads account.",
    "In Google Ads open Goals > Conversions and create a conversion action of the kind import from clicks. Its number stands in the page's address as ctId.",
    "Enter the customer id of the account that owns the action. Where you reach it through a manager account, enter that one's id too.",
  ],
  sends: [
    ["productDestinationId", "the conversion action chosen for the event, else the one for all events"],
    ["eventTimestamp", "the time of the event"],
    ["transactionId", "orderId, else the event id"],
    ["conversionValue, currency", "value and currency"],
    ["adIdentifiers.gclid", "the newest gclid, or the one in the _gcl_aw cookie"],
    ["adIdentifiers.wbraid, .gbraid", "the newest wbraid, else gbraid, where there is no gclid"],
    [
      "userData.userIdentifiers",
      "hashed email and phone, when enhanced conversions for leads is on and the click has no wbraid or gbraid",
    ],
    ["consent", "granted or denied, as the person decided; left out while unknown"],
  ],
  notSent: [
    "Names: Google takes them only together with country and postal code, which events do not have.",
    "IP address and user agent: Google forbids the address for people in Europe, and where a person was is not known.",
    "UTM fields: Google has no field for them.",
    "Refunds: Google counts every event as a gain, unless an action is chosen for the event refund.",
    "Order ids that hold an email address: the event id goes in their place.",
    "Click ids with spaces or other characters that no click id has.",
  ],
  consent:
    "Without click id and contact hashes Google refuses an event, so an event of a person who refused is skipped as opted out.",
  testMode: "Sent with validateOnly: Google checks the request and keeps nothing of it.",
  limits: [
    "The requests are counted for a whole Cloud project, so for all connections that use your app; Google also allows 100,000 a day.",
    "One bad event has the whole request refused; the others go again without it.",
    "A conversion action that Google does not know stops only its own events: they wait and are tried every hour until event.NAME or conversion_action is corrected. A fault of the account stops the connection until it is connected again.",
    "Accepted means taken in. Whether a conversion is attributed shows in Google Ads hours later.",
    "One team saw order ids of digits only refused, so they get a prefix. A setting sends them as they are.",
    "Actions that count one conversion per click take no wbraid or gbraid.",
  ],
};
