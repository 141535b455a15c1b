// A receiver for the conversions that the platform `webhook` sends, in Node, without dependencies.
//
//   WEBHOOK_SECRET=whsec_… PORT=8090 node event-receiver.mjs

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET ?? "";
if (!secret.startsWith("whsec_")) throw new Error("Set WEBHOOK_SECRET to the secret that 'connection add' showed.");

const toleranceSeconds = 300;
const maxBodyBytes = 1024 * 1024;

/** Checks the signature (Standard Webhooks). While the secret is rotated there are two, and one of them must match. */
function isGenuine(headers, body) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  // Refuse replayed old requests.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const given = (headers["webhook-signature"] ?? "").split(" ");
  return given.some((one) => equal(one, `v1,${signature}`));
}

/** Compares two strings in constant time. */
function equal(one, other) {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

// In your own receiver, store the id in your database, in one transaction with the conversion.
const seen = new Set();

const server = createServer((request, response) => {
  const parts = [];
  let size = 0;
  request.on("data", (part) => {
    size += part.length;
    if (size <= maxBodyBytes) parts.push(part);
  });
  request.on("end", () => {
    const body = Buffer.concat(parts);
    if (size > maxBodyBytes || !isGenuine(request.headers, body)) {
      response.writeHead(401).end();
      return;
    }
    const id = request.headers["webhook-id"];
    // A conversion may arrive twice (if its answer was lost), with the same id. Test events are marked.
    if (!seen.has(id) && request.headers["x-cc-test"] !== "true") {
      seen.add(id);
      const { event, orderId, value, currency } = JSON.parse(body.toString());
      console.log(`${event} ${orderId} ${value} ${currency}`);
    }
    response.writeHead(200).end();
  });
});

server.listen(Number(process.env.PORT ?? 8090), () => console.log(`listening on port ${server.address().port}`));
