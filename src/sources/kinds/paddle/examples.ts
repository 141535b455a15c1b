import type { Example } from "../../example.ts";

const transaction = {
  event_id: "evt_01",
  event_type: "transaction.completed",
  occurred_at: "2026-11-18T10:00:01Z",
  data: {
    id: "txn_01",
    customer_id: "ctm_01",
    origin: "web",
    currency_code: "USD",
    billed_at: "2026-11-18T10:00:00Z",
    custom_data: { gclid: "Cj0-1" },
    items: [{ quantity: 2, price: { product_id: "pro_1", name: "Seat", unit_price: { amount: "1500", currency_code: "USD" } } }],
    details: { totals: { grand_total: "3000", total: "3000", currency_code: "USD" } },
  },
};

export const examples: readonly Example[] = [
  {
    name: "a transaction, whose customer is known by the id alone",
    body: transaction,
    outcomes: [
      {
        is: "conversion",
        deliveryId: "evt_01",
        customer: "ctm_01",
        fields: {
          event: "purchase",
          value: 30,
          currency: "USD",
          orderId: "txn_01",
          eventTime: "2026-11-18T10:00:00.000Z",
          clickIds: { gclid: "Cj0-1" },
          items: [{ id: "pro_1", name: "Seat", price: 15, quantity: 2 }],
        },
      },
    ],
  },
  {
    name: "a renewal",
    body: { ...transaction, data: { ...transaction.data, origin: "subscription_recurring" } },
    outcomes: [{ is: "ignored", reason: "not chosen" }],
  },
  {
    name: "a customer",
    body: { event_id: "evt_02", event_type: "customer.created", data: { id: "ctm_01", email: "ada@example.com", name: null } },
    outcomes: [{ is: "learned", customer: "ctm_01", fields: { email: "ada@example.com" } }],
  },
  {
    name: "an approved refund",
    body: {
      event_id: "evt_03",
      event_type: "adjustment.updated",
      occurred_at: "2026-11-19T10:00:00Z",
      data: {
        id: "adj_1",
        action: "refund",
        status: "approved",
        transaction_id: "txn_01",
        customer_id: "ctm_01",
        currency_code: "USD",
        totals: { total: "1000", currency_code: "USD" },
      },
    },
    outcomes: [
      { is: "refund", customer: "ctm_01", fields: { value: 10, currency: "USD", orderId: "txn_01", refundId: "adj_1" } },
    ],
  },
  {
    name: "a refund that waits for its approval",
    body: { event_type: "adjustment.created", data: { action: "refund", status: "pending_approval" } },
    outcomes: [{ is: "ignored", reason: "not used" }],
  },
];
