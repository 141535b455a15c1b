// The customers of the demo: who they are, how they came, and with which browser.

import type { Browser, Visit } from "../../src/kernel/event.ts";
import { alphanumeric, hex, uuidFrom, type Chance } from "./chance.ts";

export type Customer = { email: string; phone: string | undefined; firstName: string; lastName: string };

const firstNames = (
  "Anna Lena Sofia Mia Emma Clara Nora Ida Julia Marie Elif Zofia Lucie Giulia Aoife Hanna Paul Jonas Leon Felix Noah " +
  "Emil Max Oskar Lukas David Mateo Louis Hugo Marco Tomasz Erik"
).split(" ");
const lastNames = (
  "Berger Keller Vogt Lindner Hofmann Brandt Seidel Roth Wagner Kaya Novak Rossi Dubois Laurent Jansen Visser Murphy " +
  "Walsh Andersson Nilsen Kowalska Moreau Bianchi Fischer Schmid Huber Maier Lang"
).split(" ");
const mailDomains = ["mail.example", "post.example", "inbox.example", "family.example"];

export function newCustomer(chance: Chance, number: number, domain?: string): Customer {
  const firstName = chance.oneOf(firstNames);
  const lastName = chance.oneOf(lastNames);
  const at = domain ?? chance.oneOf(mailDomains);
  return {
    email: `${firstName}.${lastName}${number}@${at}`.toLowerCase(),
    phone: chance.happens(0.35) ? `+49151${chance.text("0123456789", 8)}` : undefined,
    firstName,
    lastName,
  };
}

export type BrowserKind = {
  weight: number;
  userAgent: string;
  headers: Record<string, string>;
  /** As the tag tells it: webdriver, Cypress, platform, touch points, Chromium. */
  script: [boolean, boolean, string, number, boolean];
};

const chromium = (userAgent: string, system: string, platform: string, touch: number, weight: number) => ({
  weight,
  userAgent,
  headers: {
    "Accept-Language": "de",
    "Sec-Fetch-Site": "same-origin",
    "Sec-CH-UA": '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
    "Sec-CH-UA-Platform": `"${system}"`,
    "Sec-CH-UA-Mobile": touch ? "?1" : "?0",
  },
  script: [false, false, platform, touch, true] as BrowserKind["script"],
});

export const browsers: readonly BrowserKind[] = [
  chromium(
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Windows",
    "Win32",
    0,
    34,
  ),
  chromium(
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
    "Android",
    "Linux armv81",
    5,
    30,
  ),
  {
    weight: 28,
    userAgent:
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    headers: { "Accept-Language": "de", "Sec-Fetch-Site": "same-origin" },
    script: [false, false, "iPhone", 5, false],
  },
];

type Ids = { clickIds: Record<string, string>; browserIds: Record<string, string> };
type Channel = {
  weight: number;
  utm: Record<string, string>;
  referrer: string;
  ids(chance: Chance, at: number): Partial<Ids>;
};

const utm = (source: string, medium: string, campaign: string) => ({
  utm_source: source,
  utm_medium: medium,
  utm_campaign: campaign,
});

/** Shares of an online shop that advertises on most platforms. */
export const channels: readonly Channel[] = [
  {
    weight: 27,
    utm: utm("google", "cpc", "brand-de"),
    referrer: "https://www.google.com",
    ids: (chance) => ({
      clickIds: chance.weighted<{ weight: number; ids: Record<string, string> }>([
        { weight: 80, ids: { gclid: `EAIaIQobChMI${chance.text(alphanumeric, 28)}` } },
        { weight: 12, ids: { wbraid: `CjkKCQiA${chance.text(alphanumeric, 36)}` } },
        { weight: 8, ids: { gbraid: `0AAAAAD${chance.text(alphanumeric, 18)}` } },
      ]).ids,
    }),
  },
  {
    weight: 22,
    utm: utm("facebook", "paid_social", "autumn-collection"),
    referrer: "https://www.facebook.com",
    ids: (chance, at) => {
      const fbclid = `IwZXh0bgNhZW0${chance.text(alphanumeric, 40)}`;
      const _fbp = `fb.1.${at}.${chance.text("123456789", 10)}`;
      return { clickIds: { fbclid }, browserIds: { _fbp, _fbc: `fb.1.${at}.${fbclid}` } };
    },
  },
  {
    weight: 8,
    utm: utm("tiktok", "paid_social", "creator-spark"),
    referrer: "https://www.tiktok.com",
    ids: (chance) => ({
      clickIds: { ttclid: `E.C.P.${chance.text(alphanumeric, 60)}` },
      browserIds: { _ttp: chance.text(alphanumeric, 27) },
    }),
  },
  {
    weight: 6,
    utm: utm("bing", "cpc", "generic-de"),
    referrer: "https://www.bing.com",
    ids: (chance) => ({ clickIds: { msclkid: chance.text(hex, 32) } }),
  },
  {
    weight: 5,
    utm: utm("pinterest", "paid_social", "cosy-season"),
    referrer: "https://www.pinterest.com",
    ids: (chance) => ({ clickIds: { epik: `dj0yJnU9${chance.text(alphanumeric, 40)}` } }),
  },
  {
    weight: 3,
    utm: utm("linkedin", "paid_social", "corporate-gifts"),
    referrer: "https://www.linkedin.com",
    ids: (chance) => ({ clickIds: { li_fat_id: uuidFrom(chance) } }),
  },
  {
    weight: 2,
    utm: utm("snapchat", "paid_social", "autumn-collection"),
    referrer: "",
    ids: (chance) => ({ clickIds: { ScCid: uuidFrom(chance) } }),
  },
  {
    weight: 2,
    utm: utm("reddit", "paid_social", "trail-running"),
    referrer: "https://www.reddit.com",
    ids: (chance) => ({ clickIds: { rdt_cid: chance.text("123456789", 16) } }),
  },
  { weight: 10, utm: utm("newsletter", "email", "weekly"), referrer: "", ids: () => ({}) },
  { weight: 15, utm: {}, referrer: "https://www.google.com", ids: () => ({}) },
];

const pages = ["/", "/jackets", "/jackets/ridge-40", "/boots", "/sale", "/tents/duo", "/guides/layering"];

export type Coming = {
  browser: BrowserKind;
  seen: Browser;
  clickIds: Record<string, string>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
};

/** How somebody comes to a site. */
export function coming(chance: Chance, host: string, at: number): Coming {
  const channel = chance.weighted(channels);
  const browser = chance.weighted(browsers);
  const { clickIds = {}, browserIds = {} } = channel.ids(chance, at);
  const _ga = `GA1.1.${chance.text("123456789", 9)}.${Math.floor(at / 1000)}`;
  return {
    browser,
    seen: {
      page: `https://${host}${chance.oneOf(pages)}`,
      referrer: channel.referrer,
      address: `${chance.oneOf(["203.0.113", "198.51.100", "192.0.2"])}.${chance.whole(1, 254)}`,
      userAgent: browser.userAgent,
    },
    clickIds,
    browserIds: chance.happens(0.8) ? { _ga, ...browserIds } : browserIds,
    utm: channel.utm,
  };
}

export const visitOf = (
  { seen, clickIds, browserIds, utm: fields }: Coming,
  at: number,
): Omit<Visit, "visitorId"> => ({
  seenAt: at,
  browser: seen,
  clickIds: Object.fromEntries(
    Object.entries(clickIds).map(([name, value]) => [name, { value, seenAt: at }]),
  ),
  browserIds,
  utm: fields,
});
