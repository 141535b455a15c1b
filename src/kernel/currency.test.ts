import { describe, expect, test } from "vitest";
import { currencyDigits, isCurrency } from "./currency.ts";

const words = (text: string) => text.split(" ");

const alphabet = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
const everyCode = alphabet.flatMap((a) => alphabet.flatMap((b) => alphabet.map((c) => a + b + c)));

describe("isCurrency", () => {
  test.each(words("USD EUR GBP JPY CHF BRL INR KWD"))("%s is a currency", (code) => {
    expect(isCurrency(code)).toBe(true);
  });

  test.each(words("XCG ZWG VED SLE XAD MRU STN BYN"))("the recent code %s is a currency", (code) => {
    expect(isCurrency(code)).toBe(true);
  });

  test.each(words("BOV CHE CHW CLF COU MXV USN UYI UYW XAU XAG XPT XPD XDR XSU XUA"))(
    "funds, metals and units of account are ISO 4217 codes too: %s",
    (code) => {
      expect(isCurrency(code)).toBe(true);
    },
  );

  test.each(words("BGN HRK SLL ZWL ANG CUC LTL VEF BYR STD MRO DEM"))("the withdrawn code %s is refused", (code) => {
    expect(isCurrency(code)).toBe(false);
  });

  test.each(words("XTS XXX"))("%s means no money and is refused", (code) => {
    expect(isCurrency(code)).toBe(false);
  });

  test.each(["", " ", "usd", "US", "USDT", "USD ", "EUR USD", "BTC", "€", "toString", "__proto__", "A".repeat(100_000)])(
    "a text that is not a code is refused: %j",
    (code) => {
      expect(isCurrency(code)).toBe(false);
    },
  );

  test("the list has the 178 active codes of ISO 4217 less the two that mean no money", () => {
    expect(everyCode.filter(isCurrency)).toHaveLength(176);
  });
});

describe("currencyDigits", () => {
  test.each(words("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"))(
    "%s has no minor unit in use",
    (code) => {
      expect(currencyDigits(code)).toBe(0);
    },
  );

  test.each(words("USD EUR HUF IDR TWD COP MGA MRU LAK XCG ZWG"))("%s has two digits", (code) => {
    expect(currencyDigits(code)).toBe(2);
  });

  test.each(words("BHD IQD JOD KWD LYD OMR TND"))("%s has three digits", (code) => {
    expect(currencyDigits(code)).toBe(3);
  });

  test.each(words("CLF UYW"))("%s has four digits", (code) => {
    expect(currencyDigits(code)).toBe(4);
  });

  test("gold has no minor unit, and its fractions are kept to two digits", () => {
    expect(currencyDigits("XAU")).toBe(2);
  });

  test("a code that was withdrawn after events were stored still has digits", () => {
    expect(currencyDigits("BGN")).toBe(2);
    expect(currencyDigits("__proto__")).toBe(2);
  });
});
