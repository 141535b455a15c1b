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
});
const text = await response.text();
// A step that fails is shown in the Zap's history, and can be replayed there.
if (!response.ok) throw new Error(`Cleancast: ${response.status} ${text}`);
output = JSON.parse(text);
