import type { Example } from "../../example.ts";

const checkout = {
  id: "evt_1SourceCheckout",
  type: "checkout.session.completed",
  created: 1794960000,
  livemode: true,
  data: {
    object: {
      id: "cs_live_a1",
      mode: "payment",
      payment_status: "paid",
      amount_total: 4990,
      currency: "eur",
      payment_intent: "pi_1",
      invoice: null,
      customer: "cus_1",
      customer_details: { email: "ada@example.com", name: "Ada King Lovelace", phone: "+4930123456" },
      metadata: { gclid: "Cj0KCQ-click" },
    },
  },
};

const refund = {
  id: "evt_1SourceRefund",
  type: "charge.refunded",
  created: 1795046400,
  livemode: true,
  data: {
    object: {
      id: "ch_1",
      amount: 4990,
      amount_refunded: 1500,
      currency: "eur",
      customer: "cus_1",
      payment_intent: "pi_1",
      refunded: false,
      billing_details: { email: null },
      receipt_email: null,
    },
    previous_attributes: { amount_refunded: 1000 },
  },
};

const refundOfRenewal = {
  ...refund,
  data: {
    ...refund.data,
    object: { ...refund.data.object, description: "Subscription update", billing_details: { email: "ada@example.com" } },
  },
};

const invoice = (billingReason: string) => ({
  id: "evt_1SourceInvoice",
  type: "invoice.paid",
  created: 1794960010,
  livemode: true,
  data: {
    object: {
      id: "in_1",
      amount_paid: 500,
      currency: "jpy",
      billing_reason: billingReason,
      customer: "cus_2",
      customer_email: "grace@example.com",
      customer_name: "Grace Hopper",
      status_transitions: { paid_at: 1794960005 },
    },
  },
});

export const examples: readonly Example[] = [
  {
    name: "a paid checkout",
    body: checkout,
    outcomes: [
      {
        is: "conversion",
        type: "checkout.session.completed",
        deliveryId: "evt_1SourceCheckout",
        mode: "live",
        customer: "cus_1",
        orderRef: "pi_1",
        fields: {
          event: "purchase",
          email: "ada@example.com",
          phone: "+4930123456",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 49.9,
          currency: "eur",
          orderId: "pi_1",
          eventTime: "2026-11-18T00:00:00.000Z",
          clickIds: { gclid: "Cj0KCQ-click" },
        },
      },
    ],
  },
  {
    name: "a checkout of a sandbox is a test",
    body: { ...checkout, livemode: false },
    outcomes: [{ is: "conversion", mode: "test" }],
  },
  {
    name: "a checkout that waits for its payment",
    body: { ...checkout, data: { object: { ...checkout.data.object, payment_status: "unpaid" } } },
    outcomes: [{ is: "ignored", reason: "not paid" }],
  },
  {
    name: "the checkout of a subscription names its first invoice",
    body: {
      ...checkout,
      data: { object: { ...checkout.data.object, mode: "subscription", payment_intent: null, invoice: "in_1" } },
    },
    outcomes: [{ is: "conversion", fields: { orderId: "in_1" } }],
  },
  {
    name: "the first invoice of a subscription, in a currency without cents",
    body: invoice("subscription_create"),
    outcomes: [
      {
        is: "conversion",
        customer: "cus_2",
        fields: { email: "grace@example.com", value: 500, currency: "jpy", orderId: "in_1" },
      },
    ],
  },
  { name: "a renewal", body: invoice("subscription_cycle"), outcomes: [{ is: "ignored", reason: "not chosen" }] },
  {
    name: "a renewal where renewals count",
    settings: { invoices: "renewals" },
    body: invoice("subscription_cycle"),
    outcomes: [{ is: "conversion", fields: { orderId: "in_1" } }],
  },
  {
    name: "the second partial refund of a charge",
    body: refund,
    outcomes: [
      {
        is: "refund",
        customer: "cus_1",
        orderRef: "pi_1",
        fields: { value: 5, currency: "eur", orderId: "pi_1", refundId: "ch_1:1500", eventTime: "2026-11-19T00:00:00.000Z" },
      },
    ],
  },
  {
    name: "the refund of a renewal that the source leaves out",
    body: refundOfRenewal,
    outcomes: [{ is: "refund", orderRef: "pi_1", lookUp: "invoice", fields: { value: 5, orderId: "pi_1" } }],
  },
  {
    name: "the refund of a renewal where renewals count",
    settings: { invoices: "renewals" },
    body: refundOfRenewal,
    outcomes: [{ is: "refund", lookUp: "order", fields: { value: 5, orderId: "pi_1", email: "ada@example.com" } }],
  },
  {
    name: "a customer",
    body: {
      id: "evt_c",
      type: "customer.updated",
      created: 1794960000,
      livemode: true,
      data: { object: { id: "cus_1", email: "ada@example.com", name: "Ada Lovelace" } },
    },
    outcomes: [
      { is: "learned", customer: "cus_1", fields: { email: "ada@example.com", firstName: "Ada", lastName: "Lovelace" } },
    ],
  },
  {
    name: "an event that says the same as another one",
    body: { id: "evt_r", type: "refund.created", livemode: true, data: { object: {} } },
    outcomes: [{ is: "ignored", reason: "repeats another event" }],
  },
  {
    name: "an event that is not used",
    body: { id: "evt_p", type: "product.created", livemode: true, data: { object: {} } },
    outcomes: [{ is: "ignored", reason: "not used" }],
  },
];
