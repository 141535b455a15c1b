// The bots of the demo. The relay's own rules judge them, so the reasons are the real ones.

import { quiet } from "../../src/traffic/frequency.ts";
import type { Observation } from "../../src/traffic/observation.ts";
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

export function judgeBots(rules: VisitRules): Bot[] {
  return kinds.map(({ weight, ...different }) => {
    const seen = { ...base, ...different };
    const judgement = judge(seen, rules);
    if (!judgement.verdict.bot) throw new Error(`a bot of the demo is judged as a person: ${JSON.stringify(different)}`);
    return { weight, seen, judgement };
  });
}
