import { english } from "../../kernel/messages/message.ts";
import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { ConnectionSettings } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { bareConversion, sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson } from "../shared/sample.ts";
import { spotify } from "./index.ts";

const settings = { connection_id: "9eb0bb5f-0000-4000-8000-0123456789ab", access_token: "EXAMPLE-TOKEN" };
const { request, read, skipReason, settingFault } = platformFixture(spotify, settings);

type Sent = Record<string, unknown> & { user_data: Record<string, unknown>; event_details: unknown };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  (JSON.parse(request(changes, more).body) as { conversion_events: { events: Sent[] } }).conversion_events.events[0] ??
  expect.unreachable("no event");

describe("the event", () => {
  test.each([
    [49.9, "EUR", 49.9],
    [0.1 + 0.2, "EUR", 0.3],
    [1999.6, "JPY", 2000],
    [0, "EUR", 0],
  ])("%d %s is the number %d", (value, currency, amount) => {
    expect(sent({ value, currency }).event_details).toEqual({ currency, amount });
  });

  test("without a value no currency is sent either, and a purchase is skipped", () => {
    expect(sent({ name: "lead", value: null })).not.toHaveProperty("event_details");
    expect(skipReason({ value: null })).toBe("Spotify requires a value with PURCHASE");
    expect(skipReason({ name: "Deal", value: null }, { "event.deal": "PURCHASE" })).toBe(
      "Spotify requires a value with PURCHASE",
    );
    expect(skipReason({ name: "lead", value: null })).toBeNull();
  });

  test("the time is ISO 8601 in UTC, and always in the past", () => {
    expect(sent({ time: 1_794_648_600_123 }).event_time).toBe("2026-11-14T09:30:00.123Z");
    for (const time of [now, now + 240_000]) expect(Date.parse(String(sent({ time }).event_time))).toBeLessThan(now);
  });

  test("a test event is skipped", () => {
    expect(skipReason({ mode: "test" })).toBe("Spotify has no test mode");
  });

  test("only Spotify's own names can be chosen", () => {
    expect(nameFault("CUSTOM_EVENT_5", spotify.events)).toBeNull();
    for (const name of ["CUSTOM_EVENT_6", "Purchase"])
      expect(english(nameFault(name, spotify.events) ?? "")).toMatch(/^must be one of PURCHASE, LEAD,/);
  });
});

describe("the person", () => {
  test("email and phone are hashed, address and device id are not", () => {
    const person = personOf({ email: " John@Contoso.com", phone: "+1 425 555 1234", firstName: "John" });
    expect(sent({ person, browserIds: { __spdt: "device%2F1" } }).user_data).toEqual({
      ip_address: sampleBrowser.address,
      device_id: "device%2F1",
      hashed_emails: [fullPerson.emailSha256],
      hashed_phone_number: fullPerson.phoneSha256,
    });
  });

  test("the phone number has the form that the connection chose", () => {
    const phoneAs = (phone_form: string) => sent({ person: fullPerson }, { phone_form }).user_data;
    expect(phoneAs("digits").hashed_phone_number).toBe(fullPerson.phoneDigitsSha256);
    expect(phoneAs("none")).not.toHaveProperty("hashed_phone_number");
  });

  test("one identifier is enough; after an opt-out the event is skipped", () => {
    const none = bareConversion({ person: null, consent: "unknown" });
    expect(skipReason(none)).toBe("no email, phone, device id or IP address");
    expect(skipReason({ ...none, browserIds: { __spdt: "x" } })).toBeNull();
    expect(skipReason({ ...none, browser: sampleBrowser })).toBeNull();
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
  });

  test("limited data use opts out of targeting", () => {
    expect(sent().opt_out_targeting).toBe(false);
    expect(sent({}, { limited_data: "always" }).opt_out_targeting).toBe(true);
  });

  test("neither plain contact data, user agent nor the token is in URL or body", () => {
    const person = personOf({ email: "jane@example.com", phone: "+14155550100", lastName: "Miller" });
    const { url, body } = request({ person, orderId: null });
    expect(url + body).not.toMatch(/jane|miller|4155550100|Mozilla|EXAMPLE-TOKEN|null|""/i);
  });
});

test("a success with another message is no success", () => {
  expect(read({ body: '{"message":"FAILED"}' })[0]?.kind).toBe("retry");
});

test.each([
  ["connection_id", "9eb0bb5f-f338-46a1-91d5-ffc8f3efb38e", "9eb0bb5f"],
  ["access_token", "eyJ.abc", "two words"],
  ["action_source", "OFFLINE", "web"],
  ["phone_form", "digits", "yes"],
])("the setting %s accepts %s and rejects %s", (name, good, bad) => {
  expect(settingFault(name, good)).toBeNull();
  expect(english(settingFault(name, bad) ?? "")).toMatch(/^must be/);
});
