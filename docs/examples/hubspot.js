// A HubSpot workflow's "Custom code" action, Node.js 24. Secret: CLEANCAST_KEY.
// Properties to include in the code: email, phone, firstname, lastname, amount, deal_currency_code, hs_object_id.

const inbound = "https://shop.example.com/__cc/inbound";

exports.main = async ({ inputFields }) => {
  const { email, phone, firstname, lastname, amount, deal_currency_code, hs_object_id } = inputFields;
  const conversion = {
    email,
    event: "purchase",
    // HubSpot passes numbers as strings.
    ...(amount ? { value: Number(amount), currency: deal_currency_code || "USD" } : {}),
    orderId: `hubspot-${hs_object_id}`,
    phone,
    firstName: firstname,
    lastName: lastname,
  };
  let answer = { status: 0, text: "no answer" };
  // HubSpot limits an action to 20 seconds.
  for (let attempt = 1; attempt <= 3; attempt++) {
    answer = await send(conversion);
    if (isAccepted(answer) || (answer.status >= 300 && answer.status < 500 && answer.status !== 429)) break;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  // The workflow's history shows a failed action.
  if (!isAccepted(answer)) throw new Error(`Cleancast: ${answer.status} ${answer.text}`);
  return { outputFields: { cleancast: answer.text } };
};

/** Only the relay answers ok: true; a proxy in between may also answer 200. */
function isAccepted({ status, text }) {
  try {
    return status === 200 && JSON.parse(text).ok === true;
  } catch {
    return false;
  }
}

async function send(conversion) {
  try {
    const response = await fetch(inbound, {
      method: "POST",
      headers: { "X-CC-Api-Key": process.env.CLEANCAST_KEY, "Content-Type": "application/json" },
      body: JSON.stringify(conversion),
      redirect: "manual",
      signal: AbortSignal.timeout(5000),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: "no answer" };
  }
}
