// Google Ads through the Data Manager API. One bad event fails a whole request there, and a request that was taken says
// nothing of attribution, which Google decides half an hour later. So everything that is known to be refused stays here.

import type { Platform } from "../platform.ts";
import { isUnnamedRefund } from "../shared/eventNames.ts";
import { checkToken, oneOf, tokenSettings } from "../shared/settings.ts";
import { examples, responses } from "./examples.ts";
import { pickers, withoutHyphens } from "./pickers.ts";
import { actionOf, checkActionId, clickOf, events, eventSources, fields, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

const checkCustomerId = (value: string) =>
  /^\d{3}-?\d{3}-?\d{4}$/.test(value) ? null : "must be a customer id of ten digits, like 123-456-7890";

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
  },
  oauth: {
    authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
    tokenUrl: "https://oauth2.googleapis.com/token",
    // The second one is only for the lists of accounts and conversion actions.
    scopes: ["https://www.googleapis.com/auth/datamanager", "https://www.googleapis.com/auth/adwords"],
    pkce: true,
    clientAuth: "body",
    authorizeParams: { access_type: "offline", prompt: "consent" },
    refresh: "keeps",
  },
  settings: [
    {
      name: "customer_id",
      label: "Customer id",
      help: "The Google Ads account that owns the conversion actions, like 123-456-7890. Not its manager account.",
      required: true,
      check: checkCustomerId,
    },
    {
      name: "access_token",
      label: "Access token",
      help: "Comes with signing in. A pasted one needs the scope datamanager and ends after an hour.",
      required: true,
      secret: true,
      check: checkToken,
    },
    ...tokenSettings,
    {
      name: "conversion_action",
      label: "Conversion action",
      help: "The number of the conversion action for all events that have none of their own.",
      check: checkActionId,
    },
    {
      name: "login_customer_id",
      label: "Manager account",
      help: "The manager account that you reach the account through. Empty when you reach it directly.",
      check: checkCustomerId,
    },
    {
      name: "enhanced_conversions_for_leads",
      label: "Enhanced conversions for leads",
      help: "on sends hashed email and phone, also for events without a click id. Switch it on in Google Ads and accept the customer data terms there first: otherwise Google refuses the events.",
      default: "off",
      check: oneOf(["on", "off"]),
    },
    {
      name: "event_source",
      label: "Event source",
      help: `Where your conversions happen: ${eventSources.join(", ")}.`,
      default: "WEB",
      check: oneOf(eventSources),
    },
    {
      name: "numeric_order_ids",
      label: "Order ids of digits only",
      help: "prefixed sends 1001 as order-1001, because Google may refuse bare digits. as_given sends 1001: choose it when the Google tag reports the same order ids.",
      default: "prefixed",
      check: oneOf(["prefixed", "as_given"]),
    },
    {
      name: "developer_token",
      label: "Developer token",
      help: "Only for lists of accounts and conversion actions to choose from. Conversions go without it.",
      secret: true,
      check: checkToken,
    },
  ],
  pickers,
  account: (settings) => withoutHyphens(settings.customer_id),
  ids: ["gclid", "wbraid", "gbraid", "_gcl_aw"],
  events,
  fields,
  // Google names no limit; a gclid is of no use to it after 90 days.
  maxAgeDays: 90,
  batch: 2000,
  lanes: 4,
  quota: { requests: 300, seconds: 60, sharedBy: "app" },
  // One destination in a request: without references every event would go to every action, and an action that is
  // wrong fails only its own events.
  group: (conversion, settings) => actionOf(conversion, settings) ?? "",
  skipReason(conversion, settings) {
    const byContact = settings.enhanced_conversions_for_leads === "on" && conversion.person !== null;
    if (!byContact && !clickOf(conversion))
      return conversion.consent === "denied" ? "opted out" : "no gclid, wbraid or gbraid";
    if (isUnnamedRefund(conversion, settings)) return "Google Ads takes no refunds";
    return actionOf(conversion, settings) ? null : "no conversion action for this event";
  },
  toRequest,
  readResponse,
  examples,
  responses,
} satisfies Platform;
