// Receives a call tracker's webhook after a call, finds the caller's email, and reports the call. Node 18 or newer.
// CALLS_SECRET   a long random string; the tracker calls https://…/calls/CALLS_SECRET
// CUSTOMERS      a JSON file of your customers: {"+4930123456": "ada@example.com"}
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const { CALLS_SECRET, CUSTOMERS, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8092" } = process.env;
// Without a secret, anyone could report calls.
for (const name of ["CALLS_SECRET", "CUSTOMERS", "CLEANCAST_INBOUND", "CLEANCAST_KEY"])
  if (!process.env[name]) throw new Error(`Set ${name}.`);
const minSeconds = 60;

const digest = (text) => createHash("sha256").update(text).digest();
const isTracker = (path) => timingSafeEqual(digest(path), digest(`/calls/${CALLS_SECRET}`));

/** Replace this with a query to your CRM. */
const emailOf = (phone) => JSON.parse(readFileSync(CUSTOMERS, "utf8"))[phone];

/** Field names as in CallRail's API; adapt them to your tracker. null: not a lead, or an unknown caller. */
function conversionOf(call) {
  const phone = call.customer_phone_number;
  const email = emailOf(phone);
  // A tracker that names its fields differently must not lose every call silently.
  for (const name of ["customer_phone_number", "answered", "duration", "resource_id", "start_time"])
    if (call[name] === undefined || call[name] === "") throw new Error(`the call has no ${name}`);
  if (!call.answered || !(Number(call.duration) >= minSeconds) || !email) return null;
  return { email, phone, event: "call", orderId: call.resource_id, eventTime: call.start_time };
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
  console.log(conversion.orderId, response.status, text);
  // Do not retry an invalid conversion; for other errors the tracker retries.
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
  if (!isTracker(request.url)) return 404;
  const conversion = conversionOf(JSON.parse(Buffer.concat(parts).toString()));
  return conversion ? pass(conversion) : 200;
}

createServer((request, response) => {
  void answer(request)
    .catch((error) => {
      // The tracker retries.
      console.error(String(error), error.cause ?? "");
      return 503;
    })
    .then((status) => response.writeHead(status).end());
}).listen(Number(PORT), function () {
  console.log(`listening on ${this.address().port}`);
});
