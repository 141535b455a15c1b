// The bots of the demo. The relay's own rules judge them, so the reasons are the real ones.

import { isSuspicious } from "../../src/collect/visitSample.ts";
import { quiet } from "../../src/traffic/frequency.ts";
import type { Observation, ObservedUse } from "../../src/traffic/observation.ts";
import { judge, type Judgement } from "../../src/traffic/verdict.ts";
import type { VisitRules } from "../../src/traffic/lists.ts";
import { browsers } from "./people.ts";

export type Bot = { weight: number; seen: Observation; judgement: Judgement };

const normal = { ...quiet, ofNetwork: 1, ofVisitor: 1 };
const windows = browsers[0];
const chrome = windows?.userAgent ?? "";
const fromBrowser = {
  secure: true,
  acceptLanguage: true,
  secFetch: true,
  isPageLoad: false,
  isReport: true,
  isReordered: false,
  brands: windows?.headers["Sec-CH-UA"] ?? "",
  platform: '"Windows"',
  mobile: "?0",
};
const fromProgram = {
  secure: true,
  acceptLanguage: false,
  secFetch: false,
  isPageLoad: false,
  isReport: false,
  isReordered: false,
  brands: "",
  platform: "",
  mobile: "",
};
const inWindows = { webdriver: false, platform: "Win32", touchPoints: 0, isChromium: true };

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

const base: Observation = {
  userAgent: chrome,
  address: "203.0.113.0",
  country: null,
  handshake: "",
  headers: fromBrowser,
  script: inWindows,
  submit: null,
  use: null,
  frequency: normal,
};
const hosting = "3.120.0.0";

const crawler = (weight: number, userAgent: string, address = base.address) => ({
  weight,
  userAgent,
  headers: fromProgram,
  address,
});

const kinds: (Partial<Observation> & { weight: number })[] = [
  crawler(21, "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"),
  crawler(13, "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"),
  crawler(12, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"),
  crawler(12, "AdsBot-Google (+http://www.google.com/adsbot.html)", "66.249.66.0"),
  crawler(8, "meta-externalads/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"),
  { weight: 7, userAgent: chrome.replace("Chrome/", "HeadlessChrome/"), address: hosting },
  { weight: 7, script: { ...inWindows, webdriver: true } },
  crawler(6, "python-requests/2.32.3", hosting),
  crawler(4, "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)"),
  {
    weight: 4,
    address: hosting,
    headers: { ...fromBrowser, acceptLanguage: false },
    frequency: { ...normal, ofVisitor: 80 },
  },
  {
    weight: 3,
    script: { ...inWindows, platform: "Linux x86_64" },
    headers: { ...fromBrowser, platform: '"Linux"' },
  },
  {
    weight: 2,
    address: hosting,
    headers: { ...fromBrowser, acceptLanguage: false },
    frequency: { ...normal, emailsOfVisitor: 12 },
  },
];

/** People with evidence against them that does not suffice. */
const suspicious: typeof kinds = [
  { weight: 3, address: hosting },
  { weight: 2, use: { ...hands, inserted: 24, keys: 0, jumps: 2 } },
  { weight: 2, use: { ...hands, jumps: 1, isDefaultScreen: true } },
  { weight: 1, frequency: { ...normal, visitorsOfClick: 6 } },
];

const judgeAll = (all: typeof kinds, rules: VisitRules): Bot[] =>
  all.map(({ weight, ...different }) => {
    const seen = { ...base, ...different };
    return { weight, seen, judgement: judge(seen, rules) };
  });

export function judgeBots(rules: VisitRules): Bot[] {
  const bots = judgeAll(kinds, rules);
  for (const { seen, judgement } of bots)
    if (!judgement.verdict.bot) throw new Error(`a bot of the demo is judged as a person: ${JSON.stringify(seen)}`);
  return bots;
}

export function judgeSuspicious(rules: VisitRules): Bot[] {
  const visits = judgeAll(suspicious, rules);
  for (const { seen, judgement } of visits)
    if (!isSuspicious(judgement)) throw new Error(`a visit of the demo is not suspicious: ${JSON.stringify(seen)}`);
  return visits;
}
