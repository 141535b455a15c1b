// What the senders of payments write, from the fields that they document.

import type { Message } from "./sender.ts";

/** What happened, in plain terms. `n` makes every id of one event its own. */
export type Facts = { n: string; email: string; value: number; currency: string; at: number };

const seconds = (at: number) => Math.floor(at / 1000);
const iso = (at: number) => new Date(at).toISOString();
/** Amounts in the smallest unit; a few currencies have none. */
const minor = (value: number, currency: string) => Math.round(value * (["JPY", "KRW", "CLP"].includes(currency) ? 1 : 100));
const decimals = (value: number) => value.toFixed(2);
const always = (body: unknown, headers?: Record<string, string>): Message => ({ body: () => body, ...(headers && { headers }) });

const stripeEvent = (id: string, type: string, at: number, data: object) =>
  always({ id: `evt_${id}`, object: "event", api_version: "2026-08-27", type, created: seconds(at), livemode: true, data });

/** Stripe leaves out a reference that has other characters, or is too long. */
const referenceOf = (text: string | null) => (text !== null && /^[\w-]{1,200}$/.test(text) ? text : null);

export const stripe = {
  /** A Payment Link passes its `client_reference_id` on; a checkout from it may have no email, and is opened before it is paid. */
  checkout: (
    { n, email, value, currency, at }: Facts,
    invoice: string | null = null,
    link: { reference: string | null; email?: null; openedAt?: number } = { reference: null },
  ) =>
    stripeEvent(`checkout_${n}`, "checkout.session.completed", at, {
      object: {
        id: `cs_live_${n}`,
        object: "checkout.session",
        created: seconds(link.openedAt ?? at),
        mode: invoice === null ? "payment" : "subscription",
        payment_status: "paid",
        status: "complete",
        amount_total: minor(value, currency),
        currency: currency.toLowerCase(),
        // Checkouts of subscriptions name their invoice, and no payment intent.
        payment_intent: invoice === null ? `pi_${n}` : null,
        invoice,
        customer: `cus_${n}`,
        customer_email: null,
        customer_details: { email: link.email === null ? null : email, name: "Ada King Lovelace", phone: "+4930123456" },
        client_reference_id: referenceOf(link.reference),
        currency_conversion: null,
        metadata: {},
      },
    }),
  firstInvoice: ({ n, email, value, currency, at }: Facts, invoice: string) =>
    stripeEvent(`invoice_${n}`, "invoice.paid", at, {
      object: {
        id: invoice,
        object: "invoice",
        number: `A-${n}`,
        billing_reason: "subscription_create",
        amount_paid: minor(value, currency),
        currency: currency.toLowerCase(),
        customer: `cus_${n}`,
        customer_email: email,
        customer_name: "Ada King Lovelace",
        customer_phone: null,
        status_transitions: { paid_at: seconds(at) },
        lines: { data: [{ parent: { subscription_item_details: { subscription: `sub_${n}` } } }] },
      },
    }),
  /** The amount is the sum of all refunds of the charge so far. The email is not always there. */
  refund: ({ n, value, currency, at }: Facts, before: number) =>
    stripeEvent(`refund_${n}_${value}`, "charge.refunded", at, {
      object: {
        id: `ch_${n}`,
        object: "charge",
        amount_refunded: minor(value, currency),
        refunded: false,
        currency: currency.toLowerCase(),
        customer: `cus_${n}`,
        payment_intent: `pi_${n}`,
        billing_details: { email: null },
        receipt_email: null,
      },
      previous_attributes: { amount_refunded: minor(before, currency) },
    }),
};

/** Longer than a number of JavaScript can hold. */
const shopifyId = (n: string) => `82098291194615${n.padStart(4, "0")}`;
const shopifyHeaders = (topic: string, id: string) => ({
  "x-shopify-topic": topic,
  "x-shopify-shop-domain": "example.myshopify.com",
  "x-shopify-api-version": "2026-10",
  "x-shopify-webhook-id": `webhook-${topic}-${id}`,
  "x-shopify-event-id": `event-${id}`,
});

export const shopify = {
  order: ({ n, email, value, currency, at }: Facts) =>
    always(
      // Shopify writes its ids as numbers.
      `{"id":${shopifyId(n)},"admin_graphql_api_id":"gid://shopify/Order/${shopifyId(n)}",${JSON.stringify({
        name: `#${n}`,
        email,
        contact_email: email,
        phone: null,
        total_price: decimals(value),
        currency,
        presentment_currency: currency,
        financial_status: "paid",
        test: false,
        processed_at: iso(at),
        customer: { first_name: "Ada", last_name: "Lovelace", phone: null },
        billing_address: { first_name: "Ada", last_name: "Lovelace", phone: "+4930123456" },
        landing_site: "/products/lamp?gclid=Cj0-landing",
        note_attributes: [],
        line_items: [
          { variant_id: 7, product_id: 5, sku: "LAMP", title: "Lamp", vendor: "Acme", price: decimals(value), quantity: 1 },
        ],
      }).slice(1)}`,
      shopifyHeaders("orders/paid", n),
    ),
  /** It has neither the email nor the name of the order. */
  refund: ({ n, value, currency, at }: Facts, id: string) =>
    always(
      `{"id":${shopifyId(id)},"order_id":${shopifyId(n)},${JSON.stringify({
        created_at: iso(at),
        processed_at: iso(at),
        transactions: [{ amount: decimals(value), currency, kind: "refund", status: "success" }],
        refund_line_items: [],
        order_adjustments: [],
      }).slice(1)}`,
      shopifyHeaders("refunds/create", `refund-${id}`),
    ),
  /** `status` is what became of the payment so far: `paid` where nothing is refunded yet, or where the refund is under way. */
  cancelled: ({ n, email, value, currency, at }: Facts, status: "paid" | "partially_refunded" | "refunded") =>
    always(
      `{"id":${shopifyId(n)},${JSON.stringify({
        name: `#${n}`,
        email,
        contact_email: email,
        total_price: decimals(value),
        currency,
        financial_status: status,
        cancel_reason: "customer",
        cancelled_at: iso(at),
      }).slice(1)}`,
      shopifyHeaders("orders/cancelled", `cancelled-${n}`),
    ),
};

const wooHeaders = {
  "x-wc-webhook-source": "https://shop.example/",
  "x-wc-webhook-topic": "order.updated",
  "x-wc-webhook-resource": "order",
  "x-wc-webhook-event": "updated",
  "x-wc-webhook-id": "3",
  "x-wc-webhook-delivery-id": "8a1e0c9f",
  "user-agent": "WooCommerce/10.3.0 Hookshot (WordPress/7.0)",
};

export const woocommerce = {
  /** Every change of an order sends all of it, with the refunds so far. */
  order: ({ n, email, value, currency, at }: Facts, status: string, refunds: readonly number[] = []) =>
    always(
      {
        id: Number(n),
        number: n,
        status,
        currency,
        total: decimals(value),
        billing: { email, phone: "030 123456", first_name: "Ada", last_name: "Lovelace" },
        // Without a zone, and null until it is paid.
        date_paid_gmt: status === "pending" ? null : iso(at).slice(0, 19),
        line_items: [{ product_id: 5, variation_id: 0, name: "Lamp", sku: "LAMP", quantity: 1, price: value }],
        refunds: refunds.map((amount, i) => ({ id: Number(n) * 10 + i, total: `-${decimals(amount)}` })),
        meta_data: [{ id: 1, key: "_wc_order_attribution_utm_source", value: "google" }],
      },
      wooHeaders,
    ),
};

const paddleEvent = (id: string, type: string, at: number, data: object) =>
  always({ event_id: `evt_${id}`, event_type: type, occurred_at: iso(at), notification_id: `ntf_${id}`, data });

export const paddle = {
  customer: ({ n, email, at }: Facts) =>
    paddleEvent(`customer_${n}`, "customer.created", at, {
      id: `ctm_${n}`,
      email,
      name: "Ada Lovelace",
      marketing_consent: false,
    }),
  transaction: ({ n, value, currency, at }: Facts) =>
    paddleEvent(`transaction_${n}`, "transaction.completed", at, {
      id: `txn_${n}`,
      customer_id: `ctm_${n}`,
      subscription_id: null,
      origin: "web",
      currency_code: currency,
      billed_at: iso(at),
      custom_data: null,
      items: [
        { price: { id: "pri_1", product_id: "pro_1", unit_price: { amount: "100", currency_code: currency } }, quantity: 1 },
      ],
      details: { totals: { grand_total: String(minor(value, currency)), currency_code: currency } },
    }),
  refund: ({ n, value, currency, at }: Facts, id: string, status: string) =>
    paddleEvent(`adjustment_${id}_${status}`, status === "approved" ? "adjustment.updated" : "adjustment.created", at, {
      id: `adj_${id}`,
      action: "refund",
      status,
      transaction_id: `txn_${n}`,
      customer_id: `ctm_${n}`,
      totals: { total: String(minor(value, currency)), currency_code: currency },
      updated_at: iso(at),
    }),
  cancelled: ({ n, value, currency, at }: Facts) =>
    paddleEvent(`cancelled_${n}`, "transaction.canceled", at, {
      id: `txn_${n}`,
      status: "canceled",
      customer_id: `ctm_${n}`,
      currency_code: currency,
      details: { totals: { grand_total: String(minor(value, currency)), currency_code: currency } },
    }),
};

const lemonsqueezyEvent = (name: string, { n, email, currency, at }: Facts, type: string, attributes: object) =>
  always(
    {
      meta: { event_name: name, test_mode: false, webhook_id: "w1", custom_data: { gclid: "Cj0-custom" } },
      data: {
        type,
        id: n,
        attributes: {
          user_email: email,
          user_name: "Ada Lovelace",
          currency,
          created_at: iso(at),
          test_mode: false,
          ...attributes,
        },
      },
    },
    { "x-event-name": name },
  );

export const lemonsqueezy = {
  order: (facts: Facts) =>
    lemonsqueezyEvent("order_created", facts, "orders", {
      status: "paid",
      total: minor(facts.value, facts.currency),
      refunded: false,
      refunded_at: null,
    }),
  firstPayment: (facts: Facts) =>
    lemonsqueezyEvent("subscription_payment_success", facts, "subscription-invoices", {
      billing_reason: "initial",
      total: minor(facts.value, facts.currency),
    }),
  /** `value` is what was refunded so far. Only a refund of all says when it was. */
  refund: (facts: Facts, total = Infinity) =>
    lemonsqueezyEvent("order_refunded", facts, "orders", {
      status: facts.value < total ? "partial_refund" : "refunded",
      total: minor(Math.min(total, facts.value * 3), facts.currency),
      refunded: facts.value >= total,
      refunded_at: facts.value < total ? null : iso(facts.at),
      refunded_amount: minor(facts.value, facts.currency),
      updated_at: iso(facts.at),
    }),
};

const chargebeeNote = (id: string, type: string, { at }: Facts, content: object) =>
  always({ id: `ev_${id}`, occurred_at: seconds(at), event_type: type, api_version: "v2", content });

const chargebeeEvent = (id: string, type: string, { n, email, value, currency, at }: Facts, transaction: string) =>
  always({
    id: `ev_${id}`,
    occurred_at: seconds(at),
    source: "scheduled_job",
    event_type: type,
    api_version: "v2",
    content: {
      transaction: {
        id: transaction,
        amount: minor(value, currency),
        currency_code: currency,
        date: seconds(at),
        type: type === "payment_refunded" ? "refund" : "payment",
        linked_invoices: [{ invoice_id: `inv_${n}` }],
      },
      invoice: { id: `inv_${n}`, total: minor(value, currency), first_invoice: true, recurring: true, line_items: [] },
      customer: { id: `cb_${n}`, email, first_name: "Ada", last_name: "Lovelace", phone: "+4930123456" },
      subscription: { id: `sub_${n}` },
    },
  });

export const chargebee = {
  payment: (facts: Facts) => chargebeeEvent(`payment_${facts.n}`, "payment_succeeded", facts, `txn_${facts.n}`),
  refund: (facts: Facts, id: string) => chargebeeEvent(`refund_${id}`, "payment_refunded", facts, `txn_refund_${id}`),
  creditNote: (facts: Facts, id: string) =>
    chargebeeNote(`note_${id}`, "credit_note_created", facts, {
      credit_note: {
        id: `cn_${id}`,
        type: "refundable",
        reference_invoice_id: `inv_${facts.n}`,
        total: minor(facts.value, facts.currency),
        currency_code: facts.currency,
      },
    }),
  voided: (facts: Facts) =>
    chargebeeNote(`voided_${facts.n}`, "invoice_updated", facts, {
      invoice: { id: `inv_${facts.n}`, status: "voided", total: minor(facts.value, facts.currency) },
    }),
};
