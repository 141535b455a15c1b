import { describe, expect, test } from "vitest";
import { canBeIn, readMoney, type Money } from "./money.ts";
import { ValueFault } from "./values.ts";

const read = (text: string, delimiter: string | null = ",") => readMoney(text, { decimal: null }, delimiter);

test.each<[string, Money]>([
  ["12.50", { amount: 12.5, marks: [] }],
  ["€ 12,50", { amount: 12.5, marks: ["€"] }],
  ["$12.50", { amount: 12.5, marks: ["$"] }],
  ["-$ 3", { amount: -3, marks: ["$"] }],
  ["12.50 EUR", { amount: 12.5, marks: ["EUR"] }],
  ["eur 1.234,50", { amount: 1234.5, marks: ["eur"] }],
  ["$5 CAD", { amount: 5, marks: ["$", "CAD"] }],
])("%s is an amount, and a currency where one stands beside it", (text, money) => {
  expect(read(text)).toEqual(money);
});

test.each(["€", "abc", "EUR", "12 apples", "$-", ""])("%j is no amount", (text) => {
  expect(read(text)).toBeInstanceOf(ValueFault);
});

test("1.234 is a thousand and more for those who write for people, or in files with semicolons: it is refused there", () => {
  for (const delimiter of [",", "\t", null])
    expect(read("1.234", delimiter)).toEqual({ amount: 1.234, marks: [] });
  expect(read("1.234", ";")).toBeInstanceOf(ValueFault);
  expect(read("1.234 €")).toBeInstanceOf(ValueFault);
  expect(readMoney("1.234 €", { decimal: "comma" }, ";")).toEqual({ amount: 1234, marks: ["€"] });
});

describe("the currency beside an amount", () => {
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
  ])("%s can be in %s", (text, currency) => {
    expect(canBeIn(currency, read(text) as Money)).toBe(true);
  });

  test.each([
    ["$5", "EUR"],
    ["USD 5", "EUR"],
    ["5 €", "USD"],
    ["$5 CAD", "USD"],
    ["5 pcs", "USD"],
  ])("%s cannot be in %s", (text, currency) => {
    expect(canBeIn(currency, read(text) as Money)).toBe(false);
  });
});
