import type { Example } from "../../example.ts";

const headers = { "x-wc-webhook-topic": "order.updated" };
const order = {
  id: 812,
  number: "812",
  status: "processing",
  currency: "EUR",
  total: "49.90",
  date_paid_gmt: "2026-11-18T10:00:00",
  billing: { email: "ada@example.com", phone: "030 123456", first_name: "Ada", last_name: "Lovelace" },
  line_items: [{ product_id: 9, name: "Lamp", price: 24.95, quantity: 2 }],
  meta_data: [{ key: "_wc_order_attribution_session_entry", value: "https://shop.example/?gclid=Cj0-1" }],
  refunds: [],
};

export const examples: readonly Example[] = [
  {
    name: "a paid order",
    headers,
    body: order,
    outcomes: [
      {
        is: "conversion",
        fields: {
          event: "purchase",
          email: "ada@example.com",
          phone: "030 123456",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 49.9,
          currency: "EUR",
          orderId: "812",
          eventTime: "2026-11-18T10:00:00.000Z",
          clickIds: { gclid: "Cj0-1" },
          items: [{ id: "9", name: "Lamp", price: 24.95, quantity: 2 }],
        },
      },
    ],
  },
  {
    name: "an order with two partial refunds: the order again, and each refund",
    headers,
    body: {
      ...order,
      refunds: [
        { id: 901, total: "-5.00" },
        { id: 902, total: "-7.50" },
      ],
    },
    outcomes: [
      { is: "conversion", fields: { orderId: "812" } },
      {
        is: "refund",
        needsOrder: true,
        fields: { orderId: "812", refundId: "901", value: 5, currency: "EUR", email: "ada@example.com" },
      },
      {
        is: "refund",
        needsOrder: true,
        fields: { orderId: "812", refundId: "902", value: 7.5, currency: "EUR", email: "ada@example.com" },
      },
    ],
  },
  {
    name: "an order that waits for its payment",
    headers,
    body: { ...order, status: "on-hold", date_paid_gmt: null },
    outcomes: [{ is: "ignored", reason: "not paid" }],
  },
  {
    name: "a cancelled order that was paid",
    headers,
    body: { ...order, status: "cancelled" },
    outcomes: [{ is: "refund", needsOrder: true, fields: { orderId: "812", refundId: "cancelled", email: "ada@example.com" } }],
  },
];
