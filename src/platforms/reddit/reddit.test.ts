import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { nameFault } from "../shared/eventNames.ts";
import type { ConnectionSettings } from "../platform.ts";
import { sampleConversion, sampleItems, sha256, withheld } from "../shared/sample.ts";
import { reddit } from "./index.ts";

const own: ConnectionSettings = { access_token: "s3cr3t-token", pixel_id: "a2_abc123" };
type Sent = { type: unknown; user: Record<string, unknown>; metadata: Record<string, unknown> } & Record<string, unknown>;
const { request, skipReason, settingFault } = platformFixture(reddit, own);
const sent = (changes: Partial<Conversion> = {}, settings: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, settings).body) as { data: { events: Sent[] } }).data.events[0] as Sent;
const email = sampleConversion().person?.emailSha256 ?? "";
const bare = { person: { emailSha256: sha256(email) }, browser: null, clickIds: {}, browserIds: {} };
const conversions = ["event-0", "event-1", "event-2"].map((eventId, i) =>
  sampleConversion({ platformEventId: eventId, orderId: `A-${i}` }),
);
const read = (status: number, body: unknown, settings: ConnectionSettings = own) =>
  reddit.readResponse({ status, headers: {}, body: JSON.stringify(body) }, conversions, settings, now);

describe("names", () => {
  test("Reddit's own names match in any case, all others are sent as custom under their usual or own name", () => {
    expect(sent({ name: " PURCHASE " }).type).toEqual({ tracking_type: "PURCHASE" });
    expect(sent({ name: "Page_Visit" }).type).toEqual({ tracking_type: "PAGE_VISIT" });
    const custom = (name: string) => ({ tracking_type: "CUSTOM", custom_event_name: name });
    expect(sent({ name: " Quiz Done " }).type).toEqual(custom("Quiz Done"));
    for (const name of ["MQL", "SQL", "Qualified Lead"]) expect(sent({ name }).type, name).toEqual(custom("qualified_lead"));
  });

  test("a connection may choose a standard event, a custom name, or CUSTOM with the event's own name", () => {
    const typeFor = (chosen: string) => sent({ name: "Booking" }, { "event.booking": chosen }).type;
    expect(typeFor("purchase")).toEqual({ tracking_type: "PURCHASE" });
    expect(typeFor("Booked")).toEqual({ tracking_type: "CUSTOM", custom_event_name: "Booked" });
    expect(typeFor("CUSTOM")).toEqual({ tracking_type: "CUSTOM", custom_event_name: "Booking" });
  });

  test("a custom name is cut to 64 characters, and a connection cannot choose a longer one", () => {
    const cutName = { tracking_type: "CUSTOM", custom_event_name: "n".repeat(64) };
    const name = "n".repeat(65);
    expect(sent({ name }).type).toEqual(cutName);
    expect(sent({ name }, { [`event.${name}`]: "CUSTOM" }).type).toEqual(cutName);
    expect(nameFault(name, reddit.events)).toBe("must have at most 64 characters");
  });

  test("an event with several names is one event for each of them, and a test event has only the first", () => {
    const chosen = { "event.booking": "LEAD, Booked" };
    const typesOf = (mode: "live" | "test") =>
      (
        JSON.parse(request({ name: "Booking", mode }, { ...chosen, test_id: "t2_example" }).body) as {
          data: { events: Sent[] };
        }
      ).data.events.map(({ type, metadata }) => [type, metadata.conversion_id]);
    const id = sampleConversion().platformEventId;
    const lead = [{ tracking_type: "LEAD" }, id];
    const custom = [{ tracking_type: "CUSTOM", custom_event_name: "Booked" }, id];
    expect(typesOf("live")).toEqual([lead, custom]);
    expect(typesOf("test")).toEqual([lead]);
  });
});

describe("the person", () => {
  test("the email hash has Reddit's own form, as published", () => {
    const person = personOf({ email: "Al.ice$+Apple@Example.Com" });
    expect(sent({ ...bare, person }).user.email).toBe("ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976");
  });

  test("the phone hash includes the plus, as published", () => {
    const person = personOf({ email: "alice@example.com", phone: "+1 (555) 444-1234" });
    expect(sent({ ...bare, person }).user).toEqual({
      email: "ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976",
      phone_number: "e5b124c58580eb16bd959b8d0cac12b12c952e2ceae0203d416cff94f10b994a",
    });
  });

  test("with hashed_email only, the given hash is sent as it is", () => {
    expect(sent(bare).user).toEqual({ email });
  });

  test("the browser id is the part after the dot, or the whole cookie if the connection is set so", () => {
    const uuid = "b8f7eb7d-b357-4c1d-9a2e-0123456789ab";
    const browserIds = { _rdt_uuid: `1794297600000.${uuid}` };
    expect(sent({ ...bare, browserIds }).user.uuid).toBe(uuid);
    expect(sent({ ...bare, browserIds }, { uuid_form: "cookie" }).user.uuid).toBe(browserIds._rdt_uuid);
    expect(sent({ ...bare, browserIds: { _rdt_uuid: uuid } }).user.uuid).toBe(uuid);
    for (const _rdt_uuid of ["no-dot", "1794297600000.b8f7eb7d", `x.${uuid}`, `1.${uuid} `])
      expect(sent({ ...bare, browserIds: { _rdt_uuid } }).user).not.toHaveProperty("uuid");
  });

  test("a valid click id is sent unchanged, an invalid one is left out", () => {
    const clicked = (value: string) => sent({ clickIds: { rdt_cid: { value, seenAt: 0 } } });
    expect(clicked("AbC%2F_+=").click_id).toBe("AbC%2F_+=");
    for (const value of ["a b", "é", "a".repeat(2049)]) expect(clicked(value)).not.toHaveProperty("click_id");
  });

  test("a mapped external id is hashed, unless it is a hash already", () => {
    const settings = { "map.user.external_id": "extra.id" };
    expect(sent({ extra: { id: "customer12345" } }, settings).user.external_id).toMatch(/^[0-9a-f]{64}$/);
    expect(sent({ extra: { id: email } }, settings).user.external_id).toBe(email);
    expect(request({ ...withheld, extra: { id: "customer12345" } }, settings).body).not.toContain("external_id");
  });

  test("names, UTM fields, plain values, token and null are never in URL or body", () => {
    const person = personOf({ email: "jane@example.com", firstName: "Jane", lastName: "Doe" });
    const { url, body, headers } = request({ person, value: null, orderId: null });
    for (const text of [person.firstNameSha256, person.lastNameSha256, "newsletter", "jane@", "s3cr3t"])
      expect(url + body).not.toContain(text);
    expect(body).not.toMatch(/null|""/);
    expect(headers.authorization).toBe("Bearer s3cr3t-token");
    expect(headers["user-agent"]).toBe("cleancast/1");
  });
});

describe("match keys and consent", () => {
  const none = { ...bare, person: null };
  const browser = { page: "", referrer: "", address: "203.0.113.9", userAgent: "Browser/1" };

  test("one match key is enough", () => {
    expect(skipReason(bare)).toBeNull();
    expect(skipReason({ ...none, clickIds: { rdt_cid: { value: "1", seenAt: 0 } } })).toBeNull();
    expect(skipReason({ ...none, browserIds: { _rdt_uuid: "1.b8f7eb7d-b357-4c1d-9a2e-0123456789ab" } })).toBeNull();
    expect(skipReason({ ...none, browser })).toBeNull();
  });

  test("an event without a complete match key is skipped", () => {
    const reason = "no click id, email, phone, browser id, or IP address with user agent";
    expect(skipReason(none)).toBe(reason);
    expect(skipReason({ ...none, browserIds: { _rdt_uuid: "1.2" } })).toBe(reason);
    expect(skipReason({ ...none, browser: { ...browser, userAgent: "" } })).toBe(reason);
  });

  test("an event of a person who opted out is skipped, also with a known browser", () => {
    expect(skipReason(withheld)).toBe("opted out");
    expect(skipReason({ ...withheld, browser })).toBe("opted out");
  });

  test("unmatched=send sends an event of a person who opted out with limited data use only", () => {
    expect(skipReason({ ...withheld, browser }, { unmatched: "send" })).toBeNull();
    expect(sent({ ...withheld, browser }, { unmatched: "send" })).toEqual({
      event_at: sampleConversion().time,
      action_source: "WEBSITE",
      type: { tracking_type: "PURCHASE" },
      user: { data_processing_options: { modes: ["LDU"] } },
      metadata: { conversion_id: sampleConversion().platformEventId, value: 49.9, currency: "EUR" },
    });
  });

  test("limited data use is set after denied consent, or always if the connection is set so", () => {
    for (const consent of ["granted", "unknown"] as const)
      expect(sent({ consent }).user).not.toHaveProperty("data_processing_options");
    expect(sent({}, { limited_data: "always", limited_data_region: "US-CA" }).user.data_processing_options).toEqual({
      modes: ["LDU"],
      country: "US",
      region: "US-CA",
    });
  });
});

describe("where it happened", () => {
  test("the page is sent with WEBSITE only", () => {
    expect(sent()).toMatchObject({
      action_source: "WEBSITE",
      event_source_url: "https://shop.example.com/autumn",
    });
    for (const action_source of ["APP", "OTHER", "PHYSICAL_STORE"])
      expect(sent({}, { action_source })).not.toHaveProperty("event_source_url");
  });

  test("a conversion in a shop has no browser ids and needs contact data", () => {
    const settings = { action_source: "PHYSICAL_STORE" };
    const clickIds = { rdt_cid: { value: "1", seenAt: 0 } };
    expect(skipReason({ person: null, clickIds }, settings)).toBe("no email or phone");
    expect(skipReason({ clickIds }, settings)).toBeNull();
  });
});

describe("time, money and ids", () => {
  test("a late event keeps its own time, in milliseconds, for up to seven days", () => {
    const time = Date.UTC(2026, 10, 9, 1, 2, 3);
    expect(sent({ time }).event_at).toBe(time);
    expect(sent({ time: now + 1000 }).event_at).toBe(now);
    expect(reddit.maxAgeDays).toBe(7);
  });

  test.each([
    [49.9, "EUR", 49.9],
    [0, "USD", 0],
    [0.1 + 0.2, "USD", 0.3],
    [1.005, "USD", 1.01],
    [4999.5, "JPY", 5000],
  ])("%d %s is the number %d", (value, currency, number) => {
    expect(sent({ value, currency }).metadata).toMatchObject({ value: number, currency });
  });

  test("value and currency are not sent with visits, views and searches, or without a value", () => {
    for (const changes of [{ name: "page_view" }, { name: "view_content" }, { name: "search" }, { value: null }])
      expect(Object.keys(sent(changes).metadata)).toEqual(["conversion_id"]);
  });

  test("an item count is a whole number, sent only with events that have one", () => {
    const settings = { "map.metadata.item_count": "extra.items" };
    expect(sent({ extra: { items: "2" } }, settings).metadata.item_count).toBe(2);
    for (const changes of [{ extra: { items: 1.5 } }, { extra: { items: 2 }, name: "lead" }])
      expect(sent(changes, settings).metadata).not.toHaveProperty("item_count");
  });
});

describe("test mode", () => {
  test("a test event without a test id is skipped and never sent as a live one", () => {
    expect(skipReason({ mode: "test" })).toBe("test event, but the connection has no test id");
    expect(() => request({ mode: "test" })).toThrow("test id");
  });

  test("a live event never carries the test id", () => {
    expect(request({}, { test_id: "t2_test" }).body).not.toContain("t2_test");
  });

  test("test events are sent alone, live ones together", () => {
    const [one, two] = conversions as [Conversion, Conversion];
    expect(reddit.group(one)).toBe(reddit.group(two));
    expect(reddit.group({ ...one, mode: "test" })).not.toBe(reddit.group({ ...two, mode: "test" }));
  });
});

describe("the response", () => {
  const outcomes = (status: number, body: unknown, settings?: ConnectionSettings) =>
    read(status, body, settings).map((one) => one.kind);

  test("an event that Reddit left out is found by its conversion id", () => {
    const body = {
      data: { invalid_events: [{ error_message: "bad", metadata: { conversion_id: "event-1" } }] },
    };
    expect(read(200, body)).toEqual([{ kind: "accepted" }, { kind: "rejected", error: "HTTP 200: bad" }, { kind: "accepted" }]);
    const byOrder = { invalid_events: [{ error_message: "bad", metadata: { conversion_id: "A-2" } }] };
    expect(outcomes(200, byOrder, { ...own, dedup_id: "order" })).toEqual(["accepted", "accepted", "rejected"]);
  });

  test("an empty list of invalid events is a success", () => {
    expect(outcomes(200, { data: { message: "ok", invalid_events: [] }, error: null })).toEqual(
      conversions.map(() => "accepted"),
    );
  });

  test("faults in the first error format may be plain texts", () => {
    const body = {
      error: { code: 422, message: "no", fields: ["events.1.user.email is not hashed", 7, null] },
    };
    expect(outcomes(422, body)).toEqual(["retry", "rejected", "retry"]);
  });

  test("with one fault that names no event, no event can be resent alone", () => {
    const body = { error: { code: 400, message: "no", fields: ["events[1].type", "data.test_id"] } };
    expect(outcomes(400, body)).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("errors with HTTP 200 count with the status that they name", () => {
    const codes = [400, 401, 429, 500].map((code) => outcomes(200, { error: { code, message: "x" } })[0]);
    expect(codes).toEqual(["rejected", "unauthorized", "retry", "retry"]);
    expect(outcomes(200, { success: false, error: { reason: "UNAUTHORIZED" } })[0]).toBe("unauthorized");
    expect(outcomes(200, { success: false })[0]).toBe("rejected");
  });
});

test("the picker offers the pixels of an ad account", () => {
  const [pixels] = reddit.pickers;
  expect(pixels?.toRequest({ ...own, ad_account_id: "a2_acc" })).toEqual({
    method: "GET",
    url: "https://ads-api.reddit.com/api/v3/ad_accounts/a2_acc/pixels",
    headers: { authorization: "Bearer s3cr3t-token", "user-agent": "cleancast/1" },
    body: "",
  });
  expect(pixels?.read('{"data":[{"id":"a2_acc","name":"Shop"},{"id":"a2_b"},{}]}')).toEqual([
    { value: "a2_acc", label: "Shop" },
    { value: "a2_b", label: "a2_b" },
  ]);
});

test.each([
  ["pixel_id", "a2_abc123", "a2/abc"],
  ["ad_account_id", "t2_abc", "https://ads.reddit.com"],
  ["action_source", "OTHER", "website"],
  ["uuid_form", "cookie", "uuid"],
  ["unmatched", "send", "yes"],
  ["limited_data_region", "US-CA", "California"],
  ["access_token", "abc.def", "two words"],
  ["test_id", "t2_x", "a b"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(settingFault(name, bad)).toMatch(/^must be/);
});

describe("items", () => {
  test.each([
    ["purchase", 3],
    ["add_to_cart", 3],
    ["Quiz Done", 3],
    ["view_item", undefined],
    ["lead", undefined],
  ])("%s has its products, and a number of pieces only where Reddit accepts one: %j", (name, pieces) => {
    const { metadata } = sent({ name, items: sampleItems });
    expect(metadata.products).toEqual([
      { id: "SKU-1", name: "Mug", category: "Kitchen", item_price: 9.95, quantity: 2 },
      { id: "SKU-2", item_price: 30, quantity: 1 },
    ]);
    expect(metadata.item_count).toBe(pieces);
  });

  test("a mapped number of pieces wins", () => {
    const mapped = { "map.metadata.item_count": "const:7" };
    expect(sent({ items: sampleItems }, mapped).metadata.item_count).toBe(7);
  });
});
