// Compares the CPU time of a visit with that of another version: two relays, the same requests in turns, in one run.
//
//   npx node bench/visits.ts --before FOLDER      FOLDER holds the other version with its node_modules, such as an unpacked
//                                                 `git archive`, and is built; --rounds N, --visits N in a round
//
// Each version gets the reports that its own tag sends. A visit is a page view. One in four has a click id, one in eight submits an email. The second table adds what the tag's second part
// sends: its file is fetched once, and visits with a click id report their first input, unless they submit an email.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { personsHeaders } from "../test/support/visits.ts";
import { tableText } from "./report.ts";
import { cpuOf, keep } from "./support/processes.ts";
import { freshFolder } from "./support/relay.ts";

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    rounds: { type: "string", default: "60" },
    visits: { type: "string", default: "500" },
  },
});
if (!values.before) throw new Error("--before FOLDER names the version to compare with");

const host = "shop.example.test";
/** So many that none brings more ad clicks in a day than a person does. */
const addresses = 60_000;
const concurrency = 8;
/** Rounds before the first that counts. */
const warmUp = 10;
type Node = {
  pid: number;
  port: number;
  agent: Agent;
  /** What this version's tag reports of a person's browser. */
  browser: unknown;
  /** Visitors that got a cookie, which only people do. */
  people: number;
};

async function startVersion(folder: string): Promise<Node> {
  const program = join(folder, "bin/cleancast.mjs");
  const env = {
    PATH: process.env["PATH"] ?? "",
    CLEANCAST_DATA: freshFolder(),
    HOST: "127.0.0.1",
    PORT: "0",
    CLEANCAST_COLLECT_PER_MINUTE: "100000",
  };
  const run = (...args: string[]) => spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => run("site", "add", host).on("exit", resolve));
  const child = keep(run("serve"));
  let printed = "";
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on("data", (part: Buffer) => {
      printed += String(part);
      const found = /is running on https?:\/\/[^:]+:(\d+)/.exec(printed)?.[1];
      if (found) resolve(Number(found));
    });
    child.on("exit", () => reject(new Error(`the relay in ${folder} ended: ${printed}`)));
  });
  const samples = readFileSync(join(folder, "test/support/visits.ts"), "utf8");
  const browser: unknown = JSON.parse(/personsBrowser = (\[.*\]);/.exec(samples)?.[1] ?? "null");
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  return { pid: child.pid ?? 0, port, agent, browser, people: 0 };
}

function send(
  { port, agent }: Node,
  visitor: number,
  method: string,
  path: string,
  body?: object,
  cookie?: string,
): Promise<string> {
  const headers = {
    host,
    origin: `https://${host}`,
    "x-forwarded-proto": "https",
    "x-forwarded-for": `${90 + Math.floor(visitor / 40_000)}.${192 + (visitor % 50)}.${Math.floor(visitor / 250) % 250}.${visitor % 250}`,
    ...personsHeaders,
    ...(cookie ? { cookie } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", agent, method, path, headers }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve((answer.headers["set-cookie"]?.[0] ?? "").split(";", 1)[0] ?? ""));
      if ((answer.statusCode ?? 500) >= 400) reject(new Error(`${path} answered ${answer.statusCode}`));
    });
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

const use = [2, 92, 0, 0, 18, 85, 151, 12, 0, 0, false, false, 0, false, false, 66, 2];
let clicks = 0;

async function visit(node: Node, n: number, withSecondPart: boolean): Promise<void> {
  const visitor = n % addresses;
  const hasClick = n % 4 === 0;
  const page = {
    browser: node.browser,
    page: `https://${host}/`,
    referrer: "https://www.google.com",
    consent: {},
    cookies: {},
  };
  const id = createHash("md5").update(`${n}`).digest("base64url");
  const params = hasClick ? { gclid: `Cj0KCQ${(clicks += 1)}-${id}`, utm_source: "google" } : {};
  const body = { ...page, visitor: id, params };
  const cookie = await send(node, visitor, "POST", "/__cc/visit", body);
  if (cookie) node.people += 1;
  const submits = n % 8 === 0;
  if (withSecondPart && hasClick && !submits)
    await send(node, visitor, "POST", "/__cc/use", { browser: node.browser, use }, cookie);
  if (!submits) return;
  const emails = [createHash("sha256").update(`${n}`).digest("hex")];
  // No two people take the same time.
  const submit = [9000 + n, 24, false, ...(withSecondPart ? [use] : [])];
  await send(node, visitor, "POST", "/__cc/identify", { ...body, emails, submit }, cookie);
}

let sent = 0;
/**
 * Returns the milliseconds of CPU time that a thousand visits took, and those that the other relay took meanwhile without any: the
 * background work of a version is no part of its visits.
 */
async function measure(node: Node, other: Node, withSecondPart: boolean) {
  const count = Number(values.visits);
  let next = sent;
  const [busyFrom, idleFrom, from] = [cpuOf(node.pid), cpuOf(other.pid), performance.now()];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < sent + count) await visit(node, next++, withSecondPart);
    }),
  );
  const ms = performance.now() - from;
  // Microseconds for one are milliseconds for a thousand.
  return { took: (cpuOf(node.pid) - busyFrom) / count, ms, idleShare: (cpuOf(other.pid) - idleFrom) / 1000 / ms };
}

const median = (all: readonly number[]) => all.toSorted((one, other) => one - other)[all.length >> 1] ?? Number.NaN;
const own = fileURLToPath(new URL("../", import.meta.url));
const [before, now] = [await startVersion(values.before), await startVersion(own)];
await send(now, 1, "GET", "/__cc/use.js");
const rows: string[][] = [];
for (const withSecondPart of [false, true]) {
  const times: { before: number[]; now: number[] } = { before: [], now: [] };
  // Many short rounds, each version first in every other one: what else the machine does meets both alike.
  for (let round = -warmUp; round < Number(values.rounds); round++) {
    const measureBefore = () => measure(before, now, false);
    const measureNow = () => measure(now, before, withSecondPart);
    let [ofBefore, ofNow] = round % 2 === 0 ? [await measureBefore(), null] : [null, await measureNow()];
    ofNow ??= await measureNow();
    ofBefore ??= await measureBefore();
    sent += Number(values.visits);
    if (round >= 0) {
      const perThousand = (ms: number, idleShare: number) => (ms * idleShare * 1000) / Number(values.visits);
      times.before.push(ofBefore.took - perThousand(ofBefore.ms, ofNow.idleShare));
      times.now.push(ofNow.took - perThousand(ofNow.ms, ofBefore.idleShare));
    }
  }
  const ratios = times.now.map((time, round) => time / (times.before[round] ?? 1));
  const name = withSecondPart ? "with the reports of the second part" : "the same requests";
  rows.push([name, median(times.before).toFixed(0), median(times.now).toFixed(0), `${median(ratios).toFixed(2)} ×`]);
}
// A version that takes people for bots stores less, and would seem faster.
if (before.people !== now.people) throw new Error(`${before.people} visitors got a cookie before, ${now.people} do now`);
console.log(tableText({ head: ["CPU of 1,000 visits", "before, ms", "now, ms", "ratio"], rows }));
process.exit(0);
