import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { nameFault, nameSetting } from "../shared/eventNames.ts";
import { sampleConversion, sampleItems, sha256, withheld } from "../shared/sample.ts";
import { skipOf } from "../shared/skips.ts";
import { googleAds } from "./index.ts";

const settings = {
  customer_id: "123-456-7890",
  access_token: "EXAMPLE-TOKEN",
  conversion_action: "7700000001",
  // Most tests are about click ids and contact data.
  visit_data: "none",
};
const leads = { ...settings, enhanced_conversions_for_leads: "on" };
const { settingFault } = platformFixture(googleAds, settings);
const noClick = { clickIds: {}, browserIds: {} };

const request = (given: Record<string, string>, ...changes: Partial<Conversion>[]) =>
  googleAds.toRequest(changes.map(sampleConversion), given, now);
const body = (given: Record<string, string>, ...changes: Partial<Conversion>[]) =>
  JSON.parse(request(given, ...changes).body) as {
    destinations: Record<string, unknown>[];
    events: Record<string, unknown>[];
  };
const event = (given: Record<string, string>, changes: Partial<Conversion> = {}) =>
  body(given, changes).events[0] ?? expect.unreachable("no event");
const skipReason = (given: Record<string, string>, changes: Partial<Conversion> = {}) =>
  skipOf(googleAds, sampleConversion(changes), given)?.reason ?? null;
const seen = (value: string) => ({ value, seenAt: Date.UTC(2026, 10, 10) });

describe("skipped events", () => {
  test("an event without gclid, wbraid and gbraid is skipped", () => {
    expect(skipReason(settings, noClick)).toBe("no gclid, wbraid or gbraid");
    expect(skipReason(settings, { clickIds: { dclid: seen("d"), fbclid: seen("f") } })).toBe("no gclid, wbraid or gbraid");
    expect(skipReason({ ...settings, enhanced_conversions_for_leads: "off" }, noClick)).toBe("no gclid, wbraid or gbraid");
  });

  test("an event without click id is sent if enhanced conversions for leads is on and contact data is known", () => {
    expect(skipReason(leads, noClick)).toBeNull();
    expect(skipReason(leads, { ...noClick, person: { emailSha256: sha256("a".repeat(64)) } })).toBeNull();
    expect(skipReason(leads, { ...noClick, person: null, consent: "unknown" })).toBe("no gclid, wbraid or gbraid");
  });

  test("an event of a person who opted out is skipped, whatever the setting", () => {
    expect(skipReason(settings, withheld)).toBe("opted out");
    expect(skipReason(leads, withheld)).toBe("opted out");
  });

  test.each(["gclid", "wbraid", "gbraid"])("an event with %s alone is sent", (name) => {
    const changes = { clickIds: { [name]: seen("x-Y_z") }, browserIds: {}, person: null };
    expect(skipReason(settings, changes)).toBeNull();
    expect(event(settings, changes).adIdentifiers).toEqual({ [name]: "x-Y_z" });
  });

  test("an event without a conversion action is skipped", () => {
    const { conversion_action: _none, ...without } = settings;
    expect(skipReason(without)).toBe("no conversion action for this event");
    expect(skipReason({ ...without, "event.purchase": "12" })).toBeNull();
  });
});

describe("the request", () => {
  test.each(["purchase", "lead", "signup", "add_to_cart", "Demo Booked"])(
    "%s goes to its own conversion action, or to the one for all",
    (name) => {
      const own = { ...settings, [nameSetting(name)]: "42" };
      expect(body(own, { name }).destinations[0]?.productDestinationId).toBe("42");
      expect(body(settings, { name }).destinations[0]?.productDestinationId).toBe("7700000001");
      expect(googleAds.group(sampleConversion({ name }), own)).toBe("42");
    },
  );

  test("conversions of different actions never share a request", () => {
    const given = { ...settings, "event.lead": "42" };
    expect(googleAds.group(sampleConversion({ name: "lead" }), given)).not.toBe(googleAds.group(sampleConversion(), given));
  });

  test("a manager account equal to the account itself is left out", () => {
    expect(body({ ...settings, login_customer_id: "1234567890" }, {}).destinations[0]).not.toHaveProperty("loginAccount");
  });

  test("a late event keeps its own time, and no time is in the future", () => {
    expect(event(settings, { time: Date.UTC(2026, 8, 1, 1, 2, 3) }).eventTimestamp).toBe("2026-09-01T01:02:03.000Z");
    expect(event(settings, { time: now + 60_000 }).eventTimestamp).toBe("2026-11-15T09:30:00.000Z");
  });

  test("the value is rounded to its currency, 0 is a value, and no value means no currency", () => {
    for (const [given, value] of [
      [0, 0],
      [0.1 + 0.2, 0.3],
      [1.005, 1.01],
      [1234567.891, 1234567.89],
      [1e21, 1e21],
    ])
      expect(event(settings, { value: given as number }).conversionValue).toBe(value);
    expect(event({ ...settings, "map.conversionValue": "const:-5" })).not.toHaveProperty("conversionValue");
    expect(event(settings, { value: 980, currency: "JPY" })).toMatchObject({
      conversionValue: 980,
      currency: "JPY",
    });
    const none = event(settings, { value: null });
    expect(none).not.toHaveProperty("conversionValue");
    expect(none).not.toHaveProperty("currency");
  });

  test("click ids are sent byte for byte, and gclid is sent alone", () => {
    const odd = "EAIa_IQ-b%2Bo+=ChMI";
    expect(event(settings, { clickIds: { wbraid: seen("w"), gclid: seen(odd), gbraid: seen("g") } }).adIdentifiers).toEqual({
      gclid: odd,
    });
  });

  test.each(["two words", "line\nbreak", "Klick-é", "\u0000", "g".repeat(2049), "a".repeat(64)])(
    "the gclid %j is invalid and left out",
    (value) => {
      const clickIds = { gclid: seen(value), wbraid: seen("w") };
      expect(event(settings, { clickIds }).adIdentifiers).toEqual({ wbraid: "w" });
      expect(skipReason(settings, { clickIds: { gclid: seen(value) }, browserIds: {} })).toBe("no gclid, wbraid or gbraid");
    },
  );

  test("a click id from Google's own cookie is used for 90 days", () => {
    const cookie = (value: string) => ({ clickIds: {}, browserIds: { _gcl_aw: value } });
    const clicked = Math.floor(Date.UTC(2026, 10, 1) / 1000);
    expect(event(settings, cookie(`GCL.${clicked}.EAIa-x_Y`)).adIdentifiers).toEqual({ gclid: "EAIa-x_Y" });
    for (const value of [
      `GCL.${clicked - 100 * 86_400}.EAIa`,
      `GCL.${clicked + 30 * 86_400}.EAIa`,
      `GCL.${clicked}.`,
      `GCL.${clicked}.a b`,
      "EAIa",
      "",
    ])
      expect(skipReason(settings, cookie(value)), value).toBe("no gclid, wbraid or gbraid");
  });

  test("the order id is the transaction id, else the event id", () => {
    expect(event(settings, { orderId: "Ä 7/b" }).transactionId).toBe("Ä 7/b");
    expect(event(settings, { orderId: null }).transactionId).toBe("0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901");
  });

  test("two people with one order id are two conversions: the second has the event id, which is its own", () => {
    const platformEventId = "01m7fhdq905xfr2156e43jmfec";
    const second = { orderId: "0", platformEventId };
    expect(event(settings, { orderId: "0" }).transactionId).toBe("0");
    expect(event(settings, second).transactionId).toBe(platformEventId);
    const correction = googleAds.corrections.toRequest(
      { conversion: sampleConversion(second), value: 5, at: now },
      settings,
      now,
    );
    expect(JSON.parse(correction.body).events[0].transactionId).toBe(platformEventId);
    // The browser's tag knows of no other person. Test events always have an id of their own.
    expect(event({ ...settings, tag_conversions: "on" }, second).transactionId).toBe("0");
    expect(event(settings, { ...second, mode: "test" }).transactionId).toBe("0");
  });

  test("an order id of digits only is the id that the Google tag reports, unless the connection prefixes it", () => {
    expect(event(settings, { orderId: "1001" }).transactionId).toBe("1001");
    expect(event({ ...settings, numeric_order_ids: "prefixed" }, { orderId: "1001" }).transactionId).toBe("order-1001");
  });

  test("an order id with an email address is not sent", () => {
    const made = request(settings, { orderId: "jane@example.com/7" });
    expect(made.body).not.toContain("jane");
    expect(made.body).toContain("0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901");
  });

  test("unknown consent is left out", () => {
    expect(event(settings, { consent: "unknown" })).not.toHaveProperty("consent");
  });

  test("a test event is never sent as a live one", () => {
    expect(body(settings, {}, { mode: "test" })).toHaveProperty("validateOnly", true);
    expect(body(settings, {})).toHaveProperty("validateOnly", false);
  });

  test("a mapped value is sent with its currency; values that Google does not know are left out", () => {
    const given = {
      ...settings,
      "map.conversionValue": "extra.margin",
      "map.eventSource": "extra.where",
      "map.userProperties.customerType": "extra.kind",
    };
    const known = { where: "PHONE", kind: "RETURNING", margin: "7.5" };
    expect(event(given, { value: null, extra: known })).toMatchObject({
      conversionValue: 7.5,
      currency: "EUR",
      eventSource: "PHONE",
      userProperties: { customerType: "RETURNING" },
    });
    const strange = event(given, { extra: { where: "shop", kind: "old", margin: "much" } });
    expect(strange).toMatchObject({ conversionValue: 49.9, eventSource: "WEB" });
    expect(strange).not.toHaveProperty("userProperties");
  });

  test("a request has no plain contact data, null or empty text, and no token outside its header", () => {
    const person = personOf({ email: "Jane.Doe@Gmail.com", phone: "+1 800 555 0100", firstName: "Jane" });
    const made = request(leads, { person, value: null, orderId: null });
    expect(`${made.url}${made.body}`).not.toMatch(/jane|@|800555|EXAMPLE-TOKEN|null|""|203\.0\.113/i);
    expect(made.headers).toHaveProperty("authorization", "Bearer EXAMPLE-TOKEN");
  });
});

describe("hashes", () => {
  const identifiers = (person: Conversion["person"]) =>
    event(leads, { person }).userData as { userIdentifiers: Record<string, string>[] };

  test("hashes equal those that Google publishes", () => {
    const person = personOf({ email: " AlexZ@example.com ", phone: "+1 (800) 555-0100" });
    expect(identifiers(person).userIdentifiers).toEqual([
      { emailAddress: "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a" },
      { phoneNumber: "fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30" },
    ]);
  });

  test("emails are hashed in Google's form; a given hash is used where there is no other", () => {
    expect(identifiers(personOf({ email: "a.lex+x@gmail.com" }))).toEqual(identifiers(personOf({ email: "alex@gmail.com" })));
    expect(identifiers(personOf({ email: "a.lex@example.com" }))).not.toEqual(
      identifiers(personOf({ email: "alex@example.com" })),
    );
    expect(identifiers({ emailSha256: sha256("b".repeat(64)) }).userIdentifiers).toEqual([{ emailAddress: "b".repeat(64) }]);
  });

  test("contact hashes are not sent while enhanced conversions for leads is off", () => {
    expect(request(settings, {}).body).not.toMatch(/[0-9a-f]{64}/);
  });
});

describe("settings", () => {
  test.each([
    ["customer_id", "1234567890", "12345"],
    ["customer_id", "123-456-7890", "customers/123"],
    ["login_customer_id", "123-456-7890", "me"],
    ["conversion_action", "7700000001", "customers/1/conversionActions/2"],
    ["enhanced_conversions_for_leads", "on", "yes"],
    ["event_source", "IN_STORE", "web"],
    ["numeric_order_ids", "as_given", "raw"],
  ])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toMatch(/^must be /);
  });

  test("an event with several conversion actions has a destination for each, and its own requests", () => {
    const several = { ...settings, "event.lead": "7700000002, 7700000005" };
    const { destinations, events } = body(several, { name: "generate_lead" });
    expect(destinations.map(({ productDestinationId: id }) => id)).toEqual(["7700000002", "7700000005"]);
    expect(new Set(destinations.map(({ operatingAccount }) => JSON.stringify(operatingAccount))).size).toBe(1);
    expect(events).toHaveLength(1);
    expect(events[0]).not.toHaveProperty("destinationReferences");
    const group = (name: string) => googleAds.group(sampleConversion({ name }), several);
    expect(group("lead")).toBe(group("Lead Captured"));
    expect(group("lead")).not.toBe(group("purchase"));
  });

  test("an event's conversion action must be a number", () => {
    expect(nameFault("7700000002", googleAds.events)).toBeNull();
    expect(nameFault("7700000002,7700000003", googleAds.events)).toBeNull();
    expect(nameFault("7700000002,Purchase", googleAds.events)).toMatch(/^must be /);
    expect(nameFault("Purchase", googleAds.events)).toMatch(/^must be /);
  });

  test("an account with and without hyphens is the same account", () => {
    expect(googleAds.account({ customer_id: "1234567890" })).toBe(googleAds.account(settings));
  });
});

describe("lists to choose from", () => {
  const picker = (setting: string) => googleAds.pickers.find((one) => one.setting === setting) ?? expect.unreachable(setting);
  const accounts = picker("customer_id");
  const actions = picker("conversion_action");
  const given = { ...settings, developer_token: "EXAMPLE-DEV", login_customer_id: "987-654-3210" };

  test("the picker lists the accounts below a manager", () => {
    const made = accounts.toRequest(given);
    expect(made).toMatchObject({
      method: "POST",
      url: "https://googleads.googleapis.com/v25/customers/9876543210/googleAds:searchStream",
      headers: {
        authorization: "Bearer EXAMPLE-TOKEN",
        "developer-token": "EXAMPLE-DEV",
        "login-customer-id": "9876543210",
      },
    });
    const rows = [{ results: [{ customerClient: { id: "1234567890", descriptiveName: "Shop" } }, {}] }];
    expect(accounts.read(JSON.stringify(rows))).toEqual([{ value: "1234567890", label: "Shop" }]);
  });

  test("the picker lists the accounts with direct access", () => {
    expect(accounts.toRequest({ ...settings, developer_token: "EXAMPLE-DEV" })).toEqual({
      method: "GET",
      url: "https://googleads.googleapis.com/v25/customers:listAccessibleCustomers",
      headers: { authorization: "Bearer EXAMPLE-TOKEN", "developer-token": "EXAMPLE-DEV" },
      body: "",
    });
    expect(accounts.read('{"resourceNames":["customers/1234567890","x",7]}')).toEqual([
      { value: "1234567890", label: "123-456-7890" },
    ]);
  });

  test("the picker lists conversion actions", () => {
    const made = actions.toRequest(given);
    expect(made.url).toBe("https://googleads.googleapis.com/v25/customers/1234567890/googleAds:searchStream");
    expect(made.body).toContain("UPLOAD_CLICKS");
    const page = {
      results: [{ conversionAction: { id: "77", name: "Leads" } }, { conversionAction: {} }, null],
    };
    expect(actions.read(JSON.stringify([page, {}]))).toEqual([{ value: "77", label: "Leads" }]);
  });
});

describe("data of the visit", () => {
  const gad = { gad_source: seen("1"), gad_campaignid: seen("17334012345") };
  const identifiers = (visit_data: string, changes: Partial<Conversion> = {}, more: Record<string, string> = {}) =>
    event({ ...settings, visit_data, ...more }, changes).adIdentifiers as
      | { sessionAttributes?: string; landingPageDeviceInfo?: unknown }
      | undefined;
  const clicks = { clickIds: { ...sampleConversion().clickIds, ...gad } };

  test("the IP address is sent only if the connection says so, and nothing of the visit after an opt-out", () => {
    const { userAgent, address } = sampleConversion().browser ?? expect.unreachable();
    expect(identifiers("session", clicks)?.landingPageDeviceInfo).toEqual({ userAgent });
    expect(identifiers("session_and_ip", clicks)?.landingPageDeviceInfo).toEqual({ userAgent, ipAddress: address });
    for (const visit_data of ["session", "session_and_ip"])
      expect(identifiers(visit_data, { ...clicks, consent: "denied" })).toEqual({ gclid: "EAIaIQobChMI-Example_1" });
    expect(identifiers("none", clicks)).toEqual({ gclid: "EAIaIQobChMI-Example_1" });
  });

  test("session attributes begin with the click, and need a parameter of it", () => {
    const { sessionAttributes = "" } = identifiers("session", { clickIds: gad }, { enhanced_conversions_for_leads: "on" }) ?? {};
    expect(JSON.parse(Buffer.from(sessionAttributes, "base64url").toString())).toMatchObject({
      gad_source: "1",
      session_start_time_usec: String(Date.UTC(2026, 10, 10) * 1000),
      landing_page_url: "https://shop.example.com/autumn",
    });
    expect(identifiers("session")).not.toHaveProperty("sessionAttributes");
    // They are no click id: alone they do not make an event sendable.
    expect(skipReason({ ...settings, visit_data: "session" }, { clickIds: gad, browserIds: {} })).toBe(
      "no gclid, wbraid or gbraid",
    );
  });
});

describe("additional data for the Google tag", () => {
  const tag = { ...settings, tag_conversions: "on" };

  test("order ids are sent as they are, with contact data", () => {
    expect(event(tag, { ...noClick, orderId: "1001" })).toMatchObject({
      transactionId: "1001",
      userData: { userIdentifiers: [{ emailAddress: expect.any(String) }, { phoneNumber: expect.any(String) }] },
    });
  });

  test("an event without an order id that may be sent is skipped", () => {
    const reason = "no order id, by which Google finds the conversion of its tag";
    expect(skipReason(tag)).toBeNull();
    expect(skipReason(tag, { orderId: null })).toBe(reason);
    expect(skipReason(tag, { orderId: "jane@example.com" })).toBe(reason);
    expect(skipReason(settings, { orderId: null })).toBeNull();
  });

  test("the list of conversion actions has those of the tag", () => {
    const [, actions] = googleAds.pickers;
    expect(actions?.toRequest(tag).body).toContain("'WEBPAGE'");
    expect(actions?.toRequest(settings).body).toContain("'UPLOAD_CLICKS'");
  });
});

test("a custom variable is sent under the account's name for it, and only if the connection names it", () => {
  const mapped = { ...settings, "map.customVariables.1": "utm_source", "map.customVariables.2": "utm_campaign" };
  expect(event({ ...mapped, custom_variable_2: "campaign" }).customVariables).toEqual([
    { variable: "campaign", value: "autumn" },
  ]);
  expect(event(mapped)).not.toHaveProperty("customVariables");
  expect(settingFault("custom_variable_1", "a b")).not.toBeNull();
});

test("warnings of an answer are read, and an answer without any, or an odd one, has none", () => {
  const warning = { field: "events[0].cart_data", reason: "IGNORED", description: "not used" };
  expect(googleAds.warnings(JSON.stringify({ requestId: "r", fieldWarnings: [warning, { reason: "X" }] }))).toBe(
    "warning: events[0].cart_data: not used IGNORED; X",
  );
  for (const odd of ["", "{", "null", '{"requestId":"r"}', '{"fieldWarnings":{}}']) expect(googleAds.warnings(odd)).toBeNull();
});

describe("items", () => {
  const cart = (changes: Partial<Conversion>, more: Record<string, string> = {}) =>
    event({ ...settings, ...more }, changes).cartData;

  test("the cart has products, quantities and unit prices; the Merchant Center account is optional", () => {
    expect(cart({ items: sampleItems })).toEqual({
      items: [
        { merchantProductId: "SKU-1", quantity: 2, unitPrice: 9.95 },
        { merchantProductId: "SKU-2", quantity: 1, unitPrice: 30 },
      ],
    });
    expect(cart({ items: sampleItems }, { merchant_id: "120000001" })).toMatchObject({
      merchantId: "120000001",
    });
  });

  test("a cart with an unknown price is not sent, and a free item is", () => {
    expect(cart({ items: [...sampleItems, { id: "c", quantity: 1 }] })).toBeUndefined();
    expect(cart({ items: [{ id: "c", price: 0, quantity: 1 }] })).toMatchObject({
      items: [{ unitPrice: 0 }],
    });
  });

  test.each(["wbraid", "gbraid"])("no cart is sent with %s", (name) => {
    const clicks = { clickIds: { [name]: seen("EXAMPLE") }, browserIds: {} };
    expect(event(settings, { ...clicks, items: sampleItems })).not.toHaveProperty("cartData");
  });

  test.each([
    ["merchant_id", "120000001", "shop"],
    ["feed_label", "DE", "de"],
    ["feed_language", "de", "german"],
  ])("%s may be %s and not %s", (name, right, wrong) => {
    expect(settingFault(name, right)).toBeNull();
    expect(settingFault(name, wrong)).not.toBeNull();
  });
});
