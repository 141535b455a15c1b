import { describe, expect, test } from "vitest";
import { idAt, lastId, createUlids, orderEventId, randomBase62, shortId, timeOfId, toBase62, ulid } from "./ids.ts";

const now = Date.UTC(2026, 10, 14, 12);

describe("ULIDs", () => {
  test("a ULID has 26 characters of Crockford's base 32, in lower case", () => {
    for (let i = 0; i < 2000; i++) expect(ulid()).toMatch(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  });

  test("a ULID begins with the time in milliseconds", () => {
    for (const time of [0, 1, now, Date.UTC(9999, 11, 31), 2 ** 48 - 1]) {
      expect(timeOfId(ulid(time))).toBe(time);
      expect(idAt(time) < ulid(time) && ulid(time) < idAt(time + 1)).toBe(true);
    }
    expect(ulid(2 ** 48 - 1) < lastId).toBe(true);
  });

  test("ULIDs sort as text in the order of time", () => {
    const ids = Array.from({ length: 1000 }, (_, i) => ulid(now + i));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("a ULID never repeats, also within one millisecond and beyond the pool of random bytes", () => {
    const ids = Array.from({ length: 50_000 }, () => ulid(now));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("ULIDs of one millisecond sort in the order of their creation", () => {
    const ids = Array.from({ length: 10_000 }, () => ulid(now + 7));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("monotonic ULIDs never decrease, also when the clock is set back", () => {
    const next = createUlids({ isMonotonic: true });
    const ids = [now, now - 3_600_000, now - 1, now + 5, now + 2, now + 6].flatMap((time) =>
      Array.from({ length: 20_000 }, () => next(time)),
    );
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    const later = next(now + 60_000);
    expect(timeOfId(later)).toBe(now + 60_000);
  });

  test("every random bit of a ULID varies from one millisecond to the next", () => {
    const tails = Array.from({ length: 500 }, (_, i) => ulid(now + i).slice(13));
    for (let at = 0; at < 13; at++) expect(new Set(tails.map((tail) => tail[at])).size).toBe(32);
  });
});

describe("base62", () => {
  test.each([0, 1, 6, 10, 32, 1000])("%d random characters are that many letters and digits", (length) => {
    expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
  });

  test("random base62 uses all characters equally often", () => {
    const counts = new Map<string, number>();
    for (const letter of randomBase62(62_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 1000 each are expected; six standard deviations are about 190.
    for (const [letter, count] of counts) {
      expect(count, letter).toBeGreaterThan(800);
      expect(count, letter).toBeLessThan(1200);
    }
  });

  test.each([
    [0, 6, "000000"],
    [61, 1, "z"],
    [62, 2, "10"],
    [9, 2, "09"],
    [10, 2, "0A"],
    [36, 2, "0a"],
    [2 ** 32 - 1, 6, "4gfFC3"],
  ])("%d in %d digits is %s", (number, length, text) => {
    expect(toBase62(number, length)).toBe(text);
  });
});

describe("short ids", () => {
  test("a short id has ten lower-case letters and digits", () => {
    for (let i = 0; i < 500; i++) expect(shortId()).toMatch(/^[0-9a-z]{10}$/);
  });

  test("short ids do not repeat", () => {
    expect(new Set(Array.from({ length: 20_000 }, shortId)).size).toBe(20_000);
  });
});

describe("the order event id, which browsers compute too", () => {
  test.each([
    ["site1", "purchase", "A-1001", "7d424bb9-871c-87c0-a126-109f89f5a553"],
    ["site1", "  PurChase ", "A-1001", "7d424bb9-871c-87c0-a126-109f89f5a553"],
    ["site1", "purchase", "#A-1001", "7d424bb9-871c-87c0-a126-109f89f5a553"],
    ["site2", "purchase", "A-1001", "4662e40b-aff3-835c-a0e3-327d3935882f"],
    ["site1", "purchase", "a-1001", "7d424bb9-871c-87c0-a126-109f89f5a553"],
    ["site1", "purchase", " A-1001", "7d424bb9-871c-87c0-a126-109f89f5a553"],
    ["k3x9q2m7ab", "lead", "ÄÖ-日本 1", "8ad62354-3b3b-8edc-ad1c-8a56f9dd9423"],
    ["", "", "", "75a11da4-4c80-8486-ac6f-65640aa48a73"],
  ])("the order event id of site %j, event %j and order %j never changes", (site, event, order, id) => {
    expect(orderEventId(site, event, order)).toBe(id);
  });

  test("an order event id has the form of a UUIDv8, which no other id of the relay has", () => {
    for (let i = 0; i < 200; i++)
      expect(orderEventId(randomBase62(10), randomBase62(5), String(i))).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
      );
  });
});
