// A "Code by Zapier" step, JavaScript. Input Data: key, email, value, currency, order, from earlier steps.

/** Number("") is 0, and JSON turns NaN into null, which the relay takes for "no value": stop instead. */
function amountOf(text) {
  if (/^\d+(\.\d+)?$/.test(text ?? "")) return Number(text);
  throw new Error(`Cleancast: value must be a number like 1234.50, not "${text ?? ""}"`);
}

function required(name) {
  if (inputData[name]) return inputData[name];
  throw new Error(`Cleancast: ${name} is empty`);
}

const key = required("key");
const conversion = {
  email: required("email"),
  event: "purchase",
  // Zapier passes numbers as strings.
  value: amountOf(inputData.value),
  currency: required("currency"),
  orderId: required("order"),
};

async function send() {
  try {
    const response = await fetch("https://shop.example.com/__cc/inbound", {
      method: "POST",
      headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify(conversion),
      redirect: "manual",
      signal: AbortSignal.timeout(12_000),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: 0, text: String(error.cause ?? error) };
  }
}

/** Only the relay answers ok: true; a proxy in between may also answer 200. */
function accepted({ status, text }) {
  const answer = status === 200 && text.startsWith("{") ? JSON.parse(text) : {};
  return answer.ok === true ? answer : null;
}

// Zapier stops a step after 30 seconds. Until then, wait for a relay that restarts.
const endsAt = Date.now() + 16_000;
let reply = await send();
while (!accepted(reply) && ([0, 200, 429].includes(reply.status) || reply.status >= 500)) {
  if (Date.now() > endsAt) break;
  await new Promise((resolve) => setTimeout(resolve, 2000));
  reply = await send();
}
// The Zap's history shows a failed step, and you can replay it there.
if (!accepted(reply)) throw new Error(`Cleancast: ${reply.status} ${reply.text}`);
output = accepted(reply);
