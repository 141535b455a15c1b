import type { Kind } from "../../kind.ts";
import { eventSetting, secretSetting } from "../shared.ts";

const orders = '$headers.x-wc-webhook-topic in ("order.created", "order.updated")';

export const woocommerce = {
  id: "woocommerce",
  name: "WooCommerce",
  category: "shops",
  about: "Paid orders and refunds, for shops that cannot install the plugin.",
  docs: { url: "https://woocommerce.com/document/webhooks/", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["x-wc-webhook-signature"],
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
  givesUp: { failures: 5 },
  unsignedPing: ["webhook_id"],
  type: "$headers.x-wc-webhook-topic",
  settings: [secretSetting("The secret that you enter at the webhook.", { generated: true }), eventSetting("purchase")],
  rules: [
    {
      name: "order that is not paid yet",
      when: `${orders} and status in ("pending", "on-hold", "failed", "checkout-draft", "auto-draft", "trash")`,
      gives: "ignore",
      reason: "not paid",
    },
    {
      name: "paid order",
      when: `${orders} and status in ("processing", "completed") and date_paid_gmt exists and total > 0`,
      continues: true,
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "billing.email",
        phone: "billing.phone",
        firstName: "billing.first_name",
        lastName: "billing.last_name",
        value: "total number",
        currency: "currency",
        orderId: "number | id",
        eventTime: "date_paid_gmt iso",
        clickIds: ["meta_data", "meta_data[key=_wc_order_attribution_session_entry].value"],
        items: { from: "line_items", id: "product_id", name: "name", price: "price", quantity: "quantity" },
      },
    },
    {
      name: "refund, whole or in part",
      when: `${orders} and refunds exists and date_paid_gmt exists`,
      each: "refunds",
      // A cancelled order may have been refunded in part: then the rest is cancelled.
      continues: true,
      gives: "refund",
      // Each change of an order repeats all of its refunds, without their dates: those of an order that is no longer stored were counted.
      needsOrder: true,
      fields: {
        email: "$entry.billing.email",
        value: "total abs",
        currency: "$entry.currency",
        orderId: "$entry.number | $entry.id",
        refundId: "id",
      },
    },
    {
      name: "cancellation of a paid order",
      when: `${orders} and status in ("cancelled", "refunded") and date_paid_gmt exists`,
      gives: "refund",
      needsOrder: true,
      fields: { email: "billing.email", orderId: "number | id", refundId: "status", currency: "currency" },
    },
    { name: "order without a payment", when: `${orders} and date_paid_gmt not exists`, gives: "ignore", reason: "not paid" },
    { name: "order that costs nothing", when: `${orders} and total = 0`, gives: "ignore", reason: "no value" },
  ],
  guide: {
    steps: [
      "Open *WooCommerce*, *Settings*, *Advanced*, *Webhooks*, and *Add webhook*.",
      "Choose the status *Active*, the topic *Order updated*, and enter ADDRESS as the delivery URL.",
      "Enter the secret of the source there.",
    ],
    retries: [
      "WooCommerce never repeats a request, and disables the webhook after more than five failures in a row.",
      "The plugin of this project repeats requests and reads consent: use it where you can.",
    ],
    notes: [
      "Refunds and cancellations find their order by its number and the email. Those of an order that the relay does not have are ignored.",
    ],
  },
} as const satisfies Kind;
