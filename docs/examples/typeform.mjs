// Receives Typeform's webhooks, checks their signature, and reports each response as a lead. Node 18 or newer.
// TYPEFORM_SECRET   the secret of the webhook
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { TYPEFORM_SECRET, CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8094" } = process.env;
// With an empty secret, anyone could sign.
for (const name of ["TYPEFORM_SECRET", "CLEANCAST_INBOUND", "CLEANCAST_KEY"])
  if (!process.env[name]) throw new Error(`Set ${name}.`);

function isTypeform(header, body) {
  const own = Buffer.from(`sha256=${createHmac("sha256", TYPEFORM_SECRET).update(body).digest("base64")}`);
  const given = Buffer.from(header ?? "");
  return given.length === own.length && timingSafeEqual(given, own);
}

/** null: a response without an email cannot be matched to an ad click. */
function conversionOf({ event_type, form_response: form }) {
  if (event_type !== "form_response") return null;
  const answers = form.answers ?? [];
  // A form can also bring the email of a known visitor as a hidden field.
  const email = answers.find(({ type }) => type === "email")?.email ?? form.hidden?.email;
  if (!email) return null;
  if (!form.token) throw new Error("the response has no token");
  return {
    email,
    event: "lead",
    orderId: form.token,
    eventTime: form.submitted_at,
    phone: answers.find(({ type }) => type === "phone_number")?.phone_number,
    // The answers of the block "Contact info" have these references; change them to those of your form.
    firstName: answers.find(({ field }) => field.ref === "first_name")?.text,
    lastName: answers.find(({ field }) => field.ref === "last_name")?.text,
  };
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
  console.log(conversion.event, conversion.orderId, response.status, text);
  // Do not retry an invalid response; after a 503 Typeform retries for ten hours.
  return response.status === 400 || isAccepted(response.status, text) ? 200 : 503;
}

/** Returns the status code; on a failure Typeform retries. */
async function answer(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part);
    size += part.length;
    if (size > 1_000_000) return 413;
  }
  const body = Buffer.concat(parts);
  if (!isTypeform(request.headers["typeform-signature"], body)) return 401;
  const conversion = conversionOf(JSON.parse(body.toString()));
  return conversion ? pass(conversion) : 200;
}

createServer((request, response) => {
  void answer(request)
    .catch((error) => {
      console.error(String(error), error.cause ?? "");
      return 503;
    })
    .then((status) => response.writeHead(status).end());
}).listen(Number(PORT), function () {
  console.log(`listening on ${this.address().port}`);
});
