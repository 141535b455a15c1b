// Requests that do not come from the tag: floods from other origins and of junk are refused cheaply, and nothing is stored.

import { loadOf } from "../support/load.ts";
import { Agent, request } from "node:http";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { hashEmail } from "../support/person.ts";
import { residentMb } from "../support/relay.ts";
import { inChromium, newVisitor } from "./chromium.ts";
import { pageWith } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";

const agent = new Agent({ keepAlive: true, maxSockets: 32 });
const flood = loadOf(9000);

let stage: Stage;
let address = 0;

beforeAll(async () => {
  // The default limit per address applies.
  stage = await setUpStage({ env: { CLEANCAST_COLLECT_PER_MINUTE: "" } });
});

// Each test uses its own address, so that the rate limit of one does not affect another.
beforeEach(() => {
  address += 1;
});

type Sent = { endpoint?: string; headers?: Record<string, string>; body?: string | Buffer };
type Answer = { status: number; cookie: string | undefined };

function send({ endpoint = "identify", headers = {}, body = "" }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(`/__cc/${endpoint}`, stage.relay.url),
      {
        method: "POST",
        agent,
        headers: {
          host: "shop.example.test",
          origin: "https://shop.example.test",
          "content-type": "text/plain;charset=UTF-8",
          "x-forwarded-proto": "https",
          "x-forwarded-for": `198.51.100.${address}`,
          "content-length": String(Buffer.byteLength(body)),
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.on("end", () => resolve({ status: response.statusCode ?? 0, cookie: response.headers["set-cookie"]?.[0] }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const honest = JSON.stringify({
  consent: {},
  params: { gclid: "Attack" },
  cookies: { _fbp: "fb.1.Attack" },
  page: "https://shop.example.test/",
  referrer: "",
  emails: [hashEmail("victim@customers.example")],
});

/** Counts the answers by status. */
async function floodWith(make: (i: number) => Sent, total = flood): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < total; i = next++) {
      const { status, cookie } = await send(make(i));
      counts[status] = (counts[status] ?? 0) + 1;
      expect(cookie).toBeUndefined();
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return counts;
}

const rowCount = async () => Object.values(await stage.stored()).flat().length;

test("a valid report is accepted", async () => {
  const { status, cookie } = await send({ body: honest.replaceAll("victim", "honest") });
  expect(status).toBe(204);
  expect(cookie).toMatch(/^__cc_v=/);
  expect(await rowCount()).toBe(2);
});

test("thousands of reports from another origin are refused, nothing is stored, and memory stays flat", async () => {
  const rows = await rowCount();
  const foreign: Record<string, string>[] = [
    { origin: "https://attacker.test" },
    { origin: "https://shop.example.test.attacker.test" },
    { origin: "https://notshop.example.test" },
    { origin: "http://shop.example.test" },
    { origin: "null" },
    { origin: "https://shop.example.test", "sec-fetch-site": "cross-site" },
    { origin: "null", "sec-fetch-site": "cross-site" },
    { origin: "junk" },
  ];
  // The first requests let the process allocate memory that later ones reuse.
  await floodWith((i) => ({ headers: { ...foreign[i % foreign.length] }, body: honest }), 2000);
  const before = residentMb(stage.relay);
  const counts = await floodWith((i) => ({
    endpoint: ["identify", "visit", "consent"][i % 3] as string,
    headers: { ...foreign[i % foreign.length], "x-forwarded-for": `10.${i % 250}.${i % 7}.9` },
    body: honest,
  }));
  expect(counts).toEqual({ 403: flood });
  expect(await rowCount()).toBe(rows);
  expect(residentMb(stage.relay) - before).toBeLessThan(32);
}, 600_000);

test("thousands of reports of junk are refused, nothing is stored, and memory stays flat", async () => {
  const rows = await rowCount();
  const junk: (string | Buffer)[] = [
    "",
    "{",
    "null",
    "[]",
    "7",
    '"text"',
    "<xml/>",
    Buffer.from([0xff, 0xfe, 0x00, 0x7b]),
    "[".repeat(8000),
    `{"emails":`,
    "x".repeat(9000),
  ];
  const before = residentMb(stage.relay);
  const counts = await floodWith((i) => ({
    body: junk[i % junk.length] as string,
    // Half of the requests come from one address, which soon gets 429, and half from many.
    headers: i % 2 ? { "x-forwarded-for": `10.${i % 251}.${i % 241}.${i % 239}` } : {},
  }));
  expect(
    Object.keys(counts)
      .map(Number)
      .toSorted((a, b) => a - b),
  ).toEqual([400, 413, 429]);
  // 600 pass in a minute, and the flood may span two minutes.
  expect(counts[429]).toBeGreaterThanOrEqual(flood / 2 - 1200);
  expect(await rowCount()).toBe(rows);
  expect(residentMb(stage.relay) - before).toBeLessThan(32);
}, 600_000);

test("a report without a valid value stores nothing and sets no cookie", async () => {
  const rows = await rowCount();
  const empty = [
    {},
    { visitor: "0123456789012345678901" },
    { emails: ["ada@customers.example"] },
    { emails: [hashEmail("x").toUpperCase()] },
    { emails: hashEmail("x") },
    { emails: Array(5).fill(hashEmail("x")) },
    { params: { gclid: "x".repeat(2049), utm_source: "x".repeat(257), password: "secret", __proto__: "x" } },
    { params: ["gclid"], cookies: { session: "secret", _fbp: 7, _fbc: "x\u0000y" } },
    { consent: { own: "maybe", other: "denied" } },
  ];
  for (const one of empty) {
    expect(await send({ body: JSON.stringify(one) })).toEqual({ status: 204, cookie: undefined });
  }
  expect(await rowCount()).toBe(rows);
});

test("a page that hides its origin is accepted when the browser reports the same origin", async () => {
  const body = honest.replace("Attack", "Hidden");
  const own = { origin: "null", "sec-fetch-site": "same-origin" };
  expect((await send({ headers: own, body })).status).toBe(204);
  for (const site of ["same-site", "cross-site", "none"])
    expect((await send({ headers: { origin: "null", "sec-fetch-site": site }, body })).status).toBe(403);
});

test("a visit sent together with a refusal leaves nothing, whichever of them is handled first", async () => {
  const rows = async () => {
    const { visitors, identities } = await stage.stored();
    return visitors.length + identities.length;
  };
  const before = await rows();
  for (let i = 0; i < 40; i += 1) {
    const visitor = `Race${String(i).padStart(18, "0")}`;
    const visit = JSON.stringify({ visitor, consent: {}, params: { gclid: `Race-${i}` } });
    const refusal = JSON.stringify({ visitor, consent: { own: "denied" } });
    const both = [
      { endpoint: "visit", body: visit },
      { endpoint: "consent", body: refusal },
    ];
    await Promise.all((i % 2 ? both : both.toReversed()).map(send));
  }
  expect(await rows()).toBe(before);
  const { consents } = await stage.stored();
  expect(consents.filter((one) => one.subject.startsWith("Race") && one.state === "denied")).toHaveLength(40);
});

inChromium("a foreign page", () => {
  test("a foreign page that loads the tag or calls its endpoints changes nothing, although the visitor is known", async () => {
    const { site } = stage;
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    site.pages["/own"] = pageWith(site.tagLine, "");
    site.pages["/foreign"] = pageWith(`<script async src="${site.origin}/__cc/tag.js"></script>`, "");
    await page.goto(`${site.origin}/own?gclid=Own`);
    await site.waitForReports("visit", 1);
    const before = JSON.stringify(await stage.stored());

    site.clearRecorded();
    const foreign = site.origin.replace("shop.example.test", "attacker.test");
    await page.goto(`${foreign}/foreign?gclid=Foreign`);
    await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await page.evaluate(async (home) => {
      type Api = { identifyEmail(email: string): Promise<boolean>; consent(decision: string): void };
      const { cc } = window as unknown as { cc: Api };
      await cc.identifyEmail("victim@customers.example");
      cc.consent("denied");
      const body = JSON.stringify({ consent: { own: "denied" }, params: { gclid: "Foreign" } });
      for (const credentials of ["include", "omit"] as const)
        await fetch(`${home}/__cc/consent`, { method: "POST", body, mode: "no-cors", credentials });
    }, site.origin);
    await site.waitForReports("visit", 1);
    await site.waitForReports("identify", 1);
    const reports = ["visit", "identify", "consent"].flatMap((endpoint) => site.reports(endpoint));
    expect(reports.length).toBeGreaterThanOrEqual(4);
    expect(new Set(reports.map((one) => one.answer?.status))).toEqual(new Set([403]));
    expect(reports.filter((one) => one.headers.cookie !== undefined)).toEqual([]);
    expect(JSON.stringify(await stage.stored())).toBe(before);
    await visitor.close();
  });
});
