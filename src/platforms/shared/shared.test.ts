import { describe, expect, test } from "vitest";
import { at } from "./json.ts";
import { isTransientStatus, retryAfterSeconds } from "./response.ts";
import { sampleConversion } from "./sample.ts";
import { digits, oneOf } from "./settings.ts";
import { isUnnamedRefund } from "./skips.ts";
import { amountOf, amountText, decimalText, isoTime, uuidPattern, validId } from "./values.ts";

describe("money", () => {
  test.each([
    [0.1 + 0.2, "EUR", 0.3, "0.30"],
    [1.005, "USD", 1.01, "1.01"],
    [1500.5, "JPY", 1501, "1501"],
    [12.3456, "KWD", 12.346, "12.346"],
    [1e-7, "EUR", 0, "0.00"],
    [778_080_459_406.43, "CLF", 778_080_459_406.43, "778080459406.4300"],
    [1e15, "EUR", 1e15, "1000000000000000.00"],
    [1e20, "EUR", 1e20, "100000000000000000000.00"],
    [1e21, "EUR", 1e21, "1000000000000000000000.00"],
    [1e21, "JPY", 1e21, "1000000000000000000000"],
  ])("the amount of %d %s is %d, and %s as text", (value, currency, amount, text) => {
    expect(amountOf(value, currency)).toBe(amount);
    expect(amountText(value, currency)).toBe(text);
  });

  test("no value, however large or small, has an exponent as text", () => {
    for (const value of [Number.MIN_VALUE, 1e-9, 123456789.123, 1e17, 1e25, Number.MAX_VALUE])
      expect(decimalText(value, 2)).toMatch(/^\d+\.\d\d$/);
  });
});

test("a time is written as toISOString writes it, at every moment of a day and in any year", () => {
  const start = Date.UTC(2026, 10, 15);
  for (let time = start - 1000; time < start + 86_402_000; time += 9_973)
    expect(isoTime(time)).toBe(new Date(time).toISOString());
  for (const time of [0, 5, 999, 86_399_999, Date.UTC(1969, 1, 2), Date.UTC(12_026, 1), start + 0.5])
    expect(isoTime(time)).toBe(new Date(time).toISOString());
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
});

describe("ids", () => {
  test.each(["E.C.P.AbC%2F+-_.~", "a", "x".repeat(2048)])("the id %s is sent unchanged", (id) => {
    expect(validId(id)).toBe(id);
  });

  test.each(["", " a", "a b", "a\n", "é", "\u0000", "x".repeat(2049), "0".repeat(64)])("the id %j is invalid", (id) => {
    expect(validId(id)).toBeUndefined();
  });

  test("an id must match the platform's own pattern too", () => {
    const uuid = "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d";
    expect(validId(uuid, uuidPattern)).toBe(uuid);
    expect(validId(uuid.slice(1), uuidPattern)).toBeUndefined();
    expect(validId(undefined, uuidPattern)).toBeUndefined();
  });
});

test.each(["refund", "Refund", " RE-FUND ", "re_fund", "Order Refunded", "refunds/create"])(
  "%j is a refund unless a name is chosen for it",
  (name) => {
    const conversion = sampleConversion({ name });
    expect(isUnnamedRefund(conversion, {})).toBe(true);
    expect(isUnnamedRefund(conversion, { "event.refund": "Money back" })).toBe(false);
  },
);

test("the checks of settings say what a value must be", () => {
  expect(oneOf(["a", "b"]).check("c")).toBe("must be a or b");
  expect(oneOf(["a", "b", "c"]).check("d")).toBe("must be one of a, b, c");
  expect(digits(3, 20)("12")).toBe("must be a number of 3 to 20 digits");
  expect([oneOf(["a"]).check("a"), digits(1, 2)("12")]).toEqual([null, null]);
});

describe("a value at a path of a response", () => {
  const root = { a: { b: [{ c: 1 }] }, text: "abc", nothing: null, "": 2 };
  test.each([
    ["a.b.0.c", 1],
    ["text", "abc"],
    ["nothing", null],
    ["nothing.more", undefined],
    ["text.length", undefined],
    ["a.b.length", 1],
    ["a.x.c", undefined],
    ["a..b", undefined],
    ["hasOwnProperty", undefined],
  ])("the value at %s is read from own properties only", (path, value) => {
    expect(at(root, ...path.split("."))).toEqual(value);
  });

  test.each([undefined, null, 1, "x"])("%j has no value at any path", (nothing) => {
    expect(at(nothing, "a")).toBeUndefined();
  });
});

describe("HTTP statuses and headers", () => {
  test("only 408, 425, 429 and every 5xx are transient", () => {
    const transient = Array.from({ length: 600 }, (_, status) => status).filter(isTransientStatus);
    expect(transient).toEqual([408, 425, 429, ...Array.from({ length: 100 }, (_, i) => 500 + i)]);
  });

  const noon = Date.UTC(2026, 10, 14, 12);
  test.each([
    ["120", 120],
    [" 7 ", 7],
    ["1", 1],
    ["Sat, 14 Nov 2026 12:01:30 GMT", 90],
    ["Sat, 14 Nov 2026 12:00:00 GMT", undefined],
    ["Sat, 14 Nov 2026 11:00:00 GMT", undefined],
    ["0", undefined],
    ["-5", undefined],
    ["", undefined],
    ["soon", undefined],
    ["9".repeat(400), undefined],
    [undefined, undefined],
  ])("Retry-After %j is %j seconds", (header, seconds) => {
    expect(retryAfterSeconds(header, noon)).toBe(seconds);
  });
});
