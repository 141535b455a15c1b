import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { now, platformFixture } from "../../../test/platforms/fixture.ts";
import type { ConnectionSettings } from "../platform.ts";
import { sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson, sampleItems } from "../shared/sample.ts";
import { taboola } from "./index.ts";

const settings = { account_id: "1234567" };
const { request, skipReason, settingFault } = platformFixture(taboola, settings);

const clickIds = { tblci: { value: "GiDx%2F_+=Click", seenAt: 1 } };
const sent = (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}) =>
  (JSON.parse(request({ clickIds, ...changes }, more).body) as { actions: Record<string, unknown>[] }).actions[0] ??
  expect.unreachable("no action");

describe("the action", () => {
  test("it has the click id byte for byte, the time in milliseconds, and nothing about the person", () => {
    expect(sent({ person: fullPerson, time: now + 60_000 })).toEqual({
      "click-id": "GiDx%2F_+=Click",
      timestamp: now,
      name: "make_purchase",
      revenue: 49.9,
      currency: "EUR",
      orderid: "A-1001",
    });
    const { body } = request({ clickIds, person: fullPerson });
    for (const value of [...Object.values(fullPerson), ...Object.values(sampleBrowser)]) expect(body).not.toContain(value);
  });

  test.each([
    [0.1 + 0.2, "EUR", { revenue: 0.3, currency: "EUR" }],
    [1999.6, "JPY", { revenue: 2000, currency: "JPY" }],
    [0, "USD", { revenue: 0, currency: "USD" }],
    [10, "CHF", {}],
    [null, "EUR", {}],
  ])("%j %s is %j", (value, currency, money) => {
    const { revenue, currency: code } = sent({ value, currency });
    expect({ revenue, currency: code }).toEqual({ revenue: undefined, currency: undefined, ...money });
  });

  test("without an order id the event id takes its place", () => {
    expect(sent({ orderId: null }).orderid).toBe("0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901");
  });

  test("a mapped quantity that is no whole number above zero is left out", () => {
    const quantityOf = (count: unknown) => sent({ extra: { count } }, { "map.quantity": "extra.count" }).quantity;
    expect([quantityOf(2), quantityOf(0), quantityOf(1.5)]).toEqual([2, undefined, undefined]);
  });

  test("the account cannot change the address", () => {
    expect(request({}, { account_id: "1/../2" }).url).toBe("https://trc.taboola.com/1%2F..%2F2/log/3/bulk-s2s-action");
  });
});

test("a conversion without a valid click id, after an opt-out, or of a test key is skipped", () => {
  expect(skipReason({ clickIds })).toBeNull();
  expect(skipReason({ clickIds: {} })).toBe("no tblci");
  expect(skipReason({ clickIds: { tblci: { value: "a b", seenAt: 1 } } })).toBe("no tblci");
  expect(skipReason({ ...withheldConversion(), clickIds })).toBe("opted out");
  expect(skipReason({ clickIds, mode: "test" })).toBe("Taboola has no test mode");
});

test("the setting account_id accepts a number and nothing else", () => {
  expect(settingFault("account_id", "1234567")).toBeNull();
  expect(settingFault("account_id", "taboola-demo")).toMatch(/^must be/);
});

describe("items", () => {
  test("the number of pieces is sent, unless another is mapped, and nothing else of the items", () => {
    expect(sent({ items: sampleItems }).quantity).toBe(3);
    expect(sent({ items: sampleItems }, { "map.quantity": "const:7" }).quantity).toBe(7);
    expect(JSON.stringify(sent({ items: sampleItems }))).not.toContain("SKU-1");
  });
});
