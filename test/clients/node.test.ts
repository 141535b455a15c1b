// The parts of the Node client that other languages do not have: types, queue, fake, and runtimes without Node's modules.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Cleancast, CleancastError, type Conversion, type Refused } from "../../clients/node/cleancast.ts";
import { FakeCleancast } from "../../clients/node/fake.ts";
import { startPeer } from "./misbehavingPeer.ts";
import { buildNodeClient, root } from "./languages.ts";

const key = "cc_nodetest0123456789";
const conversion = (orderId: string): Conversion => ({
  email: "ada@example.com",
  event: "purchase",
  orderId,
});
const orderIdsOf = (text: string) => (JSON.parse(text) as { events: { orderId: string }[] }).events.map(({ orderId }) => orderId);

describe("the queue", () => {
  test("enqueued conversions leave in one batch, in order, when flush is called", async () => {
    const peer = await startPeer([{ accept: true }]);
    const client = new Cleancast({ url: peer.url, key, batchDelayMs: 60_000 });
    client.enqueue(conversion("1"));
    client.enqueue(conversion("2"));
    expect(peer.got).toEqual([]);
    expect(await client.flush()).toEqual({ accepted: 2, refused: 0 });
    expect(peer.got.map(({ text }) => orderIdsOf(text))).toEqual([["1", "2"]]);
  });

  test("enqueued conversions leave by themselves after the batch delay", async () => {
    const peer = await startPeer([{ accept: true }]);
    const client = new Cleancast({ url: peer.url, key, batchDelayMs: 1 });
    client.enqueue(conversion("1"));
    await expect.poll(() => peer.got.length, { timeout: 30_000 }).toBe(1);
    await client.flush();
  });

  test("a full batch leaves at once, and a flush waits for it too", async () => {
    const peer = await startPeer([{ accept: true }]);
    const client = new Cleancast({ url: peer.url, key, batchDelayMs: 60_000 });
    for (let i = 0; i < 501; i++) client.enqueue(conversion(`${i}`));
    expect(await client.flush()).toEqual({ accepted: 501, refused: 0 });
    expect(peer.got.map(({ text }) => orderIdsOf(text).length)).toEqual([500, 1]);
  });

  test("a change of the object after enqueue changes nothing", async () => {
    const peer = await startPeer([{ accept: true }]);
    const client = new Cleancast({ url: peer.url, key });
    const changing = conversion("before");
    client.enqueue(changing);
    changing.orderId = "after";
    await client.flush();
    expect(orderIdsOf(peer.got[0]?.text ?? "")).toEqual(["before"]);
  });

  test("each refused conversion is reported, also when the report of another throws", async () => {
    const peer = await startPeer([{ status: 403, body: { ok: false, error: "Inbound webhook not enabled" } }]);
    const reported: [unknown, number][] = [];
    const client = new Cleancast({
      url: peer.url,
      key,
      onRefused: (one: Conversion, { status }: Refused) => {
        reported.push([one.orderId, status]);
        if (one.orderId === "1") throw new Error("a mistake of the caller");
      },
    });
    client.enqueue(conversion("1"));
    client.enqueue(conversion("2"));
    expect(await client.flush()).toEqual({ accepted: 0, refused: 2 });
    expect(reported).toEqual([
      ["1", 403],
      ["2", 403],
    ]);
  });

  test("a full queue refuses a conversion instead of dropping one, and has space again after a flush", async () => {
    const peer = await startPeer([{ accept: true }]);
    const client = new Cleancast({ url: peer.url, key, maxQueue: 2, batchDelayMs: 60_000 });
    client.enqueue(conversion("1"));
    client.enqueue(conversion("2"));
    expect(() => client.enqueue(conversion("3"))).toThrow("the queue is full: 2 conversions are waiting");
    await client.flush();
    client.enqueue(conversion("3"));
    expect(await client.flush()).toEqual({ accepted: 1, refused: 0 });
  });

  test("a flush of an empty queue resolves with nothing", async () => {
    const client = new Cleancast({ url: "https://shop.example.com", key });
    expect(await client.flush()).toEqual({ accepted: 0, refused: 0 });
  });
});

describe("the arguments of the client", () => {
  test("a value that JSON would turn into null is refused by name", async () => {
    const client = new Cleancast({ url: "https://shop.example.com", key });
    const wrong = { ...conversion("1"), value: Number.NaN };
    await expect(client.send(wrong)).rejects.toThrow("value must be a finite number");
    await expect(client.sendBatch([wrong])).rejects.toThrow("value must be a finite number");
    expect(() => client.enqueue(wrong)).toThrow("value must be a finite number");
  });

  test.each(["timeoutMs", "budgetMs", "firstDelayMs", "batchDelayMs", "maxQueue"])("%s must be a positive number", (name) => {
    for (const value of [0, -1, Number.NaN])
      expect(() => new Cleancast({ url: "https://shop.example.com", key, [name]: value })).toThrow(
        `${name} must be a positive number`,
      );
  });

  test.each([
    ["", "/__cc/inbound"],
    ["/", "/__cc/inbound"],
    ["/__cc/inbound", "/__cc/inbound"],
    ["/__cc/inbound/", "/__cc/inbound"],
    ["/relay", "/relay/__cc/inbound"],
  ])("an address that ends with %j posts to %s", async (path, expected) => {
    const peer = await startPeer([{ accept: true }]);
    await new Cleancast({ url: peer.url + path, key }).send(conversion("1"));
    expect(peer.got.map((one) => one.path)).toEqual([expected]);
  });
});

describe("the fake", () => {
  test("the fake remembers accepted conversions, and answers a repeat of an order with deduped", async () => {
    const fake = new FakeCleancast();
    expect(await fake.send(conversion("1"))).toEqual({ ok: true, event: "purchase", results: {} });
    expect(await fake.send({ ...conversion("1"), email: " Ada@example.com" })).toEqual({
      ok: true,
      deduped: true,
    });
    fake.enqueue(conversion("2"));
    expect(await fake.flush()).toEqual({ accepted: 1, refused: 0 });
    expect(fake.accepted.map(({ orderId }) => orderId)).toEqual(["1", "2"]);
  });

  test("the fake refuses what a test asks it to refuse, and what the relay would refuse", async () => {
    const fake = new FakeCleancast();
    fake.refuseNext({ status: 503, error: "Overloaded, retry" });
    const refused = await fake.send(conversion("1")).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CleancastError);
    expect(refused).toMatchObject({ status: 503, retryable: true, message: "503 Overloaded, retry" });
    expect(await fake.sendBatch([{ email: " ", event: "purchase" }, conversion("1")])).toEqual([
      { ok: false, status: 400, error: "email or hashed_email required", retryable: false },
      { ok: true, event: "purchase", results: {} },
    ]);
  });
});

describe("the package", () => {
  let built: string;
  beforeAll(() => {
    built = buildNodeClient();
  });

  test("the compiled client imports only its own files, so it runs where Node's modules are missing", () => {
    const files = readdirSync(built).filter((name) => name.endsWith(".js"));
    expect(files.toSorted()).toEqual(["cleancast.js", "conversion.js", "delivery.js", "exchange.js", "fake.js"]);
    for (const name of files) {
      const code = readFileSync(join(built, name), "utf8").replaceAll(/\/\*[^]*?\*\/|^ *\/\/.*$/gm, "");
      const imports = [...code.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, target = ""]) => target);
      expect(imports.filter((target) => !/^\.\/\w+\.js$/.test(target))).toEqual([]);
      // Edge runtimes have no process, Buffer or require.
      expect(code).not.toMatch(/\b(?:process|Buffer|require|__dirname)\b/);
    }
  });

  test("TypeScript accepts a conversion from the compiled types, and refuses one without a person", () => {
    const check = (code: string) => {
      writeFileSync(join(built, "use.ts"), `import { Cleancast } from "./cleancast.js";\n${code}`);
      const options = ["--ignoreConfig", "--noEmit", "--strict", "--module", "nodenext", "--lib", "es2022,dom"];
      return spawnSync("npx", ["tsc", ...options, join(built, "use.ts")], { cwd: root, encoding: "utf8" });
    };
    const use = (fields: string) =>
      `export const sent = new Cleancast({ url: "https://a.example", key: "cc_a" }).send({ ${fields} });\n`;
    expect(check(use(`event: "lead", email: "ada@example.com"`)).stdout).toBe("");
    expect(check(use(`event: "lead"`)).stdout).toContain("use.ts(2,");
  });

  test("the package has no dependencies", () => {
    const manifest = JSON.parse(readFileSync(join(root, "clients/node/package.json"), "utf8")) as object;
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
  });
});
