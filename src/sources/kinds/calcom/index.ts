import type { Kind } from "../../kind.ts";
import { eventSetting, secretSetting } from "../shared.ts";

export const calcom = {
  id: "calcom",
  name: "Cal.com",
  category: "meetings",
  about: "Booked meetings. A rescheduled one counts once.",
  docs: { url: "https://cal.com/docs/developing/guides/automation/webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["x-cal-signature-256"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["body"],
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  delivery: 'triggerEvent append(":") append(payload.uid)',
  type: "triggerEvent",
  settings: [
    secretSetting("The secret that you enter at the webhook. Without one the address alone is the secret.", { required: false }),
    eventSetting("schedule"),
    {
      name: "count",
      label: "Counted when",
      help: "`booked`: when the meeting is booked. `paid`: when it is paid.",
      default: "booked",
      choices: ["booked", "paid"],
    },
  ],
  rules: [
    { name: "test of the webhook", when: 'triggerEvent = "PING"', gives: "ignore", reason: "test request" },
    {
      name: "new time of a meeting that counted already",
      when: 'triggerEvent = "BOOKING_RESCHEDULED"',
      gives: "ignore",
      reason: "repeats another event",
    },
    {
      name: "booking that replaces another one",
      when: 'triggerEvent = "BOOKING_CREATED" and payload.rescheduleUid exists',
      gives: "ignore",
      reason: "repeats another event",
    },
    {
      name: "booking that is not paid yet",
      when: 'triggerEvent = "BOOKING_CREATED" and $settings.count = "paid"',
      gives: "ignore",
      reason: "not paid",
    },
    {
      name: "booked or paid meeting",
      when: 'triggerEvent in ("BOOKING_CREATED", "BOOKING_PAID")',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "payload.responses.email.value | payload.attendees[0].email",
        phone: "payload.smsReminderNumber | payload.responses.attendeePhoneNumber.value",
        firstName: "payload.attendees[0].name words(first)",
        lastName: "payload.attendees[0].name words(last)",
        value: "payload.price positive cents(payload.currency)",
        currency: "payload.currency",
        orderId: "payload.uid",
        eventTime: "createdAt iso",
        clickIds: ["payload.metadata"],
      },
    },
  ],
  guide: {
    steps: [
      "Open *Settings*, *Developer*, *Webhooks* in Cal.com, and create one with the subscriber URL ADDRESS.",
      "Choose the triggers *Booking created* and, for paid meetings, *Booking paid*. Leave the payload template as it is.",
      "Enter a long random secret there, and the same one in the source.",
    ],
    retries: ["Cal.com may not repeat a failed request."],
  },
} as const satisfies Kind;
