// Receives Shopify's webhook "Order payment" (orders/paid), checks its signature, and reports the order. Node 18 or newer.
// SHOPIFY_SECRET   the secret that signs the webhooks
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { SHOPIFY_SECRET, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8090" } = process.env;
// With an empty secret, anyone could sign.
for (const name of ["SHOPIFY_SECRET", "CLEANCAST_INBOUND", "CLEANCAST_KEY"])
  if (!process.env[name]) throw new Error(`Set ${name}.`);

function isShopify(signature, body) {
  const expected = createHmac("sha256", SHOPIFY_SECRET).update(body).digest();
  const given = Buffer.from(signature ?? "", "base64");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Shopify sends amounts as strings. Number("") is 0, and JSON turns NaN into null: the money would be lost. */
function amountOf(text) {
  if (/^\d+(\.\d+)?$/.test(text ?? "")) return Number(text);
  throw new Error(`"${text ?? ""}" is not an amount like 1234.50`);
}

function required(order, name) {
  if (order[name]) return order[name];
  throw new Error(`${name} is empty`);
}

const conversionOf = (order) => ({
  email: order.email,
  event: "purchase",
  value: amountOf(order.total_price),
  currency: required(order, "currency"),
  orderId: required(order, "name"),
  eventTime: order.processed_at,
  phone: order.phone ?? order.customer?.phone,
  firstName: order.customer?.first_name,
  lastName: order.customer?.last_name,
  items: (order.line_items ?? [])
    .filter((line) => line.variant_id)
    .slice(0, 100)
    .map(itemOf),
});

// The id must be the one that your catalogues at the platforms have.
const itemOf = (line) => ({
  id: line.variant_id,
  name: line.title,
  brand: line.vendor,
  price: amountOf(line.price),
  quantity: line.quantity,
});

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
    // Shopify waits five seconds for an answer.
    signal: AbortSignal.timeout(4500),
  });
  const text = await response.text();
  console.log(conversion.orderId, response.status, text);
  // Do not retry an invalid order; for other errors Shopify retries.
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
  if (!isShopify(request.headers["x-shopify-hmac-sha256"], body)) return 401;
  const order = JSON.parse(body.toString());
  const isPaid = request.headers["x-shopify-topic"] === "orders/paid" && !order.test;
  return isPaid && order.email ? pass(conversionOf(order)) : 200;
}

createServer((request, response) => {
  void answer(request)
    .catch((error) => {
      // Shopify retries, and lists the failure.
      console.error(String(error), error.cause ?? "");
      return 503;
    })
    .then((status) => response.writeHead(status).end());
}).listen(Number(PORT), function () {
  console.log(`listening on ${this.address().port}`);
});
