// A "Code by Zapier" step, JavaScript. Input Data: key, email, value, currency, order, from earlier steps.

const response = await fetch("https://shop.example.com/__cc/inbound", {
  method: "POST",
  headers: { "X-CC-Api-Key": inputData.key, "Content-Type": "application/json" },
  body: JSON.stringify({
    email: inputData.email,
    event: "purchase",
    // Zapier passes numbers as strings.
    value: Number(inputData.value),
    currency: inputData.currency,
    orderId: inputData.order,
  }),
  redirect: "manual",
});
const text = await response.text();
// Only the relay answers ok: true; a proxy in between may also answer 200.
const answer = response.status === 200 && text.startsWith("{") ? JSON.parse(text) : {};
// The Zap's history shows a failed step, and you can replay it there.
if (answer.ok !== true) throw new Error(`Cleancast: ${response.status} ${text}`);
output = answer;
