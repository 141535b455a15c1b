import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchNetwork } from "../http/transport.ts";
import { quiet } from "./frequency.ts";
import { compileLists, findRule, type VisitRules } from "./lists.ts";
import type { Observation, ObservedUse } from "./observation.ts";
import type { Category } from "./signal.ts";
import { signals } from "./signals.ts";
import { nameOf } from "./modes.ts";
import { judge, judgeLater, rulesVersion, weight } from "./verdict.ts";

const rules: VisitRules = {
  botThreshold: 60,
  evidence: ["all=on"],
  allowUserAgents: [],
  denyUserAgents: [],
  allowNetworks: [],
  denyNetworks: [],
  allowCountries: [],
  denyCountries: [],
};
const windowsChrome =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

/** Hands on a mouse and a keyboard. */
const hands: ObservedUse = {
  presses: 2,
  pressMs: 90,
  jumps: 0,
  fractions: 0,
  keys: 18,
  holdMs: 85,
  gapMs: 150,
  evenness: 12,
  pauseMs: 65,
  overlaps: 3,
  inserted: 0,
  hasAutofill: false,
  hasInputMethod: false,
  hasTouch: false,
  isFrameless: false,
  isDefaultScreen: false,
  unfocused: 0,
  trapped: false,
  hasTool: false,
};
/** A person's Chrome on Windows at home. */
const person: Observation = {
  userAgent: windowsChrome,
  address: "93.192.10.20",
  country: "DE",
  handshake: "",
  headers: {
    secure: true,
    acceptLanguage: true,
    secFetch: true,
    isPageLoad: false,
    isReport: true,
    isReordered: false,
    brands: '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
    platform: '"Windows"',
    mobile: "?0",
  },
  script: { webdriver: false, platform: "Win32", touchPoints: 0, isChromium: true },
  submit: { afterMs: 12_000, inputs: 25, untrusted: false },
  use: hands,
  frequency: { ...quiet, ofNetwork: 1, ofVisitor: 1, visitorsOfClick: 1 },
};
type Part = "headers" | "script" | "submit" | "use" | "frequency";
type Changes = Omit<Partial<Observation>, Part> & { [Name in Part]?: Partial<Observation[Name]> | null };

function seen(changes: Changes): Observation {
  const merged: Record<string, unknown> = { ...person, ...changes };
  for (const part of ["headers", "script", "submit", "use", "frequency"] as const) {
    if (changes[part]) merged[part] = { ...person[part], ...changes[part] };
  }
  return merged as Observation;
}
const verdict = (changes: Changes, more: Partial<VisitRules> = {}) => judge(seen(changes), { ...rules, ...more }).verdict;

const hosted = "3.120.0.9";
const appleRelay = "172.224.226.1";

describe("the table of signals", () => {
  const categories = [...new Set(signals.map((signal) => signal.category))];

  test.each(categories)("no soft signal of the category %s reaches the default threshold", (category: Category) => {
    const soft = signals.filter((signal) => signal.category === category && signal.points !== "hard");
    for (const signal of soft) {
      expect(weight(signal)).toBeGreaterThan(0);
      expect(weight(signal), signal.name).toBeLessThan(rules.botThreshold);
    }
  });

  test("every signal has a unique name and explains itself in a sentence", () => {
    const names = signals.map(({ category, name }) => `${category}:${name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { why, name } of signals) {
      expect(why).toMatch(/^[A-Z].{15,}\.$/);
      expect(name).toMatch(/^[a-zA-Z ]+$/);
    }
  });

  test("only contradictions name a source, and every contradiction does", () => {
    for (const { category, source } of signals) expect(Boolean(source)).toBe(category === "contradiction");
  });
});

describe("a person", () => {
  test("an ordinary browser raises no signal", () => {
    expect(verdict({})).toEqual({ bot: false, score: 0, reasons: [], rules: rulesVersion });
  });

  const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";
  const safari = `${mac} Version/18.5 Safari/605.1.15`;
  const noHints = { brands: "", platform: "", mobile: "" };
  test.each<[string, Changes]>([
    ["with Safari on a Mac", { userAgent: safari, headers: noHints, script: { platform: "MacIntel", isChromium: false } }],
    [
      "with an iPad that asks for desktop pages",
      {
        userAgent: safari,
        headers: noHints,
        script: { platform: "MacIntel", touchPoints: 5, isChromium: false },
      },
    ],
    [
      "with an iPhone",
      {
        userAgent:
          "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
        headers: noHints,
        script: { platform: "iPhone", touchPoints: 5, isChromium: false },
      },
    ],
    [
      "with Instagram on Android",
      {
        userAgent:
          "Mozilla/5.0 (Linux; Android 15; SM-S928B Build/AP3A.240905.015.A2; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/141.0.7390.43 Mobile Safari/537.36 Instagram 400.0.0.49.68 Android (35/15; 450dpi; 1080x2124; samsung; SM-S928B; e3q; qcom; de_DE; 800000000)",
        headers: { ...noHints, secFetch: true },
        script: { platform: "Linux armv8l", touchPoints: 5 },
      },
    ],
    [
      "with a phone that asks for desktop pages",
      {
        userAgent: windowsChrome.replace(/\(W.*?\)/, "(X11; Linux x86_64)"),
        headers: { platform: '"Android"' },
        script: { platform: "Linux armv81", touchPoints: 5 },
      },
    ],
    [
      "with Tor Browser, which always claims to run on Windows",
      {
        userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
        headers: noHints,
        script: { platform: "Linux x86_64", isChromium: false },
        address: hosted,
      },
    ],
  ])("a person %s passes with a score below the threshold", (_who, changes) => {
    const { bot, score } = verdict(changes);
    expect(bot).toBe(false);
    expect(score).toBeLessThan(rules.botThreshold);
  });

  test("a person behind a busy company proxy in a data centre, without client hints, passes", () => {
    const busy = { ofNetwork: 900, emailsOfNetwork: 80 };
    expect(verdict({ address: hosted, headers: noHints, frequency: busy }).bot).toBe(false);
    expect(verdict({ address: hosted, frequency: busy }).bot).toBe(false);
  });

  test("a person behind a carrier's NAT with thousands of equal phones passes", () => {
    expect(verdict({ address: "100.64.3.4", frequency: { ofNetwork: 5000, emailsOfNetwork: 400 } }).bot).toBe(false);
  });

  test("a privacy relay raises no signal", () => {
    expect(verdict({ address: appleRelay }).score).toBe(0);
  });

  test("a person with a shared link, voice input or autofill passes", () => {
    expect(verdict({ frequency: { visitorsOfClick: 40 } }).bot).toBe(false);
    expect(verdict({ submit: { inputs: 0, afterMs: 9000 } }).bot).toBe(false);
    expect(verdict({ submit: { inputs: 0, afterMs: 900 } }).bot).toBe(false);
  });
});

describe("a bot", () => {
  test.each<[string, Changes, string]>([
    [
      "by its name",
      { userAgent: "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)" },
      "user agent:named bot",
    ],
    ["that reviews ads", { userAgent: "AdsBot-Google (+http://www.google.com/adsbot.html)" }, "user agent:ad reviewer"],
    ["that is a program", { userAgent: "python-requests/2.32.3" }, "user agent:"],
    ["without a user agent", { userAgent: "" }, "user agent:none"],
    ["driven by a program", { script: { webdriver: true } }, "automation:webdriver"],
    ["with the marks of a tool", { use: { hasTool: true } }, "automation:automation tool"],
    ["that posts with the headers of a page load", { headers: { isPageLoad: true } }, "headers:headers of a page load"],
    [
      "whose hints say headless",
      { headers: { brands: '"HeadlessChrome";v="142", "Chromium";v="142"' } },
      "automation:headless hints",
    ],
  ])("a bot %s is recognised by one hard signal", (_which, changes, primary) => {
    const judgement = judge(seen(changes), rules);
    expect(judgement.verdict).toMatchObject({ bot: true, score: 100 });
    expect(judgement.primary.startsWith(primary), judgement.primary).toBe(true);
    expect(judgement.verdict.reasons[0]?.startsWith(judgement.primary)).toBe(true);
  });

  test("two contradictions from two sources are hard; two from one source are not", () => {
    const linux = { platform: "Linux x86_64" };
    const both = judge(seen({ headers: { platform: '"Linux"' }, script: linux }), rules);
    expect(both.verdict).toMatchObject({ bot: true, score: 100 });
    expect(both.primary).toBe("contradiction:independent contradictions");
    const one = verdict({
      userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
      headers: { platform: '"macOS"' },
      script: { platform: "", isChromium: false },
    });
    expect(one).toMatchObject({ bot: false, score: 45 });
    expect(one.reasons).toHaveLength(2);
  });

  test("client hints that fit the user agent but not the browser are a contradiction", () => {
    // A tool that changes user agent and hints together leaves the system unchanged.
    expect(verdict({ script: { platform: "Linux x86_64" } })).toMatchObject({ bot: true, score: 100 });
    // A tool that changes the system too cannot change the headers.
    expect(verdict({ headers: { platform: '"Linux"' } })).toMatchObject({ bot: true, score: 100 });
  });

  test("a Chromium that claims to be Firefox is a contradiction", () => {
    const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const chromium = { headers: { platform: '"Linux"' }, script: { platform: "Linux x86_64" } };
    expect(verdict({ userAgent: firefox, ...chromium })).toMatchObject({ bot: true, score: 100 });
  });

  test("a television that claims to be a phone is one contradiction only", () => {
    const tv =
      "Mozilla/5.0 (Linux; Android 11; MIBOX4) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36";
    const shown = {
      headers: { platform: '"Android"', mobile: "?0" },
      script: { platform: "Linux armv8l", touchPoints: 0 },
    };
    expect(verdict({ userAgent: tv, ...shown }).bot).toBe(false);
  });

  test("a program that posts reports without the tag is a bot", () => {
    const bare = {
      secure: true,
      acceptLanguage: false,
      secFetch: false,
      isReport: false,
      brands: "",
      platform: "",
      mobile: "",
    };
    expect(verdict({ script: null, headers: bare })).toMatchObject({ bot: true, score: 90 });
    expect(verdict({ script: null })).toMatchObject({ bot: false, score: 40 });
  });

  test("soft evidence of two categories adds up, of one category it does not", () => {
    expect(verdict({ address: hosted })).toMatchObject({ bot: false, score: 30 });
    expect(verdict({ address: hosted, frequency: { ofNetwork: 400 } })).toMatchObject({
      bot: false,
      score: 35,
    });
    const inHurry = { ofVisitor: 50 };
    expect(verdict({ frequency: inHurry, headers: { acceptLanguage: false } })).toMatchObject({ bot: true, score: 75 });
    expect(verdict({ use: { trapped: true } })).toMatchObject({ bot: false, score: 55 });
    expect(verdict({ use: { trapped: true }, headers: { acceptLanguage: false } })).toMatchObject({ bot: true, score: 85 });
  });

  test("evidence that many people share adds its points to two others, and is none of the two", () => {
    const stripped = { acceptLanguage: false };
    expect(verdict({ address: hosted, headers: stripped })).toMatchObject({ bot: false, score: 60 });
    const lost = { isCookieLost: true };
    expect(verdict({ headers: stripped, frequency: lost })).toMatchObject({ bot: false, score: 50 });
    expect(verdict({ address: hosted, headers: stripped, frequency: lost })).toMatchObject({ bot: true, score: 80 });
  });

  test("what gateways remove for everybody is shared, and does not hide what they leave", () => {
    const gateway = { brands: "", platform: "", mobile: "", secFetch: false };
    const lost = { isCookieLost: true };
    expect(verdict({ headers: gateway, handshake: "DHE", frequency: lost })).toMatchObject({ bot: false, score: 100 });
    const silent = { ...gateway, secFetch: true, acceptLanguage: false };
    expect(verdict({ headers: silent, frequency: { ofVisitor: 50 } })).toMatchObject({ bot: true, score: 80 });
  });

  test("how a page is used and what the network shows do not confirm each other", () => {
    const used = { use: { jumps: 2, isDefaultScreen: true } };
    const source = { hasFetchedTag: false, isCookieLost: true };
    expect(verdict({ use: { jumps: 2 }, frequency: { hasFetchedTag: false } })).toMatchObject({ bot: false, score: 40 });
    expect(verdict(used)).toMatchObject({ bot: true, score: 65 });
    expect(verdict({ frequency: source })).toMatchObject({ bot: true, score: 60 });
    // A contradiction confirms both.
    const brand = { headers: { brands: '"Chromium";v="142", "Not.A/Brand";v="8"' } };
    expect(verdict({ ...brand, use: { jumps: 2 } })).toMatchObject({ bot: true, score: 75 });
    expect(verdict({ ...brand, frequency: { hasFetchedTag: false } })).toMatchObject({ bot: true, score: 80 });
  });

  test("a trap that autofill filled does not count", () => {
    expect(verdict({ use: { trapped: true, hasAutofill: true } })).toMatchObject({ bot: false, score: 0 });
    expect(verdict({ use: { trapped: true, hasAutofill: true }, submit: { inputs: 0 } })).toMatchObject({
      bot: false,
      score: 35,
    });
  });

  test("a low threshold still needs two categories, a high one more points", () => {
    expect(verdict({ address: hosted }, { botThreshold: 20 }).bot).toBe(false);
    const two: Changes = { frequency: { ofVisitor: 50 }, headers: { acceptLanguage: false } };
    expect(verdict(two, { botThreshold: 75 }).bot).toBe(true);
    expect(verdict(two, { botThreshold: 76 }).bot).toBe(false);
  });

  test("a crawler from another owner's address is counted as a fake", () => {
    const fake = judge(
      seen({
        userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        address: hosted,
      }),
      rules,
    );
    expect(fake.verdict.reasons.join()).toContain("network:fake crawler");
    const real = judge(
      seen({
        userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        address: "66.249.66.1",
      }),
      rules,
    );
    expect(real.verdict.reasons.join()).not.toContain("fake");
    expect(real.verdict.bot).toBe(true);
  });
});

describe("the site's own lists", () => {
  const bot: Changes = { script: { webdriver: true } };

  test.each<[string, Changes, Partial<VisitRules>]>([
    ["a network", bot, { allowNetworks: ["93.192.0.0/16"] }],
    ["one address", bot, { allowNetworks: ["93.192.10.20"] }],
    ["an IPv6 network", { ...bot, address: "2001:db8::5" }, { allowNetworks: ["2001:db8::/32"] }],
    ["an address in its IPv6 form", { ...bot, address: "::ffff:93.192.10.20" }, { allowNetworks: ["93.192.10.0/24"] }],
    ["a country", bot, { allowCountries: ["DE"] }],
    ["a user agent", bot, { allowUserAgents: ["windows*chrome/142"] }],
    ["a country, against deny rules,", bot, { allowCountries: ["DE"], denyNetworks: ["0.0.0.0/0"], denyUserAgents: ["mozilla"] }],
  ])("a visit that matches the allow rule for %s always passes", (_what, changes, more) => {
    expect(verdict(changes, more)).toEqual({ bot: false, score: 0, reasons: [], rules: rulesVersion });
  });

  test.each<[string, Partial<VisitRules>, string]>([
    ["a network", { denyNetworks: ["93.192.10.0/24"] }, "site rule:denied network 93.192.10.0/24"],
    ["a network in its IPv6 form", { denyNetworks: ["::ffff:93.192.0.0/112"] }, "site rule:denied network ::ffff:93.192.0.0/112"],
    ["a country", { denyCountries: ["DE"] }, "site rule:denied country DE"],
    ["a user agent", { denyUserAgents: ["chrome/142*safari"] }, "site rule:denied user agent chrome/142*safari"],
  ])("a visit that matches the deny rule for %s never passes", (_what, more, reason) => {
    expect(verdict({}, more)).toMatchObject({ bot: true, score: 100, reasons: [reason] });
    expect(judge(person, { ...rules, ...more }).primary).toBe("site rule:denied");
  });

  test("a list that does not match changes nothing", () => {
    const others: Partial<VisitRules> = {
      allowNetworks: ["198.51.100.0/24", "2001:db8::/32"],
      denyNetworks: ["192.0.2.1"],
      allowCountries: ["FR"],
      denyCountries: ["KP"],
      denyUserAgents: ["safari*chrome"],
    };
    expect(verdict({}, others).score).toBe(0);
    expect(verdict(bot, others).bot).toBe(true);
    expect(verdict({ address: "" }, others).score).toBe(0);
  });

  test("of several networks and user agents that match, the one that is listed first is named", () => {
    const first = { denyNetworks: ["2001:db8::/32", "93.192.0.0/12", "93.192.10.20", "0.0.0.0/0"] };
    expect(verdict({}, first).reasons).toEqual(["site rule:denied network 93.192.0.0/12"]);
    const agents = { denyUserAgents: ["nothing", "chrome", "mozilla", "mozilla*chrome"] };
    expect(verdict({}, agents).reasons).toEqual(["site rule:denied user agent chrome"]);
  });

  test("a list of networks matches the same addresses as its networks do", () => {
    // ipaddr.js reads no IPv4 address in the others.
    const ipv6 = fc.ipV6().filter((text) => !text.includes("."));
    const ofIpv4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }));
    const ofIpv6 = fc.tuple(ipv6, fc.integer({ min: 0, max: 128 }));
    const network = fc.oneof(ofIpv4, ofIpv6).map(([address, size]) => `${address}/${size}`);
    fc.assert(
      fc.property(fc.array(network, { maxLength: 5 }), fc.oneof(fc.ipV4(), ipv6), (denyNetworks, other) => {
        for (const address of [other, ...denyNetworks.map((text) => text.replace(/\/.*/, ""))]) {
          const expected = denyNetworks.find((text) => matchNetwork(text)?.(address));
          expect(findRule(seen({ address }), { ...rules, denyNetworks })?.entry).toBe(expected && `network ${expected}`);
        }
      }),
    );
  });

  test("a list of user agents matches the same texts as its patterns do", () => {
    const textOf = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 8 });
    const pattern = textOf("a", "A", "b", "*").filter((text) => /[^*]/.test(text));
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 8 }), textOf("a", "B", "b", "c"), (denyUserAgents, userAgent) => {
        const expected = denyUserAgents.find((text) => new RegExp(text.replaceAll(/\*+/g, ".*"), "i").test(userAgent));
        expect(findRule(seen({ userAgent }), { ...rules, denyUserAgents })?.entry).toBe(expected && `user agent ${expected}`);
      }),
      { numRuns: 1000 },
    );
  });

  const listsOf = (length: number): VisitRules => {
    const entries = <Entry>(entry: (i: number) => Entry) => Array.from({ length }, (_, i) => entry(i));
    return {
      ...rules,
      allowNetworks: entries((i) => `11.${i >> 8}.${i & 255}.0/24`),
      denyNetworks: entries((i) => `2001:db8:${i.toString(16)}::/${48 + (i % 80)}`),
      allowUserAgents: entries((i) => `ax*${i.toString(36)}*q`),
      denyUserAgents: entries((i) => `bot-${i.toString(36)}/`),
    };
  };

  test("a visit is judged about as fast with lists of ten thousand entries as with lists of ten, also when it is stored", () => {
    const browser = { page: "", referrer: "", address: person.address, userAgent: person.userAgent };
    const stored = { seenAt: 0, browser, visitorId: "v", clickIds: {}, browserIds: {}, utm: {} };
    const fastest = (lists: VisitRules) => {
      const times = Array.from({ length: 20 }, () => {
        const startedAt = performance.now();
        judge(person, lists);
        judgeLater(stored, quiet, lists);
        return performance.now() - startedAt;
      });
      return Math.min(...times);
    };
    expect(fastest(listsOf(10_000))).toBeLessThan(20 * fastest(listsOf(10)));
  });

  test("long lists are compiled once, in slices", async () => {
    const lists = listsOf(10_000);
    let turns = 0;
    let isCompiled = false;
    const countTurns = () => {
      turns += 1;
      if (!isCompiled) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    await Promise.all([compileLists("site", lists), compileLists("site", lists)]);
    isCompiled = true;
    expect(turns).toBeGreaterThan(3);
    expect(compileLists("site", lists)).toBeUndefined();
    // Another setting was changed.
    turns = 0;
    await compileLists("site", { ...lists, botThreshold: 70 });
    expect(turns).toBe(0);
  });

  test("a pattern with many stars is matched without backtracking", () => {
    const pattern = `${"a*".repeat(60)}b`;
    const started = process.cpuUsage().user;
    for (let i = 0; i < 1000; i++) verdict({ userAgent: "a".repeat(512) }, { denyUserAgents: [pattern] });
    // Backtracking would take years, so the limit can be generous.
    expect(process.cpuUsage().user - started).toBeLessThan(5_000_000);
  });
});

describe("missing observations", () => {
  test("a part that was not observed raises no signal", () => {
    expect(verdict({ headers: null, script: null, submit: null, frequency: null })).toMatchObject({
      score: 0,
    });
  });
});

describe("hands and programs", () => {
  const inWindow = { isFrameless: true };
  test.each<[string, Changes]>([
    ["that taps a touchpad", { use: { pressMs: 4 } }],
    ["that taps a touchpad behind a hosted VPN", { use: { pressMs: 4 }, address: hosted }],
    ["that dictates", { use: { inserted: 24, keys: 0 } }],
    ["that dictates behind a hosted VPN", { use: { inserted: 24, keys: 0 }, address: hosted }],
    ["whose password manager types", { use: { holdMs: 1, gapMs: 4, pauseMs: 3, overlaps: 0 } }],
    ["whose password manager submits, behind a hosted VPN", { use: null, submit: { inputs: 0 }, address: hosted }],
    [
      "whose password manager types while a busy browser loses the way to one press, behind a hosted VPN",
      { use: { presses: 3, jumps: 1, keys: 29, holdMs: 1, gapMs: 4 }, address: hosted },
    ],
    ["at a kiosk", { use: inWindow }],
    [
      "with a touch screen",
      { use: { hasTouch: true, pressMs: 2, jumps: 3, fractions: 9, inserted: 24, keys: 0, isFrameless: true } },
    ],
    ["with an input method", { use: { hasInputMethod: true, keys: 20, holdMs: 1, gapMs: 5 } }],
    [
      "whose form library submits by itself, behind a gateway",
      { submit: { untrusted: true }, frequency: { isScriptedForm: true }, headers: { acceptLanguage: false } },
    ],
    [
      "behind a gateway that strips headers, in a data centre",
      { headers: { acceptLanguage: false, secFetch: false }, address: hosted },
    ],
    ["with a link that colleagues share, behind a hosted VPN", { frequency: { visitorsOfClick: 6 }, address: hosted }],
    ["with a tablet at a fair, behind a hosted VPN", { frequency: { emailsOfVisitor: 8 }, address: hosted }],
    [
      "of a carrier after a television spot, submitted by the page",
      { frequency: { ofNetwork: 320, emailsOfNetwork: 40, clickIdsOfSource: 100, shareOfSource: 0.4 }, submit: { inputs: 0 } },
    ],
    ["without cookies, behind a hosted VPN", { frequency: { isCookieLost: true }, address: hosted }],
  ])("a person %s passes, with all evidence on", (_who, changes) => {
    const { bot, reasons } = verdict(changes);
    expect(bot, reasons.join("; ")).toBe(false);
  });

  test.each<[string, Changes]>([
    ["that presses between pixels and inserts text", { use: { pressMs: 0, fractions: 2, inserted: 24, keys: 0 } }],
    ["that presses between pixels and types too fast", { use: { fractions: 3, gapMs: 12, holdMs: 5 } }],
    ["that presses between pixels on a screen that is none", { use: { fractions: 2, isDefaultScreen: true } }],
    ["that types without pauses and jumps", { use: { jumps: 1, pauseMs: 3, overlaps: 0 } }],
    [
      "that makes up another brand and presses at once",
      { headers: { brands: '"Chromium";v="142", "Not.A/Brand";v="8"' }, use: { pressMs: 1 } },
    ],
    [
      "that submits the emails of twelve people from a data centre",
      { address: hosted, submit: { untrusted: true }, frequency: { emailsOfVisitor: 12, emailsWithoutHands: 12 } },
    ],
    [
      "that submits them without a cookie and without a touch",
      { address: hosted, submit: { inputs: 0 }, use: null, frequency: { emailsOfNetwork: 12, emailsWithoutHands: 12 } },
    ],
    ["that never fetched the tag and lost its cookie", { frequency: { hasFetchedTag: false, isCookieLost: true } }],
    [
      "of a farm that invents inputs",
      { frequency: { clickIdsOfSource: 60, shareOfSource: 1, secondSteps: { visits: 60, goneOn: 1, expected: 20 } } },
    ],
    ["of a farm", { frequency: { clickIdsOfSource: 60, shareOfSource: 1, goneOn: { visits: 60, goneOn: 1, expected: 40 } } }],
  ])("a program %s is a bot by two kinds of evidence, and in shadow none is removed", (_which, changes) => {
    const judgement = judge(seen(changes), rules);
    expect(judgement.verdict.bot).toBe(true);
    expect(judgement.findings.every(({ signal }) => signal.points !== "hard")).toBe(true);
    const off = judge(seen(changes), { ...rules, evidence: signals.map((signal) => `${nameOf(signal)}=off`.toLowerCase()) });
    expect(off).toMatchObject({ verdict: { bot: false, score: 0 }, findings: [], shadows: [], wouldBeBot: false });
    const shadow = judge(seen(changes), {
      ...rules,
      evidence: signals.map((signal) => `${nameOf(signal)}=shadow`.toLowerCase()),
    });
    expect(shadow).toMatchObject({ verdict: { bot: false, score: 0 }, findings: [], wouldBeBot: true });
    expect(shadow.shadows.length).toBe(judgement.findings.length);
  });

  test("the handshake of a program counts against a browser's name, and not against GNOME's browser or an old report", () => {
    const found = (changes: Changes) =>
      [...judge(seen(changes), rules).findings, ...judge(seen(changes), rules).shadows].map(({ signal }) => nameOf(signal));
    const webKitOnLinux = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15";
    expect(found({ handshake: "Ed25519" })).toContain("connection:TLS of a program");
    for (const changes of [{ handshake: "" }, { handshake: null }, { handshake: "Ed25519", userAgent: webKitOnLinux }])
      expect(found(changes)).not.toContain("connection:TLS of a program");
  });

  test("evidence that was not measured on real visitors begins in shadow", () => {
    const usual = judge(seen({ use: { fractions: 2, inserted: 24, keys: 0 } }), { ...rules, evidence: [] });
    expect(usual).toMatchObject({ verdict: { bot: false, score: 0 }, wouldBeBot: true });
  });
});

describe("a stored visit that is judged again", () => {
  const browser = { page: "https://shop.example/", referrer: "", address: "93.192.10.20", userAgent: windowsChrome };
  const visit = { visitorId: "v", seenAt: 0, browser, clickIds: {}, browserIds: {}, utm: {} };
  const farm = { ...quiet, clickIdsOfSource: 60, shareOfSource: 1, goneOn: { visits: 60, goneOn: 0, expected: 40 } };

  test("is a bot's when its source turns out to be a farm, and names the score of its time", () => {
    expect(judgeLater(visit, farm, rules)).toEqual({
      bot: true,
      score: 90,
      reasons: [
        "volume:click farm (60 click ids in a day)",
        "engagement:no visitor goes on (0 of 60, usually 40)",
        "volume:many click ids (60 click ids in a day)",
      ],
      rules: rulesVersion,
      firstScore: 0,
    });
  });

  test("what was found when it came still counts", () => {
    const first = { bot: false, score: 40, reasons: ["headers:not sent by the tag"], rules: rulesVersion };
    const many = { ...quiet, clickIdsOfSource: 12, shareOfSource: 1 };
    expect(judgeLater(visit, many, rules)).toBe(null);
    expect(judgeLater({ ...visit, verdict: first }, many, rules)).toMatchObject({ bot: true, score: 75, firstScore: 40 });
  });

  test("stays a person's if its source is quiet, is allowed, or is not known", () => {
    expect(judgeLater(visit, quiet, rules)).toBe(null);
    expect(judgeLater(visit, farm, { ...rules, allowNetworks: ["93.192.10.20"] })).toBe(null);
    expect(judgeLater({ ...visit, browser: null }, farm, rules)).toBe(null);
  });
});

describe("people as they were observed, one by one", () => {
  const noHints = { brands: "", platform: "", mobile: "" };
  const rented = "64.225.10.20";
  const azure = "20.36.10.20";
  const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
  const iphoneSafari = `${iphone} Version/18.5 Mobile/15E148 Safari/604.1`;
  const onIphone = { headers: noHints, script: { platform: "iPhone", touchPoints: 5, isChromium: false } };
  const linuxChrome = windowsChrome.replace(/\(W.*?\)/, "(X11; Linux x86_64)");
  const androidChrome = windowsChrome.replace(/\(W.*?\)/, "(Linux; Android 10; K)").replace("Safari", "Mobile Safari");
  const onAndroid = { headers: { platform: '"Android"', mobile: "?1" }, script: { platform: "Linux armv81", touchPoints: 5 } };
  const managerSubmits = { use: null, submit: { inputs: 0, afterMs: 6000 } };
  const libraryForm = { submit: { untrusted: true }, frequency: { isScriptedForm: true } };
  const filledByAutofill = { ...hands, trapped: true, hasAutofill: true };
  const afterTheSpot = { ofNetwork: 320, emailsOfNetwork: 40, clickIdsOfSource: 100, shareOfSource: 0.4 };
  const linuxScript = { platform: "Linux x86_64" };

  const people: [string, Changes][] = [
    ["Chrome on Windows at home", {}],
    ["Safari on an iPhone behind a privacy relay", { userAgent: iphoneSafari, address: "104.28.10.20", ...onIphone }],
    [
      "Instagram on an iPhone",
      { userAgent: `${iphone} Mobile/15E148 Instagram 400.0.0.26.68 (iPhone16,2; iOS 18_5)`, ...onIphone },
    ],
    [
      "Facebook on Android, without client hints",
      {
        userAgent: `${androidChrome.replace("K)", "SM-S928B; wv)")} [FB_IAB/FB4A;FBAV/530.0.0.48.74;]`,
        ...onAndroid,
        headers: noHints,
      },
    ],
    ["Android, desktop site", { userAgent: linuxChrome, headers: { platform: '"Linux"' }, script: onAndroid.script }],
    [
      "iPad with the user agent of a Mac",
      {
        userAgent:
          "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
        headers: noHints,
        script: { platform: "MacIntel", touchPoints: 5, isChromium: false },
      },
    ],
    ["company VPN in a data centre, autofill and Enter", { address: hosted, submit: { inputs: 1 }, use: { hasAutofill: true } }],
    ["the same, the password manager submits", { address: hosted, ...managerSubmits }],
    ["VPN on a rented server, the form library submits", { address: rented, ...libraryForm }],
    ["home, the form library submits, a proxy strips client hints", { ...libraryForm, headers: noHints }],
    ["the same, a proxy strips Accept-Language", { ...libraryForm, headers: { acceptLanguage: false } }],
    ["company gateway strips Sec-Fetch and hints", { address: azure, headers: { ...noHints, secFetch: false } }],
    [
      "company gateway strips language, Sec-Fetch and hints",
      { address: azure, headers: { ...noHints, secFetch: false, acceptLanguage: false } },
    ],
    ["newsletter link with a click id that six colleagues share", { frequency: { visitorsOfClick: 6 } }],
    ["the same from a hosted VPN", { frequency: { visitorsOfClick: 6 }, address: rented }],
    ["autofill fills the hidden trap field", { use: filledByAutofill }],
    ["the same from a hosted VPN", { use: filledByAutofill, address: rented }],
    ["autofill fills the trap and the manager submits", { use: filledByAutofill, submit: managerSubmits.submit }],
    [
      "phone mode of Chrome's developer tools",
      { userAgent: iphoneSafari, headers: noHints, script: { platform: "iPhone", touchPoints: 5 } },
    ],
    [
      "Firefox that resists fingerprinting",
      {
        userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
        headers: noHints,
        script: { ...linuxScript, isChromium: false },
      },
    ],
    ["Chrome with its full version in the user agent", { userAgent: windowsChrome.replace("142.0.0.0", "142.0.7444.60") }],
    ["Edge on a Surface with touch", { userAgent: `${windowsChrome} Edg/142.0.0.0`, script: { touchPoints: 10 } }],
    [
      "Android app on a Chromebook",
      { userAgent: androidChrome, ...onAndroid, script: { platform: "Linux armv81", touchPoints: 0 } },
    ],
    [
      "Samsung DeX: a phone with the hints of a desktop",
      {
        userAgent: androidChrome,
        headers: { platform: '"Android"', mobile: "?0" },
        script: { platform: "Linux armv81", touchPoints: 0 },
      },
    ],
    ["carrier network after a television spot", { userAgent: iphoneSafari, ...onIphone, frequency: afterTheSpot }],
    ["the same, submitted by the page", { userAgent: iphoneSafari, ...onIphone, frequency: afterTheSpot, ...managerSubmits }],
    ["tablet at a trade fair: one visitor, eight emails", { frequency: { emailsOfVisitor: 8 } }],
    ["the same over a hosted VPN", { frequency: { emailsOfVisitor: 8 }, address: rented }],
    ["kiosk that reads badges with a camera", { frequency: { emailsOfVisitor: 30, emailsWithoutHands: 30 }, ...managerSubmits }],
    [
      "carrier network without cookies, the password managers submit",
      { frequency: { ...afterTheSpot, emailsWithoutHands: 36 }, ...managerSubmits },
    ],
    [
      "office behind a hosted VPN, whose password manager signs all in",
      { address: rented, frequency: { emailsOfNetwork: 40, ofNetwork: 80, emailsWithoutHands: 1 }, ...managerSubmits },
    ],
    [
      "office behind a hosted VPN with a shared tablet",
      { address: rented, frequency: { emailsOfVisitor: 12, emailsOfNetwork: 40 }, submit: { inputs: 22 } },
    ],
  ];
  const begins = { ...rules, evidence: [] };

  test.each(people)("%s passes, as a site begins and with all evidence on", (_who, changes) => {
    for (const mode of [begins, rules]) {
      const { bot, reasons } = judge(seen(changes), mode).verdict;
      expect(bot, reasons.join("; ")).toBe(false);
    }
  });

  // bot-filtering.md says so: it contradicts itself like a bot, and a site can allow it.
  test("Chrome with a switched user agent counts as a bot unless the site allows it, and Firefox does not", () => {
    const switched: Changes = { headers: { platform: '"Linux"' }, script: linuxScript };
    expect(verdict(switched).bot).toBe(true);
    expect(verdict(switched, { allowNetworks: [person.address] }).bot).toBe(false);
    expect(verdict({ headers: noHints, script: { ...linuxScript, isChromium: false } })).toMatchObject({ bot: false, score: 65 });
  });

  const gateway = { headers: { ...noHints, secFetch: false }, handshake: "DHE" };
  const tapped = { pressMs: 4 };
  /** One user agent for all, who follow the advertisement to sign in, every day. */
  const office = {
    clickIdsOfSource: 60,
    shareOfSource: 1,
    goneOn: { visits: 60, goneOn: 43, expected: 44 },
    secondSteps: { visits: 60, goneOn: 9, expected: 20 },
  };
  const sharedLink = { visitorsOfClick: 8 };
  const autoTyped = { keys: 22, holdMs: 1, gapMs: 4, pauseMs: 3, overlaps: 0 };
  const expanded = { inserted: 24, keys: 0 };
  const samsung = androidChrome.replace("Chrome/142.0.0.0", "SamsungBrowser/29.0 Chrome/136.0.0.0");
  const samsungBrands = '"Chromium";v="136", "Samsung Internet";v="29.0", "Not.A/Brand";v="99"';
  const tor = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";

  test.each<[string, Changes]>([
    ["a gateway that decrypts TLS and removes headers", gateway],
    ["the same, touchpad taps", { ...gateway, use: tapped }],
    ["the same, the password manager submits", { ...gateway, ...managerSubmits }],
    ["the same in an office with one user agent", { ...gateway, frequency: office }],
    ["the same, with another address for each connection", { ...gateway, frequency: { hasFetchedTag: false } }],
    ["a proxy that reorders headers and blocks cookies", { headers: { isReordered: true }, frequency: { isCookieLost: true } }],
    ["a gateway that removes languages, touchpad taps", { headers: { acceptLanguage: false }, use: tapped }],
    ["an office with one user agent, touchpad taps", { frequency: office, use: tapped }],
    ["an office with one user agent, the password manager submits", { frequency: office, ...managerSubmits }],
    ["an office with one user agent, KeePass types", { frequency: office, use: autoTyped }],
    ["a link that colleagues share, touchpad taps", { frequency: sharedLink, use: tapped }],
    ["a link that colleagues share, the password manager submits", { frequency: sharedLink, ...managerSubmits }],
    [
      "a link that scanners of emails opened before its reader, who has a text tool",
      { frequency: { visitorsOfClick: 6 }, address: azure, use: expanded },
    ],
    ["from home to the road within a page, touchpad taps", { frequency: { hasFetchedTag: false }, use: tapped }],
    ["blocked cookies, touchpad taps", { frequency: { isCookieLost: true }, use: tapped }],
    ["blocked cookies, the password manager submits", { frequency: { isCookieLost: true }, ...managerSubmits }],
    ["blocked cookies behind a VPN, touchpad taps", { frequency: { isCookieLost: true }, address: rented, use: tapped }],
    ["KeePass types, touchpad taps", { use: { ...autoTyped, ...tapped } }],
    ["a text tool inserts, touchpad taps", { use: { ...expanded, ...tapped } }],
    ["a browser inside of a program, touchpad taps", { use: { ...tapped, isFrameless: true, unfocused: 1 } }],
    ["Brave, whose window has the size of its page, KeePass types", { use: { ...autoTyped, isFrameless: true } }],
    ["a kiosk without a frame, the form library submits", { use: { isFrameless: true }, ...libraryForm }],
    ["a screen reader presses the button", { use: { presses: 0, pressMs: null }, submit: { inputs: 19 } }],
    [
      "control by voice, which clicks without a mouse",
      { use: { ...expanded, presses: 0, pressMs: null }, submit: { inputs: 1 } },
    ],
    ["keyboard only in a browser of one program", { use: { presses: 0, pressMs: null, isFrameless: true, evenness: 80 } }],
    ["a restored tab, submitted at once", { submit: { afterMs: 600, inputs: 1 }, use: { keys: 0, holdMs: null, gapMs: null } }],
    [
      "a page that submits by itself what was filled in before, behind a gateway",
      { ...gateway, submit: { inputs: 0, afterMs: 900 } },
    ],
    [
      "an extension that submits, without language",
      { headers: { acceptLanguage: false }, submit: { untrusted: true, inputs: 0 } },
    ],
    [
      "Samsung Internet with a brand of its own, touch",
      {
        userAgent: samsung,
        ...onAndroid,
        headers: { brands: samsungBrands, platform: '"Android"', mobile: "?1" },
        use: { hasTouch: true, pressMs: 2, jumps: 3, fractions: 9 },
      },
    ],
    [
      "an iPhone in Lockdown Mode, autofill",
      { userAgent: iphoneSafari, ...onIphone, submit: { inputs: 1 }, use: { hasTouch: true, hasAutofill: true } },
    ],
    [
      "Tor Browser without cookies, KeePass types",
      { userAgent: tor, headers: noHints, script: { ...linuxScript, isChromium: false }, address: rented, use: autoTyped },
    ],
  ])("%s: a person, with all evidence on", (_who, changes) => {
    const { bot, reasons } = verdict(changes);
    expect(bot, reasons.join("; ")).toBe(false);
  });
});
