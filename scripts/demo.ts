// `npm run demo`: a relay with a seeded site and every platform connected to its stand-in, in a folder of its own that goes
// when the demo ends. Shows people, bots, duplicates, an opt-out, a late event and a platform that is down for a while.

import { execFile, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { standins as list } from "../standins/index.ts";
import { startStandins } from "../standins/start.ts";
import { standinConnections } from "./standinConnections.ts";

const run = promisify(execFile);
const command = fileURLToPath(new URL("../bin/cleancast.mjs", import.meta.url));
const host = "shop.example.com";
const { values } = parseArgs({
  options: { port: { type: "string", default: "8080" }, once: { type: "boolean", default: false } },
});

const data = mkdtempSync(join(tmpdir(), "cleancast-demo-"));
const standins = await startStandins();
const env = {
  ...process.env,
  CLEANCAST_DATA: data,
  HOST: "127.0.0.1",
  PORT: values.port,
  CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
  CLEANCAST_RETRY_SECONDS: "5",
  LOG_LEVEL: "silent",
};

async function cleancast(...args: string[]): Promise<Record<string, never>> {
  const { stdout } = await run(process.execPath, [command, "--json", ...args], { env });
  return JSON.parse(stdout);
}

await cleancast("site", "add", host);
const { key } = await cleancast("key", "add", host, "demo");
for (const { id } of list) {
  const words = Object.entries(standinConnections[id]).map(([name, value]) => `${name}=${value}`);
  await cleancast("connect", host, id, ...words);
}

const relay = spawn(process.execPath, [command, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
const origin = await new Promise<string>((resolve, reject) => {
  relay.on("exit", () => reject(new Error("the relay did not start")));
  let said = "";
  relay.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const address = /is running on http:\/\/localhost:(\d+)/.exec(said)?.[1];
    if (address) resolve(`http://127.0.0.1:${address}`);
  });
});

async function stop(): Promise<void> {
  relay.removeAllListeners("exit");
  relay.kill("SIGTERM");
  await new Promise((resolve) => relay.once("exit", resolve));
  await standins.close();
  rmSync(data, { recursive: true, force: true });
}

function post(path: string, headers: Record<string, string>, body: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method: "POST", headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () => resolve(text));
    });
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const event = (fields: object) =>
  post("/__cc/inbound", { "X-CC-Api-Key": String(key), "Content-Type": "application/json" }, fields);

const browser = {
  "User-Agent":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Accept-Language": "en",
  "Sec-Fetch-Site": "same-origin",
  "Sec-CH-UA": '"Chromium";v="142", "Not_A Brand";v="99"',
  "Sec-CH-UA-Platform": '"Windows"',
  "Sec-CH-UA-Mobile": "?0",
};

/** What the tag would report of somebody who came by an advertisement. */
function visit(person: number, headers: Record<string, string> = browser): Promise<string> {
  const id = randomUUID();
  return post(
    "/__cc/identify",
    {
      Host: host,
      Origin: `https://${host}`,
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": `203.0.113.${person % 250}`,
      ...headers,
    },
    {
      emails: [sha256(`person${person}@customers.example`)],
      browser: [false, false, "Win32", 0, true],
      page: `https://${host}/landing`,
      params: {
        ...(person % 3 ? { gclid: `demo-gclid-${id}`, msclkid: randomUUID() } : {}),
        ...(person % 2 ? { fbclid: `demo-fbclid-${id}`, ttclid: `E.C.P.${id}`, ScCid: id } : {}),
        ...(person % 5
          ? { li_fat_id: randomUUID(), epik: `demo-${id}`, rdt_cid: `${person}000`, twclid: id }
          : {}),
        utm_source: ["google", "facebook", "newsletter"][person % 3],
        utm_campaign: "autumn",
      },
      cookies: { _fbp: `fb.1.1794297600000.${person}`, _ga: `GA1.1.${person}.1794297600` },
    },
  );
}

const names = ["purchase", "lead", "sign_up", "add_to_cart"];
const answers: string[] = [];
for (let person = 1; person <= 40; person++) {
  await visit(
    person,
    person % 10 === 0 ? { "User-Agent": "Mozilla/5.0 (compatible; SemrushBot/7~bl)" } : browser,
  );
  const sold = {
    email: `person${person}@customers.example`,
    event: names[person % names.length],
    orderId: `D-${1000 + person}`,
    value: 20 + person,
    currency: "EUR",
    ...(person === 7 ? { eventTime: new Date(Date.now() - 2 * 86_400_000).toISOString() } : {}),
  };
  if (person === 20) standins.of("meta").fault({ kind: "server_error", times: 3 });
  answers.push(await event(sold));
  if (person % 8 === 0) answers.push(await event(sold));
}
const count = (part: string) => answers.filter((answer) => answer.includes(part)).length;

console.log(`A relay with ${list.length} platforms, each connected to its stand-in, is running on ${origin}
  ${answers.length} events were sent: ${count('"filtered":true')} filtered as bots, ${count('"deduped":true')} duplicates.

Look at it:
  CLEANCAST_DATA=${data} npx cleancast event list
  CLEANCAST_DATA=${data} npx cleancast traffic bots
  curl ${standins.origins["meta"]}/__standin/log        (what a platform received)

Send one yourself:
  curl ${origin}/__cc/inbound -H 'X-CC-Api-Key: ${String(key)}' -H 'Content-Type: application/json' \\
    -d '{"email":"person1@customers.example","event":"purchase","orderId":"my-1","value":99,"currency":"EUR"}'

Ctrl-C ends it, and nothing is left.`);

if (values.once) {
  await stop();
} else {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop().then(() => process.exit(0)));
}
