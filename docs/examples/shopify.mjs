// Takes Shopify's webhook "Order payment" (orders/paid), checks its signature, and passes the order on. Node 18 or newer.
// SHOPIFY_SECRET   the secret that signs the webhooks
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { SHOPIFY_SECRET, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8090" } = process.env;

function isShopify(signature, body) {
  const expected = createHmac("sha256", SHOPIFY_SECRET).update(body).digest();
  const given = Buffer.from(signature ?? "", "base64");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const conversionOf = (order) => ({
  email: order.email,
  event: "purchase",
  // Shopify sends money as text.
  value: Number(order.total_price),
  currency: order.currency,
  orderId: order.name,
  eventTime: order.processed_at,
  phone: order.phone ?? order.customer?.phone,
  firstName: order.customer?.first_name,
  lastName: order.customer?.last_name,
});

async function pass(conversion) {
  const response = await fetch(CLEANCAST_INBOUND, {
    method: "POST",
    headers: { "X-CC-Api-Key": CLEANCAST_KEY, "Content-Type": "application/json" },
    body: JSON.stringify(conversion),
    // Shopify waits five seconds for our answer.
    signal: AbortSignal.timeout(4500),
  });
  console.log(conversion.orderId, response.status, await response.text());
  // What is wrong stays wrong; for the rest Shopify comes again.
  return response.status === 429 || response.status >= 500 ? 503 : 200;
}

/** The status for a request: what goes wrong on the way is tried again by the one who sent it. */
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
    .catch(() => 503)
    .then((status) => response.writeHead(status).end());
}).listen(Number(PORT), function () {
  console.log(`listening on ${this.address().port}`);
});
