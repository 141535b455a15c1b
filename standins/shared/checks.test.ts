import { describe, expect, test } from "vitest";
import {
  also,
  amountText,
  currency,
  describeProblem,
  epoch,
  epochUnit,
  eventIndex,
  flag,
  hash,
  ipAddress,
  isoTime,
  list,
  number,
  object,
  oneOrMany,
  problemAt,
  text,
  webUrl,
  type Check,
} from "./checks.ts";

const now = Date.parse("2026-11-14T10:00:00Z");
const digest = "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a";
const kinds = (check: Check, value: unknown) => check(value, "field").map(({ kind }) => kind);

describe("checks", () => {
  test.each<[string, Check, unknown[], [unknown, string][]]>([
    [
      "a hash",
      hash,
      [digest],
      [
        [digest.toUpperCase(), "hash"],
        [digest.slice(1), "hash"],
        ["ada@example.com", "hash"],
        ["", "hash"],
        [[digest], "type"],
      ],
    ],
    [
      "a currency",
      currency,
      ["EUR", "JPY", "XCG"],
      [
        ["eur", "value"],
        ["DEM", "value"],
        ["EURO", "value"],
        [978, "type"],
      ],
    ],
    [
      "money as a number",
      number({ min: 0 }),
      [0, 49.9],
      [
        ["49.90", "type"],
        [-1, "value"],
        [null, "type"],
      ],
    ],
    [
      "an integer",
      number({ integer: true, max: 9 }),
      [9],
      [
        [1.5, "type"],
        [10, "value"],
      ],
    ],
    [
      "money as text",
      amountText(),
      ["49.90", "5"],
      [
        [49.9, "type"],
        ["49,90", "value"],
        ["-1", "value"],
        ["1e3", "value"],
      ],
    ],
    [
      "money with decimals",
      amountText({ decimals: 2 }),
      ["10.00"],
      [
        ["10", "value"],
        ["10.0", "value"],
      ],
    ],
    [
      "text",
      text({ max: 3, pattern: /^a/ }),
      ["abc"],
      [
        ["", "size"],
        ["abcd", "size"],
        ["b", "value"],
        [1, "type"],
      ],
    ],
    ["a choice", text({ oneOf: ["G", "D"] }), ["G"], [["g", "value"]]],
    [
      "a flag",
      flag,
      [true, false],
      [
        ["true", "type"],
        [0, "type"],
      ],
    ],
    [
      "an IP address",
      ipAddress,
      ["203.0.113.9", "2001:db8::1"],
      [
        ["203.0.113", "value"],
        [1, "type"],
      ],
    ],
    [
      "a web address",
      webUrl,
      ["https://shop.example/"],
      [
        ["shop.example", "value"],
        ["ftp://x", "value"],
        [1, "type"],
      ],
    ],
    [
      "seconds",
      epoch("seconds", { now, maxAgeSeconds: 86_400, maxAheadSeconds: 60 }),
      [now / 1000, now / 1000 + 60, now / 1000 - 86_400],
      [
        [now, "unit"],
        [now * 1000, "unit"],
        [0, "unit"],
        [now / 1000 - 86_401, "old"],
        [now / 1000 + 61, "future"],
        [now / 1000 + 0.5, "type"],
        [String(now / 1000), "type"],
      ],
    ],
    ["milliseconds", epoch("milliseconds", { now }), [now], [[now / 1000, "unit"]]],
    ["microseconds", epoch("microseconds", { now }), [now * 1000], [[now, "unit"]]],
    [
      "a time with its zone",
      isoTime({ now, maxAgeSeconds: 86_400, maxAheadSeconds: 0 }),
      ["2026-11-14T09:30:00Z", "2026-11-14T11:30:00.123+02:00"],
      [
        ["2026-11-14T09:30:00", "value"],
        ["2026-11-14 09:30:00Z", "value"],
        ["2026-13-14T09:30:00Z", "value"],
        ["2026-11-12T09:30:00Z", "old"],
        ["2026-11-14T10:00:01Z", "future"],
        [now, "type"],
      ],
    ],
    [
      "a time in UTC with milliseconds",
      isoTime({ now }, { zulu: true }),
      ["2026-11-14T00:00:00.000Z"],
      [
        ["2026-11-14T00:00:00Z", "value"],
        ["2026-11-14T00:00:00.000+00:00", "value"],
      ],
    ],
    [
      "one or many",
      oneOrMany(hash),
      [digest, [digest, digest], []],
      [
        ["x", "hash"],
        [["x"], "hash"],
      ],
    ],
    [
      "a list",
      list(flag, { min: 1, max: 2 }),
      [[true]],
      [
        [[], "missing"],
        [[true, true, true], "count"],
        [true, "type"],
      ],
    ],
  ])("the check of %s accepts valid values and names the problem of others", (_, check, good, bad) => {
    for (const value of good) expect(kinds(check, value), JSON.stringify(value)).toEqual([]);
    for (const [value, kind] of bad) expect(kinds(check, value), JSON.stringify(value)).toEqual([kind]);
  });

  test("an object names every missing, unknown and wrong field by its path", () => {
    const check = list(object({ em: hash, on: flag, deep: object({ n: number() }) }, { required: ["em", "on"] }));
    expect(check([{ em: digest, on: true }, { em: "x", deep: { n: "1" }, extra: 1 }, null], "data").map(describeProblem)).toEqual(
      [
        "data[1].on is required",
        "data[1].em is not hashed: SHA-256 in 64 hexadecimal digits is expected",
        "data[1].deep.n must be a number",
        "data[1].extra is not a known field",
        "data[2] must be an object",
      ],
    );
  });

  test("a field with the name of an inherited property is unknown", () => {
    expect(kinds(object({}), JSON.parse('{"constructor":1,"__proto__":2}'))).toEqual(["unknown", "unknown"]);
  });

  test("an open object accepts other fields; a null field is wrong", () => {
    expect(kinds(object({ a: flag }, { open: true }), { b: 1 })).toEqual([]);
    expect(kinds(object({ a: flag }), { a: null })).toEqual(["type"]);
  });

  test("further checks apply to objects only", () => {
    const pair = also(object({ ip: text(), ua: text() }), (value, path) =>
      (value.ip === undefined) === (value.ua === undefined) ? [] : problemAt("missing", path, "needs both"),
    );
    expect(kinds(pair, { ip: "1" })).toEqual(["missing"]);
    expect(kinds(pair, { ip: "1", ua: "2" })).toEqual([]);
    expect(kinds(pair, 5)).toEqual(["type"]);
  });

  test("the event of a path is its first number", () => {
    expect([eventIndex("data[12].items[3]"), eventIndex("data")]).toEqual([12, null]);
  });

  test("the unit of a time follows from its size", () => {
    expect([now / 1000, now, now * 1000, 5].map(epochUnit)).toEqual(["seconds", "milliseconds", "microseconds", null]);
  });
});
