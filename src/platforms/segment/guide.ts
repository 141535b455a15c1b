import type { Guide } from "../platform.ts";

export const segmentGuide: Guide = {
  credentials: [
    "In Segment open Connections > Sources and add a source of the kind HTTP API, or choose one that you have.",
    "Copy the write key from the source's Settings > API keys, and workspace and source from the address of the page.",
    "Choose the region of your workspace. Events for a European workspace that go to the American host vanish.",
    "For RudderStack enter the address of your data plane and the write key of an HTTP source.",
  ],
  sends: [
    ["messageId", "the event id, with a prefix of this connection"],
    ["event", "the event, under the name in Segment's specification or the one that was chosen"],
    ["timestamp, sentAt", "the time of the event, and of the attempt"],
    [
      "anonymousId",
      "a pseudonym made from the hashed email, else from the event id; unless userId or anonymousId is mapped",
    ],
    ["properties.order_id, .event_id", "orderId and the event id"],
    ["properties.total and .revenue, or .value; .currency", "value and currency"],
    ["properties.gclid, .fbclid, .msclkid …", "the newest click id of each kind"],
    ["context.traits.email_sha256, .phone_sha256", "hashed email and phone"],
    ["context.campaign", "UTM fields; utm_campaign as name"],
    ["context.ip, .userAgent, .page", "the browser of the visit"],
    ["context.consent.categoryPreferences", "the person's choice for the consent categories"],
  ],
  notSent: [
    "email, phone and names: Segment expects them in the clear, and the relay has only hashes. Under those names destinations would hash them once more.",
    "Browser ids: Segment has no fields for them.",
  ],
  consent:
    "The event goes out without anything that identifies the person, under an id made from the event id, and with consent denied for the categories; without categories as an empty object, which denies all.",
  testMode: "There is none: test events are skipped. Look at the source's debugger after a live event.",
  limits: [
    "32 KB for an event, 500 KB for a request.",
    "Segment accepts nearly everything, also under a wrong write key of another region: see whether events arrive in the debugger.",
    "Sources that insist on OAuth are not supported.",
    "Repetitions are recognised for at least 24 hours.",
  ],
};
