// What the documentation says of LinkedIn beside that which linkedin.ts declares.

import type { Guide } from "../platform.ts";

export const linkedinGuide = {
  credentials: [
    "In Campaign Manager, open Measurement and then Signals manager, and add a source of the kind Direct API.",
    "Generate an access token there and paste it here; or sign in, if your operator has set up a LinkedIn app that is approved for the Conversions API.",
    "Make one conversion rule for each event that should count, with that source, and connect it with your campaigns.",
    "Give the id of each rule: event.purchase=…, event.lead=…, or one default rule for all events.",
    "The number of the ad account stands in Campaign Manager's address and beside the account's name.",
  ],
  sends: [
    ["conversion", "the rule that the connection has for the event"],
    ["conversionHappenedAt", "the moment of the conversion, in milliseconds"],
    ["eventId", "the event id, or the order id if the connection says so"],
    ["conversionValue", "value and currency, both or neither"],
    ["user.userIds SHA256_EMAIL", "the hashed email"],
    ["user.userIds LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", "li_fat_id of the click, else of the cookie"],
    [
      "user.userIds PLAINTEXT_IP_ADDRESS or SHA256_IP_ADDRESS",
      "the visit's IPv4 address, only if switched on",
    ],
  ],
  notSent: [
    "Names: LinkedIn takes them in plain text only, and none is kept here. Company, title and country go only with names.",
    "Phone, user agent, page and UTM fields: LinkedIn has no field for them.",
    "Order ids have no field of their own; they can serve as the event id.",
    "A li_fat_id that is not a UUID.",
  ],
  consent:
    "LinkedIn has no consent flag and takes no event without a match key: opted-out people are skipped.",
  testMode: "LinkedIn has no test mode: events of test keys are skipped.",
  limits: [
    "LinkedIn would take 5000 events in a request; fewer are sent, so that its answer can be read whole. One bad event has the whole request refused; the others go again without it.",
    "Sources name 300 or 600 requests a minute; the lower figure is kept to.",
    "A rule that LinkedIn does not know, that belongs to somebody else or is fed by the Insight Tag stops only its own events: they wait and are tried every hour until event.NAME or default_rule is corrected.",
    "LinkedIn retires each API version after about a year. The connection then waits until another version is set.",
    "A rule that no campaign uses counts nothing.",
    "Reports may lag by up to three days.",
  ],
} satisfies Guide;
