// A receiver for Cleancast's outbound webhook, in Node, without dependencies.
//
//   WEBHOOK_SECRET=whsec_… PORT=8090 node receiver.mjs
//
// While you rotate the secret, set both, the new one first: WEBHOOK_SECRET=whsec_new,whsec_old

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secrets = (process.env.WEBHOOK_SECRET ?? "").split(",").filter(Boolean);
if (secrets.length === 0) throw new Error("Set WEBHOOK_SECRET to the secret that 'webhook add' showed.");

const toleranceSeconds = 300;
const maxBodyBytes = 64 * 1024;

/** Compares two strings in constant time. */
function equal(one, other) {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function isGenuine(headers, body) {
  const bearer = headers.authorization ?? "";
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!secrets.some((secret) => equal(bearer, `Bearer ${secret}`))) return false;
  // Refuse replayed old messages.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const given = (headers["webhook-signature"] ?? "").split(" ");
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return given.some((one) => equal(one, `v1,${signature}`));
  });
}

// In your own receiver, store these in your database, in one transaction with the totals.
const seen = new Set();
const totals = { conversions: 0, bot_traffic_removed: 0 };

const server = createServer((request, response) => {
  const parts = [];
  let size = 0;
  request.on("data", (part) => {
    size += part.length;
    if (size <= maxBodyBytes) parts.push(part);
  });
  request.on("end", () => {
    const body = Buffer.concat(parts).toString();
    if (size > maxBodyBytes || !isGenuine(request.headers, body)) {
      response.writeHead(401).end();
      return;
    }
    const id = request.headers["webhook-id"];
    const push = JSON.parse(body);
    // A push may arrive twice (if its answer was lost), with the same id. Tests are not counted.
    if (!seen.has(id) && request.headers["x-cc-test"] !== "true") {
      seen.add(id);
      totals.conversions += push.conversions;
      totals.bot_traffic_removed += push.bot_traffic_removed;
    }
    console.log(request.headers["x-cc-period"], JSON.stringify(totals));
    response.writeHead(200).end();
  });
});

server.listen(Number(process.env.PORT ?? 8090), () => console.log(`listening on port ${server.address().port}`));
