// The key step: the life cycle of keys, and the limit for wrong keys.

import { beforeAll, describe, expect, test } from "vitest";
import { change } from "../support/installation.ts";
import {
  call,
  endToEndEngines,
  eventually,
  newInstallation,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";
import { accepted, deduped, freshEvent, jsonError, summarize } from "./answers.ts";

const invalidKey = jsonError(401, "Invalid API key");
const tooMany = jsonError(429, "Too many failed authentication attempts");

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const wrongKey = (i: number) => `cc_${String(i).padStart(38, "0")}`;

function withoutKey(relay: Relay, host: string) {
  const headers = { Host: host, "Content-Type": "application/json" };
  return call(relay.url, { headers, body: JSON.stringify(freshEvent()) });
}

type NewKey = { id: string; key: string };

describe.each(endToEndEngines)("inbound keys on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let shop: TestSite;
  let other: TestSite;
  let guessed: TestSite;
  let counted: TestSite;
  let revoked: NewKey;
  let expired: NewKey;
  let compromised: NewKey;
  let rotated: NewKey;
  let rotation: NewKey & { oldExpiresAt: number };
  let testKey: NewKey;

  const send = (key: string, host: string) => relay.post(key, freshEvent(), { Host: host });

  beforeAll(async () => {
    home = await newInstallation(engine);
    shop = await home.addSite("shop.example");
    other = await home.addSite("other.example");
    guessed = await home.addSite("guessed.example");
    counted = await home.addSite("counted.example");
    const add = (name: string, ...options: string[]): Promise<NewKey> => home.run("key", "add", "shop.example", name, ...options);
    compromised = await add("compromised");
    testKey = await add("try", "--test");
    revoked = await add("revoked");
    await home.run("key", "remove", revoked.id);
    rotated = await add("rotated");
    rotation = await home.run("key", "rotate", rotated.id);
    expired = await add("expired", "--expires", inSeconds(3600));
    await change(home, `UPDATE inbound_keys SET expires_at = ${Date.now() - 1} WHERE id = '${expired.id}'`);
    relay = await home.start();
  });

  test.each<[string, () => string]>([
    ["a text that is no key", () => "secret"],
    ["a key that was never created", () => wrongKey(1)],
    ["the beginning of a key", () => other.key.slice(0, -1)],
    ["a key with a character appended", () => `${other.key}0`],
    ["a key in another case", () => other.key.toLowerCase()],
    ["a live key that claims to be a test key", () => other.key.replace("cc_", "cc_test_")],
    ["a management API key", () => `ccm_${"a".repeat(38)}`],
    ["a bearer token", () => `Bearer ${other.key}`],
    ["a list of keys", () => `${other.key}, ${other.key}`],
    ["a revoked key", () => revoked.key],
    ["an expired key", () => expired.key],
  ])("%s is answered 401", async (what, key) => {
    // Each case has its own host, because wrong keys are counted by host.
    const host = `${what.replaceAll(/\W+/g, "-")}.example`;
    expect(summarize(await send(key(), host))).toEqual(invalidKey);
  });

  test("the key of another site is answered 401", async () => {
    expect(summarize(await send(other.key, "shop.example"))).toEqual(invalidKey);
  });

  test("a key is only read from its header", async () => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${other.key}` };
    const body = JSON.stringify(freshEvent({ "X-CC-Api-Key": other.key, apiKey: other.key }));
    const path = `/__cc/inbound?X-CC-Api-Key=${other.key}`;
    expect(summarize(await call(relay.url, { path, headers, body }))).toEqual(invalidKey);
  });

  test.each(["text/plain", "application/xml", "nonsense", "/", ";", "application/json; charset"])(
    "the key is checked before the content type %s",
    async (type) => {
      const headers = { Host: `${type.length}.example`, "X-CC-Api-Key": wrongKey(2), "Content-Type": type };
      expect(summarize(await call(relay.url, { headers, body: "no JSON" }))).toEqual(invalidKey);
    },
  );

  test("the key is checked before the size of the body", async () => {
    const headers = {
      Host: "large.example",
      "X-CC-Api-Key": wrongKey(2),
      "Content-Type": "application/json",
    };
    expect(summarize(await call(relay.url, { headers, body: "x".repeat(70_000) }))).toEqual(invalidKey);
  });

  test("the tenth wrong key on a host is answered 429, the nine before it 401", async () => {
    const { host, key } = guessed;
    // A missing or empty header never counts as a wrong key.
    for (let i = 0; i < 11; i += 1) expect(summarize(await withoutKey(relay, host))).toEqual(invalidKey);
    expect(summarize(await send("", host))).toEqual(invalidKey);

    // Every kind of invalid key counts.
    const wrong = [revoked.key, expired.key, other.key, `ccm_${"a".repeat(38)}`, "secret"];
    for (let i = 0; i < 9; i += 1) {
      expect([i, summarize(await send(wrong[i] ?? wrongKey(i), host))]).toEqual([i, invalidKey]);
    }
    for (const one of [wrongKey(10), wrongKey(11), revoked.key]) {
      const answer = await send(one, host);
      expect(summarize(answer)).toEqual(tooMany);
      expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
      const seconds = Number(answer.headers["retry-after"]);
      expect(seconds).toBeGreaterThan(15 * 60 - 30);
      expect(seconds).toBeLessThanOrEqual(15 * 60);
    }

    // During the lock a missing key is still answered 401, a valid key passes, and no other host is locked.
    expect(summarize(await withoutKey(relay, host))).toEqual(invalidKey);
    expect(summarize(await send(key, host))).toEqual(accepted("purchase"));
    expect(summarize(await send(wrongKey(12), "unguessed.example"))).toEqual(invalidKey);

    // The doctor reports the lock.
    const { ok, findings } = await home.run("doctor", "--offline");
    expect(ok).toBe(false);
    expect(findings).toContainEqual({
      level: "error",
      what: expect.stringMatching(/^guessed\.example: too many wrong keys; requests with a wrong key get 429 until \d{4}-/),
      remedy: expect.stringContaining("Valid keys still work."),
    });
  });

  test("a key that was added a moment ago works at once, also the first of a site", async () => {
    for (const host of ["first.example", "second.example", "third.example", "fourth.example"]) {
      await home.run("site", "add", host);
      const { key }: NewKey = await home.run("key", "add", host, "new");
      expect([host, summarize(await send(key, host))]).toEqual([host, accepted("purchase")]);
    }
  });

  test("nine of several simultaneous wrong keys are answered 401, the others 429", async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => send(wrongKey(i), "flood.example")));
    const counts = Object.groupBy(answers, ({ status }) => status);
    expect([counts[401]?.length, counts[429]?.length]).toEqual([9, 16]);
  });

  test("a revoked key is refused without a restart, and the site's other keys are not", async () => {
    const host = "shop.example";
    expect(summarize(await send(compromised.key, host))).toEqual(accepted("purchase"));
    await home.spawn("key", "remove", compromised.id);
    await eventually("the key is refused", async () => (await send(compromised.key, host)).status !== 200);
    expect(summarize(await send(compromised.key, host))).toEqual(invalidKey);
    expect(summarize(await send(shop.key, host))).toEqual(accepted("purchase"));
  });

  test("a rotated key works for another day together with the new one", async () => {
    expect(rotation).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^cc_[0-9A-Za-z]{38}$/),
      oldExpiresAt: expect.any(Number),
    });
    const leftHours = (rotation.oldExpiresAt - Date.now()) / 3_600_000;
    expect(leftHours).toBeGreaterThan(23);
    expect(leftHours).toBeLessThanOrEqual(24);
    expect(rotation.id).not.toBe(rotated.id);
    expect(rotation.key).not.toBe(rotated.key);
    for (const key of [rotated.key, rotation.key]) {
      expect(summarize(await send(key, "shop.example"))).toEqual(accepted("purchase"));
    }
    const { items: keys } = await home.run("key", "list", "shop.example");
    const states = keys.map((one: Record<string, unknown>) => [one.id, one.name, one.state, one.expiresAt]);
    expect(states).toContainEqual([rotated.id, "rotated", "active", rotation.oldExpiresAt]);
    expect(states).toContainEqual([rotation.id, "rotated", "active", null]);
  });

  test("a test key has its own prefix, and its events are never duplicates of live ones", async () => {
    expect(testKey.key).toMatch(/^cc_test_[0-9A-Za-z]{38}$/);
    const event = freshEvent();
    expect(summarize(await relay.post(testKey.key, event))).toEqual(accepted("purchase"));
    expect(summarize(await relay.post(shop.key, event))).toEqual(accepted("purchase"));
    expect(summarize(await relay.post(testKey.key, event))).toEqual(deduped);
    expect(summarize(await relay.post(shop.key, event))).toEqual(deduped);
  });

  test("the list of keys shows their use and never the key itself", async () => {
    const { key, host } = counted;
    for (let i = 0; i < 2; i += 1) await send(key, host);
    const list = () => home.run("key", "list", host);
    await eventually("the uses are counted", async () => (await list()).items[0].uses24h === 2);
    const { items: keys } = await list();
    expect(keys).toEqual([
      {
        id: expect.any(String),
        name: "test sender",
        mode: "live",
        prefix: key.slice(0, 8),
        state: "active",
        createdAt: expect.any(Number),
        lastUsedAt: expect.any(Number),
        uses24h: 2,
        expiresAt: null,
        revokedAt: null,
      },
    ]);
    expect(Math.abs(keys[0].lastUsedAt - Date.now())).toBeLessThan(3_600_000);
    expect(JSON.stringify(keys)).not.toContain(key);
  });

  test("a key works until it expires, and is refused from then on", async () => {
    // Long enough for a slow machine to create and use the key.
    const expiresAt = Date.now() + 15_000;
    const name = ["shop.example", "expiring", "--expires", new Date(expiresAt).toISOString()];
    const { key }: NewKey = await home.run("key", "add", ...name);
    await eventually("the key is known", async () => (await send(key, "shop.example")).status === 200);
    await eventually("the key expires", () => Date.now() >= expiresAt);
    expect(summarize(await send(key, "late.example"))).toEqual(invalidKey);
  });
});

describe("two nodes on one PostgreSQL", () => {
  test("two nodes count wrong keys together, and both refuse a revoked key", async () => {
    const home = await newInstallation("postgres");
    const { key } = await home.addSite("shop.example");
    const { id, key: leaked } = await home.run("key", "add", "shop.example", "leaked");
    const nodes = await Promise.all([home.start(), home.start()]);
    const send = (node: number, given: string) => (nodes[node % 2] as Relay).post(given, freshEvent(), { Host: "shop.example" });

    for (let i = 0; i < 9; i += 1) expect([i, summarize(await send(i, wrongKey(i)))]).toEqual([i, invalidKey]);
    for (let i = 9; i < 13; i += 1) expect([i, summarize(await send(i, wrongKey(i)))]).toEqual([i, tooMany]);
    for (const node of [0, 1]) expect(summarize(await send(node, key))).toEqual(accepted("purchase"));

    expect(summarize(await send(0, leaked))).toEqual(accepted("purchase"));
    await home.run("key", "remove", id);
    await eventually("both nodes refuse the key", async () => {
      const answers = await Promise.all([send(0, leaked), send(1, leaked)]);
      return answers.every(({ status }) => status === 429);
    });
  });
});
