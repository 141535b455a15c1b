import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { personOf } from "../../../test/support/person.ts";
import { linkedin } from "./index.ts";
import { mappingFault } from "../shared/mapping.ts";
import { nameFault } from "../shared/eventNames.ts";
import type { ConnectionSettings, Setting } from "../platform.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";

const now = Date.UTC(2026, 10, 15, 9, 30);
const own: ConnectionSettings = {
  access_token: "s3cr3t-token",
  ad_account_id: "500123456",
  default_rule: "555001",
};
type Element = { conversion: string; user: { userIds: { idType: string; idValue: string }[] } } & Record<
  string,
  unknown
>;
const request = (changes: Partial<Conversion> = {}, settings: ConnectionSettings = {}) =>
  linkedin.toRequest([sampleConversion(changes)], { ...own, ...settings }, now);
const element = (changes: Partial<Conversion> = {}, settings: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, settings).body) as { elements: Element[] }).elements[0] as Element;
const unfit = (changes: Partial<Conversion> = {}, settings: ConnectionSettings = own) =>
  linkedin.unfit(sampleConversion(changes), settings);
const ids = (changes: Partial<Conversion>, settings: ConnectionSettings = {}) =>
  element(changes, settings).user.userIds.map(({ idType, idValue }) => `${idType} ${idValue}`);
const read = (status: number, body: string, count = 3) =>
  linkedin.readResponse(
    { status, headers: {}, body },
    Array.from({ length: count }, () => sampleConversion()),
    own,
  );
const email = sampleConversion().person?.emailSha256 ?? "";
const uuid = "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d";

describe("examples and answers", () => {
  test.each(linkedin.examples.map((one) => [one.title, one] as const))("%s", (_title, example) => {
    const made = linkedin.toRequest(example.conversions, example.settings, now);
    expect({ ...made, body: JSON.parse(made.body) as unknown }).toEqual(example.request);
    for (const conversion of example.conversions)
      expect(linkedin.unfit(conversion, example.settings)).toBeNull();
    for (const [name, value] of Object.entries(example.settings)) {
      if (name.startsWith("event.")) expect(nameFault(value, linkedin.events)).toBeNull();
      if (name.startsWith("map.")) expect(mappingFault(name.slice(4), value, linkedin.fields)).toBeNull();
    }
  });

  test.each(linkedin.answers.map((one) => [one.title, one] as const))("%s", (_title, answer) => {
    const conversions = Array.from({ length: answer.conversions }, () => sampleConversion());
    const { status, headers = {}, body } = answer;
    expect(linkedin.readResponse({ status, headers, body }, conversions, { default_rule: "555001" })).toEqual(
      answer.readings,
    );
  });
});

describe("the rule", () => {
  test("an event's own rule wins over the default, whatever case the sender writes", () => {
    const settings = { "event.lead": "777" };
    expect(element({ name: " LEAD " }, settings).conversion).toBe("urn:lla:llaPartnerConversion:777");
    expect(element({ name: "purchase" }, settings).conversion).toBe("urn:lla:llaPartnerConversion:555001");
  });

  test("may be given as a number or as a whole URN", () => {
    const urn = "urn:lla:llaPartnerConversion:777";
    expect(element({}, { default_rule: urn }).conversion).toBe(urn);
    expect(nameFault("777", linkedin.events)).toBeNull();
    expect(nameFault(urn, linkedin.events)).toBeNull();
    for (const wrong of ["", "abc", "urn:li:conversion:1", "7 7", "PURCHASE"])
      expect(nameFault(wrong, linkedin.events)).toMatch(/^must be/);
  });

  test("an event without a rule is not sent", () => {
    const { default_rule: _none, ...settings } = own;
    expect(unfit({ name: "Sign Up" }, settings)).toBe("no conversion rule for the event Sign Up");
    expect(unfit({ name: "lead" }, { ...settings, "event.lead": "777" })).toBeNull();
  });

  test("a refund never counts for the default rule, only for one of its own", () => {
    expect(unfit({ name: "Refund" })).toBe("LinkedIn has no refunds");
    expect(unfit({ name: "Refund" }, { ...own, "event.refund": "777" })).toBeNull();
  });
});

describe("what is never sent", () => {
  test("a test event", () => {
    expect(unfit({ mode: "test" })).toBe("LinkedIn has no test mode");
  });

  test("an opted-out person", () => {
    const withheld = {
      person: null,
      clickIds: {},
      browserIds: {},
      browser: null,
      consent: "denied",
    } as const;
    expect(unfit(withheld)).toBe("opted out");
    expect(ids({ consent: "denied", browserIds: { li_fat_id: "cookie" } }, { ip_address: "plain" })).toEqual(
      [],
    );
  });

  test("an event without a match key", () => {
    expect(unfit({ person: null })).toBe("no email or li_fat_id");
    expect(unfit({ person: null, browserIds: { li_fat_id: uuid } })).toBeNull();
    expect(unfit({ person: null, browserIds: { li_fat_id: "cookie" } })).toBe("no email or li_fat_id");
  });

  test("phone, names, page and UTM fields; a token in address or body; null", () => {
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
  test("hashed_email only", () => {
    expect(ids({ person: { emailSha256: sha256(email) }, browser: null })).toEqual([`SHA256_EMAIL ${email}`]);
  });

  test("the email is trimmed and lower-cased before hashing", () => {
    const { emailSha256: hashed } = personOf({ email: "  John@Contoso.com " });
    expect(ids({ person: { emailSha256: hashed } })).toEqual([`SHA256_EMAIL ${email}`]);
  });

  test("the click's li_fat_id wins over the cookie, byte for byte", () => {
    const value = uuid.toUpperCase();
    const browserIds = { li_fat_id: uuid };
    const sent = (click: string) =>
      ids({ clickIds: { li_fat_id: { value: click, seenAt: 0 } }, browserIds, person: null });
    expect(sent(value)).toEqual([`LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID ${value}`]);
    for (const broken of ["AbC_%2f", `${uuid} `, uuid.replaceAll("-", "")])
      expect(sent(broken)).toEqual([`LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID ${uuid}`]);
  });

  test("the address goes only where the connection says so, and only IPv4", () => {
    const person = null;
    expect(ids({ person })).toEqual([]);
    expect(ids({ person }, { ip_address: "plain" })).toEqual(["PLAINTEXT_IP_ADDRESS 203.0.113.9"]);
    expect(ids({ person }, { ip_address: "sha256" })).toEqual([
      "SHA256_IP_ADDRESS d861b7e91033ebc1c1e8e7af3929010158b3241b54ca87ef73e79c32f26400ec",
    ]);
    const browser = { page: "", referrer: "", userAgent: "", address: "2001:db8::1" };
    expect(ids({ person, browser }, { ip_address: "plain" })).toEqual([]);
  });

  test("the list of ids is there even when it is empty", () => {
    expect(element({ person: null }).user).toEqual({ userIds: [] });
  });
});

describe("time and money", () => {
  test("a late event keeps its own time, in milliseconds; 90 days are taken", () => {
    const time = Date.UTC(2026, 7, 18);
    expect(element({ time }).conversionHappenedAt).toBe(time);
    expect(linkedin.maxAgeDays).toBe(90);
  });

  test("a sender's clock that runs ahead does not put an event into the future", () => {
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

  test("no value, no currency either", () => {
    expect(element({ value: null })).not.toHaveProperty("conversionValue");
  });

  test("a mapped value needs no value of the event; a currency that is none is left aside", () => {
    const settings = {
      "map.conversionValue.amount": "extra.worth",
      "map.conversionValue.currencyCode": "extra.in",
    };
    expect(element({ value: null, extra: { worth: "12.345", in: "usd" } }, settings).conversionValue).toEqual(
      {
        currencyCode: "USD",
        amount: "12.35",
      },
    );
    expect(element({ extra: { worth: "much", in: "points" } }, settings).conversionValue).toEqual({
      currencyCode: "EUR",
      amount: "49.90",
    });
    expect(element({ extra: { worth: -5 } }, settings)).not.toHaveProperty("conversionValue");
  });
});

describe("the dedup id", () => {
  test("is the event id, or the order id where there is one and the connection says so", () => {
    expect(element().eventId).toBe(sampleConversion().platformEventId);
    expect(element({}, { dedup_id: "order" }).eventId).toBe("A-1001");
    expect(element({ orderId: null }, { dedup_id: "order" }).eventId).toBe(
      sampleConversion().platformEventId,
    );
  });
});

describe("answers", () => {
  const said = (status: number, message: string, count = 3) =>
    read(status, JSON.stringify({ message }), count).map((one) => one.said);

  test("every named event is refused, the innocent go again", () => {
    expect(said(422, "Index: 0, ERROR :: a\nIndex: 2, ERROR :: b\n")).toEqual([
      "refused",
      "later",
      "refused",
    ]);
  });

  test("each gets its own words and nobody else's", () => {
    const readings = read(
      422,
      JSON.stringify({ message: "Index: 0, ERROR :: a\nERROR :: b\nIndex: 2, ERROR :: c" }),
    );
    expect(readings[0]).toEqual({ said: "refused", error: "HTTP 422: ERROR :: a ERROR :: b" });
    expect(readings[2]).toEqual({ said: "refused", error: "HTTP 422: ERROR :: c" });
  });

  test("places that are not in the request name nobody", () => {
    expect(said(422, "Index: 7, ERROR :: a")).toEqual(["refused", "refused", "refused"]);
  });

  test("the text may come without JSON around it", () => {
    expect(read(422, "Index: 1, ERROR :: a", 2).map((one) => one.said)).toEqual(["later", "refused"]);
  });

  test("an element that throttles or fails passes later, one that is missing too", () => {
    const body = JSON.stringify({ elements: [{ status: 429 }, { status: 500, error: { message: "oops" } }] });
    expect(read(200, body)).toEqual([
      { said: "later", error: "HTTP 429" },
      { said: "later", error: "HTTP 500: oops" },
      { said: "later", error: "LinkedIn's answer left this event out" },
    ]);
  });

  test("faults may be named with another status too", () => {
    expect(said(400, "Index: 1, ERROR :: /user :: empty", 2)).toEqual(["later", "refused"]);
  });

  test("a rule that LinkedIn does not know or not allow stops its own events, and not the connection", () => {
    const [lead, purchase] = [sampleConversion({ name: "Lead" }), sampleConversion()];
    const settings = { ...own, "event.lead": "777" };
    const readings = (status: number, message: string) =>
      linkedin.readResponse(
        { status, headers: {}, body: JSON.stringify({ status, message }) },
        [lead, purchase],
        settings,
      );
    for (const [status, message] of [
      [403, "No access to the conversion urn:lla:llaPartnerConversion:777"],
      [400, "The conversion rule 777 is not enabled"],
    ] as const)
      expect(readings(status, message)).toEqual([
        {
          said: "later",
          error: `HTTP ${status}: ${message}; waits until event.Lead is corrected`,
          retryAfterSeconds: 3600,
        },
        {
          said: "later",
          error: `HTTP ${status}: refused because of another event in the same request`,
          retryAfterSeconds: 1,
        },
      ]);
    expect(readings(403, "Not enough permissions").map((one) => one.said)).toEqual([
      "unauthorised",
      "unauthorised",
    ]);
    expect(linkedin.group(lead, settings)).not.toBe(linkedin.group(purchase, settings));
  });

  test("an answer that was cut off in the middle still names its faults", () => {
    const cut = JSON.stringify({ message: "Index: 0, ERROR :: a\nIndex: 2, ERROR :: b" }).slice(0, -4);
    expect(read(422, cut).map((one) => one.said)).toEqual(["refused", "later", "refused"]);
  });

  test("the answer to the largest batch fits into 64 KiB, with room for what LinkedIn adds", () => {
    const elements = Array.from({ length: linkedin.batch }, () => ({ status: 201, headers: {}, id: "1" }));
    expect(JSON.stringify({ elements }).length).toBeLessThan(64 * 1024);
  });

  test("201 with nothing answers a single create, which is never made here: it says nothing of a batch", () => {
    expect(read(201, "", 1)).toEqual([{ said: "later", error: "HTTP 201: the answer could not be read" }]);
  });
});

describe("settings", () => {
  const fault = (name: string, value: string) =>
    (linkedin.settings as readonly Setting[]).find((one) => one.name === name)?.check?.(value) ?? null;
  test.each([
    ["ad_account_id", "500123456", "urn:li:sponsoredAccount:5"],
    ["default_rule", "555001", "rule"],
    ["api_version", "202610", "202613"],
    ["ip_address", "sha256", "yes"],
    ["dedup_id", "order", "both"],
    ["access_token", "AQX-_a.b", "two words"],
  ])("%s takes %s and not %s", (name, good, bad) => {
    expect(fault(name, good)).toBeNull();
    expect(fault(name, bad)).toMatch(/^must be/);
  });

  test("the account is the ad account, whatever the token", () => {
    expect(linkedin.account({ ...own, access_token: "other" })).toBe("500123456");
  });
});

describe("pickers", () => {
  const [accounts, rules] = linkedin.pickers;
  test("ask LinkedIn with the connection's token in the header", () => {
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

  test("offer accounts by name, and of the rules those that the Conversions API may use", () => {
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

  test("offer nothing when the answer is no list", () => {
    for (const body of ["", "null", "[]", '{"elements":{}}', '{"elements":[null,1]}'])
      for (const picker of linkedin.pickers) expect(picker.read(body)).toEqual([]);
  });
});
