import type { Kind } from "../../kind.ts";
import { eventSetting, secretSetting } from "../shared.ts";

const invitee = {
  email: "payload.email",
  phone: "payload.text_reminder_number",
  firstName: "payload.first_name | payload.name words(first)",
  lastName: "payload.last_name | payload.name words(last)",
  value: "payload.payment.amount positive",
  currency: "payload.payment.currency",
  orderId: 'payload.uri split("/", -1)',
} as const;

export const calendly = {
  id: "calendly",
  name: "Calendly",
  category: "meetings",
  about: "Booked meetings. A rescheduled one counts once.",
  docs: { url: "https://developer.calendly.com/api-docs/overview/webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["calendly-webhook-signature"],
      form: { is: "pairs", separator: ",", time: "t", signature: "v1" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["time", { text: "." }, "body"],
      time: { unit: "seconds" },
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  givesUp: { hours: 24 },
  delivery: 'event append(":") append(payload.uri)',
  type: "event",
  settings: [
    secretSetting("The `signing_key` that you give when you create the subscription.", { generated: true }),
    eventSetting("schedule"),
  ],
  rules: [
    {
      name: "new time of a meeting that counted already",
      when: 'event = "invitee.created" and payload.old_invitee exists',
      gives: "learn",
      // A later cancellation names the new invitee, and the order is the first one.
      fields: {
        email: invitee.email,
        orderId: 'payload.old_invitee split("/", -1)',
        orderRef: invitee.orderId,
      },
    },
    {
      name: "booked meeting",
      when: 'event = "invitee.created"',
      gives: "conversion",
      fields: { ...invitee, event: "$settings.event", eventTime: "payload.created_at iso | created_at iso" },
    },
    {
      name: "cancellation for a new time",
      when: 'event = "invitee.canceled" and payload.rescheduled = true',
      gives: "ignore",
      reason: "repeats another event",
    },
    {
      name: "cancellation of a paid meeting",
      when: 'event = "invitee.canceled" and payload.payment.amount > 0',
      gives: "refund",
      fields: { ...invitee, orderRef: invitee.orderId, refundId: '"cancelled"', eventTime: "created_at iso" },
    },
  ],
  guide: {
    steps: [
      "Create a personal access token in Calendly under *Integrations*, *API and webhooks*. It needs a paid plan.",
      "Create a subscription with `POST https://api.calendly.com/webhook_subscriptions`: `url` is ADDRESS, `events` are `invitee.created` and `invitee.canceled`, `signing_key` is the signing secret of the source.",
    ],
    retries: [
      "Calendly repeats requests for 24 hours, and then disables the subscription without a notice: it must be created again.",
    ],
  },
} as const satisfies Kind;
