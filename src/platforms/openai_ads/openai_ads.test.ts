import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { ConnectionSettings } from "../platform.ts";
import { nameFault, resolveName } from "../shared/eventNames.ts";
import { bareConversion, sampleBrowser, withheldConversion } from "../example.ts";
import { sampleItems } from "../shared/sample.ts";
import { openaiAds } from "./index.ts";

const settings = { pixel_id: "2atj5meVpvtJ5kCtqhG3yX", api_key: "EXAMPLE-KEY" };
const { request, read, skipReason, settingFault } = platformFixture(openaiAds, settings);

type Sent = Record<string, unknown> & { user: Record<string, unknown>; data: Record<string, unknown> };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, more).body) as { events: Sent[] }).events[0] ?? expect.unreachable("no event");

describe("the event", () => {
  test.each([
    [49.9, "EUR", 4990],
    [0.1 + 0.2, "EUR", 30],
    [1.005, "USD", 101],
    [1999.6, "JPY", 2000],
    [1.2, "KWD", 1200],
    [0, "EUR", 0],
  ])("%d %s is %d minor units, always a whole number", (value, currency, amount) => {
    expect(sent({ value, currency }).data).toEqual({ type: "contents", amount, currency });
  });

  test("a value is never sent without its currency, nor a currency without a value", () => {
    expect(sent({ value: null }).data).toEqual({ type: "contents" });
    expect(sent({ value: 1e20 }).data).toEqual({ type: "contents" });
  });

  test("the time is in milliseconds and never in the future", () => {
    expect(sent({ time: 1_794_648_600_123 }).timestamp_ms).toBe(1_794_648_600_123);
    expect(sent({ time: now + 60_000 }).timestamp_ms).toBe(now);
  });

  test("the page is sent without its query; without a page the event is no web event", () => {
    expect(sent()).toMatchObject({ action_source: "web", source_url: sampleBrowser.page });
    for (const browser of [null, { ...sampleBrowser, page: "" }]) {
      expect(sent({ browser })).toMatchObject({ action_source: "other" });
      expect(sent({ browser })).not.toHaveProperty("source_url");
    }
    const offline = sent({}, { action_source: "offline", site_url: "https://shop.example.com" });
    expect(offline.action_source).toBe("offline");
    expect(offline).not.toHaveProperty("source_url");
    expect(settingFault("action_source", "mobile_app")).toBeNull();
    expect(sent({}, { action_source: "mobile_app" }).action_source).toBe("mobile_app");
  });

  test("oppref is sent byte for byte, however long it may be", () => {
    const value = `gAAAAABo-${"Ab_=".repeat(500)}`;
    expect(sent({ clickIds: { oppref: { value, seenAt: 1 } } }).oppref).toBe(value);
    expect(sent({ clickIds: {}, browserIds: { __oppref: value } }).oppref).toBe(value);
  });

  test("a test event is validated only, a live one never is", () => {
    const flagOf = (mode: "live" | "test") => (JSON.parse(request({ mode }).body) as { validate_only: boolean }).validate_only;
    expect([flagOf("test"), flagOf("live")]).toEqual([true, false]);
  });

  test("the id of a pixel cannot change the address", () => {
    expect(request({}, { pixel_id: "a&b=c#d" }).url).toBe("https://bzr.openai.com/v1/events?pid=a%26b%3Dc%23d");
  });
});

describe("names", () => {
  const typeOf = (name: string, more: ConnectionSettings = {}) => {
    const { type, custom_event_name } = sent({ name }, more);
    return [type, custom_event_name];
  };

  test.each([
    ["Quiz Done!", "quiz_done"],
    ["  --Demo  Booked!-- ", "demo_booked"],
    ["Prüfung größer", "prufung_gro_er"],
    ["a".repeat(80), "a".repeat(64)],
    [`${"a".repeat(63)} b`, "a".repeat(63)],
    ["注文完了", "custom_event"],
  ])("%j is the custom event %s", (name, custom) => {
    expect(typeOf(name)).toEqual(["custom", custom]);
    expect(custom).toMatch(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/);
  });

  test("OpenAI's own names are standard events, also when the sender or the connection writes them", () => {
    expect(typeOf("Order Created")).toEqual(["order_created", undefined]);
    expect(typeOf("Deal", { "event.deal": "order_created" })).toEqual(["order_created", undefined]);
    expect(typeOf("Deal", { "event.deal": "custom" })).toEqual(["custom", "deal"]);
    expect(sent({ name: "app_opened" })).toMatchObject({
      type: "app_opened",
      action_source: "mobile_app",
      data: { type: "customer_action" },
    });
  });

  test("what the preview calls a standard event is one in the request, and the other way round", () => {
    const names = ["order_created", "items_added", "contents_viewed", "app_installed", "app_opened"];
    for (const name of [...names, ...Object.values(openaiAds.events.standard)]) {
      expect(resolveName(name, {}, openaiAds.events).by, name).toBe("standard");
      expect(typeOf(name), name).toEqual([name, undefined]);
    }
  });

  test("a connection may choose every valid name", () => {
    for (const name of ["order_created", "custom", "Deal_2"]) expect(nameFault(name, openaiAds.events)).toBeNull();
    for (const name of ["Quiz Done!", "_deal", "a".repeat(65)]) expect(nameFault(name, openaiAds.events)).toMatch(/^must /);
  });
});

describe("the person", () => {
  test("contact data is hashed as in the published vectors, and sent in lists", () => {
    const person = personOf({ email: " Ada@Example.com", phone: "+34 605-49.76 (39)", lastName: "O'Brien" });
    expect(sent({ person, browser: null, browserIds: {} }).user).toEqual({
      emails_sha256: ["b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"],
      phone_numbers_sha256: ["038e8bfb7e8fb66a2be9f780793c11911063d188bfcccebdc3a5f675c8897522"],
      last_names_sha256: ["b4cb6cb33fe4b865868de825023a1e2790dc12ac01ecc8d7c5afe8254071c8ba"],
    });
  });

  test("the click id is sent byte for byte; without one the pixel's cookie is", () => {
    const odd = "gAAAAABo%2F+-_.~=";
    const clickIds = { oppref: { value: odd, seenAt: 1 } };
    expect(sent({ clickIds, browserIds: { __oppref: "cookie" } }).oppref).toBe(odd);
    expect(sent({ clickIds: {}, browserIds: { __oppref: "cookie" } }).oppref).toBe("cookie");
    expect(sent({ clickIds: { oppref: { value: "a b", seenAt: 1 } } })).not.toHaveProperty("oppref");
  });

  test("mapped locations that OpenAI would reject are left out", () => {
    const places = { "map.user.countries": "extra.country", "map.user.postal_codes": "extra.zip" };
    expect(sent({ extra: { country: "de", zip: "10115" } }, places).user).toMatchObject({
      countries: ["DE"],
      postal_codes: ["10115"],
    });
    const { user } = sent({ extra: { country: "Germany", zip: "1".repeat(33) } }, places);
    expect(user).not.toHaveProperty("countries");
    expect(user).not.toHaveProperty("postal_codes");
  });

  test("neither plain contact data nor the key is in URL or body", () => {
    const person = personOf({ email: "jane@example.com", phone: "+14155550100", firstName: "Jane" });
    const { url, body } = request({ person, orderId: null });
    expect(url + body).not.toMatch(/jane|4155550100|EXAMPLE-KEY|null|""/i);
  });
});

describe("match keys and consent", () => {
  const none = bareConversion({ person: null, consent: "unknown" });

  test("IP address and user agent alone are no match key", () => {
    const reason = "no oppref, browser id, email or phone";
    expect(skipReason({ ...none, browser: sampleBrowser })).toBe(reason);
    expect(skipReason(bareConversion())).toBeNull();
    expect(skipReason({ ...none, clickIds: { oppref: { value: "x", seenAt: 1 } } })).toBeNull();
    expect(skipReason({ ...none, browserIds: { __obref: "x" } })).toBeNull();
  });

  test("an event of a person who opted out is skipped", () => {
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
  });

  test("opt_out is true with limited data use only", () => {
    expect(sent().opt_out).toBe(false);
    expect(sent({}, { limited_data: "always" }).opt_out).toBe(true);
  });
});

describe("the response", () => {
  test("an error without an index is the same for all, so that the batch is halved", () => {
    const body = '{"error":{"message":"bad"}}';
    expect(new Set(read({ status: 422, body }, 3).map(({ kind }) => kind))).toEqual(new Set(["rejected"]));
  });

  test("an index beyond the request is no index", () => {
    const body = '{"error":"events[9].id is missing"}';
    expect(read({ status: 400, body }, 2).map(({ kind }) => kind)).toEqual(["rejected", "rejected"]);
  });
});

test.each([
  ["pixel_id", "2atj5meVpvtJ5kCtqhG3yX", "a/b"],
  ["api_key", "sk-conv-1", "two words"],
  ["action_source", "phone_call", "app"],
  ["site_url", "https://shop.example.com/", "shop.example.com"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(settingFault(name, bad)).toMatch(/^must be/);
});

describe("items", () => {
  test.each(["lead", "signup", "subscribe", "schedule", "Quiz Done"])("%s has no contents", (name) => {
    expect(sent({ name, items: sampleItems }).data).not.toHaveProperty("contents");
  });

  test("a price is in whole minor units with its currency, or neither is there", () => {
    const items = [
      { id: "a", price: 100.4, quantity: 1 },
      { id: "b", quantity: 3 },
    ];
    expect(sent({ value: null, currency: "JPY", items }).data).toEqual({
      type: "contents",
      contents: [
        { id: "a", content_type: "product", quantity: 1, amount: 100, currency: "JPY" },
        { id: "b", content_type: "product", quantity: 3 },
      ],
    });
  });
});
