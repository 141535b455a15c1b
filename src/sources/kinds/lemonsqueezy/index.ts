import type { Kind } from "../../kind.ts";
import { eventSetting, renewalSetting, secretSetting } from "../shared.ts";

const buyer = {
  email: "data.attributes.user_email",
  firstName: "data.attributes.user_name words(first)",
  lastName: "data.attributes.user_name words(last)",
  currency: "data.attributes.currency",
} as const;

/** The request has the order with all of its refunds so far, and only after the last one says when. */
const refunded = {
  value: "data.attributes.refunded_amount positive cents(data.attributes.currency)",
  currency: buyer.currency,
  refundId: "data.attributes.refunded_amount | data.id",
  eventTime: "data.attributes.refunded_at iso | data.attributes.updated_at iso",
} as const;

export const lemonsqueezy = {
  id: "lemonsqueezy",
  name: "Lemon Squeezy",
  category: "payments",
  about: "Orders, renewals and refunds.",
  docs: { url: "https://docs.lemonsqueezy.com/help/webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["x-signature"],
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
  // What was refunded so far tells the refunds of one order apart.
  delivery:
    'meta.event_name append(":") append(data.id) append(":") append(data.attributes.refunded_amount) | meta.event_name append(":") append(data.id)',
  type: "meta.event_name",
  test: "meta.test_mode | data.attributes.test_mode = true",
  settings: [
    secretSetting("The signing secret that you enter at the webhook, 6 to 40 characters.", { generated: true }),
    eventSetting("purchase"),
    renewalSetting,
  ],
  rules: [
    {
      name: "order",
      when: 'meta.event_name = "order_created" and data.attributes.status = "paid" and data.attributes.total > 0',
      gives: "conversion",
      fields: {
        ...buyer,
        event: "$settings.event",
        value: "data.attributes.total cents(data.attributes.currency)",
        orderId: "data.id",
        eventTime: "data.attributes.created_at iso",
        clickIds: ["meta.custom_data"],
      },
    },
    {
      name: "order that costs nothing",
      when: 'meta.event_name = "order_created" and data.attributes.total = 0',
      gives: "ignore",
      reason: "no value",
    },
    { name: "order that is not paid", when: 'meta.event_name = "order_created"', gives: "ignore", reason: "not paid" },
    {
      name: "refund, whole or in part",
      when: 'meta.event_name = "order_refunded"',
      gives: "refund",
      sums: true,
      fields: { ...buyer, ...refunded, orderId: "data.id" },
    },
    {
      name: "first payment of a subscription, which its order counted",
      when: 'meta.event_name = "subscription_payment_success" and data.attributes.billing_reason = "initial"',
      gives: "ignore",
      reason: "repeats another event",
    },
    {
      name: "renewals that the source leaves out",
      when: 'meta.event_name = "subscription_payment_success" and $settings.renewals = "ignore"',
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "renewal",
      when: 'meta.event_name = "subscription_payment_success" and data.attributes.total > 0',
      gives: "conversion",
      fields: {
        ...buyer,
        event: "$settings.event",
        value: "data.attributes.total cents(data.attributes.currency)",
        orderId: '"invoice-" append(data.id)',
        eventTime: "data.attributes.created_at iso",
        clickIds: ["meta.custom_data"],
      },
    },
    {
      name: "refund of a renewal that the source leaves out",
      when: 'meta.event_name = "subscription_payment_refunded" and $settings.renewals = "ignore" and data.attributes.billing_reason != "initial"',
      gives: "refund",
      sums: true,
      // Without an email it counts only with its order: the renewal may have been counted before the setting changed.
      fields: { ...refunded, orderId: '"invoice-" append(data.id)' },
    },
    {
      name: "refund of a renewal",
      when: 'meta.event_name = "subscription_payment_refunded"',
      gives: "refund",
      sums: true,
      fields: { ...buyer, ...refunded, orderId: '"invoice-" append(data.id)' },
    },
  ],
  guide: {
    steps: [
      "Open *Settings*, *Webhooks* in Lemon Squeezy, and add one with the callback URL ADDRESS.",
      "Enter the signing secret of the source there.",
      "Choose `order_created`, `order_refunded`, `subscription_payment_success` and `subscription_payment_refunded`.",
    ],
    retries: ["Lemon Squeezy repeats a failed request three times, after about 5, 25 and 125 seconds. It wants exactly 200."],
    notes: [
      "While renewals are left out, the refund of one counts only if the renewal itself was counted before.",
      "To match ads, pass `checkout[custom][gclid]` in the checkout's address.",
    ],
  },
} as const satisfies Kind;
