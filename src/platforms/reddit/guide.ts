// What the documentation says of Reddit beside that which reddit.ts declares.

import type { Guide } from "../platform.ts";

export const redditGuide = {
  credentials: [
    "In Reddit Ads, open Events Manager; the id of the pixel stands there, it often begins with a2_ or t2_.",
    "Under Conversions API, generate a conversion access token and paste it here. It is shown once, never ends, and a business may have five.",
    "Or sign in, if your operator has set up a Reddit app with the scopes adsconversions and adsread; then the pixel can be chosen from a list.",
    "For test events, open Event Testing in Events Manager and copy the test id from there.",
  ],
  sends: [
    ["event_at", "the moment of the conversion, in milliseconds"],
    ["type", "the event: one of Reddit's own, else CUSTOM with the event's name"],
    ["action_source", "WEBSITE, unless the connection says something else"],
    ["event_source_url", "the page of the visit, for WEBSITE only"],
    ["click_id", "rdt_cid of the click"],
    ["user.email", "the hashed email in Reddit's form, else as the sender hashed it"],
    ["user.phone_number", "the hashed phone number with its plus"],
    ["user.uuid", "_rdt_uuid, the cookie of Reddit's pixel"],
    ["user.ip_address and user.user_agent", "of the visit"],
    ["metadata.conversion_id", "the event id, or the order id if the connection says so"],
    ["metadata.value and currency", "value and currency; not for visits, views and searches"],
  ],
  notSent: [
    "Names and UTM fields: Reddit has no field for them.",
    "Order ids have no field of their own; they can serve as the conversion id.",
    "A _rdt_uuid cookie that holds no UUID.",
    "Click id, cookie, address and browser for conversions in a shop: Reddit wants contact data only there.",
  ],
  consent:
    "Reddit asks for match keys, so opted-out people are skipped. Where the connection sends events without keys, theirs go out with nothing but limited data use.",
  testMode:
    "Goes to Event Testing with the connection's test id, one event in a request; without a test id it is skipped.",
  limits: [
    "One bad conversion has the whole request refused; the others go again without it.",
    "Sources name 5000 requests a minute or more; the lower figure is kept to.",
    "Pixel and API are compared by conversion id and event, within two days.",
    "Custom names have up to 64 characters.",
    "A pixel that Reddit does not know stops the connection until it is connected again; its events wait.",
    "An email that came in as a hash has Reddit's form only if the tag has seen the address; otherwise the hash goes as it is, and finds the person if there were only letters and digits before the @.",
  ],
} satisfies Guide;
