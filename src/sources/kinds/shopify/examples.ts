import type { Example } from "../../example.ts";

const headers = (topic: string) => ({
  "x-shopify-topic": topic,
  "x-shopify-event-id": "3f1c",
  "x-shopify-webhook-id": "b54557e4",
});

/** A number of more digits than JavaScript's numbers hold exactly. */
const id = "820982911946154508";

const order = {
  id,
  name: "#1001",
  email: "ada@example.com",
  total_price: "59.80",
  currency: "EUR",
  financial_status: "paid",
  processed_at: "2026-11-18T10:00:00+01:00",
  landing_site: "/products/lamp?utm_source=google&gclid=Cj0-1",
  note_attributes: [{ name: "fbclid", value: "IwAR-2" }],
  customer: { first_name: "Ada", last_name: "Lovelace", phone: "+4930123456" },
  line_items: [
    { variant_id: 111, product_id: 11, title: "Lamp", vendor: "Lux", price: "29.90", quantity: 2 },
    { variant_id: null, product_id: null, sku: null, title: "Tip", price: "0.00", quantity: 1 },
  ],
};

export const examples: readonly Example[] = [
  {
    name: "a paid order",
    headers: headers("orders/paid"),
    body: order,
    outcomes: [
      {
        is: "conversion",
        type: "orders/paid",
        deliveryId: "3f1corders/paid",
        orderRef: id,
        mode: "live",
        fields: {
          event: "purchase",
          email: "ada@example.com",
          phone: "+4930123456",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 59.8,
          currency: "EUR",
          orderId: "#1001",
          eventTime: "2026-11-18T09:00:00.000Z",
          clickIds: { gclid: "Cj0-1", fbclid: "IwAR-2" },
          items: [{ id: "111", name: "Lamp", brand: "Lux", price: 29.9, quantity: 2 }],
        },
      },
    ],
  },
  {
    name: "the test button of the admin",
    headers: { ...headers("orders/paid"), "x-shopify-test": "true" },
    body: { ...order, test: false },
    outcomes: [{ is: "conversion", mode: "test" }],
  },
  {
    name: "a refund of a part",
    headers: headers("refunds/create"),
    body: {
      id: "5501",
      order_id: id,
      created_at: "2026-11-19T10:00:00+01:00",
      transactions: [
        { kind: "refund", status: "success", amount: "10.00", currency: "EUR" },
        { kind: "refund", status: "failure", amount: "99.00", currency: "EUR" },
        { kind: "refund", status: "success", amount: "4.95", currency: "EUR" },
      ],
    },
    outcomes: [
      {
        is: "refund",
        orderRef: id,
        fields: { refundId: "5501", value: 14.95, currency: "EUR", eventTime: "2026-11-19T09:00:00.000Z" },
      },
    ],
  },
  {
    name: "a return without money",
    headers: headers("refunds/create"),
    body: { id: "5502", order_id: id, transactions: [] },
    outcomes: [{ is: "ignored", reason: "no value" }],
  },
  {
    name: "a cancellation that was refunded",
    headers: headers("orders/cancelled"),
    body: { ...order, financial_status: "refunded" },
    outcomes: [{ is: "ignored", reason: "repeats another event" }],
  },
  {
    name: "a cancellation of a paid order",
    headers: headers("orders/cancelled"),
    body: { ...order, cancelled_at: "2026-11-19T10:00:00Z" },
    outcomes: [{ is: "refund", orderRef: id, fields: { orderId: "#1001", refundId: "cancelled", email: "ada@example.com" } }],
  },
];
