import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { nameFault } from "../shared/eventNames.ts";
import type { ConnectionSettings } from "../platform.ts";
import { sampleConversion, sha256, withheld } from "../shared/sample.ts";
import { linkedin } from "./index.ts";

const own: ConnectionSettings = {
  access_token: "s3cr3t-token",
  ad_account_id: "500123456",
  default_rule: "555001",
};
type Element = { conversion: string; user: { userIds: { idType: string; idValue: string }[] } } & Record<string, unknown>;
const { request, skipReason, settingFault, read: readAll } = platformFixture(linkedin, own);
const element = (changes: Partial<Conversion> = {}, settings: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, settings).body) as { elements: Element[] }).elements[0] as Element;
const ids = (changes: Partial<Conversion>, settings: ConnectionSettings = {}) =>
  element(changes, settings).user.userIds.map(({ idType, idValue }) => `${idType} ${idValue}`);
const read = (status: number, body: string, count = 3) => readAll({ status, body }, count);
const email = sampleConversion().person?.emailSha256 ?? "";
const uuid = "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d";

describe("the rule", () => {
  test("an event's own rule wins over the default, in any case of its name", () => {
    const settings = { "event.lead": "777" };
    expect(element({ name: " LEAD " }, settings).conversion).toBe("urn:lla:llaPartnerConversion:777");
    expect(element({ name: "purchase" }, settings).conversion).toBe("urn:lla:llaPartnerConversion:555001");
  });

  test("an event with several rules is one element for each, under the same event id", () => {
    const several = { "event.lead": "777,778" };
    const { elements } = JSON.parse(request({ name: "Generate Lead" }, several).body) as {
      elements: Element[];
    };
    expect(elements.map(({ conversion, eventId }) => [conversion, eventId])).toEqual(
      ["777", "778"].map((id) => [`urn:lla:llaPartnerConversion:${id}`, sampleConversion().platformEventId]),
    );
    expect(linkedin.size(sampleConversion({ name: "lead" }), { ...own, ...several })).toBe(2);
  });

  test("an event with several rules is accepted only by all, and one that was counted is not sent again for a wrong rule", () => {
    const readElements = (...elements: [number, string?][]) =>
      linkedin.readResponse(
        {
          status: 200,
          headers: {},
          body: JSON.stringify({
            elements: elements.map(([status, message]) => ({
              status,
              ...(message && { error: { message } }),
            })),
          }),
        },
        [sampleConversion({ name: "lead" }), sampleConversion({ name: "lead" })],
        { ...own, "event.lead": "777,778" },
        now,
      );
    expect(readElements([201], [201], [201], [201])).toEqual([{ kind: "accepted" }, { kind: "accepted" }]);
    const wrong = "The conversion rule 778 is not enabled";
    expect(readElements([201], [400, wrong], [400, "The conversion rule 777 is wrong"], [400, wrong])).toEqual([
      { kind: "rejected", error: `HTTP 400: ${wrong}; accepted for its other targets` },
      expect.objectContaining({ kind: "retry", retryAfterSeconds: 3600 }),
    ]);
    expect(readElements([201], [429], [201], [201])).toMatchObject([{ kind: "retry" }, { kind: "accepted" }]);
  });

  test("a rule may be a number or a whole URN", () => {
    const urn = "urn:lla:llaPartnerConversion:777";
    expect(element({}, { default_rule: urn }).conversion).toBe(urn);
    expect(nameFault("777", linkedin.events)).toBeNull();
    expect(nameFault(urn, linkedin.events)).toBeNull();
    for (const wrong of ["", "abc", "urn:li:conversion:1", "7 7", "PURCHASE"])
      expect(nameFault(wrong, linkedin.events)).toMatch(/^must be/);
  });

  test("an event without a rule is not sent", () => {
    const { default_rule: _none, ...settings } = own;
    const { skipReason: skipWithoutDefault } = platformFixture(linkedin, settings);
    expect(skipWithoutDefault({ name: "Sign Up" })).toBe("no conversion rule for this event");
    expect(skipWithoutDefault({ name: "lead" }, { "event.lead": "777" })).toBeNull();
  });
});

describe("skipped events", () => {
  test("a test event is skipped", () => {
    expect(skipReason({ mode: "test" })).toBe("LinkedIn has no test mode");
  });

  test("an event of a person who opted out is skipped", () => {
    expect(skipReason(withheld)).toBe("opted out");
    expect(ids({ consent: "denied", browserIds: { li_fat_id: "cookie" } }, { ip_address: "plain" })).toEqual([]);
  });

  test("an event without a match key is skipped", () => {
    expect(skipReason({ person: null })).toBe("no email, li_fat_id or lead");
    expect(skipReason({ person: null, browserIds: { li_fat_id: uuid } })).toBeNull();
    expect(skipReason({ person: null, browserIds: { li_fat_id: "cookie" } })).toBe("no email, li_fat_id or lead");
  });

  test("phone, names, page, UTM fields, token and null are never in URL or body", () => {
    const person = personOf({
      email: "jane@example.com",
      phone: "+14255551234",
      firstName: "Jane",
      lastName: "Doe",
    });
    const { url, body } = request({ person });
    expect(body).toContain(person.emailSha256);
    for (const text of [
      person.phoneSha256,
      person.firstNameSha256,
      person.lastNameSha256,
      "shop.example.com",
      "newsletter",
      "jane@",
    ])
      expect(body).not.toContain(text);
    expect(url + body).not.toContain("s3cr3t-token");
    expect(request({ value: null, orderId: null }).body).not.toMatch(/null|""/);
  });
});

describe("match keys", () => {
  test("an event with hashed_email only is sent with that hash", () => {
    expect(ids({ person: { emailSha256: sha256(email) }, browser: null })).toEqual([`SHA256_EMAIL ${email}`]);
  });

  test("the email is trimmed and lower-cased before hashing", () => {
    const { emailSha256: hashed } = personOf({ email: "  John@Contoso.com " });
    expect(ids({ person: { emailSha256: hashed } })).toEqual([`SHA256_EMAIL ${email}`]);
  });

  test("the click's li_fat_id wins over the cookie, byte for byte", () => {
    const value = uuid.toUpperCase();
    const browserIds = { li_fat_id: uuid };
    const sent = (click: string) => ids({ clickIds: { li_fat_id: { value: click, seenAt: 0 } }, browserIds, person: null });
    expect(sent(value)).toEqual([`LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID ${value}`]);
    for (const broken of ["AbC_%2f", `${uuid} `, uuid.replaceAll("-", "")])
      expect(sent(broken)).toEqual([`LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID ${uuid}`]);
  });

  test("the IP address is sent only if the connection is set so, and only IPv4", () => {
    const person = null;
    expect(ids({ person })).toEqual([]);
    expect(ids({ person }, { ip_address: "plain" })).toEqual(["PLAINTEXT_IP_ADDRESS 203.0.113.9"]);
    expect(ids({ person }, { ip_address: "sha256" })).toEqual([
      "SHA256_IP_ADDRESS d861b7e91033ebc1c1e8e7af3929010158b3241b54ca87ef73e79c32f26400ec",
    ]);
    const browser = { page: "", referrer: "", userAgent: "", address: "2001:db8::1" };
    expect(ids({ person, browser }, { ip_address: "plain" })).toEqual([]);
  });

  test("the list of ids is sent even when it is empty", () => {
    expect(element({ person: null }).user).toEqual({ userIds: [] });
  });
});

describe("time and money", () => {
  test("a late event keeps its own time, in milliseconds, for up to 90 days", () => {
    const time = Date.UTC(2026, 7, 18);
    expect(element({ time }).conversionHappenedAt).toBe(time);
    expect(linkedin.maxAgeDays).toBe(90);
  });

  test("an event time is never in the future", () => {
    expect(element({ time: now + 60_000 }).conversionHappenedAt).toBe(now);
  });

  test.each([
    [49.9, "EUR", "49.90"],
    [0, "USD", "0.00"],
    [0.1 + 0.2, "USD", "0.30"],
    [1.005, "USD", "1.01"],
    [4999.5, "JPY", "5000"],
    [1.2345, "KWD", "1.235"],
  ])("%d %s is the text %s", (value, currency, amount) => {
    expect(element({ value, currency }).conversionValue).toEqual({ currencyCode: currency, amount });
  });

  test("without a value no currency is sent either", () => {
    expect(element({ value: null })).not.toHaveProperty("conversionValue");
  });

  test("a mapped value needs no value of the event; an invalid currency is ignored", () => {
    const settings = {
      "map.conversionValue.amount": "extra.worth",
      "map.conversionValue.currencyCode": "extra.in",
    };
    expect(element({ value: null, extra: { worth: "12.345", in: "usd" } }, settings).conversionValue).toEqual({
      currencyCode: "USD",
      amount: "12.35",
    });
    expect(element({ extra: { worth: "much", in: "points" } }, settings).conversionValue).toEqual({
      currencyCode: "EUR",
      amount: "49.90",
    });
    expect(element({ extra: { worth: -5 } }, settings)).not.toHaveProperty("conversionValue");
  });
});

describe("the response", () => {
  const outcomes = (status: number, message: string, count = 3) =>
    read(status, JSON.stringify({ message }), count).map((one) => one.kind);

  test("every named event is rejected, the others are resent", () => {
    expect(outcomes(422, "Index: 0, ERROR :: a\nIndex: 2, ERROR :: b\n")).toEqual(["rejected", "retry", "rejected"]);
  });

  test("each rejected event gets its own message only", () => {
    const readings = read(422, JSON.stringify({ message: "Index: 0, ERROR :: a\nERROR :: b\nIndex: 2, ERROR :: c" }));
    expect(readings[0]).toEqual({ kind: "rejected", error: "HTTP 422: ERROR :: a ERROR :: b" });
    expect(readings[2]).toEqual({ kind: "rejected", error: "HTTP 422: ERROR :: c" });
  });

  test("an index outside the request names no event", () => {
    expect(outcomes(422, "Index: 7, ERROR :: a")).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("a plain text response is read too", () => {
    expect(read(422, "Index: 1, ERROR :: a", 2).map((one) => one.kind)).toEqual(["retry", "rejected"]);
  });

  test("an element that is throttled, failed or missing is retried", () => {
    const body = JSON.stringify({ elements: [{ status: 429 }, { status: 500, error: { message: "oops" } }] });
    expect(read(200, body)).toEqual([
      { kind: "retry", error: "HTTP 429" },
      { kind: "retry", error: "HTTP 500: oops" },
      { kind: "retry", error: "LinkedIn's answer left this event out" },
    ]);
  });

  test("rejected events may be named with another status too", () => {
    expect(outcomes(400, "Index: 1, ERROR :: /user :: empty", 2)).toEqual(["retry", "rejected"]);
  });

  test("an unknown or forbidden rule stops its own events and not the connection", () => {
    const [lead, purchase] = [sampleConversion({ name: "Lead" }), sampleConversion()];
    const settings = { ...own, "event.lead": "777" };
    const readings = (status: number, message: string) =>
      linkedin.readResponse({ status, headers: {}, body: JSON.stringify({ status, message }) }, [lead, purchase], settings, now);
    for (const [status, message] of [
      [403, "No access to the conversion urn:lla:llaPartnerConversion:777"],
      [400, "The conversion rule 777 is not enabled"],
    ] as const)
      expect(readings(status, message)).toEqual([
        {
          kind: "retry",
          error: `HTTP ${status}: ${message}; waits until event.Lead is corrected`,
          retryAfterSeconds: 3600,
        },
        {
          kind: "retry",
          error: `HTTP ${status}: rejected because of another event in the same request`,
          retryAfterSeconds: 1,
        },
      ]);
    expect(readings(403, "Not enough permissions").map((one) => one.kind)).toEqual(["unauthorized", "unauthorized"]);
    expect(linkedin.group(lead, settings)).not.toBe(linkedin.group(purchase, settings));
  });

  test("a response that was cut off still names its rejected events", () => {
    const cut = JSON.stringify({ message: "Index: 0, ERROR :: a\nIndex: 2, ERROR :: b" }).slice(0, -4);
    expect(read(422, cut).map((one) => one.kind)).toEqual(["rejected", "retry", "rejected"]);
  });

  test("the response to the largest batch fits into 64 KiB, with a margin", () => {
    const elements = Array.from({ length: linkedin.batch }, () => ({ status: 201, headers: {}, id: "1" }));
    expect(JSON.stringify({ elements }).length).toBeLessThan(64 * 1024);
  });

  test("an empty 201 is the response to a single create and no success of a batch", () => {
    expect(read(201, "", 1)).toEqual([{ kind: "retry", error: "HTTP 201: the answer could not be read" }]);
  });
});

describe("settings", () => {
  test.each([
    ["ad_account_id", "500123456", "urn:li:sponsoredAccount:5"],
    ["default_rule", "555001", "rule"],
    ["api_version", "202610", "202613"],
    ["ip_address", "sha256", "yes"],
    ["dedup_id", "order", "both"],
    ["access_token", "AQX-_a.b", "two words"],
  ])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toMatch(/^must be/);
  });

  test("the ad account identifies a connection, whatever its token", () => {
    expect(linkedin.account({ ...own, access_token: "other" })).toBe("500123456");
  });
});

describe("pickers", () => {
  const [accounts, rules] = linkedin.pickers;
  test("lists are requested with the token in the header", () => {
    expect(accounts?.toRequest(own)).toEqual({
      method: "GET",
      url: "https://api.linkedin.com/rest/adAccounts?q=search",
      headers: {
        authorization: "Bearer s3cr3t-token",
        "linkedin-version": "202609",
        "x-restli-protocol-version": "2.0.0",
      },
      body: "",
    });
    expect(rules?.toRequest(own).url).toBe(
      "https://api.linkedin.com/rest/conversions?q=account&account=urn%3Ali%3AsponsoredAccount%3A500123456&start=0&count=100",
    );
  });

  test("pickers offer accounts by name, and only rules for the Conversions API", () => {
    expect(accounts?.read('{"elements":[{"id":500123456,"name":"North"},{"name":"no id"}]}')).toEqual([
      { value: "500123456", label: "North" },
    ]);
    const elements = [
      { id: 1, name: "Orders", type: "PURCHASE", conversionMethod: "CONVERSIONS_API", enabled: true },
      { id: 2, name: "Page", type: "LEAD", conversionMethod: "INSIGHT_TAG", enabled: true },
      { id: 3, name: "Old", type: "LEAD", conversionMethod: "CONVERSIONS_API", enabled: false },
    ];
    expect(rules?.read(JSON.stringify({ elements }))).toEqual([{ value: "1", label: "Orders, PURCHASE" }]);
  });
});
