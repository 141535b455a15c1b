import type { Kind } from "../../kind.ts";
import { eventSetting, secretSetting } from "../shared.ts";

const refunded = "transactions where(kind, refund) where(status, success) sum(amount)";

export const shopify = {
  id: "shopify",
  name: "Shopify",
  category: "shops",
  about: "Paid orders, refunds and cancellations.",
  docs: { url: "https://shopify.dev/docs/apps/build/webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["x-shopify-hmac-sha256"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "base64",
      message: ["body"],
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  givesUp: { failures: 8 },
  // One action of a merchant has one id, also where it leads to requests of several topics.
  delivery: "$headers.x-shopify-event-id append($headers.x-shopify-topic) | $headers.x-shopify-webhook-id",
  type: "$headers.x-shopify-topic",
  test: "$headers.x-shopify-test | test = true",
  settings: [
    secretSetting("The text below the list of webhooks in the admin, or the client secret of your app."),
    eventSetting("purchase"),
  ],
  rules: [
    {
      name: "paid order",
      when: '$headers.x-shopify-topic = "orders/paid" and total_price > 0',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "email | contact_email | customer.email",
        phone: "phone | customer.phone | billing_address.phone | shipping_address.phone",
        firstName: "customer.first_name | billing_address.first_name",
        lastName: "customer.last_name | billing_address.last_name",
        value: "total_price number",
        currency: "currency",
        orderId: "name | id",
        // Refunds name the order by its number alone.
        orderRef: "id",
        eventTime: "processed_at iso | created_at iso",
        clickIds: ["landing_site", "note_attributes"],
        items: {
          from: "line_items",
          id: "variant_id | product_id | sku",
          name: "title",
          brand: "vendor",
          price: "price",
          quantity: "quantity",
        },
      },
    },
    { name: "order that costs nothing", when: '$headers.x-shopify-topic = "orders/paid"', gives: "ignore", reason: "no value" },
    {
      name: "refund, whole or in part",
      when: `$headers.x-shopify-topic = "refunds/create" and ${refunded} > 0`,
      gives: "refund",
      fields: {
        orderRef: "order_id",
        refundId: "id",
        value: refunded,
        currency: "transactions[0].currency",
        eventTime: "processed_at iso | created_at iso",
      },
    },
    { name: "return without money", when: '$headers.x-shopify-topic = "refunds/create"', gives: "ignore", reason: "no value" },
    {
      name: "cancellation that is refunded, or was never paid",
      when: '$headers.x-shopify-topic = "orders/cancelled" and financial_status != "paid"',
      gives: "ignore",
      reason: "repeats another event",
    },
    {
      name: "cancellation of a paid order",
      when: '$headers.x-shopify-topic = "orders/cancelled"',
      gives: "refund",
      fields: {
        email: "email | contact_email | customer.email",
        orderId: "name | id",
        orderRef: "id",
        refundId: '"cancelled"',
        eventTime: "cancelled_at iso",
      },
    },
  ],
  guide: {
    steps: [
      "Open *Settings*, *Notifications*, *Webhooks* in the Shopify admin.",
      "Create a webhook for *Order payment*, format JSON, with the address ADDRESS. Repeat it for *Refund create* and *Order cancellation*.",
      "Copy the text below the list, with which your webhooks are signed, into the source.",
    ],
    retries: [
      "Shopify repeats a failed request eight times over four hours.",
      "It wants an answer within five seconds, and removes webhooks that an app made after eight failures in a row.",
    ],
    notes: ["Refunds carry no email: they find their order by its number, which the relay remembers from the paid order."],
  },
} as const satisfies Kind;
