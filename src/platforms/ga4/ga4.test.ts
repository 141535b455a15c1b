import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import { nameFault, nameSetting } from "../shared/eventNames.ts";
import { sampleItems, sha256, withheld } from "../shared/sample.ts";
import { ga4 } from "./index.ts";

const settings = { measurement_id: "G-AB12CD34EF", api_secret: "EXAMPLE-SECRET" };

type Body = {
  client_id: string;
  user_id?: string;
  timestamp_micros: number;
  user_data?: Record<string, string[]>;
  events: { name: string; params: Record<string, unknown> }[];
};
const { request, skipReason, settingFault } = platformFixture(ga4, settings);
const body = (changes: Partial<Conversion> = {}, given: Record<string, string> = {}) =>
  JSON.parse(request(changes, given).body) as Body;
const params = (changes: Partial<Conversion> = {}, given: Record<string, string> = {}) =>
  body(changes, given).events[0]?.params ?? expect.unreachable("no event");

describe("the client id", () => {
  test.each([
    ["GA1.1.1699999999.1234567890", "1699999999.1234567890"],
    ["GA1.2-2.1699999999.1234567890", "1699999999.1234567890"],
    ["1699999999.1234567890", "1699999999.1234567890"],
  ])("the cookie %s has the client id %s", (_ga, client) => {
    expect(body({ browserIds: { _ga } }).client_id).toBe(client);
  });

  test("without a readable cookie the client id is the same for all events of a person, and different for other people", () => {
    const without = (changes: Partial<Conversion>) => body({ browserIds: { _ga: "amp-x" }, ...changes }).client_id;
    const first = without({ platformEventId: "1" });
    expect(first).toMatch(/^\d{1,10}\.\d{1,10}$/);
    expect(without({ platformEventId: "2" })).toBe(first);
    expect(without({ person: { emailSha256: sha256("b".repeat(64)) } })).not.toBe(first);
  });

  test("a generated client id differs between properties", () => {
    expect(body({}, { measurement_id: "G-OTHER1" }).client_id).not.toBe(body().client_id);
  });

  test("the client id of an event without a person comes from the event id and is the same on every attempt", () => {
    const first = body({ ...withheld, platformEventId: "1" }).client_id;
    expect(body({ ...withheld, platformEventId: "1" }).client_id).toBe(first);
    expect(body({ ...withheld, platformEventId: "2" }).client_id).not.toBe(first);
  });

  test("without_client_id=skip skips events without a client id", () => {
    const skip = { without_client_id: "skip" };
    expect(skipReason({}, skip)).toBe("no Google Analytics client id");
    expect(skipReason(withheld, skip)).toBe("opted out");
    expect(skipReason({ browserIds: { _ga: "GA1.1.16.12" } }, skip)).toBeNull();
    expect(skipReason(withheld)).toBeNull();
  });
});

describe("the session", () => {
  test.each([
    ["GS1.1.1794640000.3.1.1794640100.0.0.0", "1794640000"],
    ["GS2.1.s1794640000$o3$g1$t1794640100", "1794640000"],
    ["GS2.2.s1794640000", "1794640000"],
    ["x", undefined],
    ["GS2.1.t1794640000", undefined],
  ])("the cookie %s has the session %s", (cookie, session) => {
    expect(params({ browserIds: { _ga_AB12CD34EF: cookie } }).session_id).toBe(session);
  });

  test("the session of another property is not used", () => {
    expect(params({ browserIds: { _ga_OTHER: "GS1.1.1794640000.3" } })).not.toHaveProperty("session_id");
  });
});

describe("names", () => {
  test.each([
    ["Closed Won", "closed_won"],
    ["Quiz  Done!", "quiz_done"],
    ["1st", "custom_1st"],
    ["_x", "x"],
    ["ga_x", "custom_ga_x"],
    ["Google_X", "custom_Google_X"],
    ["firebase_x", "custom_firebase_x"],
    ["session_start", "custom_session_start"],
    ["First_Visit", "custom_First_Visit"],
    ["Kündigung", "kundigung"],
    ["注文", "custom_event"],
    ["x".repeat(41), "x".repeat(40)],
  ])("Google would drop the event %s, so it is sent as %s", (name, theirs) => {
    expect(skipReason({ name })).toBeNull();
    expect(body({ name }).events[0]?.name).toBe(theirs);
    expect(body({ name }, { [nameSetting(name)]: "chosen" }).events[0]?.name).toBe("chosen");
    expect(nameFault(name, ga4.events)).toMatch(/^must /);
  });

  test("events without a standard name keep their own", () => {
    expect(skipReason({ name: "subscribe" })).toBeNull();
    expect(body({ name: " subscribe " }).events[0]?.name).toBe("subscribe");
    expect(body({ name: "PURCHASE" }).events[0]?.name).toBe("purchase");
  });
});

describe("the request", () => {
  test("the event time is in whole microseconds, also for a late event", () => {
    const time = now - 71 * 3_600_000 - 1;
    expect(body({ time }).timestamp_micros).toBe(time * 1000);
    expect(Number.isSafeInteger(body({ time }).timestamp_micros)).toBe(true);
    // The clock of a sender may be ahead.
    expect(body({ time: now + 60_000 }).timestamp_micros).toBe(now * 1000);
    expect(ga4.maxAgeDays * 24).toBe(72);
  });

  test("purchases and refunds always have a transaction id, others only with an order", () => {
    const eventId = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
    for (const name of ["purchase", "refund"]) expect(params({ name, orderId: null }).transaction_id).toBe(eventId);
    expect(params({ name: "lead", orderId: null })).not.toHaveProperty("transaction_id");
    expect(params({ orderId: "x".repeat(100) }).transaction_id).toBe("x".repeat(100));
    expect(params({ orderId: "x".repeat(101) }).transaction_id).toBe(eventId);
    expect(params().event_id).toBe(eventId);
  });

  test("the value is rounded to its currency, 0 is a value, and no value means no currency", () => {
    for (const [given, value] of [
      [0, 0],
      [10.005, 10.01],
      [0.1 + 0.2, 0.3],
      [980, 980],
    ])
      expect(params({ value: given as number })).toMatchObject({ value, currency: "EUR" });
    expect(params({ value: null })).toEqual({
      event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
      transaction_id: "A-1001",
      engagement_time_msec: 1,
    });
  });

  test("mapped texts are cut to Google's limits, between characters", () => {
    const given = {
      "map.params.coupon": "extra.long",
      "map.params.page_location": "extra.long",
      "map.user_id": "extra.long",
    };
    const long = `x${"😀".repeat(1500)}`;
    expect(params({ extra: { long } }, given)).toMatchObject({
      coupon: `x${"😀".repeat(49)}`,
      page_location: `x${"😀".repeat(499)}`,
    });
    expect(body({ extra: { long } }, given).user_id).toBe(`x${"😀".repeat(127)}`);
  });

  test("every parameter is a text or a number: any other would drop the event", () => {
    const given = Object.fromEntries(ga4.fields.map(({ name }) => [`map.${name}`, "extra.x"]));
    for (const x of [null, [], {}, true, "7", 7])
      for (const value of Object.values(params({ extra: { x } }, given))) expect(["string", "number"]).toContain(typeof value);
  });

  test("the API secret is only in the secret part of the query", () => {
    const made = request();
    expect(made.secretQuery).toEqual({ api_secret: "EXAMPLE-SECRET" });
    expect(JSON.stringify([made.url, made.headers, made.body])).not.toContain("EXAMPLE-SECRET");
  });

  test("a test event never goes to the collector", () => {
    for (const region of ["global", "eu"]) {
      expect(request({ mode: "test" }, { region }).url).toContain("/debug/");
      expect(request({}, { region }).url).not.toContain("/debug/");
      expect(request({}, { region }).body).not.toContain("validation_behavior");
    }
  });

  test("a request has no plain contact data, click id, IP address, null or empty text", () => {
    const person = personOf({ email: "Jane.Doe@Gmail.com", phone: "+1 425 555 1234", firstName: "Jane" });
    const made = request({ person, value: null, orderId: null });
    expect(`${made.url}${made.body}`).not.toMatch(/jane|@|425555|EAIaIQ|203\.0\.113|null|""/i);
  });
});

describe("hashes", () => {
  test("hashes equal those that Google publishes", () => {
    const person = personOf({ email: " AlexZ@example.com ", phone: "+1 (800) 555-0100" });
    expect(body({ person }).user_data).toEqual({
      sha256_email_address: ["509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a"],
      sha256_phone_number: ["fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30"],
    });
  });

  test("emails are hashed in Google's form; a given hash is used where there is no other", () => {
    const emailOf = (email: string) => body({ person: personOf({ email }) }).user_data;
    expect(emailOf("a.lex@gmail.com")).toEqual(emailOf("alex@gmail.com"));
    expect(body({ person: { emailSha256: sha256("b".repeat(64)) } }).user_data).toEqual({
      sha256_email_address: ["b".repeat(64)],
    });
  });
});

describe("settings", () => {
  test.each([
    ["measurement_id", "G-AB12CD34EF", "1234567890"],
    ["measurement_id", "G-AB12", "G-AB12&x=1"],
    ["region", "eu", "EU"],
    ["without_client_id", "skip", "no"],
    ["user_data", "off", "no"],
  ])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toMatch(/^must be /);
  });
});

describe("items", () => {
  test.each(["lead", "signup", "search", "login", "share", "Quiz Done"])(
    "%s has no items, because Google drops an event with a list that it does not expect",
    (name) => {
      expect(params({ name, items: sampleItems })).not.toHaveProperty("items");
    },
  );

  test.each(["purchase", "refund", "add_to_cart", "view_item", "begin_checkout"])("%s has its items", (name) => {
    expect(params({ name, items: sampleItems }).items).toMatchObject([{ item_id: "SKU-1" }, { item_id: "SKU-2" }]);
  });

  test("texts are cut to 100 characters, never inside one", () => {
    const long = "x".repeat(99);
    const items = [{ id: `${long}😀`, name: `${long}😀`, category: `${long}yz`, brand: "b".repeat(512), quantity: 1 }];
    expect(params({ items }).items).toEqual([
      { item_id: long, item_name: long, item_category: `${long}y`, item_brand: "b".repeat(100), quantity: 1 },
    ]);
  });
});
