import type { Example } from "../../example.ts";

const order = {
  meta: { event_name: "order_created", test_mode: false, custom_data: { gclid: "Cj0-1" } },
  data: {
    type: "orders",
    id: "501",
    attributes: {
      user_email: "ada@example.com",
      user_name: "Ada Lovelace",
      currency: "USD",
      total: 1999,
      status: "paid",
      created_at: "2026-11-18T10:00:00.000000Z",
    },
  },
};

const refundOfRenewal = {
  meta: { event_name: "subscription_payment_refunded" },
  data: {
    type: "subscription-invoices",
    id: "9",
    attributes: {
      billing_reason: "renewal",
      user_email: "ada@example.com",
      currency: "USD",
      total: 1999,
      refunded_amount: 1999,
      refunded_at: "2026-11-19T10:00:00.000000Z",
    },
  },
};

export const examples: readonly Example[] = [
  {
    name: "an order",
    body: order,
    outcomes: [
      {
        is: "conversion",
        deliveryId: "order_created:501",
        mode: "live",
        fields: {
          event: "purchase",
          email: "ada@example.com",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 19.99,
          currency: "USD",
          orderId: "501",
          eventTime: "2026-11-18T10:00:00.000Z",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
  {
    name: "an order of the test mode",
    body: { ...order, meta: { ...order.meta, test_mode: true } },
    outcomes: [{ is: "conversion", mode: "test" }],
  },
  {
    name: "a partial refund, the second one of its order",
    body: {
      meta: { ...order.meta, event_name: "order_refunded" },
      data: {
        ...order.data,
        attributes: {
          ...order.data.attributes,
          refunded: false,
          refunded_amount: 1500,
          refunded_at: null,
          updated_at: "2026-11-19T10:00:00.000000Z",
        },
      },
    },
    outcomes: [
      {
        is: "refund",
        deliveryId: "order_refunded:501:1500",
        isSum: true,
        fields: { value: 15, orderId: "501", refundId: "1500", eventTime: "2026-11-19T10:00:00.000Z" },
      },
    ],
  },
  {
    name: "the first payment of a subscription, which its order counted",
    body: {
      meta: { ...order.meta, event_name: "subscription_payment_success" },
      data: { type: "subscription-invoices", id: "9", attributes: { billing_reason: "initial", total: 1999, currency: "USD" } },
    },
    outcomes: [{ is: "ignored", reason: "repeats another event" }],
  },
  {
    name: "the refund of a renewal that the source leaves out",
    body: refundOfRenewal,
    outcomes: [{ is: "refund", isSum: true, fields: { value: 19.99, orderId: "invoice-9", refundId: "1999" } }],
  },
  {
    name: "the refund of a renewal where renewals count",
    settings: { renewals: "count" },
    body: refundOfRenewal,
    outcomes: [{ is: "refund", isSum: true, fields: { value: 19.99, orderId: "invoice-9", email: "ada@example.com" } }],
  },
  {
    name: "the refund of a first payment that names its subscription, not its order",
    body: {
      ...refundOfRenewal,
      data: { ...refundOfRenewal.data, attributes: { ...refundOfRenewal.data.attributes, billing_reason: "initial" } },
    },
    outcomes: [{ is: "refund", isSum: true, fields: { value: 19.99, orderId: "invoice-9", email: "ada@example.com" } }],
  },
];
