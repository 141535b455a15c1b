import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { firstEvent, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { Picker } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { bareConversion } from "../example.ts";
import { fullPerson, sampleItems } from "../shared/sample.ts";
import { pinterest } from "./index.ts";

const settings = { ad_account_id: "549755885175", access_token: "EXAMPLE-TOKEN" };
const { request, read, skipReason, settingFault } = platformFixture(pinterest, settings);

type UserData = Record<string, string | string[]>;
const eventOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) => firstEvent(request(changes, more));
const userOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) =>
  eventOf(changes, more).user_data as UserData;

describe("the request", () => {
  test("a test event records nothing, a live one is never marked as a test", () => {
    expect(request({ mode: "test" }).url).toMatch(/\/events\?test=true$/);
    expect(request({ mode: "live" }).url).toMatch(/\/events$/);
  });

  test.each([
    [49.9, "EUR", "49.90"],
    [0.1 + 0.2, "EUR", "0.30"],
    [1.005, "USD", "1.01"],
    [1999.6, "JPY", "2000"],
    [1.2, "KWD", "1.200"],
    [0, "EUR", "0.00"],
  ])("%d %s is the text %s", (value, currency, sent) => {
    expect(eventOf({ value, currency }).custom_data).toMatchObject({ value: sent, currency });
  });

  test("without a value no currency is sent either", () => {
    expect(eventOf({ value: null, orderId: null })).not.toHaveProperty("custom_data");
  });

  test("only keys of Pinterest's closed schema are sent", () => {
    const event = eventOf({
      person: fullPerson,
      clickIds: { epik: { value: "dj0y", seenAt: 1 } },
      consent: "denied",
    });
    const keysOf = (part: unknown) => Object.keys(part as object).toSorted();
    expect(keysOf(eventOf({ consent: "granted" }))).toEqual(
      "action_source custom_data event_id event_name event_source_url event_time opt_out user_data".split(" "),
    );
    expect(keysOf(event.custom_data)).toEqual("currency opt_out_type order_id value".split(" "));
    expect(keysOf(eventOf({ person: fullPerson }).user_data)).toEqual(
      "client_ip_address client_user_agent em fn ln ph".split(" "),
    );
  });

  test("the click id is sent byte for byte; without one the cookie is", () => {
    const odd = "dj0y%2F+-_.~";
    const clickIds = { epik: { value: odd, seenAt: 1 } };
    expect(userOf({ clickIds, browserIds: { _epik: "cookie" } }).click_id).toBe(odd);
    expect(userOf({ clickIds: {}, browserIds: { _epik: "cookie" } }).click_id).toBe("cookie");
    const broken = { epik: { value: "not an id", seenAt: 1 } };
    expect(userOf({ clickIds: broken, browserIds: { _epik: "cookie" } }).click_id).toBe("cookie");
    expect(userOf({ clickIds: broken, browserIds: { _epik: "ü" } })).not.toHaveProperty("click_id");
  });

  test("event names match in any case, and unknown events are sent as custom", () => {
    expect(eventOf({ name: "Purchase" }).event_name).toBe("checkout");
    expect(eventOf({ name: "Quiz Done" }).event_name).toBe("custom");
    expect(eventOf({ name: "Quiz Done" }, { "event.quizdone": "lead" }).event_name).toBe("lead");
    expect(english(nameFault("Quiz", pinterest.events) ?? "")).toMatch(/^must be one of checkout, lead,/);
    expect(nameFault("custom", pinterest.events)).toBeNull();
  });
});

describe("the person", () => {
  test("email, phone digits and names are lists of hashes", () => {
    const person = personOf({
      email: " John@Contoso.com",
      phone: "+1 425 555 1234",
      firstName: "JOHN",
      lastName: "Smith",
    });
    expect(userOf({ person })).toMatchObject({
      em: [fullPerson.emailSha256],
      ph: [fullPerson.phoneDigitsSha256],
      fn: [fullPerson.firstNameSha256],
      ln: [fullPerson.lastNameSha256],
    });
  });

  test("mapped postal codes are digits; codes with letters and fractional item counts are left out", () => {
    const zip = { "map.user_data.zp": "extra.zip" };
    expect(userOf({ extra: { zip: "94035-1234" } }, zip).zp).toEqual([
      "1794327a4d443904421f5ca1f3d72d0a62ba2f0770d80755ec2220fc0efb052e",
    ]);
    expect(userOf({ extra: { zip: "SW1A 1AA" } }, zip)).not.toHaveProperty("zp");
    const half = eventOf({ extra: { count: 1.5 } }, { "map.custom_data.num_items": "extra.count" });
    expect(half.custom_data).not.toHaveProperty("num_items");
  });
});

describe("consent", () => {
  test("a phone or click id alone is no match key, because Pinterest would reject it", () => {
    const conversion = bareConversion({
      person: null,
      consent: "unknown",
      clickIds: { epik: { value: "dj0y", seenAt: 1 } },
    });
    expect(skipReason(conversion)).toBe("no email, or IP address with user agent");
  });

  test("opt_out is true only after denied consent", () => {
    expect(eventOf({ consent: "denied" })).toMatchObject({
      opt_out: true,
      custom_data: { opt_out_type: "LDP" },
    });
    for (const consent of ["granted", "unknown"] as const) {
      expect(eventOf({ consent }).opt_out).toBe(false);
      expect(eventOf({ consent }).custom_data).not.toHaveProperty("opt_out_type");
    }
  });
});

describe("the response", () => {
  test("a failed event with HTTP 200 is rejected alone", () => {
    const events = [{ status: "failed", error_message: "bad em" }, { status: "processed" }];
    expect(read({ body: JSON.stringify({ events }) }, 2)).toEqual([{ kind: "rejected", error: "bad em" }, { kind: "accepted" }]);
  });

  test("an event that the response leaves out is retried", () => {
    const body = '{"events":[{"status":"processed"}]}';
    expect(read({ body }, 2)[1]).toEqual({
      kind: "retry",
      error: "Pinterest's answer left this event out",
    });
  });

  test("statuses of events count only with HTTP 200 and 422", () => {
    const body = '{"events":[{"status":"processed"}]}';
    expect(read({ status: 400, body })[0]?.kind).toBe("rejected");
    expect(read({ status: 500, body })[0]?.kind).toBe("retry");
  });
});

describe("the list of ad accounts", () => {
  const [picker]: readonly Picker[] = pinterest.pickers;

  test("ad accounts are requested with the token in a header and offered with their ids", () => {
    expect(picker?.toRequest(settings)).toEqual({
      method: "GET",
      url: "https://api.pinterest.com/v5/ad_accounts?page_size=250",
      headers: { authorization: "Bearer EXAMPLE-TOKEN" },
      body: "",
    });
    expect(picker?.read('{"items":[{"id":"549","name":"Shop"},{"id":"550"},{}]}')).toEqual([
      { value: "549", label: "Shop" },
      { value: "550", label: "550" },
    ]);
  });
});

describe("the settings", () => {
  test.each([
    ["ad_account_id", "549755885175", "../549", "must be a number of 3 to 20 digits"],
    ["access_token", "pina_x", "a b", "must be ASCII letters, digits and punctuation, without spaces"],
  ])("the setting %s accepts %j and rejects %j", (name, good, bad, reason) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toBe(reason);
  });
});

describe("items", () => {
  test.each([
    [9.95, "EUR", "9.95"],
    [100.4, "JPY", "100"],
    [1.2, "KWD", "1.200"],
    [0, "EUR", "0.00"],
    [undefined, "EUR", undefined],
  ])("a price of %j %s is the text %j", (price, currency, sent) => {
    const items = [{ id: "a", price, quantity: 1 }];
    const data = eventOf({ value: null, orderId: null, currency, items }).custom_data;
    const item = { id: "a", quantity: 1, ...(sent === undefined ? {} : { item_price: sent }) };
    expect(data).toEqual({ contents: [item], content_ids: ["a"], num_items: 1 });
  });

  test("mapped ids and numbers win", () => {
    const mapped = { "map.custom_data.content_ids": "const:x, y", "map.custom_data.num_items": "const:7" };
    expect(eventOf({ items: sampleItems }, mapped).custom_data).toMatchObject({
      content_ids: ["x", "y"],
      num_items: 7,
    });
  });
});
