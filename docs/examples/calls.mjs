// Takes the webhook of a call tracker after a call, finds the caller's email, and passes the call on. Node 18 or newer.
// CALLS_SECRET   a long random word; the tracker calls https://…/calls/CALLS_SECRET
// CUSTOMERS      a JSON file of your customers: {"+4930123456": "ada@example.com"}
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { CALLS_SECRET, CUSTOMERS, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8092" } = process.env;
const shortestSeconds = 60;

const digest = (text) => createHash("sha256").update(text).digest();
const isTracker = (path) => timingSafeEqual(digest(path), digest(`/calls/${CALLS_SECRET}`));

/** Here your CRM is asked. */
const emailOf = (phone) => JSON.parse(readFileSync(CUSTOMERS, "utf8"))[phone];

/** The fields are named as in CallRail's API; see what your tracker sends. null: no lead, or a caller that nobody knows. */
function conversionOf(call) {
  const phone = call.customer_phone_number;
  const email = emailOf(phone);
  if (!call.answered || call.duration < shortestSeconds || !email) return null;
  return { email, phone, event: "call", orderId: call.resource_id, eventTime: call.start_time };
}

async function pass(conversion) {
  const response = await fetch(CLEANCAST_INBOUND, {
    method: "POST",
    headers: { "X-CC-Api-Key": CLEANCAST_KEY, "Content-Type": "application/json" },
    body: JSON.stringify(conversion),
    signal: AbortSignal.timeout(12_000),
  });
  console.log(conversion.orderId, response.status, await response.text());
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
  if (!isTracker(request.url)) return 404;
  const conversion = conversionOf(JSON.parse(Buffer.concat(parts).toString()));
  return conversion ? pass(conversion) : 200;
}

createServer((request, response) => {
  void answer(request)
    .catch(() => 503)
    .then((status) => response.writeHead(status).end());
}).listen(Number(PORT), function () {
  console.log(`listening on ${this.address().port}`);
});
