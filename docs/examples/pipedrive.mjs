// Receives Pipedrive's webhooks (version 2) and reports deals that were won. Node 18 or newer.
// PIPEDRIVE_USER, PIPEDRIVE_PASSWORD   the HTTP auth of the webhook
// PIPEDRIVE_API                        https://YOUR-COMPANY.pipedrive.com
// PIPEDRIVE_TOKEN                      an API token that can read people
// CLEANCAST_INBOUND, CLEANCAST_KEY, PORT

import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { PIPEDRIVE_USER, PIPEDRIVE_PASSWORD, PIPEDRIVE_API, PIPEDRIVE_TOKEN } = process.env;
const { CLEANCAST_INBOUND, CLEANCAST_KEY, PORT = "8093" } = process.env;
// Pipedrive does not sign its calls: without a password, anyone could report deals.
for (const name of ["PIPEDRIVE_USER", "PIPEDRIVE_PASSWORD", "PIPEDRIVE_API", "PIPEDRIVE_TOKEN"])
  if (!process.env[name]) throw new Error(`Set ${name}.`);
for (const name of ["CLEANCAST_INBOUND", "CLEANCAST_KEY"]) if (!process.env[name]) throw new Error(`Set ${name}.`);

const digest = (text) => createHash("sha256").update(text).digest();
const basic = `Basic ${Buffer.from(`${PIPEDRIVE_USER}:${PIPEDRIVE_PASSWORD}`).toString("base64")}`;
const isPipedrive = (header) => timingSafeEqual(digest(header ?? ""), digest(basic));

/** `previous` has only the fields that changed, so another change of a deal that was won before is not reported. */
const wasJustWon = ({ meta, data, previous }) =>
  meta.entity === "deal" &&
  data?.status === "won" &&
  (meta.action === "create" || (meta.action === "change" && (previous?.status ?? "won") !== "won"));

/** A webhook names the person of a deal only by id. */
async function readPerson(id) {
  const response = await fetch(`${PIPEDRIVE_API}/api/v2/persons/${id}`, {
    headers: { "x-api-token": PIPEDRIVE_TOKEN },
    redirect: "manual",
    signal: AbortSignal.timeout(4000),
  });
  if (response.status !== 200) throw new Error(`Pipedrive: ${response.status} ${await response.text()}`);
  return (await response.json()).data;
}

const primary = (list) => (list?.find((one) => one.primary) ?? list?.[0])?.value;

/** null: nothing to report. */
async function conversionOf(call) {
  if (!wasJustWon(call)) return null;
  const { id, value, currency, person_id, won_time } = call.data;
  // JSON turns NaN into null, which the relay takes for "no value".
  if (!Number.isFinite(value) || !currency || !id) throw new Error(`deal ${id}: ${value} ${currency}`);
  const person = person_id ? await readPerson(person_id) : {};
  const email = primary(person.emails);
  if (!email) console.log(`deal ${id} has no person with an email`);
  return (
    email && {
      email,
      event: "purchase",
      value,
      currency,
      orderId: String(id),
      ...(won_time ? { eventTime: won_time } : {}),
      phone: primary(person.phones),
      firstName: person.first_name,
      lastName: person.last_name,
    }
  );
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
    signal: AbortSignal.timeout(5000),
  });
  const text = await response.text();
  console.log(conversion.event, conversion.orderId, response.status, text);
  // Do not retry an invalid deal; after other errors Pipedrive tries again.
  return response.status === 400 || isAccepted(response.status, text) ? 200 : 503;
}

/** Returns the status code; on a failure Pipedrive tries again. */
async function answer(request) {
  if (!isPipedrive(request.headers.authorization)) return 401;
  const parts = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part);
    size += part.length;
    if (size > 1_000_000) return 413;
  }
  const conversion = await conversionOf(JSON.parse(Buffer.concat(parts).toString()));
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
