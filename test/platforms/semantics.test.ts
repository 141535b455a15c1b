// What every platform's request has to mean, whatever its fields are called: money, time, ids, refunds, test events, and nothing of a
// person who refused.

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

  test("a lead without a value is sent without one, and zero is a value", () => {
    const lead = (value: number | null) => sample({ name: "lead", value, orderId: null });
    for (const conversion of [lead(null), lead(0)]) {
      if (skipOf(platform, conversion, settings)) continue;
      const text = textOf(conversion);
      expect(text).not.toMatch(/NaN|undefined|Infinity/);
      const added = numbersIn(text).filter((number) => !numbersIn(textOf(lead(7.77))).includes(number));
      expect(added.filter((number) => number !== 0)).toEqual([]);
    }
  });

  test("an amount is sent with its currency", () => {
    const text = textOf(sample({ value: 49.9, currency: "CHF" }));
    const hasAmount = numbersIn(text).some((number) => number === 49.9 || number === 4990);
    expect([hasAmount, text.includes("CHF")]).toEqual([hasAmount, hasAmount]);
  });

  test("a refund is skipped, or says that it is one", () => {
    const refund = sample({ name: "refund" });
    if (!skipOf(platform, refund, settings)) expect(textOf(refund)).toMatch(/refund/i);
  });

  test("a test event is skipped, or marked as one", () => {
    const code = "TEST-CODE-1";
    const codes = platform.settings.filter(({ testCode }) => testCode).map(({ name }) => [name, code]);
    const withCode = { ...settings, ...Object.fromEntries(codes) };
    const tested = sample({ mode: "test" });
    const write = (conversion: Conversion, of: typeof settings) => JSON.stringify(platform.toRequest([conversion], of, now));
    const withoutCode = { ...settings, ...Object.fromEntries(codes.map(([name]) => [name, ""])) };
    if (codes.length > 0) expect(skipOf(platform, tested, withoutCode)?.code).toBe("no_test_code");
    if (skipOf(platform, tested, withCode)) return;
    expect(write(tested, withCode)).not.toBe(write(sample(), withCode));
    for (const [, value = ""] of codes) {
      expect(write(tested, withCode)).toContain(value);
      expect(write(sample(), withCode)).not.toContain(value);
    }
  });

  test("the time is the event's, in the platform's unit, and never ahead of the clock", () => {
    const forms = (time: number) => {
      const iso = new Date(time).toISOString();
      return [
        String(Math.floor(time / 1000)),
        String(time),
        `${time}000`,
        iso,
        iso.replace(".000Z", "Z"),
        iso.replace("Z", "+00:00"),
      ];
    };
    const textAt = (time: number) => textOf(sample({ time }));
    const has = (text: string, time: number) => forms(time).some((form) => text.includes(form));
    const past = now - 3_600_000;
    // Some count a conversion when it arrives.
    if (!platform.countsOnArrival) expect(has(textAt(past), past)).toBe(true);
    const ahead = now + 240_000;
    expect(has(textAt(ahead), ahead)).toBe(false);
  });

  test("the id is the relay's, or the order's where the connection says so", () => {
    const conversion = sample({ orderId: "A-7001" });
    const text = textOf(conversion);
    expect(text.includes(conversion.platformEventId) || text.includes("A-7001")).toBe(true);
    if (!platform.settings.some(({ name }) => name === "dedup_id")) return;
    const { url, body } = platform.toRequest([conversion], { ...settings, dedup_id: "order" }, now);
    expect(`${decodeURIComponent(url)} ${body}`).toContain("A-7001");
    expect(`${decodeURIComponent(url)} ${body}`).not.toContain(conversion.platformEventId);
  });

  test("every hash is one of the person's", () => {
    const conversion = sample();
    const hashes = textOf(conversion).match(/\b[0-9a-f]{64}\b/g) ?? [];
    const known = new Set<string>(Object.values(conversion.person ?? {}));
    expect(hashes.filter((one) => !known.has(one))).toEqual([]);
  });
});
