import { describe, expect, test } from "vitest";
import {
  isTimeZone,
  matchesCurrency,
  readMoney,
  readNumber,
  readTime,
  ValueFault,
  type Money,
  type NumberRules,
  type ValueRules,
} from "./values.ts";

const rules: ValueRules = { decimal: null, dates: null, timeZone: "UTC" };
const plain: NumberRules = { decimal: null, groupsByPoint: false };
const utc = (text: string) => Date.parse(text);

describe("numbers as people and programs write them", () => {
  test.each<[string, number]>([
    ["12", 12],
    ["0", 0],
    ["12.5", 12.5],
    ["12.345", 12.345],
    ["12,5", 12.5],
    ["12,50", 12.5],
    ["1,234.50", 1234.5],
    ["1.234,50", 1234.5],
    ["1,234,567", 1_234_567],
    ["1.234.567", 1_234_567],
    ["1'234.50", 1234.5],
    ["1 234,50", 1234.5],
    ["0,125", 0.125],
    ["-3.20", -3.2],
    [".5", 0.5],
    ["1e3", 1000],
    ["1.5e-2", 0.015],
  ])("%s is the number %s", (text, number) => {
    expect(readNumber(text, plain)).toBe(number);
  });

  test("an ambiguous number is refused until --decimal is given", () => {
    expect(readNumber("1,234", plain)).toBeInstanceOf(ValueFault);
    expect(readNumber("1,234", { ...plain, decimal: "point" })).toBe(1234);
    expect(readNumber("1,234", { ...plain, decimal: "comma" })).toBe(1.234);
    expect(readNumber("1.234", { ...plain, decimal: "comma" })).toBe(1234);
    // A single point is ambiguous only where people write numbers: programs write a decimal point.
    const people = { ...plain, groupsByPoint: true };
    expect(readNumber("1.234", plain)).toBe(1.234);
    expect(readNumber("1.234", people)).toBeInstanceOf(ValueFault);
    expect(readNumber("1.234", { ...people, decimal: "point" })).toBe(1.234);
    for (const sure of ["0.125", "12.34", "1234.567"]) expect(readNumber(sure, people)).toBe(Number(sure));
  });

  test.each(["abc", "12 apples", "1.2.3,4,5", "--5", "€", "12,34,56.7", "NaN", "Infinity", "0x10", "2e320"])(
    "%s is not a number",
    (text) => {
      expect(readNumber(text, plain)).toBeInstanceOf(ValueFault);
    },
  );
});

describe("times", () => {
  test.each<[string, string]>([
    ["2026-10-31T12:30:00Z", "2026-10-31T12:30:00Z"],
    ["2026-10-31 12:30", "2026-10-31T12:30:00Z"],
    ["2026-10-31 12:30:15.250", "2026-10-31T12:30:15.250Z"],
    ["2026-10-31", "2026-10-31T00:00:00Z"],
    ["2026-10-31 12:30:00+0200", "2026-10-31T10:30:00Z"],
    ["2026-10-31 12:30:00 +02:00", "2026-10-31T10:30:00Z"],
    ["2026-10-31 12:30:00-05", "2026-10-31T17:30:00Z"],
    ["2026-10-31 12:30:00 UTC", "2026-10-31T12:30:00Z"],
    ["2026/10/31 12:30", "2026-10-31T12:30:00Z"],
    ["31.10.2026 12:30", "2026-10-31T12:30:00Z"],
    ["10/31/2026 1:05 PM", "2026-10-31T13:05:00Z"],
    ["31/10/2026, 12:05 am", "2026-10-31T00:05:00Z"],
    ["1793449800", "2026-10-31T12:30:00Z"],
    ["1793449800000", "2026-10-31T12:30:00Z"],
  ])("%s is the time %s", (text, meant) => {
    expect(readTime("eventTime", text, rules)).toBe(utc(meant));
  });

  test("an ambiguous date is refused until --dates is given", () => {
    expect(readTime("eventTime", "03/04/2026", rules)).toBeInstanceOf(ValueFault);
    expect(readTime("eventTime", "03/04/2026", { ...rules, dates: "mdy" })).toBe(utc("2026-03-04T00:00Z"));
    expect(readTime("eventTime", "03/04/2026", { ...rules, dates: "dmy" })).toBe(utc("2026-04-03T00:00Z"));
    expect(readTime("eventTime", "04/04/2026", rules)).toBe(utc("2026-04-04T00:00Z"));
  });

  test("a time without an offset is read in the given zone, also around clock changes", () => {
    const berlin = { ...rules, timeZone: "Europe/Berlin" };
    expect(readTime("eventTime", "2026-07-01 12:00", berlin)).toBe(utc("2026-07-01T10:00Z"));
    expect(readTime("eventTime", "2026-12-01 12:00", berlin)).toBe(utc("2026-12-01T11:00Z"));
    // On 25 October 03:00 becomes 02:00: a time before that, one in the hour that occurs twice, and one after it.
    expect(readTime("eventTime", "2026-10-25 01:59", berlin)).toBe(utc("2026-10-24T23:59Z"));
    expect(readTime("eventTime", "2026-10-25 02:30", berlin)).toBe(utc("2026-10-25T00:30Z"));
    expect(readTime("eventTime", "2026-10-25 03:00", berlin)).toBe(utc("2026-10-25T02:00Z"));
    expect(readTime("eventTime", "2026-07-01T12:00:00Z", berlin)).toBe(utc("2026-07-01T12:00Z"));
    const newYork = { ...rules, timeZone: "America/New_York" };
    expect(readTime("eventTime", "2026-11-01 12:00", newYork)).toBe(utc("2026-11-01T17:00Z"));
    expect(isTimeZone("Europe/Berlin")).toBe(true);
    expect(isTimeZone("Europe/Nowhere")).toBe(false);
  });

  test.each([
    "",
    "yesterday",
    "2026-02-30",
    "2026-13-01",
    "31.11.2026",
    "2026-10-31 25:00",
    "12:30",
    "0026-10-31",
    "2026-10-31 13:05 am",
    "2026-10-31 0:05 pm",
    "2026-10-31 12:30 +15:00",
    "2026-10-31 12:30 +01:60",
    "20261031",
    "1e9",
  ])("%j is not a time", (text) => {
    expect(readTime("eventTime", text, rules)).toBeInstanceOf(ValueFault);
  });
});

const readAmount = (text: string, delimiter: string | null = ",") => readMoney(text, { decimal: null }, delimiter);

test.each<[string, Money]>([
  ["12.50", { amount: 12.5, marks: [] }],
  ["€ 12,50", { amount: 12.5, marks: ["€"] }],
  ["$12.50", { amount: 12.5, marks: ["$"] }],
  ["-$ 3", { amount: -3, marks: ["$"] }],
  ["12.50 EUR", { amount: 12.5, marks: ["EUR"] }],
  ["eur 1.234,50", { amount: 1234.5, marks: ["eur"] }],
  ["$5 CAD", { amount: 5, marks: ["$", "CAD"] }],
  ["1.234,50 zł", { amount: 1234.5, marks: ["zł"] }],
  ["199kr", { amount: 199, marks: ["kr"] }],
  ["R$ 12,50", { amount: 12.5, marks: ["R$"] }],
  ["US$12.50", { amount: 12.5, marks: ["US$"] }],
  ["Rs. 500", { amount: 500, marks: ["Rs."] }],
])("%s is an amount, with the currency that is written next to it", (text, money) => {
  expect(readAmount(text)).toEqual(money);
});

test.each(["€", "abc", "EUR", "12 apples", "apples 12", "zł", "$-", ""])("%j is not an amount", (text) => {
  expect(readAmount(text)).toBeInstanceOf(ValueFault);
});

test("1.234 is refused as ambiguous next to a currency and in files with semicolons", () => {
  for (const delimiter of [",", "\t", null]) expect(readAmount("1.234", delimiter)).toEqual({ amount: 1.234, marks: [] });
  expect(readAmount("1.234", ";")).toBeInstanceOf(ValueFault);
  expect(readAmount("1.234 €")).toBeInstanceOf(ValueFault);
  expect(readMoney("1.234 €", { decimal: "comma" }, ";")).toEqual({ amount: 1234, marks: ["€"] });
});

describe("the currency of an amount", () => {
  test.each([
    ["5", "USD"],
    ["$5", "USD"],
    ["$5", "CAD"],
    ["$5", "MXN"],
    ["5 €", "EUR"],
    ["£5", "GBP"],
    ["¥5", "JPY"],
    ["￥5", "CNY"],
    ["₹5", "INR"],
    ["chf 5", "CHF"],
    ["5 zł", "PLN"],
    ["5 kr", "SEK"],
    ["5 kr.", "DKK"],
    ["5 Kč", "CZK"],
    ["R$ 5", "BRL"],
    ["US$5", "USD"],
    ["5 $US", "USD"],
    ["5 £GB", "GBP"],
    ["CA$5", "CAD"],
  ])("%s can be in %s", (text, currency) => {
    expect(matchesCurrency(currency, readAmount(text) as Money)).toBe(true);
  });

  test.each([
    ["$5", "EUR"],
    ["USD 5", "EUR"],
    ["5 €", "USD"],
    ["$5 CAD", "USD"],
    ["5 pcs", "USD"],
    ["5 k", "SEK"],
    ["5 zł", "EUR"],
    ["US$5", "CAD"],
    ["R$ 5", "ZAR"],
  ])("%s cannot be in %s", (text, currency) => {
    expect(matchesCurrency(currency, readAmount(text) as Money)).toBe(false);
  });
});
