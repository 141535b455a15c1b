import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { evaluate, holds, type Scope } from "./evaluate.ts";
import { limits, mappingFault, MappingFault, parseCondition, parseExpression } from "./parse.ts";
import { Work } from "./work.ts";

const scope: Scope = {
  work: new Work(),
  entry: {
    name: "Ada King Lovelace",
    single: "Ada",
    amount: 4990,
    text: " 49.90 ",
    currency: "eur",
    empty: "  ",
    none: null,
    zero: 0,
    "odd name": "odd",
    list: [
      { key: "a", value: "1", field: { ref: "x" } },
      { key: "b", value: "2", field: { ref: "y" } },
    ],
    stage: "Closed Won",
    page: "https://shop.example/a?utm_source=x&gclid=Cj0%2B1#top",
    at: 1794960000,
    local: "2026-11-18 10:00:00",
    answers: { one: { two: "no", three: ["Write to", "ada@example.com"] } },
    big: "820982911946154508",
    prices: [{ amount: "0.1" }, { amount: "0.2" }, { amount: "x" }],
    flag: true,
  },
  around: { settings: { stages: "Closed Won=purchase, new=lead, open", list: "a, b" }, headers: { "x-topic": "orders/paid" } },
};
const value = (text: string) => evaluate(parseExpression(text), scope);
const isTrue = (text: string) => holds(parseCondition(text), scope);

describe("expressions", () => {
  test.each([
    ["name", "Ada King Lovelace"],
    ["empty | none | missing | single", "Ada"],
    ["zero | single", 0],
    ['["odd name"]', "odd"],
    ["list[0].value", "1"],
    ["list[-1].value", "2"],
    ["list[key=b].value", "2"],
    ["list[field.ref=y].key", "b"],
    ['list[key="c"].value', undefined],
    ["$headers.x-topic", "orders/paid"],
    ['"fixed"', "fixed"],
    ["missing | 12.5", 12.5],
    ["name words(first)", "Ada"],
    ["name words(last)", "Lovelace"],
    ["single words(last)", undefined],
    ["amount cents(currency)", 49.9],
    ['amount cents("JPY")', 4990],
    ['amount cents("KWD")', 4.99],
    ['amount cents("ISK", "ISK UGX")', 49.9],
    ["amount cents(missing)", undefined],
    ["text number", 49.9],
    ["name number", undefined],
    ["'1.25E7' number", 12_500_000],
    ["' -1.0e+10 ' number", -10_000_000_000],
    ["'9.99999999999999E14' number", 999_999_999_999_999],
    ["'1E15' number", undefined],
    ["'1e99' number", undefined],
    ["'12e3' number", undefined],
    ["'1.5E-4' number", undefined],
    ["'1.25E7' positive", undefined],
    ["text trim append('!')", "49.90!"],
    ["currency upper", "EUR"],
    ["page param('gclid')", "Cj0+1"],
    ["page split('/', 2)", "shop.example"],
    ["page digits", "021"],
    ["at seconds", "2026-11-18T00:00:00.000Z"],
    ["local iso", "2026-11-18T10:00:00.000Z"],
    ["local iso(60)", "2026-11-18T09:00:00.000Z"],
    ["stage lookup($settings.stages)", "purchase"],
    ["'OPEN' lookup($settings.stages)", "open"],
    ["'other' lookup($settings.stages)", undefined],
    ["'a' lookup('a=1,a = 2 = 3, b')", "2 = 3"],
    ["'b' lookup(',=x,B=,')", "B"],
    ["'' lookup('=x,,')", undefined],
    ["answers email", "ada@example.com"],
    ["prices sum(amount)", 0.3],
    ["list where(key, b) first", { key: "b", value: "2", field: { ref: "y" } }],
    ["amount minus(90) cents(currency)", 49],
    ["zero positive", undefined],
    ["big", "820982911946154508"],
  ])("%s", (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  test.each([
    "__proto__",
    "constructor",
    "constructor.name",
    "toString",
    "list.length",
    "name.length",
    "list.map",
    "$settings.constructor",
  ])("%s reaches nothing that is inherited", (text) => expect(value(text)).toBeUndefined());

  test.each([
    "",
    "a.",
    "a[",
    "a b",
    "a |",
    "a words",
    "a words(1, 2)",
    'a["x]',
    "a[0",
    "$process",
    "a;b",
    "(a)",
    "a[b=]",
    "a..b",
    "a[99999]",
  ])("%j is refused with a sentence", (text) => {
    expect(mappingFault(text, "expression")).toMatch(/^[a-z]/);
    expect(() => parseExpression(text)).toThrow(MappingFault);
  });

  test("length, parts, steps and functions are limited", () => {
    expect(mappingFault("a".repeat(limits.length + 1), "expression")).toContain("longer");
    expect(
      mappingFault(
        Array(limits.terms + 1)
          .fill("a")
          .join("|"),
        "expression",
      ),
    ).toContain("parts");
    expect(
      mappingFault(
        Array(limits.steps + 2)
          .fill("a")
          .join("."),
        "expression",
      ),
    ).toContain("steps");
    expect(mappingFault(`a${" trim".repeat(limits.functions + 1)}`, "expression")).toContain("functions");
    expect(mappingFault(Array(limits.terms).fill("a").join("|"), "expression")).toBeNull();
  });

  test("any text is parsed or refused, and evaluation never throws", () => {
    const piece = fc.constantFrom(
      "a",
      ".",
      "[",
      "]",
      "(",
      ")",
      "|",
      "=",
      '"',
      "trim",
      "words(first)",
      "cents(b)",
      " ",
      "0",
      "-1",
      "@",
      "$settings",
      "email",
      "and",
      "in",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 40 }).map((all) => all.join("")),
        ),
        fc.jsonValue(),
        (text, entry) => {
          if (mappingFault(text, "expression") === null) evaluate(parseExpression(text), { entry, around: {}, work: new Work() });
          if (mappingFault(text, "condition") === null) holds(parseCondition(text), { entry, around: {}, work: new Work() });
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("a search costs at most the first thousand elements", () => {
    const list = Array.from({ length: 300_000 }, (_, i) => ({ key: i }));
    const late = evaluate(parseExpression("list[key=299999].key"), { entry: { list }, around: {}, work: new Work() });
    expect(late).toBeUndefined();
    expect(evaluate(parseExpression("list[key=999].key"), { entry: { list }, around: {}, work: new Work() })).toBe(999);
  });
});

describe("conditions", () => {
  test.each([
    ['stage = "Closed Won"', true],
    ['stage != "Closed Won"', false],
    ['missing != "x"', true],
    ['missing = "x"', false],
    ["amount > 100 and zero < 1", true],
    ["amount > 100 and zero > 1", false],
    ["text > 49.8", true],
    ["text = 49.9", true],
    ["name > 1", false],
    ["amount >= 4990 and amount <= 4990", true],
    ['single in ("Ada", "Bob")', true],
    ['single in ("Bob")', false],
    ["list[0].key in $settings.list", true],
    ["name in $settings.list", false],
    ["missing in $settings.missing", false],
    ["name exists", true],
    ["empty exists", false],
    ["missing not exists", true],
    ["flag = true", true],
    ['flag = "true"', true],
    ["missing = other", true],
    ["single = list", false],
    ['stage lookup($settings.stages) = "purchase"', true],
    ["missing | name exists", true],
    ['big = "820982911946154508"', true],
    ['big = "820982911946154509"', false],
    ["'1e3' = \"1000\"", false],
    ["'1e3' > 1", false],
  ])("%s is %s", (text, expected) => {
    expect(isTrue(text)).toBe(expected);
  });

  test.each(["a", "a =", "a = b or c = d", "a in", "a in (", "a not", "and", "a = b and"])("%j is refused", (text) => {
    expect(mappingFault(text, "condition")).not.toBeNull();
  });
});
