import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { personOf } from "../../../test/support/person.ts";
import { nameFault } from "../shared/eventNames.ts";
import { pinterest } from "./index.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { bareConversion, fullPerson, sampleConversion, withheldConversion } from "../shared/sample.ts";

const platform: Platform = pinterest;
const settings = { ad_account_id: "549755885175", access_token: "EXAMPLE-TOKEN" };
const now = Date.UTC(2026, 10, 15, 9, 30);

type Body = { data: Record<string, unknown>[] };
type UserData = Record<string, string | string[]>;
const bodyOf = (conversions: Conversion[], more: Record<string, string> = {}) =>
  JSON.parse(pinterest.toRequest(conversions, { ...settings, ...more }, now).body) as Body;
const eventOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) =>
  bodyOf([sampleConversion(changes)], more).data[0] ?? expect.unreachable();
const userOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) =>
  eventOf(changes, more).user_data as UserData;
const read = (response: Partial<PlatformResponse>, count = 1) =>
  pinterest.readResponse(
    { status: 200, headers: {}, body: "", ...response },
    Array.from({ length: count }, () => sampleConversion()),
    settings,
    now,
  );

describe("the request", () => {
  test("a test event records nothing, a live one is never marked as a test", () => {
    const urlOf = (mode: "live" | "test") =>
      pinterest.toRequest([sampleConversion({ mode })], settings, now).url;
    expect(urlOf("test")).toMatch(/\/events\?test=true$/);
    expect(urlOf("live")).toMatch(/\/events$/);
  });

  test("the event time is in seconds, also for late events, and never in the future", () => {
    expect(eventOf({ time: 1_794_648_600_999 }).event_time).toBe(1_794_648_600);
    expect(eventOf({ time: now - 6.5 * 86_400_000 }).event_time).toBe(now / 1000 - 6.5 * 86_400);
    expect(eventOf({ time: now + 240_000 }).event_time).toBe(now / 1000);
    expect(pinterest.maxAgeDays).toBe(7);
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
      "action_source custom_data event_id event_name event_source_url event_time opt_out user_data".split(
        " ",
      ),
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
    expect(JSON.stringify(bodyOf([sampleConversion()]))).not.toMatch(/gclid|fb\.1\./);
  });

  test("event names match in any case, and unknown events are sent as custom", () => {
    expect(eventOf({ name: "Purchase" }).event_name).toBe("checkout");
    expect(eventOf({ name: "Quiz Done" }).event_name).toBe("custom");
    expect(eventOf({ name: "Quiz Done" }, { "event.quizdone": "lead" }).event_name).toBe("lead");
    expect(nameFault("Quiz", pinterest.events)).toMatch(/^must be one of checkout, lead,/);
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

  test("a person with only a hashed email gets no other match keys", () => {
    expect(bodyOf([bareConversion()]).data[0]?.user_data).toEqual({ em: [fullPerson.emailSha256] });
  });

  test("a phone hash that includes the plus is left out", () => {
    expect(
      userOf({ person: { emailSha256: fullPerson.emailSha256, phoneSha256: fullPerson.phoneSha256 } }),
    ).not.toHaveProperty("ph");
  });

  test("a request has no plain contact data, no token and no null", () => {
    const person = personOf({
      email: "jane@example.com",
      phone: "+14155550100",
      firstName: "Jane",
      lastName: "Miller",
    });
    const { url, body } = pinterest.toRequest([sampleConversion({ person, orderId: null })], settings, now);
    expect(url + body).not.toMatch(/jane|miller|4155550100|EXAMPLE-TOKEN|null|""/i);
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
  test("an event of a person who opted out is skipped, because Pinterest could match nothing", () => {
    expect(platform.skipReason?.(withheldConversion(), settings, now)).toBe("opted out");
    const browser = sampleConversion().browser;
    expect(platform.skipReason?.(withheldConversion({ browser }), settings, now)).toBe("opted out");
  });

  test("a phone or click id alone is no match key, because Pinterest would reject it", () => {
    const conversion = bareConversion({
      person: null,
      consent: "unknown",
      clickIds: { epik: { value: "dj0y", seenAt: 1 } },
    });
    expect(platform.skipReason?.(conversion, settings, now)).toBe("no email, or IP address with user agent");
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

  test("a refund is not sent", () => {
    expect(platform.skipReason?.(sampleConversion({ name: "refund" }), settings, now)).toBe(
      "Pinterest takes no refunds",
    );
  });
});

describe("the response", () => {
  test("a failed event with HTTP 200 is rejected alone", () => {
    const events = [{ status: "failed", error_message: "bad em" }, { status: "processed" }];
    expect(read({ body: JSON.stringify({ events }) }, 2)).toEqual([
      { outcome: "rejected", error: "bad em" },
      { outcome: "accepted" },
    ]);
  });

  test("an event that the response leaves out is retried", () => {
    const body = '{"events":[{"status":"processed"}]}';
    expect(read({ body }, 2)[1]).toEqual({
      outcome: "retry",
      error: "Pinterest's answer left this event out",
    });
  });

  test("statuses of events count only with HTTP 200 and 422", () => {
    const body = '{"events":[{"status":"processed"}]}';
    expect(read({ status: 400, body })[0]?.outcome).toBe("rejected");
    expect(read({ status: 500, body })[0]?.outcome).toBe("retry");
  });
});

describe("the list of ad accounts", () => {
  const [picker] = platform.pickers ?? [];

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
    for (const odd of ["", "null", '{"items":3}']) expect(picker?.read(odd)).toEqual([]);
  });
});

describe("the settings", () => {
  test.each([
    ["ad_account_id", "549755885175", "../549", "must be a number of 3 to 20 digits"],
    ["access_token", "pina_x", "a b", "must be ASCII letters, digits and punctuation, without spaces"],
  ])("the setting %s accepts %j and rejects %j", (name, good, bad, reason) => {
    const check = platform.settings.find((setting) => setting.name === name)?.check;
    expect(check?.(good)).toBeNull();
    expect(check?.(bad)).toBe(reason);
  });

  test("the account identifies a connection, whatever its token", () => {
    expect(platform.account({ ...settings, access_token: "other" })).toBe(platform.account(settings));
  });
});
