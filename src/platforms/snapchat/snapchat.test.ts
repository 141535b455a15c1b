import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { firstEvent, now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { Picker } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { sampleConversion } from "../shared/sample.ts";
import { snapchat } from "./index.ts";

const settings = { pixel_id: "a1b2c3d4-0000-4000-8000-00000000beef", access_token: "EXAMPLE-TOKEN" };
const { request, read, skipReason, settingFault } = platformFixture(snapchat, settings);

type UserData = Record<string, string | string[]>;
const eventOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) => firstEvent(request(changes, more));
const userOf = (changes: Partial<Conversion> = {}) => eventOf(changes).user_data as UserData;

describe("the request", () => {
  test("the token is kept apart from the URL, which is shown and stored", () => {
    const made = request();
    expect(made.secretQuery).toEqual({ access_token: "EXAMPLE-TOKEN" });
    expect(JSON.stringify({ ...made, secretQuery: null })).not.toContain("EXAMPLE-TOKEN");
  });

  test("a test event is only validated, a live one never is", () => {
    expect(request({ mode: "test" }).url).toMatch(/\/events\/validate$/);
    expect(request({ mode: "live" }).url).toMatch(/\/events$/);
  });

  test("value is a number in whole cents, and there is no currency without it", () => {
    expect(eventOf({ value: 0.1 + 0.2 }).custom_data).toMatchObject({ value: 0.3, currency: "EUR" });
    expect(eventOf({ value: 1999.6, currency: "JPY" }).custom_data).toMatchObject({ value: 2000 });
    expect(eventOf({ name: "lead", value: null, orderId: null })).not.toHaveProperty("custom_data");
  });

  test("a web event always has a page, the visit's or the site's; without either the event is offline", () => {
    const site = { site_url: "https://shop.example.com/" };
    expect(eventOf({}, site)).toMatchObject({
      action_source: "WEB",
      event_source_url: "https://shop.example.com/autumn",
    });
    expect(eventOf({ browser: null }, site)).toMatchObject({
      action_source: "WEB",
      event_source_url: "https://shop.example.com/",
    });
    expect(eventOf({ browser: null }).action_source).toBe("OFFLINE");
    expect(eventOf({ browser: null })).not.toHaveProperty("event_source_url");
  });

  test("ScCid and _scid are sent byte for byte", () => {
    const odd = "AbC%2F+-_.~";
    const user = userOf({ clickIds: { ScCid: { value: odd, seenAt: 1 } }, browserIds: { _scid: "v-x_Y" } });
    expect(user).toMatchObject({ sc_click_id: odd, sc_cookie1: "v-x_Y" });
  });

  test("invalid ids are left out", () => {
    const user = userOf({ clickIds: { ScCid: { value: "a b", seenAt: 1 } }, browserIds: { _scid: "\t" } });
    expect(user).not.toHaveProperty("sc_click_id");
    expect(user).not.toHaveProperty("sc_cookie1");
  });

  test("field names of the old API are not sent", () => {
    expect(request().body).not.toMatch(/hashed_email|uuid_c1|event_conversion_type/);
  });
});

describe("the person", () => {
  test.each([
    [{ email: " Person@Example.com" }, "em", "542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345"],
    [{ phone: "+44 844 412 4653" }, "ph", "dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383"],
    [{ phone: "0044 844 412 4653" }, "ph", "dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383"],
    [{ firstName: "Raphaël" }, "fn", "e74bb89e718fe1e19c422a48382870399f8bf7ca8dfa008739e75b0be76627b7"],
  ])("%j has the hash that Snapchat publishes", (fields, key, hash) => {
    expect(userOf({ person: personOf({ email: "jane@example.com", ...fields }) })[key]).toEqual([hash]);
  });
});

describe("consent", () => {
  test("only denied consent or the connection's setting limits the use of data", () => {
    expect(eventOf({ consent: "denied" })).toMatchObject({
      data_processing_options: ["LDU"],
      data_processing_options_country: 1,
      data_processing_options_state: 1000,
    });
    expect(eventOf({}, { limited_data: "always" })).toMatchObject({
      data_processing_options: ["LDU"],
      data_processing_options_state: 0,
    });
    for (const consent of ["granted", "unknown"] as const)
      expect(eventOf({ consent })).not.toHaveProperty("data_processing_options");
  });
});

describe("skipped events", () => {
  test("an event without a Snapchat name is the first custom event, unless the connection chooses otherwise", () => {
    expect(skipReason({ name: "Quiz Done" })).toBeNull();
    expect(eventOf({ name: "Quiz Done" }).event_name).toBe("CUSTOM_EVENT_1");
    const chosen = { "event.quizdone": "CUSTOM_EVENT_2" };
    expect(skipReason({ name: "Quiz Done" }, chosen)).toBeNull();
    expect(eventOf({ name: "Quiz Done" }, chosen).event_name).toBe("CUSTOM_EVENT_2");
  });

  test("a lead is a SIGN_UP, unless the connection chooses otherwise", () => {
    expect(eventOf({ name: "lead" }).event_name).toBe("SIGN_UP");
    expect(eventOf({ name: "lead" }, { "event.lead": "SUBSCRIBE" }).event_name).toBe("SUBSCRIBE");
  });

  test("a connection can choose only Snapchat's own names", () => {
    expect(nameFault("CUSTOM_EVENT_5", snapchat.events)).toBeNull();
    expect(english(nameFault("CUSTOM_EVENT_6", snapchat.events) ?? "")).toMatch(/^must be one of PURCHASE, SIGN_UP,/);
    expect(english(nameFault("PURCHASE,SIGN_UP", snapchat.events) ?? "")).toMatch(/^must be one of/);
  });

  test("a purchase without a value is skipped", () => {
    expect(skipReason({ value: null })).toBe("Snapchat requires a value with PURCHASE");
    expect(skipReason({ value: 0 })).toBeNull();
  });
});

describe("the response", () => {
  test("any status but VALID is a failure, also with HTTP 200", () => {
    expect(read({ body: '{"status":"valid"}' })[0]?.kind).toBe("accepted");
    expect(read({ body: '{"status":"PARTIAL"}' })[0]).toEqual({
      kind: "rejected",
      error: "Snapchat answered PARTIAL",
    });
    expect(read({ body: "OK" })[0]?.kind).toBe("retry");
  });

  test("the log of each test event decides, and a live one is never accepted by its log alone", () => {
    const event_logs = [
      { event: 1, status: "INVALID", errors: { error_msgs: ["bad currency"] } },
      { event: 0, status: "VALID" },
      { event: 2, status: "PENDING" },
    ];
    const outcomes = (mode: "live" | "test", logs: unknown[]) =>
      snapchat
        .readResponse(
          { status: 400, headers: {}, body: JSON.stringify({ status: "INVALID", event_logs: logs }) },
          [0, 1, 2, 3].map(() => sampleConversion({ mode })),
          {},
          now,
        )
        .map((one) => ("error" in one ? one.error : one.kind));
    const bad = "Snapchat answered INVALID: bad currency";
    expect(outcomes("test", event_logs)).toEqual(["accepted", bad, "HTTP 400", "HTTP 400"]);
    expect(outcomes("live", event_logs)).toEqual(["HTTP 400", bad, "HTTP 400", "HTTP 400"]);
  });

  test.each(["Invalid access token", "access_token missing", "Unauthorized", "no permission for pixel"])(
    "400 that says %j needs reconnection",
    (reason) => {
      expect(read({ status: 400, body: JSON.stringify({ status: "INVALID", reason }) })[0]?.kind).toBe("unauthorized");
    },
  );

  test("one invalid event rejects the whole batch, so that delivery halves it", () => {
    const body = '{"status":"INVALID","reason":"Insufficient PII"}';
    expect(read({ status: 400, body }, 3).map(({ kind }) => kind)).toEqual(Array(3).fill("rejected"));
  });
});

describe("the lists of ad accounts and pixels", () => {
  const [accounts, pixels]: readonly Picker[] = snapchat.pickers;

  test("lists are requested with the token in a header", () => {
    const ids = { ...settings, ad_account_id: "11111111-0000-4000-8000-000000000001" };
    expect(pixels?.toRequest(ids)).toEqual({
      method: "GET",
      url: "https://adsapi.snapchat.com/v1/adaccounts/11111111-0000-4000-8000-000000000001/pixels",
      headers: { authorization: "Bearer EXAMPLE-TOKEN" },
      body: "",
    });
  });

  test("ad accounts and pixels are offered with their ids", () => {
    const organizations = [{ organization: { ad_accounts: [{ id: "a1", name: "North" }] } }, {}];
    expect(accounts?.read(JSON.stringify({ organizations }))).toEqual([{ value: "a1", label: "North" }]);
    expect(pixels?.read('{"pixels":[{"pixel":{"id":"p1"}},{}]}')).toEqual([{ value: "p1", label: "p1" }]);
  });
});

describe("the settings", () => {
  test.each([
    ["pixel_id", "a1b2c3d4-0000-4000-8000-00000000beef", "a/b?c=1", "must be an id of letters, digits and hyphens"],
    ["access_token", "abc", "a b", "must be ASCII letters, digits and punctuation, without spaces"],
    ["site_url", "https://shop.example.com", "shop.example.com", "must be an http(s) address"],
  ])("the setting %s accepts %j and rejects %j", (name, good, bad, reason) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toBe(reason);
  });
});

describe("items", () => {
  test("an event may have nothing but items, and a price has the digits of the currency", () => {
    const items = [
      { id: "a", price: 100.4, brand: "North", name: "Mug", quantity: 2 },
      { id: "b", quantity: 1 },
    ];
    expect(eventOf({ name: "view_item", value: null, orderId: null, currency: "JPY", items }).custom_data).toEqual({
      contents: [
        { id: "a", quantity: 2, item_price: 100, brand: "North" },
        { id: "b", quantity: 1 },
      ],
      content_ids: ["a", "b"],
      num_items: 3,
    });
  });
});
