import type { Kind } from "../../kind.ts";
import { eventSetting, renewalSetting, secretSetting } from "../shared.ts";

export const paddle = {
  id: "paddle",
  name: "Paddle Billing",
  category: "payments",
  about: "Completed transactions and refunds.",
  docs: { url: "https://developer.paddle.com/webhooks/overview", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["paddle-signature"],
      form: { is: "pairs", separator: ";", time: "ts", signature: "h1" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["time", { text: ":" }, "body"],
      time: { unit: "seconds" },
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  delivery: "event_id",
  deliveryTime: "occurred_at iso",
  type: "event_type",
  settings: [secretSetting("The secret key of the notification destination."), eventSetting("purchase"), renewalSetting],
  rules: [
    {
      name: "renewals that the source leaves out",
      when: 'event_type = "transaction.completed" and data.origin = "subscription_recurring" and $settings.renewals = "ignore"',
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "transaction",
      when: 'event_type = "transaction.completed" and data.details.totals.grand_total > 0',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        value:
          "data.details.totals.grand_total cents(data.details.totals.currency_code) | data.details.totals.grand_total cents(data.currency_code)",
        currency: "data.details.totals.currency_code | data.currency_code",
        orderId: "data.id",
        eventTime: "data.billed_at iso | occurred_at iso",
        customer: "data.customer_id",
        clickIds: ["data.custom_data"],
        items: {
          from: "data.items",
          id: "price.product_id | price.id",
          name: "price.name | price.description",
          price: "price.unit_price.amount cents(price.unit_price.currency_code)",
          quantity: "quantity",
        },
      },
    },
    { name: "transaction of nothing", when: 'event_type = "transaction.completed"', gives: "ignore", reason: "no value" },
    {
      name: "customer",
      when: 'event_type in ("customer.created", "customer.updated", "customer.imported") and data.email exists',
      gives: "learn",
      fields: {
        customer: "data.id",
        email: "data.email",
        firstName: "data.name words(first)",
        lastName: "data.name words(last)",
      },
    },
    {
      name: "approved refund, whole or in part",
      when: 'event_type in ("adjustment.created", "adjustment.updated") and data.action = "refund" and data.status = "approved"',
      gives: "refund",
      fields: {
        value: "data.totals.total cents(data.totals.currency_code) | data.totals.total cents(data.currency_code)",
        currency: "data.totals.currency_code | data.currency_code",
        orderId: "data.transaction_id",
        refundId: "data.id",
        eventTime: "data.updated_at iso | occurred_at iso",
        customer: "data.customer_id",
      },
    },
  ],
  guide: {
    steps: [
      "Open *Developer tools*, *Notifications* in Paddle, and create a destination of the type URL with ADDRESS.",
      "Choose `transaction.completed`, `customer.created`, `customer.updated`, `adjustment.created` and `adjustment.updated`.",
      "Copy the secret key of the destination into the source.",
      "For a sandbox account, set the mode of the source to test.",
    ],
    retries: ["Paddle repeats a live request 60 times in three days. It wants exactly 200 within five seconds."],
    notes: ["Transactions name only a customer id: the relay remembers the email from the customer's own event."],
  },
} as const satisfies Kind;
