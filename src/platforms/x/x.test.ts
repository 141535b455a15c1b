import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { nameFault } from "../shared/eventNames.ts";
import type { ConnectionSettings, PlatformRequest } from "../platform.ts";
import { sampleConversion, sampleItems, sha256 } from "../shared/sample.ts";
import { x } from "./index.ts";

const own: ConnectionSettings = {
  pixel_id: "o8z6j",
  access_token: "s3cr3t-token",
  default_event: "tw-o8z6j-o87ne",
};
const oauth: ConnectionSettings = {
  pixel_id: "o8z6j",
  default_event: "o87ne",
  consumer_key: "key-of-consumer",
  consumer_secret: "s3cr3t-consumer",
  oauth_token: "token-of-user",
  oauth_token_secret: "s3cr3t-user",
};
const { request, skipReason, settingFault, read: readAll } = platformFixture(x, own);
const sent = (changes: Partial<Conversion> = {}, settings: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, settings).body) as { conversions: Record<string, unknown>[] }).conversions[0] ?? {};
const read = (status: number, headers: Record<string, string> = {}, body = "{}") => readAll({ status, headers, body })[0];
const twice = <T>(one: T): T[] => [one, one];
const signed = (conversions: Conversion[], at = now): PlatformRequest => x.toRequest(conversions, oauth, at);
const email = sampleConversion().person?.emailSha256 ?? "";
const bare = { person: { emailSha256: sha256(email) }, browser: null, clickIds: {}, browserIds: {} };

describe("authorization", () => {
  test("the pixel token is only in its header", () => {
    const { url, headers, body } = request();
    expect(headers).toEqual({ "content-type": "application/json", "x-pixel-token": "s3cr3t-token" });
    expect(url + body).not.toContain("s3cr3t");
  });

  test("the pixel token wins over OAuth keys", () => {
    expect(x.toRequest([sampleConversion()], { ...oauth, ...own }, now).headers).not.toHaveProperty("authorization");
  });

  test("a signature reveals neither secret", () => {
    const made = signed([sampleConversion()]);
    expect(made.headers.authorization).toMatch(/^OAuth oauth_consumer_key="key-of-consumer", /);
    expect(made.headers).not.toHaveProperty("x-pixel-token");
    expect(JSON.stringify(made)).not.toContain("s3cr3t");
  });

  const nonceOf = (conversions: Conversion[], at: number) =>
    /oauth_nonce="(\w+)"/.exec(signed(conversions, at).headers.authorization ?? "")?.[1] ?? "";

  test("every attempt and every set of conversions has its own nonce; the same request has the same nonce", () => {
    const [one, two] = [sampleConversion(), sampleConversion({ platformEventId: "another" })];
    const nonces = [nonceOf([one], now), nonceOf([one], now + 1), nonceOf([two], now), nonceOf([one, two], now)];
    expect(new Set(nonces).size).toBe(4);
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/);
    expect(nonceOf([sampleConversion()], now)).toBe(nonces[0]);
  });

  test("the body is not signed: another value under the same id has the same signature", () => {
    const header = (value: number) => signed([sampleConversion({ value })]).headers.authorization;
    expect(header(1)).toBe(header(2));
  });

  test("incomplete keys are not used to sign: X rejects the request and the connection waits", () => {
    const { consumer_secret: _none, ...incomplete } = oauth;
    expect(x.toRequest([sampleConversion()], incomplete, now).headers).toEqual({
      "content-type": "application/json",
      "x-pixel-token": "",
    });
    expect(read(401)?.kind).toBe("unauthorized");
  });
});

describe("the event tag", () => {
  test("an event's own tag wins over the default and is passed on as it is, long or short", () => {
    expect(sent({ name: "Lead" }, { "event.lead": "pfq41" }).event_id).toBe("pfq41");
    expect(sent({ name: "purchase" }, { "event.lead": "pfq41" }).event_id).toBe("tw-o8z6j-o87ne");
    for (const good of ["tw-o8z6j-o87ne", "o87ne"]) expect(nameFault(good, x.events)).toBeNull();
    for (const bad of ["", "tw-o8z6j", "purchase event", "tw--x"])
      expect(english(nameFault(bad, x.events) ?? "")).toMatch(/^must/);
  });

  test("an event with several tags is one conversion for each, and only events with the same tags share a request", () => {
    const several = { "event.lead": "tw-o8z6j-pfq41, o87ne" };
    const made = JSON.parse(request({ name: "generate_lead" }, several).body) as {
      conversions: Record<string, unknown>[];
    };
    expect(made.conversions.map(({ event_id: tag, conversion_id: id }) => [tag, id])).toEqual(
      ["tw-o8z6j-pfq41", "o87ne"].map((tag) => [tag, sampleConversion().platformEventId]),
    );
    const lead = sampleConversion({ name: "lead" });
    expect(x.size(lead, { ...own, ...several })).toBe(2);
    expect(x.size(sampleConversion(), { ...own, ...several })).toBe(1);
    expect(x.group(lead, { ...own, ...several })).not.toBe(x.group(lead, own));
    expect(settingFault("default_event", "o87ne,pfq41")).toBeNull();
    expect(english(settingFault("default_event", "a,b,c,d,e,f") ?? "")).toBe("must be at most 5, separated by commas");
  });

  test("an event with several tags is accepted when X has processed one conversion for each", () => {
    const readLeads = (status: number, body: unknown) =>
      x.readResponse(
        { status, headers: {}, body: JSON.stringify(body) },
        [sampleConversion({ name: "lead" }), sampleConversion({ name: "lead" })],
        { ...own, "event.lead": "aaaaa,bbbbb" },
        now,
      );
    expect(readLeads(200, { data: { conversions_processed: 4 } })).toEqual(twice({ kind: "accepted" }));
    expect(readLeads(200, { data: { conversions_processed: 2 } })[0]).toMatchObject({ kind: "retry" });
    const fault = (parameter: string, code: string) => ({ errors: [{ code, message: "wrong", parameter }] });
    // The third of four conversions belongs to the second event.
    expect(readLeads(400, fault("conversions[2].identifiers", "INVALID_PARAMETER"))).toMatchObject([
      { kind: "retry", retryAfterSeconds: 1 },
      { kind: "rejected" },
    ]);
    expect(readLeads(400, fault("conversions[1].event_id", "INVALID_PARAMETER"))).toMatchObject(
      twice({ kind: "retry", error: expect.stringContaining("event.lead"), retryAfterSeconds: 3600 }),
    );
  });

  test("an event without a tag is skipped", () => {
    const { default_event: _none, ...settings } = own;
    expect(platformFixture(x, settings).skipReason({ name: "contact" })).toBe("no event tag for this event");
  });
});

describe("identifiers", () => {
  const identifiers = (changes: Partial<Conversion>) => sent(changes).identifiers;

  test("an event with hashed_email only is sent with that hash", () => {
    expect(identifiers(bare)).toEqual([{ hashed_email: email }]);
  });

  test("the phone hash includes the plus, as published", () => {
    const person = personOf({ email: "john@contoso.com", phone: "+1 123 456 7890" });
    expect(identifiers({ ...bare, person })).toEqual([
      { hashed_email: email },
      { hashed_phone_number: "1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231" },
    ]);
  });

  test("the email hash equals the published one", () => {
    expect(personOf({ email: " Test@Twitter.com " }).emailSha256).toMatch(/^d360d510/);
  });

  test("a click id is sent unchanged", () => {
    const value = "2-AbC_d9";
    expect(identifiers({ ...bare, clickIds: { twclid: { value, seenAt: 0 } } })).toEqual([
      { twclid: value },
      { hashed_email: email },
    ]);
  });

  test("an invalid click id is left out", () => {
    for (const value of ["2-ab c", "é", "2-%41", "a".repeat(2049)])
      expect(identifiers({ ...bare, clickIds: { twclid: { value, seenAt: 0 } } })).toEqual([{ hashed_email: email }]);
    expect(identifiers({ ...bare, browserIds: { _twclid: '{"twclid":"a b"}' } })).toEqual([{ hashed_email: email }]);
  });

  test.each([
    ['{"twclid":"2-abc","timestamp":1}', "2-abc"],
    [encodeURIComponent('{"twclid":"2-abc","timestamp":1}'), "2-abc"],
    ["2-abc", "2-abc"],
  ])("the cookie %s holds a click id", (cookie, twclid) => {
    expect(identifiers({ ...bare, browserIds: { _twclid: cookie } })).toEqual([{ twclid }, { hashed_email: email }]);
  });

  test.each(["", "{}", "{", "%7B%", "%7B%FF%7D", '{"twclid":{}}', "a b"])("the cookie %j holds no click id", (cookie) => {
    expect(identifiers({ ...bare, browserIds: { _twclid: cookie } })).toEqual([{ hashed_email: email }]);
  });

  test("the click id wins over the cookie", () => {
    const changes = {
      ...bare,
      clickIds: { twclid: { value: "click", seenAt: 0 } },
      browserIds: { _twclid: "cookie" },
    };
    expect(identifiers(changes)).toContainEqual({ twclid: "click" });
  });

  test("an IPv4 address and the user agent are sent together in one object", () => {
    const browser = { page: "", referrer: "", address: "203.0.113.9", userAgent: "Browser/1" };
    expect(identifiers({ ...bare, browser })).toContainEqual({
      ip_address: "203.0.113.9",
      user_agent: "Browser/1",
    });
    expect(identifiers({ ...bare, browser: { ...browser, userAgent: "" } })).toEqual([{ hashed_email: email }]);
  });

  test.each(["", "2001:db8::1"])(
    "with the address %j the user agent goes with another identifier, and is none alone",
    (address) => {
      const browser = { page: "", referrer: "", address, userAgent: "Browser/1" };
      const clickIds = { twclid: { value: "2-abc", seenAt: 0 } };
      expect(identifiers({ ...bare, clickIds, browser })).toEqual([
        { twclid: "2-abc", user_agent: "Browser/1" },
        { hashed_email: email },
      ]);
      expect(skipReason({ ...bare, person: null, browser })).toMatch(/^no twclid/);
    },
  );

  test("an event without identifiers is skipped", () => {
    expect(skipReason({ ...bare, person: null })).toBe("no twclid, email, phone, or IPv4 address with user agent");
  });
});

describe("skipped events", () => {
  test("a test event is skipped", () => {
    expect(skipReason({ mode: "test" })).toBe("X has no test mode");
  });

  test("an event of a person who opted out is skipped", () => {
    expect(skipReason({ ...bare, person: null, consent: "denied" })).toBe("opted out");
    expect(request({ consent: "denied" }).body).not.toContain("203.0.113.9");
  });

  test("names, page, UTM fields and null are never sent", () => {
    const person = personOf({ email: "jane@example.com", firstName: "Jane", lastName: "Doe" });
    const { body } = request({ person, value: null, orderId: null });
    for (const text of [person.firstNameSha256, person.lastNameSha256, "shop.example.com", "newsletter", "jane@"])
      expect(body).not.toContain(text);
    expect(body).not.toMatch(/null|""/);
  });
});

describe("time, money and ids", () => {
  test("a late event keeps its own time, and a time in the future becomes now", () => {
    expect(sent({ time: Date.UTC(2026, 9, 1, 1, 2, 3, 4) }).conversion_time).toBe("2026-10-01T01:02:03.004Z");
    expect(sent({ time: now + 1000 }).conversion_time).toBe("2026-11-15T09:30:00.000Z");
  });

  test.each([
    [49.9, "EUR", "49.90"],
    [10, "USD", "10.00"],
    [0, "USD", "0.00"],
    [1.005, "USD", "1.01"],
    [0.1 + 0.2, "USD", "0.30"],
    [4999.5, "JPY", "5000.00"],
    [1.2345, "KWD", "1.23"],
  ])("%d %s is %s, always with two decimals", (value, currency, text) => {
    expect(sent({ value, currency })).toMatchObject({ value: text, price_currency: currency });
  });

  test("without a value no currency is sent either", () => {
    expect(sent({ value: null })).not.toHaveProperty("value");
    expect(sent({ value: null })).not.toHaveProperty("price_currency");
  });

  test.each([0, -1, 1.5, "many"])("%s is no valid number of items", (items) => {
    expect(sent({ extra: { items } }, { "map.number_items": "extra.items" })).not.toHaveProperty("number_items");
  });
});

describe("the response", () => {
  const inSeconds = (seconds: number) => String(now / 1000 + seconds);
  const wait = (headers: Record<string, string>) => {
    const reading = read(429, headers);
    return reading?.kind === "retry" ? (reading.retryAfterSeconds ?? 0) : -1;
  };

  test("a throttled request waits until the account's window resets", () => {
    const reset = { "x-account-rate-limit-reset": inSeconds(600), "x-rate-limit-reset": inSeconds(60) };
    expect(wait(reset)).toBe(600);
    expect(wait({ "x-rate-limit-reset": inSeconds(60) })).toBe(60);
  });

  test("a reset time in the past or of another format is ignored", () => {
    for (const reset of ["1", "", "soon", "9".repeat(30)]) expect(wait({ "x-rate-limit-reset": reset })).toBe(0);
  });
});

test.each([
  ["pixel_id", "o8z6j", "tw-o8z6j"],
  ["default_event", "tw-o8z6j-o87ne", "purchase!"],
  ["access_token", "abc123", "two words"],
  ["dedup_id", "event", "id"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(english(settingFault(name, bad) ?? "")).toMatch(/^must be/);
});

describe("items", () => {
  test.each([
    [9.956, "EUR", 9.96],
    [100.4, "JPY", 100],
    [1.234, "KWD", 1.23],
    [undefined, "EUR", undefined],
  ])("a price of %j %s is the number %j", (price, currency, sentPrice) => {
    const { contents } = sent({ currency, items: [{ id: "a", price, quantity: 2 }] });
    const item = { content_id: "a", num_items: 2 };
    expect(contents).toEqual([sentPrice === undefined ? item : { ...item, content_price: sentPrice }]);
  });

  test("a mapped number of items wins, unless it is invalid", () => {
    expect(sent({ items: sampleItems }).number_items).toBe(3);
    expect(sent({ items: sampleItems }, { "map.number_items": "const:7" }).number_items).toBe(7);
    expect(sent({ items: sampleItems }, { "map.number_items": "const:0" })).not.toHaveProperty("number_items");
  });
});
