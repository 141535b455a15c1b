import { describe, expect, test } from "vitest";
import { orderEventId, randomBase62, shortId, toBase62, uuidv7 } from "./ids.ts";

const now = Date.UTC(2026, 10, 14, 12);

describe("uuidv7", () => {
  test("a UUIDv7 has the form, version and variant of RFC 9562", () => {
    for (let i = 0; i < 2000; i++)
      expect(uuidv7()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("a UUIDv7 begins with the time in milliseconds", () => {
    for (const time of [0, 1, now, Date.UTC(9999, 11, 31), 2 ** 48 - 1])
      expect(Number.parseInt(uuidv7(time).replaceAll("-", "").slice(0, 12), 16)).toBe(time);
  });

  test("UUIDv7s sort as text in the order of time", () => {
    const ids = Array.from({ length: 1000 }, (_, i) => uuidv7(now + i));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("a UUIDv7 never repeats, also within one millisecond and beyond the pool of random bytes", () => {
    const ids = Array.from({ length: 50_000 }, () => uuidv7(now));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("UUIDv7s of one millisecond sort in the order of their creation", () => {
    const ids = Array.from({ length: 2000 }, () => uuidv7(now + 7));
    expect(ids.toSorted()).toEqual(ids);
  });

  test("every random bit of a UUIDv7 varies from one millisecond to the next", () => {
    const random = Array.from({ length: 500 }, (_, i) => BigInt(`0x${uuidv7(now + i).replaceAll("-", "")}`));
    const either = random.reduce((a, b) => a | b);
    const always = random.reduce((a, b) => a & b);
    const fixed = (0xfn << 76n) | (0x1n << 75n) | (0x3n << 62n); // version, first bit of the counter, variant
    const low80 = (1n << 80n) - 1n;
    expect((either ^ always) & low80).toBe(low80 & ~fixed);
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
    ["site1", "purchase", "A-1001", "58df99e1-9408-8c16-a009-f8312e46f862"],
    ["site1", "  PurChase ", "A-1001", "58df99e1-9408-8c16-a009-f8312e46f862"],
    ["site2", "purchase", "A-1001", "ef276180-55d9-874d-af26-35240d286295"],
    ["site1", "purchase", "a-1001", "7d424bb9-871c-87c0-a126-109f89f5a553"],
    ["site1", "purchase", " A-1001", "b3fc7f4d-ad74-84b4-a415-284fdecda62a"],
    ["k3x9q2m7ab", "lead", "ÄÖ-日本 1", "fb157af1-8c6b-8246-ac35-f16ec5fedbe2"],
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
