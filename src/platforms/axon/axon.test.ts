import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { ConnectionSettings } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson, sampleItems } from "../shared/sample.ts";
import { axon } from "./index.ts";

const settings = { event_key: "EXAMPLE-event-key", api_key: "EXAMPLE-CAPI-KEY" };
const { request, read, skipReason, settingFault } = platformFixture(axon, settings);

type Sent = Record<string, unknown> & { user_data: Record<string, unknown>; data: Record<string, unknown> };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, more).body) as { events: Sent[] }).events[0] ?? expect.unreachable("no event");
const none: Partial<Conversion> = { person: null, clickIds: {}, browserIds: {} };

test("ids of a server-side tag are sent where the pixel's own are missing", () => {
  const cookies = { axwrt: "w", axeid: "e", axart: "r" };
  expect(sent({ ...none, browserIds: cookies }).user_data).toMatchObject({ axwrt: "w", aleid: "e", alart: "r" });
  expect(sent({ ...none, browserIds: { ...cookies, _axwrt: "own" } }).user_data).toMatchObject({ axwrt: "own" });
});

describe("the event", () => {
  test("the key is the whole Authorization header, without Bearer", () => {
    expect(request().headers.authorization).toBe("EXAMPLE-CAPI-KEY");
  });

  test("the time is in milliseconds and never in the future", () => {
    expect(sent({ time: 1_794_648_600_123 }).event_time).toBe(1_794_648_600_123);
    expect(sent({ time: now + 60_000 }).event_time).toBe(now);
  });

  test.each([
    [49.9, "EUR", 49.9],
    [0.1 + 0.2, "EUR", 0.3],
    [1999.6, "JPY", 2000],
    [1.2345, "KWD", 1.235],
    [0, "EUR", 0],
  ])("%d %s is the number %d, and the sum of the items is the same", (value, currency, amount) => {
    expect(sent({ value, currency }).data).toMatchObject({
      value: amount,
      currency,
      items: [{ price: amount, quantity: 1 }],
    });
  });

  test("a purchase always has a transaction id, a page view no data", () => {
    expect(sent().data.transaction_id).toBe("A-1001");
    expect(sent({ orderId: null }).data.transaction_id).toBe(sent().dedupe_id);
    expect(sent({ name: "page_view" }).data).toBeNull();
  });

  test.each(["purchase", "add_to_cart", "begin_checkout", "view_item"])(
    "%s without a value is skipped, because Axon would drop the whole batch",
    (name) => {
      expect(skipReason({ name, value: null })).toBe(`AppLovin Axon requires a value with ${name}`);
      expect(skipReason({ name, value: 0 })).toBeNull();
    },
  );

  test("events without an Axon name are skipped until one is chosen", () => {
    expect(skipReason({ name: "Quiz Done" })).toBe("AppLovin Axon has no name for this event; choose one in the connection");
    expect(skipReason({ name: "Quiz Done" }, { "event.quizdone": "generate_lead" })).toBeNull();
    expect(sent({ name: "Quiz Done" }, { default_event: "sign_up" }).name).toBe("sign_up");
    expect(sent({}, { default_event: "sign_up" }).name).toBe("purchase");
    expect(english(nameFault("quiz", axon.events) ?? "")).toMatch(/^must be one of purchase, generate_lead,/);
  });

  test("a test event is skipped", () => {
    expect(skipReason({ mode: "test" })).toBe("AppLovin Axon has no test mode");
  });

  test("mapped costs are sent with a purchase only", () => {
    const costs = { "map.data.shipping": "const:4.9", "map.data.tax": "const:7" };
    expect(sent({}, costs).data).toMatchObject({ shipping: 4.9, tax: 7 });
    expect(sent({ name: "lead" }, costs).data).toEqual({ value: 49.9, currency: "EUR" });
  });
});

describe("the visitor", () => {
  test("contact data is hashed, ids are sent byte for byte", () => {
    const person = personOf({ email: " John@Contoso.com", phone: "+1 425 555 1234", firstName: "John" });
    const odd = "AbC%2F_+=";
    const clickIds = { aleid: { value: odd, seenAt: 1 }, alart: { value: "user", seenAt: 1 } };
    expect(sent({ person, clickIds, browserIds: { _axwrt: "w", _axeid: "cookie" } }).user_data).toEqual({
      esi: "web",
      client_ip_address: sampleBrowser.address,
      client_user_agent: sampleBrowser.userAgent,
      aleid: odd,
      alart: "user",
      axwrt: "w",
      email: fullPerson.emailSha256,
      phone: fullPerson.phoneDigitsSha256,
    });
  });

  test.each([
    ["page", { page: "" }],
    ["address", { address: "" }],
    ["user agent", { userAgent: "" }],
  ])("an event without the visitor's %s is skipped", (_what, lacking) => {
    const reason = "no visit with its page, IP address and user agent";
    expect(skipReason({ browser: { ...sampleBrowser, ...lacking } })).toBe(reason);
    expect(skipReason({ browser: null })).toBe(reason);
  });

  test("one identifier is enough, and none is too few", () => {
    expect(skipReason(none)).toBe("no aleid, alart, axwrt, email or phone");
    expect(skipReason({ ...none, browserIds: { _axeid: "x" } })).toBeNull();
    expect(skipReason({ ...none, browserIds: { axart: "x" } })).toBeNull();
    expect(skipReason({ ...none, clickIds: { alart: { value: "x", seenAt: 1 } } })).toBeNull();
  });

  test("an event of a person who opted out is skipped, also with a known browser", () => {
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
  });

  test("mapped ids that Axon would reject are left out", () => {
    const mapped = { "map.user_data.user_id": "extra.id", "map.user_data.country_code": "extra.country" };
    const { user_data } = sent({ extra: { id: "12345", country: "Germany" } }, mapped);
    expect(user_data).not.toHaveProperty("user_id");
    expect(user_data).not.toHaveProperty("country_code");
  });

  test("neither plain contact data nor the key is in URL or body", () => {
    const person = personOf({ email: "jane@example.com", phone: "+14155550100", lastName: "Miller" });
    const { url, body } = request({ person, orderId: null });
    expect(url + body).not.toMatch(/jane|miller|4155550100|EXAMPLE-CAPI-KEY|""/i);
  });
});

describe("pixels for lead generation", () => {
  const leads = { website: "leads" };
  const restricted = { website: "restricted_leads" };

  test("only page views and leads are sent", () => {
    for (const more of [leads, restricted]) {
      expect(skipReason({}, more)).toBe("a pixel for lead generation takes only page_view and generate_lead");
      expect(skipReason({ name: "page_view", value: null, browserIds: { _axwrt: "w" } }, more)).toBeNull();
      expect(skipReason({ browserIds: { _axwrt: "w" } }, { ...more, "event.purchase": "generate_lead" })).toBeNull();
    }
  });

  test("a lead needs a value: its own, or that of the connection", () => {
    const lead = { name: "lead", value: null };
    expect(skipReason(lead, leads)).toBe("AppLovin Axon requires a value with generate_lead");
    expect(skipReason(lead, { ...leads, lead_value: "12.5" })).toBeNull();
    expect(sent(lead, { ...leads, lead_value: "12.5" }).data).toEqual({ value: 12.5, currency: "EUR" });
    expect(sent({ name: "lead" }, { ...leads, lead_value: "12.5" }).data.value).toBe(49.9);
    expect(skipReason(lead)).toBeNull();
  });

  test("a restricted pixel gets no contact data, so it needs one of Axon's own ids", () => {
    const lead = { ...none, name: "lead", person: fullPerson };
    expect(skipReason(lead, restricted)).toBe("no aleid, alart or axwrt");
    const { user_data, event_source_url } = sent({ ...lead, browserIds: { _axwrt: "w" } }, restricted);
    expect(Object.keys(user_data)).toEqual(["esi", "client_ip_address", "client_user_agent", "axwrt"]);
    expect(event_source_url).toBe("https://shop.example.com");
  });

  test("mapped fields are not sent", () => {
    const mapped = { ...leads, "map.user_data.user_id": "const:customer-4711" };
    expect(sent({ name: "lead" }, mapped).user_data).not.toHaveProperty("user_id");
  });
});

test("an error without an index is the same for all, so that the batch is halved", () => {
  const headers = { "x-al-error-message": "invalid event" };
  expect(read({ status: 400, headers }, 2)).toEqual([
    { kind: "rejected", error: "HTTP 400: invalid event" },
    { kind: "rejected", error: "HTTP 400: invalid event" },
  ]);
});

test.each([
  ["event_key", "abcdef-123_45", "a/b"],
  ["api_key", "abc.def", "two words"],
  ["website", "restricted_leads", "ecommerce"],
  ["default_event", "sign_up", "quiz"],
  ["lead_value", "12.50", "-3"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(english(settingFault(name, bad) ?? "")).toMatch(/^must be/);
});

describe("items", () => {
  const dataOf = (changes: Partial<Conversion>) => sent(changes).data;
  const asOne = [{ item_id: "order", item_name: "Order", price: 49.9, quantity: 1 }];

  test("items that add up to the value are sent", () => {
    expect(dataOf({ items: sampleItems }).items).toMatchObject([{ item_id: "SKU-1" }, { item_id: "SKU-2" }]);
    const cents = Array.from({ length: 3 }, (_, i) => ({ id: `${i}`, price: 0.1, quantity: 1 }));
    expect(dataOf({ value: 0.3, items: cents }).items).toHaveLength(3);
  });

  test("items with a discount, shipping or an unknown price become one item of the value", () => {
    expect(dataOf({ items: [{ id: "a", price: 60, quantity: 1 }] }).items).toEqual(asOne);
    expect(dataOf({ items: [...sampleItems, { id: "c", quantity: 1 }] }).items).toEqual(asOne);
  });

  test("without a value it is the price of the items; without their prices the event is skipped", () => {
    expect(dataOf({ value: null, items: sampleItems })).toMatchObject({ value: 49.9, currency: "EUR" });
    expect(skipReason({ value: null, items: sampleItems })).toBeNull();
    expect(skipReason({ value: null, items: [{ id: "a", quantity: 1 }] })).toBe("AppLovin Axon requires a value with purchase");
    expect(skipReason({ value: null })).toBe("AppLovin Axon requires a value with purchase");
  });

  test("other events have no items", () => {
    for (const name of ["lead", "signup", "view_cart"]) expect(dataOf({ name, items: sampleItems })).not.toHaveProperty("items");
  });
});
