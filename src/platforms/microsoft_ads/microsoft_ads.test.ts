import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { personOf } from "../../../test/support/person.ts";
import { microsoftAds } from "./index.ts";
import type { Setting } from "../platform.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";

const now = Date.UTC(2026, 10, 15, 9, 30);
const dayMs = 86_400_000;
const settings = { tag_id: "343000001", tag_token: "EXAMPLE-TAG-TOKEN" };
const offlineOnly = {
  tag_id: "343000001",
  access_token: "EXAMPLE-TOKEN",
  developer_token: "EXAMPLE-DEV",
  account_id: "181000001",
  offline_goal: "Offline purchase",
};
const both = { ...settings, ...offlineOnly };
const withheld = {
  person: null,
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
  consent: "denied",
} as const;
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
const unfit = (given: Record<string, string>, changes: Partial<Conversion> = {}) =>
  microsoftAds.unfit(sampleConversion(changes), given);
const fault = (name: string, value: string) =>
  (microsoftAds.settings as readonly Setting[]).find((one) => one.name === name)?.check?.(value) ?? null;
const read = (status: number, body: string, count = 1) =>
  microsoftAds.readResponse(
    { status, headers: {}, body },
    Array.from({ length: count }, () => sampleConversion()),
    {},
  );

describe("what it documents is so", () => {
  test.each(microsoftAds.examples.map((one) => [one.title, one] as const))("%s", (_title, example) => {
    const made = microsoftAds.toRequest(example.conversions, example.settings, now);
    expect({ ...made, body: JSON.parse(made.body) as unknown }).toEqual(example.request);
    for (const conversion of example.conversions)
      expect(microsoftAds.unfit(conversion, example.settings)).toBeNull();
  });

  test.each(microsoftAds.answers.map((one) => [one.title, one] as const))("answer: %s", (_title, answer) => {
    const conversions = Array.from({ length: answer.conversions }, () => sampleConversion());
    expect(microsoftAds.readResponse({ headers: {}, ...answer }, conversions, {})).toEqual(answer.readings);
  });
});

describe("which road a conversion takes", () => {
  const road = (given: Record<string, string>, days: number) =>
    microsoftAds.group(sampleConversion(daysOld(days)), given);

  test.each([
    ["both", both, 0, "conversions api"],
    ["both", both, 6.9, "conversions api"],
    ["both", both, 7, "offline"],
    ["both", both, 89.9, "offline"],
    ["both", both, 90, ""],
    ["a tag token only", settings, 6.9, "conversions api"],
    ["a tag token only", settings, 7, ""],
    ["no tag token", offlineOnly, 0, "offline"],
    ["no tag token", offlineOnly, 30, "offline"],
  ])("with %s, %#: %j days old", (_what, given, days, expected) => {
    expect(road(given, days)).toBe(expected);
    expect(unfit(given, daysOld(days)) === null).toBe(expected !== "");
    if (expected)
      expect(request(given, daysOld(days)).url.includes("OfflineConversions")).toBe(expected === "offline");
  });

  test.each(["access_token", "developer_token", "account_id", "offline_goal"])(
    "without %s nothing goes as an offline conversion",
    (name) => {
      const given = Object.fromEntries(Object.entries(both).filter(([key]) => key !== name));
      expect(unfit(given, daysOld(8))).toBe(
        "older than 7 days, and offline conversions are not set up for this event",
      );
    },
  );

  test("an event without a goal of its own is not put into another's", () => {
    const { offline_goal: _none, ...rest } = both;
    const given = { ...rest, offline_goals: '{" Lead ":"Offline lead"}' };
    expect(row(given, { ...daysOld(8), name: "LEAD" }).ConversionName).toBe("Offline lead");
    expect(unfit(given, { ...daysOld(8), name: "purchase" })).toMatch(/^older than 7 days/);
  });

  test("a batch in which one has just passed the limit stays together on its road", () => {
    const limit = 7 - 5 / 1440;
    const made = request(both, daysOld(limit), daysOld(limit - 0.0001));
    expect(bodyOf(made).data).toHaveLength(2);
  });

  test("neither road: the reason says so", () => {
    expect(unfit({ tag_id: "1" })).toBe(
      "no UET tag token, and offline conversions are not set up for this event",
    );
  });
});

describe("events that Microsoft would refuse are skipped", () => {
  test("test events: there is no test mode", () => {
    expect(unfit(both, { mode: "test" })).toBe("Microsoft Advertising has no test mode");
  });

  test("events without any identifier", () => {
    const none = { ...withheld, consent: "unknown" } as const;
    expect(unfit(settings, none)).toBe("no msclkid, hashed email or phone");
    expect(
      unfit(settings, { ...none, browserIds: { _uetvid: "b171a9b06ce011ecafcd1b209be8601b" } }),
    ).toBeNull();
    expect(unfit(offlineOnly, { ...none, browserIds: { _uetvid: "b171a9b06ce011ecafcd1b209be8601b" } })).toBe(
      "no msclkid, hashed email or phone",
    );
  });

  test("events of people who opted out", () => {
    expect(unfit(settings, withheld)).toBe("opted out");
    expect(unfit(offlineOnly, withheld)).toBe("opted out");
  });

  test("an offline conversion cannot carry a refusal, so it is not sent", () => {
    expect(unfit(offlineOnly, { consent: "denied" })).toBe("opted out");
  });

  test("refunds, unless a name was chosen for them", () => {
    expect(unfit(settings, { name: "REFUND" })).toBe("Microsoft Advertising takes no refunds");
    expect(unfit({ ...settings, "event.refund": "refunded" }, { name: "refund" })).toBeNull();
  });
});

describe("the request", () => {
  test("time is in whole seconds, and never in the future", () => {
    expect(event(settings, { time: now - 1 }).eventTime).toBe(now / 1000 - 1);
    expect(event(settings, { time: now + 60_000 }).eventTime).toBe(now / 1000);
  });

  test("the time of an offline conversion is the same on every attempt", () => {
    const late = sampleConversion({ time: now - 10 * dayMs + 123 });
    const made = [0, 1, 7 * dayMs].map((later) => microsoftAds.toRequest([late], both, now + later).body);
    expect(new Set(made).size).toBe(1);
    expect(made[0]).toContain('"ConversionTime":"2026-11-05T09:30:00Z"');
  });

  test("a click id goes to the Conversions API as a UUID, with dashes or without in the address", () => {
    const uuid = "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab";
    for (const id of [uuid, uuid.replaceAll("-", "")])
      for (const given of [settings, { ...settings, msclkid_form: "with_dashes" }])
        expect(event(given, clicked(id)).userData?.msclkid).toBe(uuid);
    const capitals = uuid.toUpperCase();
    expect(event(settings, clicked(capitals)).userData?.msclkid).toBe(capitals);
  });

  test("where the connection says so, and as an offline conversion, a click id goes byte for byte", () => {
    const asCaptured = { ...settings, msclkid_form: "as_captured" };
    for (const id of ["dd4afcccb1c94a4cad9544dd7e5006ab", "DD4AFCCC-b1c9-4a4c-ad95-44dd7e5006ab"]) {
      expect(event(asCaptured, clicked(id)).userData?.msclkid).toBe(id);
      expect(row(offlineOnly, clicked(id)).MicrosoftClickId).toBe(id);
    }
  });

  test("a click id that is no UUID is left out, not mended", () => {
    for (const id of ["x", "dd4afcccb1c9a4cad9544dd7e5006", "dd4afccc-b1c94a4cad9544dd7e5006ab"])
      expect(event(settings, clicked(id)).userData).not.toHaveProperty("msclkid");
  });

  test("the visitor is read from the tag's cookie, also from the longer new one", () => {
    const visitor = "b171a9b06ce011ecafcd1b209be8601b";
    for (const _uetvid of [visitor, `${visitor}|1abc|2|x`])
      expect(event(settings, { browserIds: { _uetvid } }).userData?.anonymousId).toBe(visitor);
    expect(event(settings, { browserIds: { _uetvid: "jane@example.com" } }).userData).not.toHaveProperty(
      "anonymousId",
    );
  });

  test("value is rounded to its currency, 0 is a value, and none brings no currency", () => {
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

  test("holds no plain contact data, no null, no empty text, and no token outside its headers", () => {
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
  test("are the ones that Microsoft publishes, on both roads", () => {
    const em = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";
    const ph = "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e";
    const person = personOf({ email: " J.o.hn+shop@Contoso.com ", phone: "+1 (425) 555-1234" });
    expect(event(settings, { person }).userData).toMatchObject({ em, ph });
    expect(row(offlineOnly, { person })).toMatchObject({ HashedEmailAddress: em, HashedPhoneNumber: ph });
  });

  test("with a given hash alone, that goes", () => {
    expect(event(settings, { person: { emailSha256: sha256("b".repeat(64)) } }).userData?.em).toBe(
      "b".repeat(64),
    );
  });
});

describe("answers", () => {
  test("a fault that names another row, or none, touches no row", () => {
    for (const Index of [7, -1, 0.5, "0", null])
      expect(read(200, JSON.stringify({ PartialErrors: [{ Index, Code: 5604 }] }))).toEqual([
        { said: "accepted" },
      ]);
  });

  test.each([
    [5603, "refused"],
    [5605, "later"],
    [5606, "later"],
    [5608, "refused"],
    [5613, "later"],
    [5616, "refused"],
    [5612, "later"],
    [5614, "later"],
    [5615, "later"],
    [117, "later"],
    [105, "unauthorised"],
    [106, "unauthorised"],
    [109, "unauthorised"],
  ])("code %d is %s", (Code, said) => {
    expect(read(200, JSON.stringify({ PartialErrors: [{ Index: 0, Code }] }))[0]?.said).toBe(said);
    expect(read(400, JSON.stringify({ Errors: [{ Code }] }), 2).map((one) => one.said)).toEqual([said, said]);
  });

  test("an unknown code on a server error is tried again", () => {
    expect(read(503, '{"Errors":[{"Code":9999}]}')).toEqual([{ said: "later", error: "HTTP 503: 9999" }]);
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
  ])("%s takes %s and not %s", (name, good, bad) => {
    expect(fault(name, good)).toBeNull();
    expect(fault(name, bad)).toMatch(/^must be /);
  });
});
