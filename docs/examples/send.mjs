// Sends a conversion, and again while that may help. Node 18 or newer, no packages.

const inbound = process.env.CLEANCAST_INBOUND; // https://shop.example.com/__cc/inbound
const key = process.env.CLEANCAST_KEY; // cc_…

export async function sendConversion(conversion) {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(inbound, {
      method: "POST",
      headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify(conversion),
      signal: AbortSignal.timeout(15_000),
    }).catch(() => null);
    if (response?.ok) return response.json();
    // 4xx: the request is wrong and stays wrong. Anything else may pass later; a repeat is never counted twice.
    const mayPass = !response || response.status === 429 || response.status >= 500;
    if (!mayPass || attempt === 4)
      throw new Error(response ? `${response.status} ${await response.text()}` : "no answer");
    const seconds = Math.min(Number(response?.headers.get("retry-after")) || 2 ** attempt, 60);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const answer = await sendConversion({
  email: "ada@example.com",
  event: "purchase",
  value: 49.9,
  currency: "EUR",
  orderId: "A-1002",
});
console.log(JSON.stringify(answer));
