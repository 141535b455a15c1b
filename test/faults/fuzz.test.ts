import { loadOf } from "../support/load.ts";
import { createConnection } from "node:net";
import { describe, expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { endToEndEngines, newInstallation, residentMb } from "../support/relay.ts";
import { randomFrom, type Random } from "./random.ts";
import { setUpSite } from "../support/installation.ts";

// CLEANCAST_FUZZ_SEED=… repeats the requests of an earlier run.
const seed = Number(process.env.CLEANCAST_FUZZ_SEED ?? Date.now() % 1_000_000_000);
const total = loadOf(3000);
const maxWaitMs = 5000;
const maxGrowthMb = 150;

const fieldNames = [
  "email",
  "hashed_email",
  "event",
  "value",
  "currency",
  "orderId",
  "firstName",
  "lastName",
  "phone",
  "eventTime",
];
const oddNames = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "\u0000", "length"];
const oddNumbers = [
  "1e400",
  "-1e400",
  "1e308",
  "5e-324",
  "-0",
  "0.1e-9999",
  "9007199254740993",
  "12345678901234567890123456789012345678901234567890",
  `1${"0".repeat(400)}`,
  `0.${"3".repeat(5000)}`,
  "01",
  "+1",
  ".5",
  "NaN",
  "Infinity",
  "0x10",
];
const oddTexts = [
  "",
  " ",
  "\\u0000",
  "a\\u0000b@example.com",
  "\\ud800",
  "\\udc00\\ud800",
  "\\ud83d\\ude00",
  "\\uFEFF",
  "\\u2028",
  "\\u202e@example.com",
  "ada@example.com\\r\\nX-Injected: 1",
  "'; DROP TABLE events; --",
  "$1",
  "{{email}}",
  "%s%n%00",
  "${jndi:ldap://x}",
  "ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ",
  "İ",
  "e\\u0301".repeat(200),
  "@",
  "@@@@",
  "a@b",
  '\\"@example.com',
  `${"a".repeat(300)}@${"b.".repeat(100)}c`,
  `${"a.".repeat(250)}@example.com`,
  "+".repeat(500),
  "0".repeat(64),
  "G".repeat(64),
  "00".repeat(250),
  "+49 (0) 1512 / 345 67 89 ext. 12",
  ";ext=".repeat(90),
  "2024-02-30T25:61:61Z",
  "2024-01-01T00:00:00.999999999+99:99",
  "-271821-04-20",
  "1".repeat(400),
];

/** Writes a JSON value as text: often unusual, sometimes not JSON at all. */
function randomValue(random: Random, depth = 0): string {
  switch (random.below(depth > 3 ? 7 : 10)) {
    case 0:
      return random.pick(["true", "false", "null"]);
    case 1:
      return random.pick(oddNumbers);
    case 2:
      return String(random.next() * 10 ** random.below(20));
    case 3:
    case 4:
      return `"${random.pick(oddTexts)}"`;
    case 5:
      return `"${"x".repeat(random.below(random.pick([10, 600, 70_000])))}"`;
    case 6:
      return deeplyNested(random);
    case 7:
      return `[${Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1)).join()}]`;
    case 8:
      return randomObject(random, depth + 1);
    default:
      return JSON.stringify(random.bytes(random.below(30)).toString("latin1"));
  }
}

function deeplyNested(random: Random): string {
  const depth = random.pick([10, 1000, 5000, 10_000, 30_000]);
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['{"__proto__":', "}"],
  ] as const);
  const possible = Math.min(depth, Math.floor(60_000 / (open.length + close.length)));
  return open.repeat(possible) + (open === "[" ? "" : "1") + close.repeat(possible);
}

function randomObject(random: Random, depth: number): string {
  const names = Array.from({ length: random.below(6) }, () => random.pick([...fieldNames, ...oddNames]));
  return `{${names.map((name) => `${JSON.stringify(name)}:${randomValue(random, depth)}`).join()}}`;
}

/** Writes a valid event with some fields replaced, repeated or added. */
function spoiledEvent(random: Random): string {
  const fields = [
    ["email", `"p${random.below(1e9)}@example.com"`],
    ["event", '"purchase"'],
    ["orderId", `"${random.below(1e9)}"`],
  ];
  for (let n = random.below(4); n >= 0; n -= 1) {
    fields.push([random.pick([...fieldNames, ...fieldNames, ...oddNames]), randomValue(random)]);
  }
  // These fields have their own reader for numbers.
  if (random.below(4) === 0) fields.push([random.pick(["orderId", "phone"]), random.pick(oddNumbers)]);
  if (random.below(4) === 0) fields.push(["more", deeplyNested(random)]);
  return `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`;
}

function randomBody(random: Random): Buffer {
  switch (random.below(8)) {
    case 0:
      return Buffer.from(randomValue(random));
    case 1:
      return random.bytes(random.below(200));
    case 2: {
      // Cut somewhere, also in the middle of a character.
      const whole = Buffer.from(spoiledEvent(random).replace("purchase", "kauf-ä-€-😀"));
      return whole.subarray(0, random.below(whole.length));
    }
    case 3: {
      const whole = Buffer.from(spoiledEvent(random));
      whole[random.below(whole.length)] = random.pick([0xff, 0xc0, 0x80, 0x00, 0xed, 0xf5]);
      return whole;
    }
    case 4:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(spoiledEvent(random))]);
    default:
      return Buffer.from(spoiledEvent(random));
  }
}

/** `whole`: the request has a valid end, so the relay must answer while the sender keeps the connection open. */
type Request = { bytes: Buffer; whole: boolean };

/** Writes a request as bytes; `key` is the site's own. */
function randomRequest(random: Random, key: string): Request {
  const content = randomBody(random);
  const good = random.below(3) > 0;
  let whole = true;
  const odd = <T>(usual: T, from: readonly T[]): T => (good || random.below(4) ? usual : random.pick(from));
  /** Like `odd`, for parts without which HTTP cannot find the end of the request. */
  const broken = <T>(usual: T, from: readonly T[]): T => {
    const chosen = odd(usual, from);
    if (chosen !== usual) whole = false;
    return chosen;
  };
  const method = broken("POST", ["GET", "PUT", "OPTIONS", "TRACE", "CONNECT", "post", "PURGE", "P\u0000ST", ""]);
  const path = odd("/__cc/inbound", [
    "/__cc/inbound?x=%",
    "/__cc/inbound/",
    "//__cc/inbound",
    "/__cc/%69nbound",
    "/__cc/%zz",
    "*",
    "http://other.example.com/__cc/inbound",
    `/${"x".repeat(20_000)}`,
    "/__cc/inbound#x",
    "",
  ]);
  const version = broken("HTTP/1.1", ["HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "HTP/1.1", ""]);
  const headers = [
    odd("Host: shop.example.com", [
      "",
      "Host:",
      "Host: 127.0.0.1",
      "Host: [::1]:80",
      "Host: shop.example.com:99999",
      "Host: other.example.com",
      `Host: ${"h".repeat(2000)}`,
      "Host: a b",
      "Host: \u00e9\u00ff",
      "Host: ..",
      "Host: x\r\nHost: y",
    ]),
    odd(`X-CC-Api-Key: ${key}`, [
      "",
      "X-CC-Api-Key:",
      `X-CC-Api-Key: ${"k".repeat(15_000)}`,
      `X-CC-Api-Key: ${"k".repeat(40_000)}`,
      `X-CC-Api-Key: ${key}\r\nX-CC-Api-Key: ${key}`,
      `X-CC-Api-Key: ${key}\u00ff`,
      `X-CC-Api-Key: \t ${key} \t`,
      "X-CC-Api-Key: __proto__",
    ]),
    odd("Content-Type: application/json", [
      "",
      "Content-Type:",
      "Content-Type: APPLICATION/JSON; charset=utf-16; x=",
      "Content-Type: application/json, text/plain",
      "Content-Type: ;",
      "Content-Type: multipart/form-data; boundary=",
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Type: application/json; ${"x".repeat(5000)}`,
      "Content-Type: \u00ff/\u00fe",
    ]),
    broken("Connection: close", ["Connection: Upgrade\r\nUpgrade: websocket", "Connection: keep-alive", ""]),
    odd("Accept: */*", [
      "Expect: 100-continue",
      "Expect: 42-whatever",
      "Content-Encoding: gzip",
      "X-Forwarded-Proto: https",
      "X-Forwarded-Proto: gopher,,https",
      'Forwarded: proto="https',
      "No colon here",
      " folded: header",
      `Cookie: ${"c=d; ".repeat(2000)}`,
    ]),
  ];
  const chunked = random.below(5) === 0;
  const framing = chunked
    ? broken("Transfer-Encoding: chunked", [
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: \u000bchunked",
        `Transfer-Encoding: chunked\r\nContent-Length: ${content.length}`,
      ])
    : broken(`Content-Length: ${content.length}`, [
        `Content-Length: ${content.length + 50}`,
        "Content-Length: -1",
        "Content-Length: 1e3",
        "Content-Length: 99999999999999999999999",
        `Content-Length: ${content.length}\r\nContent-Length: 3`,
        "Content-Length: 0",
        "",
      ]);
  const head = [`${method} ${path} ${version}`, ...headers, framing].filter(Boolean).join("\r\n");
  const payload = chunked ? inChunks(random, content) : { bytes: content, whole: true };
  return {
    bytes: Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), payload.bytes]),
    whole: whole && payload.whole,
  };
}

function inChunks(random: Random, content: Buffer): Request {
  const parts: Buffer[] = [];
  let whole = true;
  for (let at = 0; at < content.length;) {
    const part = content.subarray(at, at + 1 + random.below(9000));
    at += part.length;
    let size = part.length.toString(16);
    if (random.below(40) === 0) {
      size = random.pick(["zz", "-5", "ffffffffffffffffff", ""]);
      whole = false;
    }
    parts.push(Buffer.from(`${size}\r\n`), part, Buffer.from("\r\n"));
  }
  if (random.below(20) > 0) parts.push(Buffer.from("0\r\n\r\n"));
  else whole = false;
  return { bytes: Buffer.concat(parts), whole };
}

type Reply = { text: string; ended: boolean };

/**
 * Sends the bytes unchanged and returns everything until the relay closed the connection. The sender of an incomplete request
 * gives up; that of a whole one waits for its answer.
 */
function exchange(port: number, { bytes, whole }: Request): Promise<Reply> {
  return new Promise((resolve) => {
    let text = "";
    const socket = createConnection({ port, host: "127.0.0.1", allowHalfOpen: true });
    const givesUp = whole ? undefined : setTimeout(() => socket.end(), 500);
    const finish = (ended: boolean) => {
      clearTimeout(timer);
      clearTimeout(givesUp);
      socket.destroy();
      resolve({ text, ended });
    };
    const timer = setTimeout(() => finish(false), maxWaitMs);
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      // The final answer has arrived.
      if (text.replace("HTTP/1.1 100 Continue\r\n\r\n", "").includes("\r\n\r\n")) socket.end();
    });
    socket.on("end", () => finish(true));
    socket.on("close", () => finish(true));
    socket.on("error", () => finish(true));
    socket.write(bytes);
  });
}

describe.each(endToEndEngines)(`fuzzed requests on %s (seed ${seed})`, (engine) => {
  test(`${total} fuzzed requests cause no 5xx and no hang, and good events still pass`, { timeout: 900_000 }, async () => {
    // oxlint-disable-next-line no-console -- needed to repeat a failure
    console.log(`fuzz seed: ${seed}`);
    const random = randomFrom(seed);
    const home = await newInstallation(engine);
    const receiver = await startReceiver();
    const { key } = await setUpSite(home, [
      ["webhook", { url: receiver.url }],
      ["sandbox", {}],
    ]);
    const relay = await home.start();
    const port = Number(new URL(relay.url).port);

    const faults: string[] = [];
    const statuses = new Map<string, number>();
    let sent = 0;
    let residentAfterWarmUp = 0;
    const send = async () => {
      while (sent < total && faults.length === 0) {
        sent += 1;
        if (sent === total / 5) residentAfterWarmUp = residentMb(relay);
        const drawn = randomRequest(random, key);
        const { text, ended } = await exchange(port, drawn);
        const found = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => match[1] as string);
        for (const status of found) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const { bytes, whole } = drawn;
        const shown = `${bytes.subarray(0, 700).toString("latin1")}\n…${bytes.length} bytes\n→ ${text.slice(0, 300)}`;
        if (whole && found.length === 0) faults.push(`closed without an answer: ${shown}`);
        if (!ended) faults.push(`no answer within ${maxWaitMs} ms: ${shown}`);
        if (found.some((status) => status.startsWith("5"))) faults.push(`a 5xx: ${shown}`);
      }
    };
    await Promise.all(Array.from({ length: 16 }, send));
    expect(faults).toEqual([]);
    expect(sent).toBe(total);
    // Enough requests pass the first checks to exercise the code behind them.
    expect(statuses.get("200")).toBeGreaterThan(total / 20);
    expect(statuses.get("400")).toBeGreaterThan(total / 20);
    expect(residentMb(relay) - residentAfterWarmUp).toBeLessThan(maxGrowthMb);

    const answer = await relay.post(key, { email: "ada@example.com", event: "purchase", orderId: "good" });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      ok: true,
      event: "purchase",
      results: { webhook: { ok: true }, sandbox: { ok: true } },
    });
    expect(receiver.bodies().filter((one) => one.orderId === "good")).toEqual([
      expect.objectContaining({ clickIds: {}, utm: {} }),
    ]);
    expect(await relay.stop()).toBe(0);
    // The log has no errors either.
    expect(
      relay
        .output()
        .split("\n")
        .filter((line) => line.includes('"level":50')),
    ).toEqual([]);
  });
});
