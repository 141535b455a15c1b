import { describe, expect, test } from "vitest";
import type { Identity } from "../kernel/event.ts";
import { filterReasons, type FilterRules, type Judged } from "./filter.ts";
import { sha256 } from "../../test/support/sha256.ts";

const none: FilterRules = {
  blockedDomains: [],
  blockDisposable: false,
  blockedPersons: [],
  allowedPersons: [],
};
const hash = "a".repeat(64);

const visits = (...bots: boolean[]): Identity => ({
  visits: bots.map((bot, i) => ({
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
const reasons = (judged: Partial<Judged>, rules: Partial<FilterRules> = {}) =>
  filterReasons(
    { emailSha256: sha256(hash), emailDomain: null, identity: null, ...judged },
    { ...none, ...rules },
  );

test("without rules and visits nothing is filtered", () => {
  expect(reasons({ emailDomain: "mailinator.com" })).toEqual([]);
  expect(reasons({})).toEqual([]);
});

describe("blocked domains", () => {
  const rules = { blockedDomains: ["spam.example", "co.example"] };

  test.each([
    ["spam.example", "blocked domain:spam.example"],
    ["mail.spam.example", "blocked domain:spam.example"],
    ["a.b.co.example", "blocked domain:co.example"],
  ])("%s is filtered", (emailDomain, reason) => {
    expect(reasons({ emailDomain }, rules)).toEqual([reason]);
  });

  test.each(["notspam.example", "spam.example.com", "example", "spam", "xco.example"])(
    "%s only looks like one",
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
      expect(reasons({ emailDomain }, { blockDisposable: true })).toEqual([
        `disposable domain:${emailDomain}`,
      ]);
      expect(reasons({ emailDomain }, { blockDisposable: false })).toEqual([]);
    },
  );

  test.each([
    "gmail.com",
    "outlook.com",
    "icloud.com",
    "proton.me",
    "yahoo.co.jp",
    "web.de",
    "qq.com",
    "example.com",
  ])("%s, where people really are, is not", (emailDomain) => {
    expect(reasons({ emailDomain }, { blockDisposable: true })).toEqual([]);
  });
});

describe("blocked persons", () => {
  test("are filtered by their hash, others are not", () => {
    expect(reasons({}, { blockedPersons: [hash] })).toEqual(["blocked person"]);
    expect(reasons({}, { blockedPersons: ["b".repeat(64)] })).toEqual([]);
  });
});

describe("visits", () => {
  test("a person whose every visit was a bot's is filtered", () => {
    expect(reasons({ identity: visits(true) })).toEqual(["only bot visits:user agent:named bot (Testbot)"]);
    expect(reasons({ identity: visits(true, true, true) })).toEqual([
      "only bot visits:user agent:named bot (Testbot)",
    ]);
  });

  test("one human visit is enough, wherever it stands", () => {
    for (const bots of [[false], [true, false], [false, true, true], [true, true, false]])
      expect(reasons({ identity: visits(...bots) })).toEqual([]);
  });

  test("a person without visits is nobody's bot", () => {
    expect(reasons({ identity: visits() })).toEqual([]);
    expect(reasons({ identity: null })).toEqual([]);
  });
});

test("all reasons are given, not only the first", () => {
  expect(
    reasons(
      { emailDomain: "mailinator.com", identity: visits(true) },
      { blockedDomains: ["mailinator.com"], blockDisposable: true, blockedPersons: [hash] },
    ),
  ).toEqual([
    "blocked domain:mailinator.com",
    "disposable domain:mailinator.com",
    "blocked person",
    "only bot visits:user agent:named bot (Testbot)",
  ]);
});
