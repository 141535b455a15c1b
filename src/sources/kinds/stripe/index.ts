import type { Kind } from "../../kind.ts";
import { eventSetting, keySetting, secretSetting } from "../shared.ts";

const checkouts = '("checkout.session.completed", "checkout.session.async_payment_succeeded")';
/** Stripe writes amounts of these currencies with two digits, though they have none. */
const money = (amount: string, currency: string) => `${amount} cents(${currency}, "ISK UGX")`;

const refund = {
  // The amount of a charge is the sum of its refunds: the one before says how much this one is.
  value: money("data.object.amount_refunded minus(data.previous_attributes.amount_refunded)", "data.object.currency"),
  currency: "data.object.currency",
  orderId: "data.object.payment_intent | data.object.id",
  orderRef: "data.object.payment_intent",
  refundId: 'data.object.id append(":") append(data.object.amount_refunded)',
  eventTime: "created seconds",
  customer: "data.object.customer",
} as const;

// Since the API of 2025-03-31 neither a charge nor its payment intent names the invoice.
const invoiceStep = {
  name: "invoice",
  url: "https://api.stripe.com/v1/invoice_payments?payment[type]=payment_intent&payment[payment_intent]={orderRef}&limit=1",
  permission: "read access to invoices",
};
const invoiceOrder = "invoice.data[0].invoice | orderId";

export const stripe = {
  id: "stripe",
  name: "Stripe",
  category: "payments",
  about: "Payments of Checkout and Payment Links, subscriptions, and refunds.",
  docs: { url: "https://docs.stripe.com/webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["stripe-signature"],
      form: { is: "pairs", separator: ",", time: "t", signature: "v1" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["time", { text: "." }, "body"],
      time: { unit: "seconds" },
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  delivery: "id",
  deliveryTime: "created seconds",
  type: "type",
  test: "livemode = false",
  settings: [
    secretSetting("The signing secret of the endpoint, `whsec_…`. Sandbox and live mode have one each."),
    eventSetting("purchase"),
    {
      name: "invoices",
      label: "Invoices",
      help: "`subscriptions`: the first invoice of a subscription, which counts once with its checkout. `renewals`: later ones too. `all`: also invoices that you send by hand. `none`: checkouts only.",
      default: "subscriptions",
      choices: ["subscriptions", "renewals", "all", "none"],
    },
    keySetting(
      "Only for refunds of subscriptions, which name a payment and not its invoice: a restricted key that may read invoices, payment intents and customers, `rk_…`.",
    ),
  ],
  rules: [
    {
      name: "checkout that only saves a card, or costs nothing",
      when: `type in ${checkouts} and data.object.payment_status = "no_payment_required"`,
      gives: "ignore",
      reason: "no value",
    },
    {
      name: "checkout whose payment is not there yet",
      when: `type in ${checkouts} and data.object.payment_status != "paid"`,
      gives: "ignore",
      reason: "not paid",
    },
    {
      name: "paid checkout",
      when: `type in ${checkouts} and data.object.amount_total > 0`,
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "data.object.customer_details.email | data.object.customer_email",
        phone: "data.object.customer_details.phone",
        firstName: "data.object.customer_details.name words(first)",
        lastName: "data.object.customer_details.name words(last)",
        value: `${money("data.object.currency_conversion.amount_total", "data.object.currency_conversion.source_currency")} | ${money("data.object.amount_total", "data.object.currency")}`,
        currency: "data.object.currency_conversion.source_currency | data.object.currency",
        // A subscription's checkout and its first invoice are one sale: both name the invoice.
        orderId: "data.object.invoice | data.object.payment_intent | data.object.id",
        orderRef: "data.object.payment_intent",
        eventTime: "created seconds",
        customer: "data.object.customer",
        clickIds: ["data.object.metadata"],
        // Stripe opens the session when the visitor opens the Payment Link.
        link: { token: "data.object.client_reference_id", openedAt: "data.object.created seconds | created seconds" },
      },
    },
    { name: "checkout of nothing", when: `type in ${checkouts}`, gives: "ignore", reason: "no value" },
    {
      name: "invoices that the source leaves out",
      when: 'type = "invoice.paid" and $settings.invoices = "none"',
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "renewals that the source leaves out",
      when: 'type = "invoice.paid" and $settings.invoices = "subscriptions" and data.object.billing_reason != "subscription_create"',
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "invoices by hand that the source leaves out",
      when: 'type = "invoice.paid" and $settings.invoices = "renewals" and data.object.billing_reason in ("manual", "quote_accept")',
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "paid invoice",
      when: 'type = "invoice.paid" and data.object.amount_paid > 0',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "data.object.customer_email",
        phone: "data.object.customer_phone",
        firstName: "data.object.customer_name words(first)",
        lastName: "data.object.customer_name words(last)",
        value: money("data.object.amount_paid", "data.object.currency"),
        currency: "data.object.currency",
        orderId: "data.object.id",
        // It left the invoice with the API of 2025-03-31.
        orderRef: "data.object.payment_intent | data.object.payments.data[0].payment.payment_intent",
        eventTime: "data.object.status_transitions.paid_at seconds | created seconds",
        customer: "data.object.customer",
        clickIds: ["data.object.metadata"],
      },
    },
    { name: "invoice of nothing", when: 'type = "invoice.paid"', gives: "ignore", reason: "no value" },
    {
      name: "refund of a renewal that the source leaves out",
      // Only this text, which Stripe writes for all but the first payment of a subscription, tells a renewal.
      when: 'type = "charge.refunded" and $settings.invoices in ("subscriptions", "none") and data.object.description = "Subscription update"',
      gives: "refund",
      // Without an email it counts only with its order: the renewal may have been counted before the setting changed.
      fields: refund,
      lookUp: "invoice",
    },
    {
      name: "refund, whole or in part",
      when: 'type = "charge.refunded"',
      gives: "refund",
      fields: { email: "data.object.billing_details.email | data.object.receipt_email", ...refund },
      lookUp: "order",
    },
    {
      name: "customer",
      when: 'type in ("customer.created", "customer.updated") and data.object.email exists',
      gives: "learn",
      fields: {
        customer: "data.object.id",
        email: "data.object.email",
        phone: "data.object.phone",
        firstName: "data.object.name words(first)",
        lastName: "data.object.name words(last)",
      },
    },
    {
      name: "events that say the same as those above",
      when: 'type in ("refund.created", "refund.updated", "charge.refund.updated", "charge.succeeded", "payment_intent.succeeded", "invoice.payment_succeeded")',
      gives: "ignore",
      reason: "repeats another event",
    },
  ],
  lookUps: {
    invoice: { key: "api_key", steps: [invoiceStep], fields: { orderId: invoiceOrder } },
    order: {
      key: "api_key",
      steps: [
        invoiceStep,
        {
          name: "payment",
          url: "https://api.stripe.com/v1/payment_intents/{orderRef}?expand[]=customer",
          permission: "read access to payment intents and customers",
        },
      ],
      fields: {
        orderId: invoiceOrder,
        email: "payment.receipt_email | payment.customer.email",
      },
    },
  },
  guide: {
    steps: [
      "Open Workbench in the Stripe dashboard, then *Webhooks*, and *Add destination*.",
      "Choose the events `checkout.session.completed`, `checkout.session.async_payment_succeeded`, `invoice.paid`, `charge.refunded`, `customer.created` and `customer.updated`.",
      "Choose *Webhook endpoint*, and enter ADDRESS.",
      "Copy the signing secret of the new endpoint, `whsec_…`, into the source.",
    ],
    retries: [
      "Stripe repeats a live request for up to three days, and one of a sandbox three times.",
      "Events of a sandbox are test events, whatever the mode of the source.",
    ],
    notes: [
      "A refund finds its order by the payment intent, which the relay remembers with the order. Invoices of newer versions of the API do not name it: with an API key the relay asks Stripe for the invoice of the payment.",
      "While renewals are left out, the refund of one counts only if the renewal itself was counted before.",
      "Checkout sends no line items with the event, so none go out.",
    ],
  },
} as const satisfies Kind;
