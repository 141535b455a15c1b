import { describe, expect, test } from "vitest";
import { currencyDigits, isCurrency } from "./currency.ts";

const words = (text: string) => text.split(" ");

const alphabet = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
const everyCode = alphabet.flatMap((a) => alphabet.flatMap((b) => alphabet.map((c) => a + b + c)));

describe("isCurrency", () => {
  test("codes in wide use are currencies", () => {
    for (const code of words("USD EUR GBP JPY CHF BRL INR KWD")) expect.soft(isCurrency(code), code.slice(0, 20)).toBe(true);
  });

  test("recent codes are currencies", () => {
    for (const code of words("XCG ZWG VED SLE XAD MRU STN BYN")) expect.soft(isCurrency(code), code.slice(0, 20)).toBe(true);
  });

  test("funds, metals and units of account are ISO 4217 codes too", () => {
    for (const code of words("BOV CHE CHW CLF COU MXV USN UYI UYW XAU XAG XPT XPD XDR XSU XUA"))
      expect.soft(isCurrency(code), code.slice(0, 20)).toBe(true);
  });

  test("withdrawn codes are refused", () => {
    for (const code of words("BGN HRK SLL ZWL ANG CUC LTL VEF BYR STD MRO DEM"))
      expect.soft(isCurrency(code), code.slice(0, 20)).toBe(false);
  });

  test("the codes that mean no money are refused", () => {
    for (const code of words("XTS XXX")) expect.soft(isCurrency(code), code.slice(0, 20)).toBe(false);
  });

  test("a text that is not a code is refused", () => {
    for (const code of [
      "",
      " ",
      "usd",
      "US",
      "USDT",
      "USD ",
      "EUR USD",
      "BTC",
      "€",
      "toString",
      "__proto__",
      "A".repeat(100_000),
    ])
      expect.soft(isCurrency(code), code.slice(0, 20)).toBe(false);
  });

  test("the list has the 178 active codes of ISO 4217 less the two that mean no money", () => {
    expect(everyCode.filter(isCurrency)).toHaveLength(176);
  });
});

describe("currencyDigits", () => {
  test("currencies without a minor unit in use have no digits", () => {
    for (const code of words("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"))
      expect.soft(currencyDigits(code), code.slice(0, 20)).toBe(0);
  });

  test("most currencies have two digits", () => {
    for (const code of words("USD EUR HUF IDR TWD COP MGA MRU LAK XCG ZWG"))
      expect.soft(currencyDigits(code), code.slice(0, 20)).toBe(2);
  });

  test("currencies with a thousandth have three digits", () => {
    for (const code of words("BHD IQD JOD KWD LYD OMR TND")) expect.soft(currencyDigits(code), code.slice(0, 20)).toBe(3);
  });

  test("units of account with a ten-thousandth have four digits", () => {
    for (const code of words("CLF UYW")) expect.soft(currencyDigits(code), code.slice(0, 20)).toBe(4);
  });

  test("gold has no minor unit, and its fractions are kept to two digits", () => {
    expect(currencyDigits("XAU")).toBe(2);
  });

  test("a code that was withdrawn after events were stored still has digits", () => {
    expect(currencyDigits("BGN")).toBe(2);
    expect(currencyDigits("__proto__")).toBe(2);
  });
});
