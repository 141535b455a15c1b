// Takes the webhook of a call tracker after a call, finds the caller's email, and passes the call on. Node 18 or newer.
// CALLS_SECRET   a long random word; the tracker calls https://…/calls/CALLS_SECRET
// CUSTOMERS      a JSON file of your customers: {"+4930123456": "ada@example.com"}
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { CALLS_SECRET, CUSTOMERS, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8092" } = process.env;
// Without its secret it would believe everybody.
for (const name of ["CALLS_SECRET", "CUSTOMERS", "CLEANCAST_INBOUND", "CLEANCAST_KEY"])
  if (!process.env[name]) throw new Error(`Set ${name}.`);
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

/** Only the relay says so: a proxy in between may answer 200 as well. */
function isTaken(status, text) {
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
  console.log(conversion.orderId, response.status, text);
  // A conversion that is wrong stays wrong; for the rest the tracker comes again.
  return response.status === 400 || isTaken(response.status, text) ? 200 : 503;
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
