import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { ConnectionSettings } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { bareConversion, sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson } from "../shared/sample.ts";
import { nextdoor } from "./index.ts";

const settings = { data_source_id: "fe411d2f-0000", access_token: "EXAMPLE-TOKEN" };
const { request, read, skipReason, settingFault } = platformFixture(nextdoor, settings);

type Sent = Record<string, unknown> & { customer: Record<string, unknown>; custom: Record<string, unknown> };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  JSON.parse(request(changes, more).body) as Sent;

test("page views, for which Nextdoor has no name, are not counted as a custom conversion", () => {
  for (const name of ["page_view", "PageView"])
    expect(skipReason({ name })).toBe("Nextdoor has no name for page views; choose one in the connection");
  expect(skipReason({ name: "page_view" }, { "event.pageview": "view_content" })).toBeNull();
});

describe("the event", () => {
  test.each([
    [49.9, "EUR", "EUR49.90"],
    [0.1 + 0.2, "USD", "USD0.30"],
    [1999.6, "JPY", "JPY2000"],
    [1.2, "KWD", "KWD1.200"],
    [0, "EUR", "EUR0.00"],
  ])("%d %s is the text %s", (value, currency, text) => {
    expect(sent({ value, currency }).custom.order_value).toBe(text);
  });

  test("the time is in seconds and never in the future, and no deprecated field is sent", () => {
    expect(sent({ time: 1_794_648_600_999 }).event_time_epoch).toBe(1_794_648_600);
    expect(sent({ time: now + 60_000 }).event_time_epoch).toBe(now / 1000);
    for (const field of ["event_time", "client_id", "pixel_id"]) expect(sent()).not.toHaveProperty(field);
  });

  test("a website's event has its page; without one the event is system_generated", () => {
    expect(sent()).toMatchObject({ action_source: "website", action_source_url: sampleBrowser.page });
    expect(sent({ browser: null }).action_source).toBe("system_generated");
    expect(sent({ browser: null })).not.toHaveProperty("action_source_url");
    const chat = sent({}, { action_source: "chat" });
    expect(chat.action_source).toBe("chat");
    expect(chat).not.toHaveProperty("action_source_url");
  });

  test("only a test event carries test_event, as text", () => {
    expect(sent({ mode: "test" }).test_event).toBe("true");
    expect(sent({ mode: "live" })).not.toHaveProperty("test_event");
  });

  test("a purchase without a value is skipped, whatever its name was, and other events are not", () => {
    const reason = "Nextdoor requires a value with purchase";
    expect(skipReason({ value: null })).toBe(reason);
    expect(skipReason({ name: "Deal", value: null }, { "event.deal": "purchase" })).toBe(reason);
    expect(skipReason({ name: "lead", value: null })).toBeNull();
    expect(skipReason({ value: 0 })).toBeNull();
  });

  test("a sale in a shop always has an order id", () => {
    const shop = { action_source: "physical_store" };
    expect(sent({}, shop).custom.order_id).toBe("A-1001");
    expect(sent({ orderId: null }, shop).custom.order_id).toBe(sent().event_id);
    expect(sent({ orderId: null }).custom).not.toHaveProperty("order_id");
  });

  test("only Nextdoor's own names can be chosen", () => {
    expect(nameFault("custom_conversion_10", nextdoor.events)).toBeNull();
    expect(english(nameFault("custom_conversion_11", nextdoor.events) ?? "")).toMatch(/^must be one of purchase, lead,/);
  });
});

describe("the customer", () => {
  test("contact data is hashed, click id, address and browser are not", () => {
    const person = personOf({ email: " John@Contoso.com", firstName: "JOHN", lastName: "Smith" });
    const clickIds = { ndclid: { value: "AbC%2F_+=", seenAt: 1 } };
    expect(sent({ person, clickIds }).customer).toEqual({
      email: fullPerson.emailSha256,
      first_name: fullPerson.firstNameSha256,
      last_name: fullPerson.lastNameSha256,
      click_id: "AbC%2F_+=",
      client_ip_address: sampleBrowser.address,
      client_user_agent: sampleBrowser.userAgent,
    });
  });

  test("a phone number is sent only if the connection is set so", () => {
    expect(sent({ person: fullPerson }).customer).not.toHaveProperty("phone_number");
    expect(sent({ person: fullPerson }, { phone_form: "plus" }).customer.phone_number).toBe(fullPerson.phoneSha256);
  });

  test("without a click id the cookie is sent", () => {
    const browserIds = { _ndclid: "cookie" };
    expect(sent({ clickIds: {}, browserIds }).customer.click_id).toBe("cookie");
    const broken = { ndclid: { value: "not an id", seenAt: 1 } };
    expect(sent({ clickIds: broken, browserIds }).customer.click_id).toBe("cookie");
  });

  test("an event of a person who opted out is skipped, also with a known browser", () => {
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
    expect(skipReason(bareConversion({ person: null, consent: "unknown" }))).toBe("no email, click id, IP address or user agent");
  });

  test("limited data use is Nextdoor's restricted data usage, and delivery_optimization is not sent any more", () => {
    expect(sent()).not.toHaveProperty("restricted_data_usage");
    const limited = sent({}, { limited_data: "always" });
    expect(limited.restricted_data_usage).toBe(1);
    expect(limited).not.toHaveProperty("delivery_optimization");
  });

  test("neither plain contact data nor the token is in URL or body", () => {
    const person = personOf({ email: "jane@example.com", phone: "+14155550100", firstName: "Jane" });
    const { url, body } = request({ person, orderId: null });
    expect(url + body).not.toMatch(/jane|4155550100|EXAMPLE-TOKEN|null|""/i);
  });
});

test("an error text that is no JSON is the reason", () => {
  expect(read({ status: 400, body: "event_name is invalid" })).toEqual([
    { kind: "rejected", error: "HTTP 400: event_name is invalid" },
  ]);
});

test.each([
  ["data_source_id", "fe411d2f-ce90", "a/b"],
  ["access_token", "nd.token", "two words"],
  ["partner_id", "acme", "a b"],
  ["action_source", "chat", "app"],
  ["phone_form", "plus", "digits"],
  ["site_url", "https://shop.example.com/", "ftp://shop.example.com/"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(english(settingFault(name, bad) ?? "")).toMatch(/^must be/);
});

describe("items", () => {
  test("an event may have nothing but items, and a price has the digits of the currency", () => {
    const items = [
      { id: "a", price: 100.4, name: "Mug", quantity: 2 },
      { id: "b", quantity: 1 },
    ];
    expect(sent({ name: "view_item", value: null, orderId: null, currency: "JPY", items }).custom).toEqual({
      product_context: [
        { id: "a", quantity: 2, item_price: 100 },
        { id: "b", quantity: 1 },
      ],
    });
  });
});
