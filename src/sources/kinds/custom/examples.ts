import type { Example } from "../../example.ts";

const settings = {
  when: 'status = "won"',
  event: "sale",
  email: "customer.email",
  first_name: "customer.name words(first)",
  value: "amount cents(currency)",
  currency_from: "currency",
  order_id: "number",
  event_time: "closed seconds",
  click_ids: "tracking; page",
  refund_when: 'status = "refunded"',
  refund_id: "refund.id",
  delivery_id: "uuid",
  type: "status",
  items: "lines",
  item_id: "sku",
};

const sale = {
  uuid: "d-1",
  status: "won",
  number: 77,
  amount: 12345,
  currency: "EUR",
  closed: 1794960000,
  customer: { email: "ada@example.com", name: "Ada Lovelace" },
  tracking: { msclkid: "ms-1" },
  page: "https://shop.example/?gclid=Cj0-1",
  lines: [{ sku: "L-1", name: "Lamp", price: "123.45", quantity: "1" }],
};

export const examples: readonly Example[] = [
  {
    name: "a sale, as the mapping says",
    settings,
    body: sale,
    outcomes: [
      {
        is: "conversion",
        type: "won",
        deliveryId: "d-1",
        mode: "live",
        fields: {
          event: "sale",
          email: "ada@example.com",
          firstName: "Ada",
          value: 123.45,
          currency: "EUR",
          orderId: "77",
          eventTime: "2026-11-18T00:00:00.000Z",
          clickIds: { msclkid: "ms-1", gclid: "Cj0-1" },
          items: [{ id: "L-1", name: "Lamp", price: 123.45, quantity: 1 }],
        },
      },
    ],
  },
  {
    name: "a refund",
    settings,
    body: { ...sale, status: "refunded", amount: 500, refund: { id: "r-1" } },
    outcomes: [{ is: "refund", fields: { value: 5, orderId: "77", refundId: "r-1" } }],
  },
  {
    name: "a request that does not count",
    settings,
    body: { ...sale, status: "open" },
    outcomes: [{ is: "ignored", reason: "not chosen" }],
  },
];
