import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { firstEvent, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { Picker } from "../platform.ts";
import { nameFault, nameSetting } from "../shared/eventNames.ts";
import { sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson, sampleItems, sha256 } from "../shared/sample.ts";
import { tiktok } from "./index.ts";

const settings = { pixel_code: "C0EXAMPLEPIXEL", access_token: "EXAMPLE-TOKEN" };
const { request, read, skipReason, settingFault } = platformFixture(tiktok, settings);

type User = Record<string, string>;
const eventOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) => firstEvent(request(changes, more));
const userOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) => eventOf(changes, more).user as User;
const answer = (code: unknown, message = "why", status = 200) => ({
  status,
  body: JSON.stringify({ code, message }),
});

describe("the request", () => {
  test("the event id is a text, also where it looks like a number", () => {
    expect(eventOf({ platformEventId: "1001", orderId: "1001" })).toMatchObject({
      event_id: "1001",
      properties: { order_id: "1001" },
    });
  });

  test("value is a number in whole cents, and there is no currency without it", () => {
    expect(eventOf({ value: 0.1 + 0.2 }).properties).toMatchObject({ value: 0.3, currency: "EUR" });
    expect(eventOf({ value: 1999.6, currency: "JPY" }).properties).toMatchObject({ value: 2000 });
    expect(eventOf({ value: null, orderId: null })).not.toHaveProperty("properties");
    expect(eventOf({ value: 0 }).properties).toMatchObject({ value: 0 });
  });

  test("ttclid and _ttp are sent byte for byte", () => {
    const odd = "E.C.P.AbC%2F+-_.~";
    const user = userOf({ clickIds: { ttclid: { value: odd, seenAt: 1 } }, browserIds: { _ttp: "2F-x_Y" } });
    expect(user).toMatchObject({ ttclid: odd, ttp: "2F-x_Y" });
  });

  test("invalid ids are left out and are no match keys", () => {
    const clickIds = { ttclid: { value: "E.C.P. two", seenAt: 1 } };
    const browserIds = { _ttp: "ü" };
    expect(userOf({ clickIds, browserIds })).not.toHaveProperty("ttclid");
    expect(userOf({ clickIds, browserIds })).not.toHaveProperty("ttp");
    const unmatched = { person: null, browser: null, clickIds, browserIds };
    expect(skipReason(unmatched)).toBe("no email, phone, ttclid or _ttp");
  });
});

describe("the person", () => {
  test("the phone is hashed with its plus and all of its digits", () => {
    const person = personOf({ email: "john@contoso.com", phone: "(425) 555-1234" }, { country: "US" });
    expect(userOf({ person })).toMatchObject({
      email: fullPerson.emailSha256,
      phone: fullPerson.phoneSha256,
    });
    expect(
      userOf({ person: { emailSha256: sha256("e".repeat(64)), phoneDigitsSha256: sha256("d".repeat(64)) } }),
    ).not.toHaveProperty("phone");
  });

  test("names are hashed in lower case without punctuation and spaces", () => {
    const person = personOf({ email: "john@contoso.com", firstName: " Jo-hn ", lastName: "SMITH" });
    expect(userOf({ person })).toMatchObject({
      first_name: fullPerson.firstNameSha256,
      last_name: fullPerson.lastNameSha256,
    });
  });

  test("mapped ids are hashed as they are, locations are sent unhashed in lower case", () => {
    const user = userOf(
      { extra: { id: " c-4711 ", zip: "94035-1234", city: "San José", country: "US" } },
      {
        "map.user.external_id": "extra.id",
        "map.user.zip_code": "extra.zip",
        "map.user.city": "extra.city",
        "map.user.country": "extra.country",
      },
    );
    expect(user).toMatchObject({
      external_id: "df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58",
      zip_code: "1794327a4d443904421f5ca1f3d72d0a62ba2f0770d80755ec2220fc0efb052e",
      city: "sanjosé",
      country: "us",
    });
  });
});

describe("consent", () => {
  test("without_person=send sends events of people who opted out without personal data", () => {
    const choice = { without_person: "send" };
    const conversion = withheldConversion({ browser: sampleBrowser });
    expect(skipReason(conversion, choice)).toBeNull();
    expect(eventOf(conversion, choice)).toEqual({
      event: "Lead",
      event_time: 1_794_648_600,
      event_id: conversion.platformEventId,
      user: {},
      limited_data_use: true,
    });
  });

  test("only denied consent or the connection's setting limits the use of data", () => {
    expect(eventOf({ consent: "denied" }).limited_data_use).toBe(true);
    expect(eventOf({ consent: "granted" }, { limited_data: "always" }).limited_data_use).toBe(true);
    for (const consent of ["granted", "unknown"] as const) expect(eventOf({ consent })).not.toHaveProperty("limited_data_use");
  });
});

describe("custom names", () => {
  test.each([
    ["x".repeat(50), "x".repeat(50)],
    ["x".repeat(51), "x".repeat(50)],
    ["Checkout", "custom_Checkout"],
    ["browse", "custom_browse"],
    ["Quiz Done", "Quiz Done"],
  ])("the event %s is sent as %s", (name, theirs) => {
    expect(skipReason({ name })).toBeNull();
    expect(eventOf({ name }).event).toBe(theirs);
    expect(eventOf({ name }, { [nameSetting(name)]: "Other" }).event).toBe("Other");
  });

  test("a connection cannot choose a name that TikTok rejects", () => {
    expect(nameFault("AddBilling", tiktok.events)).toContain("reserves");
    expect(nameFault("Quiz", tiktok.events)).toBeNull();
  });
});

describe("the response", () => {
  test("HTTP 200 alone is no success", () => {
    for (const code of [40000, 40002, 40300, "40002"])
      expect(read(answer(code))[0], String(code)).toEqual({
        kind: "rejected",
        error: `TikTok error ${code}: why`,
      });
    expect(read({ body: "<html>" })[0]?.kind).toBe("retry");
  });

  test("codes next to the documented one for a wrong token need reconnection too", () => {
    for (const code of [40_102, 40_104]) expect(read(answer(code))[0]?.kind, String(code)).toBe("unauthorized");
  });

  test("an error at TikTok is retried after the time that it asks for", () => {
    const error = "TikTok error 59999: why";
    expect(read(answer(59_999))).toEqual([{ kind: "retry", error, ofPlatform: true }]);
    for (const code of [40_133, 61_000]) expect(read(answer(code))[0]?.kind, String(code)).toBe("retry");
    expect(read(answer(40_101))[0]?.kind).toBe("unauthorized");
    const asked = { ...answer(59_999), headers: { "retry-after": "9" } };
    expect(read(asked)).toEqual([{ kind: "retry", error, retryAfterSeconds: 9, ofPlatform: true }]);
  });

  test("a gateway's status wins over a success code", () => {
    expect(read(answer(0, "OK", 502))[0]?.kind).toBe("retry");
    expect(read(answer(40002, "bad", 503))[0]?.kind).toBe("retry");
    expect(read(answer(40002, "bad", 400))[0]).toEqual({
      kind: "rejected",
      error: "HTTP 400: TikTok error 40002: bad",
    });
  });

  test("one invalid event rejects the whole batch, so that delivery halves it", () => {
    expect(read(answer(40002), 3).map(({ kind }) => kind)).toEqual(Array(3).fill("rejected"));
  });

  test("partial success that names no event is success", () => {
    expect(read(answer(20001), 2)).toEqual([{ kind: "accepted" }, { kind: "accepted" }]);
  });
});

describe("the list of pixels", () => {
  const [picker]: readonly Picker[] = tiktok.pickers;

  test("the list of pixels is requested with the token in a header", () => {
    expect(picker?.toRequest({ ...settings, advertiser_id: "7000000000001" })).toEqual({
      method: "GET",
      url: "https://business-api.tiktok.com/open_api/v1.3/pixel/list/?advertiser_id=7000000000001&page_size=20",
      headers: { "access-token": "EXAMPLE-TOKEN" },
      body: "",
    });
  });

  test("the pixel picker offers the pixel code, not the numeric id", () => {
    const pixels = [
      { pixel_id: "71", pixel_code: "C0AAA", pixel_name: "Shop" },
      { pixel_id: "72", pixel_code: "C0BBB" },
    ];
    expect(picker?.read(JSON.stringify({ code: 0, data: { pixels } }))).toEqual([
      { value: "C0AAA", label: "Shop" },
      { value: "C0BBB", label: "C0BBB" },
    ]);
  });
});

describe("the settings", () => {
  test.each([
    ["pixel_code", "C0AAA1", "C0-AA", "must be a code of 5 to 40 letters and digits"],
    ["access_token", "abc", "a\nb", "must be ASCII letters, digits and punctuation, without spaces"],
    ["without_person", "send", "yes", "must be skip or send"],
    ["advertiser_id", "7000000000001", "x", "must be a number of 5 to 25 digits"],
  ])("the setting %s accepts %j and rejects %j", (name, good, bad, reason) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toBe(reason);
  });
});

describe("items", () => {
  test("the ids are texts, and prices have the digits of the currency", () => {
    const items = [{ id: "1001", price: 100.4, quantity: 1 }];
    expect(eventOf({ value: null, orderId: null, currency: "JPY", items }).properties).toEqual({
      contents: [{ content_id: "1001", price: 100, quantity: 1 }],
      content_ids: ["1001"],
      content_type: "product",
    });
  });

  test("a mapped content type wins", () => {
    const mapped = { "map.properties.content_type": "const:product_group" };
    expect(eventOf({ items: sampleItems }, mapped).properties).toMatchObject({
      content_type: "product_group",
    });
  });
});
