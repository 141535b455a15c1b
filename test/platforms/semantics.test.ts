// What every platform's request has to mean, whatever its fields are called: the amount of money, and nothing of a person who refused.

import { describe, expect, test } from "vitest";
import { exampleSettings } from "../../src/platforms/examples.ts";
import type { Conversion } from "../../src/kernel/event.ts";
import { platforms } from "../../src/platforms/index.ts";
import { fullSample } from "../../src/platforms/shared/sample.ts";
import { skipOf } from "../../src/platforms/shared/skips.ts";

const now = Date.UTC(2026, 10, 15, 9, 30);
const sample = (changes: Partial<Conversion> = {}) => fullSample({ time: now - 60_000, receivedAt: now - 60_000, ...changes });

/** Amounts as senders compute them, and what a platform has to get: whole minor units of the currency. */
const amounts: readonly [value: number, currency: string, right: number, minorUnits: number][] = [
  [49.9, "EUR", 49.9, 4990],
  [0.1 + 0.2, "EUR", 0.3, 30],
  [1.005, "USD", 1.01, 101],
  [19.995, "GBP", 20, 2000],
  [1_234_567.89, "USD", 1_234_567.89, 123_456_789],
  [1999.6, "JPY", 2000, 2000],
  [77, "CLP", 77, 77],
  [1.2345, "KWD", 1.235, 1235],
  [0.01, "EUR", 0.01, 1],
];

/** The relay's own and the customer's endpoints get the event as it is. */
const named = platforms.filter(({ id }) => id !== "sandbox" && id !== "webhook");

describe.each(named.map((platform) => [platform.id, platform] as const))("%s", (id, platform) => {
  const settings = exampleSettings(id);
  const textOf = (conversion: Conversion) => {
    const { url, body } = platform.toRequest([conversion], settings, now);
    return `${decodeURIComponent(url)} ${body}`;
  };
  const numbersIn = (text: string) => (text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?/g) ?? []).map(Number);

  test.each(amounts)("%d %s is sent as %d, or not at all", (value, currency, right, minorUnits) => {
    const conversion = sample({ value, currency });
    if (skipOf(platform, conversion, settings)) return;
    const without = numbersIn(textOf(sample({ value: 7.77, currency })));
    const added = numbersIn(textOf(conversion)).filter((number) => !without.includes(number));
    // X and Amazon take two decimals; OpenAI takes minor units.
    const allowed = [right, minorUnits, ...(currency === "KWD" ? [Math.round(value * 100) / 100] : [])];
    expect(added.filter((number) => !allowed.includes(number))).toEqual([]);
  });

  test("nothing of a person who refused is in the request, even if it were still in the conversion", () => {
    const refused = sample({ consent: "denied" });
    const text = textOf(refused);
    const { person, clickIds, browserIds, browser } = refused;
    const own = [
      ...Object.values(person ?? {}),
      // Google and Microsoft have a consent flag of their own, for a conversion that is known by its click alone.
      ...(["google_ads", "microsoft_ads"].includes(id) ? [] : Object.values(clickIds).map((one) => one.value)),
      ...Object.values(browserIds),
      browser?.address ?? "",
      browser?.userAgent ?? "",
    ];
    expect(own.filter((one) => one !== "" && text.includes(one))).toEqual([]);
  });
});
