import type { Guide } from "../platform.ts";

export const ga4Guide: Guide = {
  credentials: [
    "In Google Analytics open Admin > Data streams and choose your web stream. Copy the measurement id, which begins with G-.",
    "On the same page open Measurement Protocol API secrets, accept the terms if asked, create a secret and copy its value.",
    "Mark the events that matter to you as key events under Admin > Events.",
  ],
  sends: [
    ["client_id", "the _ga cookie, else a pseudonym made from the hashed email, else from the event id"],
    ["timestamp_micros", "the time of the event"],
    ["events[0].name", "the event, under Google's name for it or the one that was chosen"],
    ["params.transaction_id", "orderId; for purchases and refunds without one the event id"],
    ["params.event_id", "the event id"],
    ["params.value, .currency", "value and currency"],
    ["params.session_id", "the _ga_ cookie of this property"],
    ["user_data.sha256_email_address", "hashed email in Google's form"],
    ["user_data.sha256_phone_number", "hashed phone number with its plus"],
    ["consent", "granted or denied, as the person decided; left out while unknown"],
  ],
  notSent: [
    "Click ids and UTM fields: Google Analytics has no place for them and knows the source from the session. A mapping can put UTM fields into parameters of your own.",
    "IP address, place and device: events are joined to the visit by client id and session.",
    "Names: Google hashes them in a form that keeps spaces, which the relay does not have.",
    "Order ids of more than 100 characters: Google would throw them away.",
  ],
  consent:
    "The event goes out with ad_user_data and ad_personalization denied, without cookies and contact data, under a client id made from the event id.",
  testMode:
    "Sent to Google's validation server, which names faults and records nothing. It does not check the API secret.",
  limits: [
    "Google answers nothing: a wrong API secret or measurement id shows only in that no events arrive. Look at the realtime report after connecting.",
    "To join the visit events should come within 48 hours of it.",
    "There is no general deduplication: an attempt that got no answer and is made again may count twice. Purchases are commonly said to be counted once per transaction id.",
    "Names of 40 characters, texts of 100. Longer mapped texts are cut.",
    "An event without a _ga cookie shows as a new user with unassigned traffic.",
  ],
};
