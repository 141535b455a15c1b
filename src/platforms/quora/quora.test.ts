import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { ConnectionSettings } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { bareConversion, sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson } from "../shared/sample.ts";
import { quora } from "./index.ts";

const settings = { account_id: "123456", access_token: "EXAMPLE-TOKEN", currency: "EUR" };
const { request, read, skipReason, settingFault } = platformFixture(quora, settings);

type Item = Record<"conversion" | "user" | "device", Record<string, unknown>>;
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, more).body) as { data: Item[] }).data[0] ?? expect.unreachable("no item");
const clickIds = { qclid: { value: "click-1|123|0", seenAt: 1 } };

test("view_item goes under a name that Quora is known to take, unless the connection chooses ViewContent", () => {
  expect(sent({ name: "view_item" }).conversion.event_name).toBe("Generic");
  expect(sent({ name: "view_item" }, { "event.viewitem": "ViewContent" }).conversion.event_name).toBe("ViewContent");
});

describe("the conversion", () => {
  test("the time is in microseconds and never in the future", () => {
    expect(sent({ time: 1_794_648_600_123 }).conversion.timestamp).toBe(1_794_648_600_123_000);
    expect(sent({ time: now + 60_000 }).conversion.timestamp).toBe(now * 1000);
  });

  test("the account id is a number", () => {
    expect(JSON.parse(request().body)).toMatchObject({ account_id: 123_456 });
  });

  test.each([
    [49.9, "EUR", 49.9],
    [0.1 + 0.2, "EUR", 0.3],
    [0, "EUR", 0],
    [49.9, "USD", undefined],
    [null, "EUR", undefined],
    [214_748.36, "EUR", 214_748.36],
    [214_748.37, "EUR", undefined],
  ])("%j %s is the value %j of an account in EUR", (value, currency, amount) => {
    expect(sent({ value, currency }).conversion.value).toBe(amount);
    expect(request({ value, currency }).body).not.toContain("currency");
  });

  test("the click id is sent byte for byte; without one the cookie is", () => {
    const browserIds = { quora_qclid: "cookie|1|0" };
    expect(sent({ clickIds, browserIds }).conversion.click_id).toBe("click-1|123|0");
    expect(sent({ clickIds: {}, browserIds }).conversion.click_id).toBe("cookie|1|0");
    const encoded = { quora_qclid: "cookie%7C1%7c0" };
    expect(sent({ clickIds: {}, browserIds: encoded }).conversion.click_id).toBe("cookie|1|0");
  });

  test("unknown events are sent as Generic, and only Quora's names can be chosen", () => {
    expect(sent({ name: "Quiz Done" }).conversion.event_name).toBe("Generic");
    expect(nameFault("AppInstall", quora.events)).toBeNull();
    expect(english(nameFault("purchase", quora.events) ?? "")).toMatch(/^must be one of Purchase, GenerateLead,/);
  });
});

describe("the person", () => {
  test("no contact data is sent, neither plain nor hashed", () => {
    const person = personOf({
      email: "jane@example.com",
      phone: "+14155550100",
      firstName: "Jane",
      lastName: "Miller",
    });
    const { url, body } = request({ person, clickIds, orderId: null });
    expect(url + body).not.toMatch(/jane|miller|4155550100|EXAMPLE-TOKEN|[0-9a-f]{64}|null|""/i);
    expect(sent({ person: fullPerson, clickIds }).user).toEqual({ ip: sampleBrowser.address });
  });

  test("the user is always an object, the device only where something is known", () => {
    expect(sent(bareConversion({ clickIds }))).toMatchObject({ user: {} });
    expect(sent(bareConversion({ clickIds }))).not.toHaveProperty("device");
  });

  test("a click id, or the visitor's address with its browser, is needed", () => {
    const reason = "no qclid, or IP address with user agent";
    expect(skipReason(bareConversion())).toBe(reason);
    expect(skipReason(bareConversion({ browser: { ...sampleBrowser, userAgent: "" } }))).toBe(reason);
    expect(skipReason(bareConversion({ browser: sampleBrowser }))).toBeNull();
    expect(skipReason(bareConversion({ clickIds }))).toBeNull();
  });

  test("events of people who opted out and test events are skipped", () => {
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
    expect(skipReason({ mode: "test" })).toBe("Quora has no test mode");
  });
});

describe("the response", () => {
  test("an event without a status is rejected with what is known", () => {
    const body = '{"events_received":1,"events_errored":1,"events":[{"index":0}]}';
    expect(read({ body })).toEqual([{ kind: "rejected", error: "Quora gave no reason" }]);
  });

  test("an index beyond the request names no conversion, so none counts as accepted", () => {
    const body = '{"events_received":1,"events_errored":1,"events":[{"index":7,"status":"ERROR"}]}';
    expect(read({ body })[0]?.kind).toBe("rejected");
  });
});

test.each([
  ["account_id", "1234567890", "12a"],
  ["access_token", "abc.def", "two words"],
  ["currency", "EUR", "eur"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(english(settingFault(name, bad) ?? "")).toMatch(/^must be/);
});
