// Sends a conversion and retries temporary failures for two minutes. Node 18 or newer, no dependencies.

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

const inbound = process.env.CLEANCAST_INBOUND; // https://shop.example.com/__cc/inbound
const key = process.env.CLEANCAST_KEY; // cc_…
if (!inbound || !key) throw new Error("Set CLEANCAST_INBOUND and CLEANCAST_KEY.");

export async function sendConversion(conversion) {
  check(conversion);
  for (let attempt = 1; ; attempt++) {
    const { status, text, retryAfter } = await post(conversion).catch((error) => ({
      status: 0,
      text: `no answer: ${error.cause ?? error}`,
    }));
    const answer = status === 200 ? parsed(text) : null;
    // Only the relay answers ok: true; a proxy in between may also answer 200.
    if (answer?.ok === true) return answer;
    // A 4xx error is permanent. Anything else may succeed later; a repeat is never counted twice.
    const mayPass = [0, 200, 429].includes(status) || status >= 500;
    if (!mayPass || attempt === 7) throw new Error(`${status} ${text}`);
    const seconds = secondsToWait(retryAfter, attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** JSON turns NaN into null, which the relay takes for "no value". Without an order id, repeats are detected for an hour only. */
function check({ value, orderId }) {
  if (value !== undefined && !Number.isFinite(value)) throw new Error(`value is not a number: ${value}`);
  if (!orderId) throw new Error("orderId is empty");
}

async function post(conversion) {
  const response = await fetch(inbound, {
    method: "POST",
    headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify(conversion),
    // Never send the key to another address.
    redirect: "manual",
    signal: AbortSignal.timeout(15_000),
  });
  const { status, headers } = response;
  return { status, text: await response.text(), retryAfter: headers.get("retry-after") };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads Retry-After, in seconds or as a date; at most a minute. */
function secondsToWait(retryAfter, attempt) {
  const seconds = Number(retryAfter) || (Date.parse(retryAfter) - Date.now()) / 1000;
  return Math.min(seconds > 0 ? seconds : 2 ** attempt, 60);
}

// Sends an example if you run this file, and nothing if you import it.
if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  const answer = await sendConversion({
    email: "node@example.com",
    event: "purchase",
    value: 49.9,
    currency: "EUR",
    orderId: "NODE-1",
  });
  console.log(JSON.stringify(answer));
}
