import type { Kind } from "../../kind.ts";
import { basicSettings, eventSetting, renewalSetting } from "../shared.ts";

const payer = {
  email: "content.customer.email",
  phone: "content.customer.phone",
  firstName: "content.customer.first_name",
  lastName: "content.customer.last_name",
  customer: "content.customer.id | content.transaction.customer_id",
  value: "content.transaction.amount cents(content.transaction.currency_code)",
  currency: "content.transaction.currency_code",
  orderId: "content.invoice.id | content.transaction.linked_invoices[0].invoice_id | content.transaction.id",
  eventTime: "content.transaction.date seconds | occurred_at seconds",
} as const;

const refund = { ...payer, refundId: "content.transaction.id" } as const;

const leftOut = '$settings.renewals = "ignore" and content.invoice.recurring = true and content.invoice.first_invoice = false';

export const chargebee = {
  id: "chargebee",
  name: "Chargebee",
  category: "payments",
  about: "Payments of invoices, and refunds.",
  docs: { url: "https://www.chargebee.com/docs/2.0/events_and_webhooks.html", checked: "2026-11-17" },
  verification: [{ by: "basic", user: "user", password: "password" }],
  bodies: ["json"],
  busyStatus: 503,
  delivery: "id",
  deliveryTime: "occurred_at seconds",
  type: "event_type",
  settings: [...basicSettings, eventSetting("purchase"), renewalSetting],
  rules: [
    {
      name: "renewals that the source leaves out",
      when: `event_type = "payment_succeeded" and ${leftOut}`,
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "payment",
      when: 'event_type = "payment_succeeded" and content.transaction.amount > 0',
      gives: "conversion",
      fields: { ...payer, event: "$settings.event" },
    },
    {
      name: "refund of a renewal that the source leaves out",
      when: `event_type = "payment_refunded" and ${leftOut}`,
      gives: "refund",
      // The renewal may have been counted before the setting changed.
      needsOrder: true,
      fields: refund,
    },
    {
      name: "refund, whole or in part",
      when: 'event_type = "payment_refunded"',
      gives: "refund",
      fields: refund,
    },
    {
      name: "customer",
      when: 'event_type in ("customer_created", "customer_changed") and content.customer.email exists',
      gives: "learn",
      fields: {
        customer: "content.customer.id",
        email: "content.customer.email",
        phone: "content.customer.phone",
        firstName: "content.customer.first_name",
        lastName: "content.customer.last_name",
      },
    },
    {
      name: "events that say the same as those above",
      when: 'event_type in ("invoice_generated", "invoice_updated", "credit_note_created")',
      gives: "ignore",
      reason: "repeats another event",
    },
  ],
  guide: {
    steps: [
      "Open *Settings*, *Configure Chargebee*, *Webhooks*, and add one with the address ADDRESS and the API version 2.",
      "Protect it with basic authentication, and enter the user name and password of the source.",
      "Choose the events *Payment Succeeded*, *Payment Refunded*, *Customer Created* and *Customer Changed*.",
      "For a test site, set the mode of the source to test.",
    ],
    retries: ["Chargebee repeats a failed request seven times, after two minutes up to two days."],
    notes: ["While renewals are left out, the refund of one counts only if the renewal itself was counted before."],
  },
} as const satisfies Kind;
