import { describe, expect, test } from "vitest";
import type { Conversion, Item } from "../../kernel/event.ts";
import { clickIds } from "../../identity/clickIds.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { sampleConversion, sha256, withheld } from "../shared/sample.ts";
import { skipOf } from "../shared/skips.ts";
import { segment } from "./index.ts";

const settings = { source: "acme/website", write_key: "EXAMPLE-WRITE-KEY" };

type Track = Record<string, unknown> & {
  properties: Record<string, unknown>;
  context: Record<string, Record<string, unknown>>;
};
const request = (changes: Partial<Conversion> = {}, given: Record<string, string> = {}, at = now) =>
  segment.toRequest([sampleConversion(changes)], { ...settings, ...given }, at);
const track = (changes: Partial<Conversion> = {}, given: Record<string, string> = {}) =>
  (JSON.parse(request(changes, given).body) as { batch: Track[] }).batch[0] ?? expect.unreachable("no event");
const { read: readAll, settingFault } = platformFixture(segment, settings);
const read = (status: number, headers: Record<string, string> = {}) => readAll({ status, headers })[0];

describe("click ids", () => {
  test("Segment receives every click id that is captured", () => {
    expect(segment.ids).toEqual(clickIds.map(({ name }) => name));
  });
});

describe("ids", () => {
  test("the message id is the same on every attempt and different for every source", () => {
    const id = (given: Record<string, string> = {}) => track({}, given).messageId as string;
    const others = [id(), id({ source: "acme/app" }), id({ region: "eu" }), id({ base_url: "https://rudder.example.com" })];
    expect(new Set(others).size).toBe(others.length);
    expect(id({ write_key: "rotated" })).toBe(id());
    for (const one of others) {
      expect(one).toMatch(/:0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901$/);
      expect(one.length).toBeLessThanOrEqual(100);
    }
  });

  test("every event has a person's id: the same for all events of a person, another after an opt-out", () => {
    const first = track({ platformEventId: "1" }).anonymousId;
    expect(track({ platformEventId: "2" }).anonymousId).toBe(first);
    expect(track({ person: { emailSha256: sha256("b".repeat(64)) } }).anonymousId).not.toBe(first);
    expect(track({ ...withheld, platformEventId: "1" }).anonymousId).toBe("cc_1");
    expect(first).not.toContain(sampleConversion().person?.emailSha256?.slice(0, 16));
  });

  test("mapped ids win over generated ones", () => {
    const given = { "map.userId": "extra.user", "map.anonymousId": "extra.browser" };
    const user = track({ extra: { user: "u_42" } }, given);
    expect(user.userId).toBe("u_42");
    expect(user).not.toHaveProperty("anonymousId");
    expect(track({ extra: { user: 42, browser: "an_9" } }, given)).toMatchObject({
      userId: "42",
      anonymousId: "an_9",
    });
    expect(track({ extra: { browser: "an_9" } }, given)).toMatchObject({ anonymousId: "an_9" });
    expect(track({}, given).anonymousId).toMatch(/^cc_/);
  });
});

describe("the request", () => {
  test("a late event keeps its own time, and sentAt is the time of the attempt", () => {
    const time = Date.UTC(2026, 8, 1, 1, 2, 3, 4);
    expect(track({ time }).timestamp).toBe("2026-09-01T01:02:03.004Z");
    expect(JSON.parse(request({ time }, {}, now + 5).body)).toMatchObject({
      sentAt: "2026-11-15T09:30:00.005Z",
    });
  });

  test("click ids are sent byte for byte under their own names", () => {
    const ids = { ScCid: { value: "A%2b é", seenAt: 1 }, fbclid: { value: "IwAR_x", seenAt: 2 } };
    expect(track({ clickIds: ids }).properties).toMatchObject({ ScCid: "A%2b é", fbclid: "IwAR_x" });
  });

  test("the value is rounded to its currency, 0 is a value, and no value means no currency", () => {
    for (const [given, value] of [
      [0, 0],
      [10.005, 10.01],
      [0.1 + 0.2, 0.3],
    ])
      expect(track({ value: given as number }).properties).toMatchObject({ total: value, revenue: value });
    expect(track({ value: null, clickIds: {} }).properties).toEqual({
      event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
      order_id: "A-1001",
    });
  });

  test("a refund is never revenue, in any case of its name", () => {
    expect(track({ name: " Refund" }).properties).not.toHaveProperty("revenue");
  });

  test("UTM fields become the campaign", () => {
    const utm = {
      utm_source: "a",
      utm_medium: "b",
      utm_campaign: "c",
      utm_term: "d",
      utm_content: "e",
      utm_id: "f",
    };
    expect(track({ utm }).context.campaign).toEqual({
      source: "a",
      medium: "b",
      name: "c",
      term: "d",
      content: "e",
      id: "f",
    });
  });

  test("denied consent is sent for the connection's categories", () => {
    expect(track(withheld, { consent_categories: "ads,stats" }).context).toEqual({
      consent: { categoryPreferences: { ads: false, stats: false } },
    });
    expect(track({ consent: "unknown" }, { consent_categories: "ads" }).context).not.toHaveProperty("consent");
  });

  test.each([
    ["https://rudder.example.com", "https://rudder.example.com/v1/batch"],
    ["https://rudder.example.com/", "https://rudder.example.com/v1/batch"],
    ["https://rudder.example.com/v1", "https://rudder.example.com/v1/batch"],
    ["https://rudder.example.com/v1/batch/", "https://rudder.example.com/v1/batch"],
    ["https://proxy.example.com/rudder", "https://proxy.example.com/rudder/v1/batch"],
  ])("the data plane %s is called at %s", (base_url, url) => {
    expect(request({}, { base_url }).url).toBe(url);
  });

  test("the write key is only in the header, with its colon", () => {
    const made = request();
    expect(Buffer.from((made.headers.authorization ?? "").split(" ")[1] ?? "", "base64").toString()).toBe("EXAMPLE-WRITE-KEY:");
    expect(`${made.url}${made.body}`).not.toContain("EXAMPLE");
  });

  test("a test event is skipped: Segment has no test mode", () => {
    expect(skipOf(segment, sampleConversion({ mode: "test" }), {})?.reason).toBe("Segment has no test mode");
  });

  test("a request has no plain contact data, no field called email, no null and no empty text", () => {
    const person = personOf({ email: "Jane.Doe@Gmail.com", phone: "+1 425 555 1234", firstName: "Jane" });
    const browser = { page: "", referrer: "", address: "", userAgent: "" };
    const made = request({ person, browser, value: null, orderId: null, utm: {} });
    expect(made.body).not.toMatch(/jane|@|425555|null|""|\{\}|"email"|"phone"/i);
  });
});

test("the hash of an email is the canonical one, as published", () => {
  const person = personOf({ email: " AlexZ@example.com ", phone: "+1 (800) 555-0100" });
  expect(track({ person }).context.traits).toEqual({
    email_sha256: "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a",
    phone_sha256: "fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30",
  });
});

describe("the time to wait", () => {
  const inAMinute = now + 60_000;
  test.each([String(inAMinute), String(Math.floor(inAMinute / 1000)), "60"])(
    "a rate limit reset of %s is a wait of 60 seconds",
    (reset) => {
      expect(read(429, { "x-ratelimit-reset": reset })).toMatchObject({ retryAfterSeconds: 60 });
    },
  );

  test("an invalid rate limit reset is ignored", () => {
    for (const reset of ["", "0", "soon", "1600000000", "-5"])
      expect(read(429, { "x-ratelimit-reset": reset })).toEqual({ kind: "retry", error: "HTTP 429" });
  });
});

describe("settings", () => {
  test.each([
    ["source", "acme/website", "the website"],
    ["source", "website", "a/b/c"],
    ["region", "eu", "EU"],
    ["base_url", "https://rudder.example.com", "rudder.example.com"],
    ["base_url", "https://rudder.example.com/v1", "https://key@rudder.example.com"],
    ["consent_categories", "C0002, C0004", "C0002;"],
  ])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toMatch(/^must be /);
  });
});

describe("items", () => {
  const product = { id: "SKU-1", name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 };
  const properties = (changes: Partial<Conversion>) => track(changes).properties;

  test("an event about one product has its fields among its own; with several it has a list", () => {
    const flat = {
      product_id: "SKU-1",
      name: "Mug",
      category: "Kitchen",
      brand: "North",
      price: 9.95,
      quantity: 2,
    };
    for (const name of ["add_to_cart", "remove_from_cart", "view_item", "select_item", "add_to_wishlist"]) {
      expect(properties({ name, items: [product] })).toMatchObject(flat);
      expect(properties({ name, items: [product] })).not.toHaveProperty("products");
      const several = properties({ name, items: [product, product] });
      expect(several.products).toEqual([flat, flat]);
      expect(several).not.toHaveProperty("product_id");
    }
    expect(properties({ name: "purchase", items: [product] }).products).toEqual([flat]);
  });

  test("an event stays below Segment's 32 KB, whatever its items", () => {
    const many = (item: Item) => Array.from({ length: 100 }, () => item);
    const size = (changes: Partial<Conversion>) => Buffer.byteLength(JSON.stringify(track(changes)));
    const texts = many({ ...product, name: "n".repeat(512) });
    expect(size({ items: texts })).toBeLessThan(32_000);
    expect((properties({ items: texts }).products as object[])[99]).toEqual({
      product_id: "SKU-1",
      price: 9.95,
      quantity: 2,
    });
    const ids = many({ id: "é".repeat(128), quantity: 1 });
    expect(size({ items: ids })).toBeLessThan(32_000);
    expect(properties({ items: ids })).not.toHaveProperty("products");
  });
});
