// Numbers, money and times in the formats of the chosen language.

import { afterEach, expect, test } from "vitest";
import { withLocalTimes } from "../../dashboard/common/format/days.ts";
import { moneyText, percentText, rateText, shortCount, shortMoney, tenthsOf } from "../../dashboard/common/format/numbers.ts";
import { setLanguage } from "../../dashboard/messages/catalogue/language.ts";

afterEach(() => setLanguage("en"));

/** Intl writes spaces that do not break. */
const plain = (text: string) => text.replaceAll(/\s/g, " ");

test.each([
  ["en", "12.3K", "€29.7K", "€1,234.50", "57%"],
  ["de", "12.345", "29.726 €", "1.234,50 €", "57 %"],
] as const)("%s writes short and exact numbers, money and shares", (language, count, short, exact, share) => {
  setLanguage(language);
  expect([shortCount(12_345), shortMoney(29_726.4, "EUR"), moneyText(1234.5, "EUR"), percentText(57, 100)].map(plain)).toEqual([
    count,
    short,
    exact,
    share,
  ]);
});

test("a share of less than everything is never shown as 100%", () => {
  setLanguage("en");
  expect(percentText(99_999, 100_000)).toBe("99.9%");
  expect(percentText(1, 1)).toBe("100%");
});

test("a rate has one digit, and its change is the difference of what is shown", () => {
  setLanguage("en");
  const [now, before] = [
    [8995, 9123],
    [9096, 9123],
  ] as const;
  expect([rateText(...now), rateText(...before)]).toEqual(["98.6%", "99.7%"]);
  expect(tenthsOf(...before) - tenthsOf(...now)).toBe(11);
  expect([rateText(99_999, 100_000), rateText(5, 5), rateText(0, 0), rateText(3, 5)]).toEqual(["99.9%", "100%", "–", "60.0%"]);
});

test("a time in a text of the relay is written in the user's locale", () => {
  setLanguage("de");
  const text = withLocalTimes("Seit 2026-07-01 09:05 Europe/Berlin.");
  expect(text).not.toContain("2026-07-01");
  expect(text).toMatch(/^Seit .*9:05.*\.$/);
});
