import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { dayMs } from "../../kernel/time.ts";
import { sampleConversion, sampleItems, sha256, withheld } from "../shared/sample.ts";
import { skipOf } from "../shared/skips.ts";
import { microsoftAds } from "./index.ts";

const settings = { tag_id: "343000001", tag_token: "EXAMPLE-TAG-TOKEN" };
const offlineOnly = {
  tag_id: "343000001",
  access_token: "EXAMPLE-TOKEN",
  developer_token: "EXAMPLE-DEV",
  account_id: "181000001",
  offline_goal: "Offline purchase",
};
const both = { ...settings, ...offlineOnly };
const daysOld = (days: number) => ({ time: now - days * dayMs, receivedAt: now });
const clicked = (value: string) => ({ clickIds: { msclkid: { value, seenAt: Date.UTC(2026, 10, 1) } } });

const request = (given: Record<string, string>, ...changes: Partial<Conversion>[]) =>
  microsoftAds.toRequest(changes.map(sampleConversion), given, now);
const bodyOf = (made: { body: string }) =>
  JSON.parse(made.body) as {
    data?: Record<string, Record<string, unknown>>[];
    OfflineConversions?: Record<string, unknown>[];
  };
const event = (given: Record<string, string>, changes: Partial<Conversion> = {}) =>
  bodyOf(request(given, changes)).data?.[0] ?? expect.unreachable("no event");
const row = (given: Record<string, string>, changes: Partial<Conversion> = {}) =>
  bodyOf(request(given, changes)).OfflineConversions?.[0] ?? expect.unreachable("no row");
const skipReason = (given: Record<string, string>, changes: Partial<Conversion> = {}) =>
  skipOf(microsoftAds, sampleConversion(changes), given)?.reason ?? null;
const { settingFault, read: readAll } = platformFixture(microsoftAds, {});
const read = (status: number, body: string, count = 1) => readAll({ status, body }, count);

describe("the API of a conversion", () => {
  const api = (given: Record<string, string>, days: number) => microsoftAds.group(sampleConversion(daysOld(days)), given);

  test.each([
    ["both APIs set up", 0, "conversions api", both],
    ["both APIs set up", 6.9, "conversions api", both],
    ["both APIs set up", 7, "offline", both],
    ["both APIs set up", 89.9, "offline", both],
    ["both APIs set up", 90, "", both],
    ["a tag token only", 6.9, "conversions api", settings],
    ["a tag token only", 7, "", settings],
    ["no tag token", 0, "offline", offlineOnly],
    ["no tag token", 30, "offline", offlineOnly],
  ])("with %s, an event of %s days goes to the API %j", (_what, days, expected, given) => {
    expect(api(given, days)).toBe(expected);
    expect(skipReason(given, daysOld(days)) === null).toBe(expected !== "");
    if (expected) expect(request(given, daysOld(days)).url.includes("OfflineConversions")).toBe(expected === "offline");
  });

  test.each(["access_token", "developer_token", "account_id", "offline_goal"])(
    "without %s nothing goes as an offline conversion",
    (name) => {
      const given = Object.fromEntries(Object.entries(both).filter(([key]) => key !== name));
      expect(skipReason(given, daysOld(8))).toBe("older than 7 days, and offline conversions are not set up for this event");
    },
  );

  test("an event without its own goal is not counted for another's", () => {
    const { offline_goal: _none, ...rest } = both;
    const given = { ...rest, offline_goals: '{" Lead ":"Offline lead"}' };
    expect(row(given, { ...daysOld(8), name: "LEAD" }).ConversionName).toBe("Offline lead");
    expect(skipReason(given, { ...daysOld(8), name: "purchase" })).toMatch(/^older than 7 days/);
  });

  test("a batch in which one event has just passed the limit stays in one request", () => {
    const limit = 7 - 5 / 1440;
    const made = request(both, daysOld(limit), daysOld(limit - 0.0001));
    expect(bodyOf(made).data).toHaveLength(2);
  });

  test("an event without any API is skipped, and the reason says so", () => {
    expect(skipReason({ tag_id: "1" })).toBe("no UET tag token, and offline conversions are not set up for this event");
  });
});

describe("skipped events", () => {
  test("test events are skipped: there is no test mode", () => {
    expect(skipReason(both, { mode: "test" })).toBe("Microsoft Advertising has no test mode");
  });

  test("events without any identifier are skipped", () => {
    const none = { ...withheld, consent: "unknown" } as const;
    expect(skipReason(settings, none)).toBe("no msclkid, hashed email or phone");
    expect(skipReason(settings, { ...none, browserIds: { _uetvid: "b171a9b06ce011ecafcd1b209be8601b" } })).toBeNull();
    expect(skipReason(offlineOnly, { ...none, browserIds: { _uetvid: "b171a9b06ce011ecafcd1b209be8601b" } })).toBe(
      "no msclkid, hashed email or phone",
    );
  });

  test("events of people who opted out are skipped", () => {
    expect(skipReason(settings, withheld)).toBe("opted out");
    expect(skipReason(offlineOnly, withheld)).toBe("opted out");
  });

  test("an offline conversion has no consent flag, so one with denied consent is skipped", () => {
    expect(skipReason(offlineOnly, { consent: "denied" })).toBe("opted out");
  });
});

describe("the request", () => {
  test("the event time is in whole seconds and never in the future", () => {
    expect(event(settings, { time: now - 1 }).eventTime).toBe(now / 1000 - 1);
    expect(event(settings, { time: now + 60_000 }).eventTime).toBe(now / 1000);
  });

  test("the time of an offline conversion is the same on every attempt", () => {
    const late = sampleConversion({ time: now - 10 * dayMs + 123 });
    const made = [0, 1, 7 * dayMs].map((later) => microsoftAds.toRequest([late], both, now + later).body);
    expect(new Set(made).size).toBe(1);
    expect(made[0]).toContain('"ConversionTime":"2026-11-05T09:30:00Z"');
  });

  test("the Conversions API gets a click id as a UUID, with or without dashes in the URL", () => {
    const uuid = "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab";
    for (const id of [uuid, uuid.replaceAll("-", "")])
      for (const given of [settings, { ...settings, msclkid_form: "with_dashes" }])
        expect(event(given, clicked(id)).userData?.msclkid).toBe(uuid);
    const capitals = uuid.toUpperCase();
    expect(event(settings, clicked(capitals)).userData?.msclkid).toBe(capitals);
  });

  test("a click id is sent byte for byte in offline conversions, and if the connection is set so", () => {
    const asCaptured = { ...settings, msclkid_form: "as_captured" };
    for (const id of ["dd4afcccb1c94a4cad9544dd7e5006ab", "DD4AFCCC-b1c9-4a4c-ad95-44dd7e5006ab"]) {
      expect(event(asCaptured, clicked(id)).userData?.msclkid).toBe(id);
      expect(row(offlineOnly, clicked(id)).MicrosoftClickId).toBe(id);
    }
  });

  test("a click id that is no UUID is left out", () => {
    for (const id of ["x", "dd4afcccb1c9a4cad9544dd7e5006", "dd4afccc-b1c94a4cad9544dd7e5006ab"])
      expect(event(settings, clicked(id)).userData).not.toHaveProperty("msclkid");
  });

  test("the visitor id is read from the tag's cookie, also from its newer format", () => {
    const visitor = "b171a9b06ce011ecafcd1b209be8601b";
    for (const _uetvid of [visitor, `${visitor}|1abc|2|x`])
      expect(event(settings, { browserIds: { _uetvid } }).userData?.anonymousId).toBe(visitor);
    expect(event(settings, { browserIds: { _uetvid: "jane@example.com" } }).userData).not.toHaveProperty("anonymousId");
  });

  test("the value is rounded to its currency, 0 is a value, and no value means no currency", () => {
    for (const [given, value] of [
      [0, 0],
      [10.005, 10.01],
      [0.1 + 0.2, 0.3],
      [980, 980],
    ]) {
      expect(event(settings, { value: given as number }).customData?.value).toBe(value);
      expect(row(offlineOnly, { value: given as number }).ConversionValue).toBe(value);
    }
    expect(event(settings, { value: null }).customData).toEqual({ transactionId: "A-1001" });
    expect(row(offlineOnly, { value: null })).not.toHaveProperty("ConversionCurrencyCode");
  });

  test("a page type that Microsoft does not know is left out", () => {
    const given = { ...settings, "map.customData.pageType": "extra.page" };
    expect(event(given, { extra: { page: "cart" } }).customData?.pageType).toBe("cart");
    expect(event(given, { extra: { page: "basket" } }).customData).not.toHaveProperty("pageType");
  });

  test("a request has no plain contact data, null or empty text, and no token outside its headers", () => {
    const person = personOf({ email: "Jane.Doe@Gmail.com", phone: "+1 425 555 1234", firstName: "Jane" });
    const browser = { page: "", referrer: "", address: "", userAgent: "" };
    const changes = { person, browser, value: null, orderId: null };
    for (const given of [settings, offlineOnly]) {
      const made = request(given, changes);
      expect(`${made.url}${made.body}`).not.toMatch(/jane|@|425555|EXAMPLE|null|""|\{\}/i);
    }
  });

  test("the two tokens are never confused", () => {
    expect(request(both, {}).headers).toEqual({
      "content-type": "application/json",
      authorization: "Bearer EXAMPLE-TAG-TOKEN",
    });
    expect(request(both, daysOld(8)).headers).toEqual({
      "content-type": "application/json",
      authorization: "Bearer EXAMPLE-TOKEN",
      DeveloperToken: "EXAMPLE-DEV",
      CustomerAccountId: "181000001",
    });
  });
});

describe("hashes", () => {
  test("hashes equal those that Microsoft publishes, in both APIs", () => {
    const em = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";
    const ph = "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e";
    const person = personOf({ email: " J.o.hn+shop@Contoso.com ", phone: "+1 (425) 555-1234" });
    expect(event(settings, { person }).userData).toMatchObject({ em, ph });
    expect(row(offlineOnly, { person })).toMatchObject({ HashedEmailAddress: em, HashedPhoneNumber: ph });
  });

  test("a given hash is sent where there is no other", () => {
    expect(event(settings, { person: { emailSha256: sha256("b".repeat(64)) } }).userData?.em).toBe("b".repeat(64));
  });
});

describe("the response", () => {
  test("a fault that names another row, or none, rejects no row", () => {
    for (const Index of [7, -1, 0.5, "0", null])
      expect(read(200, JSON.stringify({ PartialErrors: [{ Index, Code: 5604 }] }))).toEqual([{ kind: "accepted" }]);
  });

  test.each([
    [5603, "rejected"],
    [5605, "retry"],
    [5606, "retry"],
    [5608, "rejected"],
    [5613, "retry"],
    [5616, "rejected"],
    [5612, "retry"],
    [5614, "retry"],
    [5615, "retry"],
    [117, "retry"],
    [105, "unauthorized"],
    [106, "unauthorized"],
    [109, "unauthorized"],
  ])("error code %d has the outcome %s", (Code, outcome) => {
    expect(read(200, JSON.stringify({ PartialErrors: [{ Index: 0, Code }] }))[0]?.kind).toBe(outcome);
    expect(read(400, JSON.stringify({ Errors: [{ Code }] }), 2).map((one) => one.kind)).toEqual([outcome, outcome]);
  });

  test("an unknown code with a server error is retried", () => {
    expect(read(503, '{"Errors":[{"Code":9999}]}')).toEqual([{ kind: "retry", error: "HTTP 503: 9999" }]);
  });
});

describe("settings", () => {
  test.each([
    ["tag_id", "343000001", "UET-1"],
    ["account_id", "1", "F1234"],
    ["customer_id", "1", "me"],
    ["offline_goals", '{"lead":"Offline lead"}', "lead=Offline lead"],
    ["offline_goals", "{}", '{"lead":7}'],
    ["msclkid_form", "with_dashes", "uuid"],
  ])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toMatch(/^must be /);
  });
});

describe("items", () => {
  test.each([
    ["purchase", "purchase"],
    ["Order Completed", "purchase"],
    ["add_to_cart", "cart"],
    ["begin_checkout", "cart"],
    ["view_item", "product"],
    ["lead", undefined],
    ["Quiz Done", undefined],
  ])("%s has its items, and the page type %j", (name, pageType) => {
    const { customData } = event(settings, {
      ...clicked("dd4afcccb1c94a4cad9544dd7e5006ab"),
      name,
      items: sampleItems,
    });
    expect(customData).toMatchObject({ itemIds: ["SKU-1", "SKU-2"] });
    expect(customData?.items).toHaveLength(2);
    expect(customData?.pageType).toBe(pageType);
  });

  test("a mapped page type wins, and an invalid one is left out", () => {
    const typeFor = (type: string) =>
      event({ ...settings, "map.customData.pageType": `const:${type}` }, { items: sampleItems }).customData?.pageType;
    expect(typeFor("other")).toBe("other");
    expect(typeFor("shelf")).toBeUndefined();
  });

  test("offline conversions have no field for items", () => {
    expect(JSON.stringify(row(offlineOnly, { items: sampleItems }))).not.toMatch(/SKU|item/i);
  });
});
