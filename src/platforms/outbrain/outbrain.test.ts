import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { platformFixture } from "../../../test/platforms/fixture.ts";
import type { ConnectionSettings } from "../platform.ts";
import { sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson } from "../shared/sample.ts";
import { outbrain } from "./index.ts";

const { request, skipReason } = platformFixture(outbrain, {});

const clickIds = { ob_click_id: { value: "v1-Click%2F_+=", seenAt: 1 } };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  Object.fromEntries(new URL(request({ clickIds, ...changes }, more).url).searchParams);

describe("the call", () => {
  test("it is a GET without a body, and has the click id byte for byte", () => {
    expect(request({ clickIds })).toMatchObject({ method: "GET", body: "" });
    expect(sent()).toEqual({
      ob_click_id: "v1-Click%2F_+=",
      name: "purchase",
      orderId: "A-1001",
      orderValue: "49.90",
      currency: "EUR",
    });
  });

  test.each([
    [0.1 + 0.2, "EUR", "0.30"],
    [1999.6, "JPY", "2000"],
    [1.2, "KWD", "1.200"],
    [0, "EUR", "0.00"],
  ])("%d %s is the text %s", (value, currency, text) => {
    expect(sent({ value, currency })).toMatchObject({ orderValue: text, currency });
  });

  test("without a value no currency is sent, and without an order id the event id", () => {
    const call = sent({ value: null, orderId: null });
    expect(Object.keys(call)).toEqual(["ob_click_id", "name", "orderId"]);
    expect(call.orderId).toBe("0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901");
  });

  test("names and order ids cannot add parameters, and arrive as they are", () => {
    const odd = "a&b=c#d+e é\ud800";
    expect(sent({ name: odd, orderId: odd })).toMatchObject({
      name: odd.toWellFormed(),
      orderId: odd.toWellFormed(),
    });
    expect(sent({}, { "event.purchase": "Order & Payment" }).name).toBe("Order & Payment");
  });

  test("the campaign's own parameter wins over Outbrain's dicbo", () => {
    const dicbo = { value: "v4-dicbo", seenAt: 2 };
    expect(sent({ clickIds: { ...clickIds, dicbo } }).ob_click_id).toBe("v1-Click%2F_+=");
    expect(sent({ clickIds: { dicbo } }).ob_click_id).toBe("v4-dicbo");
  });

  test("nothing about the person is sent", () => {
    const { url } = request({ clickIds, person: fullPerson });
    for (const value of [...Object.values(fullPerson), ...Object.values(sampleBrowser)])
      expect(decodeURIComponent(url)).not.toContain(value);
  });
});

test("a conversion without a valid click id, after an opt-out, or of a test key is skipped", () => {
  expect(skipReason({ clickIds })).toBeNull();
  expect(skipReason({ clickIds: {} })).toBe("no ob_click_id or dicbo");
  expect(skipReason({ clickIds: { dicbo: { value: "a b", seenAt: 1 } } })).toBe("no ob_click_id or dicbo");
  expect(skipReason({ ...withheldConversion(), clickIds })).toBe("opted out");
  expect(skipReason({ clickIds, mode: "test" })).toBe("Outbrain has no test mode");
});
