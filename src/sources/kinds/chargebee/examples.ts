import type { Example } from "../../example.ts";

const content = {
  transaction: { id: "txn_1", amount: 4990, currency_code: "EUR", date: 1794960000 },
  invoice: { id: "101", first_invoice: true, recurring: true },
  customer: { id: "cb_1", email: "ada@example.com", first_name: "Ada", last_name: "Lovelace" },
};

const refundOfRenewal = {
  id: "ev_4",
  event_type: "payment_refunded",
  content: {
    ...content,
    transaction: { ...content.transaction, id: "txn_3", amount: 1000 },
    invoice: { ...content.invoice, id: "102", first_invoice: false },
  },
};

export const examples: readonly Example[] = [
  {
    name: "a first payment",
    body: { id: "ev_1", event_type: "payment_succeeded", occurred_at: 1794960001, content },
    outcomes: [
      {
        is: "conversion",
        deliveryId: "ev_1",
        customer: "cb_1",
        fields: {
          event: "purchase",
          email: "ada@example.com",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 49.9,
          currency: "EUR",
          orderId: "101",
          eventTime: "2026-11-18T00:00:00.000Z",
        },
      },
    ],
  },
  {
    name: "a renewal",
    body: {
      id: "ev_2",
      event_type: "payment_succeeded",
      content: { ...content, invoice: { ...content.invoice, first_invoice: false } },
    },
    outcomes: [{ is: "ignored", reason: "not chosen" }],
  },
  {
    name: "a refund",
    body: {
      id: "ev_3",
      event_type: "payment_refunded",
      content: { ...content, transaction: { ...content.transaction, id: "txn_2", amount: 1000 } },
    },
    outcomes: [{ is: "refund", fields: { value: 10, orderId: "101", refundId: "txn_2", email: "ada@example.com" } }],
  },
  {
    name: "the refund of a renewal that the source leaves out",
    body: refundOfRenewal,
    outcomes: [
      { is: "refund", needsOrder: true, fields: { value: 10, orderId: "102", refundId: "txn_3", email: "ada@example.com" } },
    ],
  },
  {
    name: "the refund of a renewal where renewals count",
    settings: { renewals: "count" },
    body: refundOfRenewal,
    outcomes: [{ is: "refund", fields: { value: 10, orderId: "102", refundId: "txn_3", email: "ada@example.com" } }],
  },
];
