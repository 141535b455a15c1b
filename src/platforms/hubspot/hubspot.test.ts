import { describe, expect, test } from "vitest";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import type { PlatformRequest } from "../platform.ts";
import { sampleConversion, withheld } from "../shared/sample.ts";
import { hubspot } from "./index.ts";

const settings = { hub_id: "1234567", access_token: "pat-x", default_event: "pe1234567_conversion" };
const { request, skipReason, read, settingFault } = platformFixture(hubspot, settings);
const browserIds = { hubspotutk: "0123456789abcdef0123456789abcdef" };

function inputOf({ body }: PlatformRequest): Record<string, unknown> {
  const [input] = (JSON.parse(body) as { inputs: Record<string, unknown>[] }).inputs;
  return input ?? expect.unreachable("no input");
}
const propertiesOf = (sent: PlatformRequest) => inputOf(sent).properties as Record<string, string>;

describe("contacts", () => {
  const reason = "no hubspotutk cookie, contact id or property for the hashed email";

  test("a conversion without an identifier of HubSpot's is skipped", () => {
    expect(skipReason()).toBe(reason);
    expect(skipReason({ browserIds })).toBeNull();
    expect(skipReason({}, { email_sha256_property: "email_hash" })).toBeNull();
    expect(skipReason({ person: { phoneSha256: sha256("1") } }, { email_sha256_property: "email_hash" })).toBe(reason);
    expect(skipReason({ extra: { id: "608051" } }, { "map.objectId": "extra.id" })).toBeNull();
  });

  test("a contact id that is no number, and a cookie of another form, are none", () => {
    expect(skipReason({ extra: { id: "c-1" } }, { "map.objectId": "extra.id" })).toBe(reason);
    expect(skipReason({ browserIds: { hubspotutk: "none" } })).toBe(reason);
  });

  test("after an opt-out nothing is sent", () => {
    expect(skipReason({ ...withheld, browserIds })).toBe("opted out");
    const { body } = request({ ...withheld, browserIds }, { email_sha256_property: "email_hash" });
    expect(body).not.toContain(browserIds.hubspotutk);
  });
});

describe("custom events", () => {
  test("an event without a custom event is skipped, and a refund unless it has its own", () => {
    const { default_event: _event, ...without } = settings;
    const alone = platformFixture(hubspot, without);
    expect(alone.skipReason({ browserIds })).toBe("no custom event for this event");
    expect(alone.skipReason({ browserIds }, { "event.purchase": "pe1234567_order" })).toBeNull();
    expect(skipReason({ browserIds, name: "refund" })).toBe("HubSpot takes no refunds");
    expect(skipReason({ browserIds, name: "refund" }, { "event.refund": "pe1234567_refund" })).toBeNull();
  });

  test("only events with the same custom event share a request", () => {
    const of = (name: string) => hubspot.group(sampleConversion({ name }), { ...settings, "event.lead": "pe1234567_lead" });
    expect([of("purchase"), of("lead"), of("generate_lead")]).toEqual([
      "pe1234567_conversion",
      "pe1234567_lead",
      "pe1234567_lead",
    ]);
  });

  test("an unknown custom event waits for its own setting; other invalid requests are rejected", () => {
    const body = (message: string) => JSON.stringify({ status: "error", message });
    const own = { "event.purchase": "pe1234567_gone" };
    expect(read({ status: 404, body: body("Not there") }, 1, own)).toEqual([
      { kind: "retry", error: "HTTP 404: Not there; waits until event.purchase is corrected", retryAfterSeconds: 3600 },
    ]);
    expect(read({ status: 400, body: body("Unknown eventName pe1234567_conversion") })).toMatchObject([{ kind: "retry" }]);
    expect(read({ status: 400, body: body("Invalid input") })).toMatchObject([{ kind: "rejected" }]);
  });
});

describe("properties", () => {
  test("values are texts, and only properties that the connection names are sent beside HubSpot's own", () => {
    const sent = { value: 1500, currency: "JPY", browserIds, orderId: "o".repeat(256) + "!" };
    expect(Object.keys(propertiesOf(request(sent)))).toEqual([
      "hs_page_url",
      "hs_referrer",
      "hs_utm_source",
      "hs_utm_campaign",
      "hs_user_agent",
    ]);
    const named = { value_property: "amount", order_property: "number", default_properties: "no" };
    expect(propertiesOf(request(sent, named))).toEqual({ amount: "1500", number: "o".repeat(256) });
  });

  test("a long text is cut, and a long URL left out", () => {
    const browser = { page: `https://shop.example/${"p".repeat(1024)}`, referrer: "", address: "", userAgent: "u".repeat(300) };
    const {
      hs_page_url: page,
      hs_user_agent: agent,
      hs_utm_term: term,
    } = propertiesOf(request({ browserIds, browser, utm: { utm_term: "t".repeat(300) } }));
    expect([page, agent?.length, term?.length]).toEqual([undefined, 256, 256]);
  });

  test("an unknown source of the interaction is left out, and an event without properties has none", () => {
    const bare = { browserIds, browser: null, utm: {} };
    expect(inputOf(request(bare, { "map.properties.hs_touchpoint_source": "const:TV" }))).not.toHaveProperty("properties");
  });
});

test("a time ahead of ours is now", () => {
  expect(inputOf(request({ browserIds, time: now + 60_000 })).occurredAt).toBe(new Date(now).toISOString());
});

test("settings are checked", () => {
  expect(settingFault("default_event", "pe1234567_order_placed")).toBeNull();
  expect(settingFault("default_event", "Order Placed")).toMatch(/internal name/);
  expect(settingFault("value_property", "Value")).toMatch(/lower-case/);
  expect(settingFault("default_properties", "maybe")).toMatch(/yes or no/);
  expect(settingFault("hub_id", "abc")).toMatch(/number/);
});
