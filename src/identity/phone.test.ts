import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { toE164, isPlainE164 } from "./phone.ts";

const library = createRequire(import.meta.url)("libphonenumber-js/min") as typeof import("libphonenumber-js/min");

function readByLibrary(text: string): string | undefined {
  const parsed = library.parsePhoneNumberFromString(text, { extract: false });
  return parsed?.isPossible() ? parsed.number : undefined;
}

describe("a number that is E.164 already", () => {
  const codes = [...new Set(library.getCountries().map((country) => library.getCountryCallingCode(country)))];

  test("numbers of every calling code are read as the library reads them", () => {
    for (const code of codes) checkNumbersOf(code);
  });

  function checkNumbersOf(code: string): void {
    let seed = Number(code);
    const digit = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * 10);
    };
    for (let length = 4; length <= 12; length += 1) {
      for (let i = 0; i < 12; i += 1) {
        const text = `+${code}${Array.from({ length }, digit).join("")}`;
        if (isPlainE164(text)) expect.soft(readByLibrary(text), text).toBe(text);
        expect.soft(toE164(text, undefined), text).toBe(readByLibrary(text));
      }
    }
  }

  test.each(["+14255550123", "+493012345678", "+442079460123", "+33123456789", "+61291234567", "+919876543210"])(
    "%s is E.164 already",
    (text) => {
      expect(isPlainE164(text)).toBe(true);
    },
  );

  test.each([
    ["a national prefix that does not belong there", "+4403012345678"],
    ["too few digits for its country", "+1425555"],
    ["no calling code", "+999123456789"],
    ["spaces", "+1 425 555 0123"],
    ["no plus", "14255550123"],
    ["digits of another script", "+１４２５５５５０１２３"],
  ])("a number with %s needs the library", (_why, text) => {
    expect(isPlainE164(text)).toBe(false);
  });
});
