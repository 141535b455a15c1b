import { describe, expect, test } from "vitest";
import type { Identity } from "../kernel/event.ts";
import { filterReasons, type FilterRules, type FilterInput } from "./filter.ts";
import { sha256 } from "../../test/support/sha256.ts";

const none: FilterRules = {
  blockedDomains: [],
  blockDisposable: false,
  blockedPersons: [],
  allowedPersons: [],
};
const hash = "a".repeat(64);
const bots = { code: "only bot visits", detail: "user agent:named bot (Testbot)" };

const visits = (...verdicts: boolean[]): Identity => ({
  visits: verdicts.map((bot, i) => ({
    visitorId: `v${i}`,
    seenAt: i,
    browser: null,
    clickIds: {},
    browserIds: {},
    utm: {},
    verdict: { bot, score: bot ? 100 : 20, reasons: ["user agent:named bot (Testbot)"], rules: 1 },
  })),
  firstUtm: {},
  forms: {},
});
const reasons = (judged: Partial<FilterInput>, rules: Partial<FilterRules> = {}) =>
  filterReasons({ emailSha256: sha256(hash), emailDomain: null, identity: null, ...judged }, { ...none, ...rules });

test("an event is not filtered without rules and visits", () => {
  expect(reasons({ emailDomain: "mailinator.com" })).toEqual([]);
  expect(reasons({})).toEqual([]);
});

describe("blocked domains", () => {
  const rules = { blockedDomains: ["spam.example", "co.example"] };

  test.each([
    ["spam.example", "spam.example"],
    ["mail.spam.example", "spam.example"],
    ["a.b.co.example", "co.example"],
  ])("%s is filtered by the blocked domain %s", (emailDomain, detail) => {
    expect(reasons({ emailDomain }, rules)).toEqual([{ code: "blocked domain", detail }]);
  });

  test.each(["notspam.example", "spam.example.com", "example", "spam", "xco.example"])(
    "%s only resembles a blocked domain and passes",
    (emailDomain) => {
      expect(reasons({ emailDomain }, rules)).toEqual([]);
    },
  );

  test("an event with only a hashed email has no domain to judge", () => {
    expect(reasons({ emailDomain: null }, { ...rules, blockDisposable: true })).toEqual([]);
  });
});

describe("disposable domains", () => {
  test.each(["mailinator.com", "guerrillamail.com", "10minutemail.com"])(
    "%s is filtered when the site asks for it",
    (emailDomain) => {
      expect(reasons({ emailDomain }, { blockDisposable: true })).toEqual([{ code: "disposable domain", detail: emailDomain }]);
      expect(reasons({ emailDomain }, { blockDisposable: false })).toEqual([]);
    },
  );

  test.each(["gmail.com", "outlook.com", "icloud.com", "proton.me", "yahoo.co.jp", "web.de", "qq.com", "example.com"])(
    "%s, which people really use, is not disposable",
    (emailDomain) => {
      expect(reasons({ emailDomain }, { blockDisposable: true })).toEqual([]);
    },
  );
});

describe("blocked persons", () => {
  test("a blocked person is filtered by the hash of the email, others are not", () => {
    expect(reasons({}, { blockedPersons: [hash] })).toEqual([{ code: "blocked person", detail: null }]);
    expect(reasons({}, { blockedPersons: ["b".repeat(64)] })).toEqual([]);
  });
});

describe("visits", () => {
  test("a person whose every visit was a bot's is filtered", () => {
    expect(reasons({ identity: visits(true) })).toEqual([bots]);
    expect(reasons({ identity: visits(true, true, true) })).toEqual([bots]);
  });

  test("one human visit is enough to pass, at any position", () => {
    for (const visited of [[false], [true, false], [false, true, true], [true, true, false]])
      expect(reasons({ identity: visits(...visited) })).toEqual([]);
  });

  test("a person without visits is not filtered as a bot", () => {
    expect(reasons({ identity: visits() })).toEqual([]);
    expect(reasons({ identity: null })).toEqual([]);
  });
});

test("an event keeps all its filter reasons, not only the first", () => {
  expect(
    reasons(
      { emailDomain: "mailinator.com", identity: visits(true) },
      { blockedDomains: ["mailinator.com"], blockDisposable: true, blockedPersons: [hash] },
    ),
  ).toEqual([
    { code: "blocked domain", detail: "mailinator.com" },
    { code: "disposable domain", detail: "mailinator.com" },
    { code: "blocked person", detail: null },
    bots,
  ]);
});

describe("a browser that shows itself as a bot's later", () => {
  const of = (visitorId: string | null, bot: boolean, seenAt = 0): Identity["visits"][0] => ({
    ...(visits(bot).visits[0] as Identity["visits"][0]),
    visitorId,
    seenAt,
  });
  const person = (...some: Identity["visits"]) => reasons({ identity: { visits: some, firstUtm: {}, forms: {} } });

  test("its earlier visit of the same day is a bot's too", () => {
    expect(person(of("v", true, 60_000), of("v", false))).toEqual([bots, { code: "late verdict", detail: "20" }]);
  });

  test.each([
    ["another browser", of("w", false)],
    ["a visit two days before", of("v", false, 60_000 - 2 * 86_400_000)],
    ["a visit without a visitor", of(null, false)],
  ])("%s stays a person's, and the event passes", (_which, other) => {
    expect(person(of("v", true, 60_000), other)).toEqual([]);
  });

  test("a late verdict names the score of the visit's time", () => {
    const visit = of("v", true);
    const late = { ...visit, verdict: { bot: true, score: 85, reasons: ["volume:click farm"], rules: 1, firstScore: 40 } };
    expect(person(late)).toEqual([
      { code: "only bot visits", detail: "volume:click farm" },
      { code: "late verdict", detail: "40" },
    ]);
  });

  test("visits without a visitor are judged one by one", () => {
    expect(person(of(null, true), of(null, false))).toEqual([]);
  });
});
