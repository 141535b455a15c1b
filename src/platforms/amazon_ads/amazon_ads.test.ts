import { english } from "../../kernel/messages/message.ts";
import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { ConnectionSettings } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { bareConversion, sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson, sampleItems } from "../shared/sample.ts";
import { amazonAds } from "./index.ts";

const settings = {
  advertiser_id: "5790000000000001",
  client_id: "amzn1.application-oa2-client.example",
  access_token: "EXAMPLE-TOKEN",
  country: "DE",
};
const { request, read, skipReason, settingFault } = platformFixture(amazonAds, settings);

type Sent = Record<string, unknown> & { matchKeys: { type: string; values: string[] }[] };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, more).body) as { events: Sent[] }).events[0] ?? expect.unreachable("no event");

describe("the event", () => {
  test.each([
    [49.9, "EUR", { value: 49.9, currencyCode: "EUR" }],
    [0.1 + 0.2, "EUR", { value: 0.3, currencyCode: "EUR" }],
    [1.005, "USD", { value: 1.01, currencyCode: "USD" }],
    [0, "EUR", { value: 0, currencyCode: "EUR" }],
    [10, "CHF", {}],
    [null, "EUR", {}],
  ])("%j %s of a purchase is %j", (value, currency, money) => {
    const { value: amount, currencyCode } = sent({ value, currency });
    expect({ value: amount, currencyCode }).toEqual({ value: undefined, currencyCode: undefined, ...money });
  });

  test("the value and the items of other events are not sent", () => {
    const lead = sent({ name: "lead" }, { "map.unitsSold": "const:2" });
    for (const field of ["value", "currencyCode", "unitsSold"]) expect(lead).not.toHaveProperty(field);
  });

  test("the time is never in the future", () => {
    expect(sent({ time: now + 60_000 }).eventTime).toBe(new Date(now).toISOString());
  });

  test.each([
    ["na", "https://advertising-api.amazon.com/"],
    ["eu", "https://advertising-api-eu.amazon.com/"],
    ["fe", "https://advertising-api-fe.amazon.com/"],
  ])("the region %s has its own host", (region, host) => {
    expect(request({}, { region }).url.startsWith(host)).toBe(true);
  });

  test("the name is the sender's, and the type is Amazon's", () => {
    expect(sent({ name: " Quiz Done " }).eventDescription).toMatchObject({
      name: "Quiz Done",
      conversionType: "OTHER",
    });
    expect(nameFault("OFF_AMAZON_PURCHASES", amazonAds.events)).toBeNull();
    expect(english(nameFault("PURCHASE", amazonAds.events) ?? "")).toMatch(/^must be one of OFF_AMAZON_PURCHASES, LEAD,/);
  });

  test("a mapped country must be two letters, and otherwise the connection's is sent", () => {
    const mapped = { "map.countryCode": "extra.country" };
    expect(sent({ extra: { country: "us" } }, mapped).countryCode).toBe("US");
    expect(sent({ extra: { country: "United States" } }, mapped).countryCode).toBe("DE");
  });
});

describe("the person", () => {
  test("contact data becomes match keys of one hash each", () => {
    const person = personOf({
      email: " John@Contoso.com",
      phone: "+1 425 555 1234",
      firstName: "JOHN",
      lastName: "Smith",
    });
    expect(sent({ person }).matchKeys).toEqual([
      { type: "EMAIL", values: [fullPerson.emailSha256] },
      { type: "PHONE", values: [fullPerson.phoneDigitsSha256] },
      { type: "FIRST_NAME", values: [fullPerson.firstNameSha256] },
      { type: "LAST_NAME", values: [fullPerson.lastNameSha256] },
    ]);
  });

  test("mapped places are hashed match keys, and not a field of their own", () => {
    const event = sent({ extra: { zip: "94035 12" } }, { "map.match.POSTAL": "extra.zip" });
    expect(event.matchKeys.at(-1)).toEqual({
      type: "POSTAL",
      values: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
    expect(event).not.toHaveProperty("match");
  });

  test("an event without a match key, after an opt-out, or of a test key is skipped", () => {
    expect(skipReason(bareConversion({ person: null, consent: "unknown" }))).toBe("no email, phone or name");
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
    expect(skipReason({ mode: "test" })).toBe("Amazon Ads has no test mode");
  });

  test("neither plain contact data nor the token is in URL or body", () => {
    const person = personOf({ email: "jane@example.com", phone: "+14155550100", lastName: "Miller" });
    const { url, body } = request({ person, orderId: null });
    expect(url + body).not.toMatch(/jane|miller|4155550100|EXAMPLE-TOKEN|null|""/i);
  });
});

describe("Amazon's own hash forms", () => {
  const sha = (text: string) => hash("sha256", text);
  const keysOf = (person: Conversion["person"]) =>
    Object.fromEntries(sent({ person }).matchKeys.map(({ type, values }) => [type, values[0]]));

  test.each([
    ["first_last@Example.com", "firstlast@example.com"],
    ["o'neil+shop@example.com", "oneil+shop@example.com"],
    ["josé.pérez@example.com", "jos.prez@example.com"],
    ["jane.doe-1@example.com", "jane.doe-1@example.com"],
  ])("%s is hashed as %s", (email, form) => {
    expect(keysOf(personOf({ email })).EMAIL).toBe(sha(form));
  });

  test("names keep a to z and digits", () => {
    const person = personOf({ email: "a@example.com", firstName: "Zoë", lastName: "O’Brien-Łuk" });
    expect(keysOf(person)).toMatchObject({ FIRST_NAME: sha("zo"), LAST_NAME: sha("obrienuk") });
  });

  test("other platforms get the forms that they had", () => {
    const { emailSha256, firstNameSha256 } = personOf({ email: "first_last@example.com", firstName: "Zoë" });
    expect([emailSha256, firstNameSha256]).toEqual([sha("first_last@example.com"), sha("zoë")]);
  });

  test("a hash that the sender made is sent as it is, and a plain value that has Amazon's form is hashed once", () => {
    const given = sha("anything");
    expect(keysOf(personOf({ email: "a@example.com", firstName: given })).FIRST_NAME).toBe(given);
    expect(Object.keys(personOf({ email: "a@example.com", firstName: "Jane" })).join(" ")).not.toContain("Amazon");
  });
});

describe("consent", () => {
  test("strings of the banner are sent where the connection maps them, and suffice in Europe", () => {
    const maps = { "map.consent.tcf": "extra.tcf", "map.consent.gpp": "extra.gpp" };
    const tcf = "CQExampleAAAAAAAAAAENAPCgAAAAAAAAAAAAAAAAAAAA.YAAAAAAAAAAA";
    const extra = { tcf, gpp: "DBABMA~CQExample~1---" };
    expect(sent({ ...unknown, extra }, maps).consent).toEqual({ tcf, gpp: "DBABMA~CQExample~1---" });
    expect(sent({ consent: "granted", extra: { tcf } }, maps).consent).toMatchObject({ tcf, amazonConsent: {} });
    expect(skipReason({ ...unknown, extra }, { ...maps, region: "eu" })).toBeNull();
    expect(skipReason({ ...unknown, extra: { tcf: "not one!" } }, { ...maps, region: "eu" })).toContain(
      "requires a recorded consent",
    );
  });

  const unknown = bareConversion({ consent: "unknown" });

  test("a grant is sent as such, an unknown decision as the IP address", () => {
    expect(sent({ consent: "granted" }).consent).toEqual({
      amazonConsent: { amznAdStorage: "GRANTED", amznUserData: "GRANTED" },
    });
    expect(sent({ consent: "unknown" }).consent).toEqual({ geo: { ipAddress: sampleBrowser.address } });
    expect(sent(unknown)).not.toHaveProperty("consent");
  });

  test("in Europe an event with neither is skipped", () => {
    expect(skipReason(unknown)).toBeNull();
    expect(skipReason(unknown, { region: "eu" })).toBe("Amazon requires a recorded consent or an IP address in Europe");
    expect(skipReason({ ...unknown, browser: sampleBrowser }, { region: "eu" })).toBeNull();
    expect(skipReason({ ...unknown, consent: "granted" }, { region: "eu" })).toBeNull();
  });
});

test("an error without a reason rejects its event only", () => {
  const body = '{"success":[{"index":1}],"error":[{"index":0}]}';
  expect(read({ status: 207, body }, 2)).toEqual([{ kind: "rejected", error: "Amazon gave no reason" }, { kind: "accepted" }]);
});

test.each([
  ["advertiser_id", "5790000000000001", "ENTITY1"],
  ["client_id", "amzn1.application-oa2-client.abc", "a b"],
  ["access_token", "Atza|abc", "two words"],
  ["region", "fe", "us"],
  ["country", "US", "us"],
  ["data_set", "Crm_Events", "1abc"],
  ["event_source", "OFFLINE", "web"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(english(settingFault(name, bad) ?? "")).toMatch(/^must be/);
});

describe("items", () => {
  test("a purchase has the number of pieces, unless another is mapped; other events have none", () => {
    expect(sent({ items: sampleItems }).unitsSold).toBe(3);
    expect(sent({ items: sampleItems }, { "map.unitsSold": "const:7" }).unitsSold).toBe(7);
    expect(sent({ name: "add_to_cart", items: sampleItems })).not.toHaveProperty("unitsSold");
    expect(JSON.stringify(sent({ items: sampleItems }))).not.toContain("SKU-1");
  });
});
