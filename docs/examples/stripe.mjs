// Receives Stripe's webhooks, checks their signature, and reports payments and full refunds. Node 18 or newer.
// STRIPE_SECRET    the signing secret of the event destination, whsec_…
// STRIPE_API_KEY   a restricted key that can read invoices, rk_…
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { STRIPE_SECRET, STRIPE_API_KEY, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8091" } = process.env;
const { STRIPE_API = "https://api.stripe.com" } = process.env;
// With an empty secret, anyone could sign.
for (const name of ["STRIPE_SECRET", "STRIPE_API_KEY", "CLEANCAST_INBOUND", "CLEANCAST_KEY"])
  if (!process.env[name]) throw new Error(`Set ${name}.`);

function isStripe(header, body) {
  const pairs = (header ?? "").split(",").map((pair) => pair.split("="));
  const at = pairs.find(([name]) => name === "t")?.[1] ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(at)) < 300)) return false;
  const expected = createHmac("sha256", STRIPE_SECRET).update(`${at}.`).update(body).digest();
  return pairs.some(([name, value = ""]) => {
    const given = Buffer.from(value, "hex");
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// Stripe uses the smallest unit of a currency: cents, but whole yen.
const whole = new Set("bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf".split(" "));
const thousandths = new Set("bhd jod kwd omr tnd".split(" "));
function money(amount, currency) {
  // null / 100 is 0, and JSON turns NaN into null: the money would be lost.
  if (!Number.isSafeInteger(amount) || !currency) throw new Error(`${amount} ${currency} is not an amount`);
  return amount / (whole.has(currency) ? 1 : thousandths.has(currency) ? 1000 : 100);
}

/**
 * Returns the invoice of a subscription that a charge paid, if any: a checkout of a subscription names its invoice, and a charge
 * names only its payment.
 */
async function subscriptionInvoiceOf(charge) {
  if (!charge.payment_intent) return null;
  const query = new URLSearchParams({
    "payment[type]": "payment_intent",
    "payment[payment_intent]": charge.payment_intent,
    "expand[]": "data.invoice",
  });
  const response = await fetch(`${STRIPE_API}/v1/invoice_payments?${query}`, {
    headers: { Authorization: `Bearer ${STRIPE_API_KEY}`, "Stripe-Version": "2025-03-31.basil" },
    redirect: "manual",
    signal: AbortSignal.timeout(4000),
  });
  if (response.status !== 200) throw new Error(`Stripe: ${response.status} ${await response.text()}`);
  const invoice = (await response.json()).data[0]?.invoice;
  return invoice?.billing_reason?.startsWith("subscription") ? invoice.id : null;
}

/** null: nothing to report. */
async function conversionOf({ type, created, data: { object: one } }) {
  const isPaid =
    (type === "checkout.session.completed" || type === "checkout.session.async_payment_succeeded") &&
    one.payment_status === "paid";
  if (isPaid)
    return {
      email: one.customer_details?.email,
      event: "purchase",
      value: money(one.amount_total, one.currency),
      currency: one.currency,
      // A subscription has an invoice in place of a payment.
      orderId: one.payment_intent ?? one.invoice ?? one.id,
      eventTime: created,
      phone: one.customer_details?.phone,
    };
  // `refunded` is true only after a full refund.
  if (type === "charge.refunded" && one.refunded)
    return {
      email: one.billing_details?.email ?? one.receipt_email,
      event: "refund",
      value: money(one.amount_refunded, one.currency),
      currency: one.currency,
      orderId: (await subscriptionInvoiceOf(one)) ?? one.payment_intent ?? one.id,
      eventTime: created,
    };
  return null;
}

/** Only the relay answers ok: true; a proxy in between may also answer 200. */
function isAccepted(status, text) {
  try {
    return status === 200 && JSON.parse(text).ok === true;
  } catch {
    return false;
  }
}

async function pass(conversion) {
  const response = await fetch(CLEANCAST_INBOUND, {
    method: "POST",
    headers: { "X-CC-Api-Key": CLEANCAST_KEY, "Content-Type": "application/json" },
    body: JSON.stringify(conversion),
    redirect: "manual",
    signal: AbortSignal.timeout(12_000),
  });
  const text = await response.text();
  console.log(conversion.event, conversion.orderId, response.status, text);
  // Do not retry an invalid payment; for other errors Stripe retries for three days.
  return response.status === 400 || isAccepted(response.status, text) ? 200 : 503;
}

/** Returns the status code; on a failure the sender retries. */
async function answer(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part);
    size += part.length;
    if (size > 1_000_000) return 413;
  }
  const body = Buffer.concat(parts);
  if (!isStripe(request.headers["stripe-signature"], body)) return 401;
  const conversion = await conversionOf(JSON.parse(body.toString()));
  return conversion?.email ? pass(conversion) : 200;
}

createServer((request, response) => {
  void answer(request)
    .catch((error) => {
      // Stripe retries, and lists the failure under Event deliveries.
      console.error(String(error), error.cause ?? "");
      return 503;
    })
    .then((status) => response.writeHead(status).end());
}).listen(Number(PORT), function () {
  console.log(`listening on ${this.address().port}`);
});
