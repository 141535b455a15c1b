// A HubSpot workflow's "Custom code" action, Node.js 24. Secret: CLEANCAST_KEY.
// Properties to include in the code: email, phone, firstname, lastname, amount, deal_currency_code, hs_object_id.

const inbound = "https://shop.example.com/__cc/inbound";

exports.main = async ({ inputFields }) => {
  const { phone, firstname, lastname, amount, deal_currency_code } = inputFields;
  const conversion = {
    email: required(inputFields, "email"),
    event: "purchase",
    // For an event without an amount, such as a lead, delete this line and the next.
    value: amountOf(amount),
    currency: deal_currency_code || "USD",
    orderId: required(inputFields, "hs_object_id"),
    phone,
    firstName: firstname,
    lastName: lastname,
  };
  // HubSpot limits an action to 20 seconds. Until then, wait for a relay that restarts.
  const endsAt = Date.now() + 12_000;
  let answer = await send(conversion);
  while (!isAccepted(answer) && mayPass(answer) && Date.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    answer = await send(conversion);
  }
  // The workflow's history shows a failed action.
  if (!isAccepted(answer)) throw new Error(`Cleancast: ${answer.status} ${answer.text}`);
  return { outputFields: { cleancast: answer.text } };
};

/** HubSpot passes numbers as strings. Number("") is 0, and JSON turns NaN into null, which the relay takes for "no value". */
function amountOf(text) {
  if (/^\d+(\.\d+)?$/.test(text ?? "")) return Number(text);
  throw new Error(`Cleancast: amount must be a number like 1234.50, not "${text ?? ""}"`);
}

/** Without its id, every record would be the same order, and all but the first would be duplicates. */
function required(fields, name) {
  if (fields[name]) return fields[name];
  throw new Error(`Cleancast: ${name} is empty; is it among the properties to include in the code?`);
}

/** Only the relay answers ok: true; a proxy in between may also answer 200. */
function isAccepted({ status, text }) {
  try {
    return status === 200 && JSON.parse(text).ok === true;
  } catch {
    return false;
  }
}

const mayPass = ({ status }) => [0, 200, 429].includes(status) || status >= 500;

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
  } catch (error) {
    return { status: 0, text: String(error.cause ?? error) };
  }
}
