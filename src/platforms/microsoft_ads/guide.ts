import type { Guide } from "../platform.ts";

export const microsoftAdsGuide: Guide = {
  credentials: [
    "In Microsoft Advertising open Conversions > UET tag. Note the tag's number, edit the tag, go on to the next page, choose Use Conversions API and copy the token. It may take a quarter of an hour until the token works.",
    "Create a conversion goal of the kind event on that tag, with the action equal to the name that the event is sent under.",
    "For events older than 7 days create a goal for offline conversions too. Enter its exact name here, and the numbers of the ad account and the manager account.",
    "For those also get a developer token in the developer portal, register a web application in Microsoft Entra, set its id and secret (cleancast oauth app set), and sign in (cleancast sign-in).",
    "Where your account does not offer Use Conversions API yet, leave the tag token empty: every event then goes as an offline conversion.",
  ],
  sends: [
    ["eventName", "the event, under the name that was chosen for it"],
    ["eventId", "the event id"],
    ["eventTime, or ConversionTime", "the time of the event"],
    ["userData.msclkid, or MicrosoftClickId", "the newest msclkid"],
    ["userData.anonymousId", "the visitor in the _uetvid cookie"],
    ["userData.em, or HashedEmailAddress", "hashed email in Microsoft's form"],
    ["userData.ph, or HashedPhoneNumber", "hashed phone number with its plus"],
    ["userData.clientUserAgent, .clientIpAddress", "the browser of the visit"],
    ["eventSourceUrl", "the page of the visit, without its query"],
    ["customData.transactionId", "orderId"],
    ["customData.value, .currency, or ConversionValue, ConversionCurrencyCode", "value and currency"],
    ["adStorageConsent", "G or D, as the person decided; left out while unknown"],
  ],
  notSent: [
    "Names and UTM fields: Microsoft has no fields for them.",
    "Order id and event id of offline conversions: there are no fields for them.",
    "A click id that is not a UUID: it would make the event invalid.",
    "Refunds: every event counts as a gain, unless a name is chosen for the event refund.",
    "Page views as page loads: the tag in the browser reports those already.",
  ],
  consent:
    "Without any identifier Microsoft refuses an event, so an event of a person who refused is skipped as opted out.",
  testMode: "There is none: test events are skipped.",
  limits: [
    "Events may be 7 days old for the Conversions API, 90 days for offline conversions.",
    "An offline goal that Microsoft does not know stops only its own events: they wait and are tried every hour until offline_goal or offline_goals is corrected. A wrong token stops the connection until it is connected again.",
    "Hashed email and phone of offline conversions count only where enhanced conversions is switched on for the goal.",
    "An email that came in as a hash has Microsoft's form only if the tag has seen the address; otherwise the hash goes as it is, and finds the person unless the address had dots or a plus before the @.",
    "Accepted says nothing of attribution; reports lag by up to six hours.",
  ],
};
