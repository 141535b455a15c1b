// A "Code by Zapier" step, JavaScript. Input Data: key, email, value, currency, order, from the steps before.

const response = await fetch("https://shop.example.com/__cc/inbound", {
  method: "POST",
  headers: { "X-CC-Api-Key": inputData.key, "Content-Type": "application/json" },
  body: JSON.stringify({
    email: inputData.email,
    event: "purchase",
    // Zapier hands numbers over as text.
    value: Number(inputData.value),
    currency: inputData.currency,
    orderId: inputData.order,
  }),
  redirect: "manual",
});
const text = await response.text();
// A proxy in between may answer 200 as well: only the relay says ok.
const answer = response.status === 200 && text.startsWith("{") ? JSON.parse(text) : {};
// A step that fails is shown in the Zap's history, and can be replayed there.
if (answer.ok !== true) throw new Error(`Cleancast: ${response.status} ${text}`);
output = answer;
