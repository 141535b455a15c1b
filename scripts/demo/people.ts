// The customers of the demo: names, browsers, and the ads that they clicked.

import type { Browser, Visit } from "../../src/kernel/event.ts";
import { alphanumeric, hex, uuidFrom, type Random } from "./random.ts";

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

export function newCustomer(random: Random, number: number, domain?: string): Customer {
  const firstName = random.pick(firstNames);
  const lastName = random.pick(lastNames);
  const mailDomain = domain ?? random.pick(mailDomains);
  return {
    email: `${firstName}.${lastName}${number}@${mailDomain}`.toLowerCase(),
    phone: random.chance(0.35) ? `+49151${random.text("0123456789", 8)}` : undefined,
    firstName,
    lastName,
  };
}

type BrowserKind = {
  weight: number;
  userAgent: string;
  headers: Record<string, string>;
  /** As the tag reports it: webdriver, Cypress, platform, touch points, Chromium. */
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
export type Channel = {
  weight: number;
  utm: Record<string, string>;
  referrer: string;
  drawIds: (random: Random, at: number) => Partial<Ids>;
};

const channel = (
  weight: number,
  [source, medium, campaign]: [string, string, string],
  host: string,
  drawIds: Channel["drawIds"],
): Channel => ({
  weight,
  utm: { utm_source: source, utm_medium: medium, utm_campaign: campaign },
  referrer: host && `https://www.${host}`,
  drawIds,
});

const google =
  (share: { gclid: number; wbraid: number; gbraid: number }): Channel["drawIds"] =>
  (random) => ({
    clickIds: random.pickWeighted<{ weight: number; ids: Record<string, string> }>([
      { weight: share.gclid, ids: { gclid: `EAIaIQobChMI${random.text(alphanumeric, 28)}` } },
      { weight: share.wbraid, ids: { wbraid: `CjkKCQiA${random.text(alphanumeric, 36)}` } },
      { weight: share.gbraid, ids: { gbraid: `0AAAAAD${random.text(alphanumeric, 18)}` } },
    ]).ids,
  });

/** OpenAI's pixel keeps the click id, and its own id of the browser. */
const openai: Channel["drawIds"] = (random) => {
  const oppref = `gAAAAABo${random.text(alphanumeric, 56)}`;
  return { clickIds: { oppref }, browserIds: { __oppref: oppref, __obref: uuidFrom(random) } };
};

const linkedin: Channel["drawIds"] = (random) => ({ clickIds: { li_fat_id: uuidFrom(random) } });
const reddit: Channel["drawIds"] = (random) => ({ clickIds: { rdt_cid: random.text("123456789", 16) } });

/** Klaviyo adds its id of the reader to the links of its messages. */
const newsletter = channel(10, ["newsletter", "email", "weekly"], "", (random) => ({
  clickIds: { _kx: `${random.text(alphanumeric, 43)}.StAnD1` },
}));
const search: Channel = { weight: 15, utm: {}, referrer: "https://www.google.com", drawIds: () => ({}) };

/** Shares of an online shop that advertises on most platforms. */
export const shopChannels: readonly Channel[] = [
  channel(27, ["google", "cpc", "brand-de"], "google.com", google({ gclid: 80, wbraid: 12, gbraid: 8 })),
  channel(22, ["facebook", "paid_social", "autumn-collection"], "facebook.com", (random, at) => {
    const fbclid = `IwZXh0bgNhZW0${random.text(alphanumeric, 40)}`;
    const _fbp = `fb.1.${at}.${random.text("123456789", 10)}`;
    return { clickIds: { fbclid }, browserIds: { _fbp, _fbc: `fb.1.${at}.${fbclid}` } };
  }),
  channel(8, ["tiktok", "paid_social", "creator-spark"], "tiktok.com", (random) => ({
    clickIds: { ttclid: `E.C.P.${random.text(alphanumeric, 60)}` },
    browserIds: { _ttp: random.text(alphanumeric, 27) },
  })),
  channel(6, ["bing", "cpc", "generic-de"], "bing.com", (random) => ({
    clickIds: { msclkid: random.text(hex, 32) },
  })),
  channel(5, ["pinterest", "paid_social", "cosy-season"], "pinterest.com", (random) => ({
    clickIds: { epik: `dj0yJnU9${random.text(alphanumeric, 40)}` },
  })),
  channel(5, ["chatgpt", "cpc", "gear-advice"], "chatgpt.com", openai),
  channel(4, ["taboola", "native", "winter-guide"], "", (random) => ({
    clickIds: { tblci: `GiD${random.text(alphanumeric, 56)}` },
  })),
  // The advertiser's own parameter, or the one that Outbrain adds.
  channel(3, ["outbrain", "native", "winter-guide"], "", (random) => ({
    clickIds: { [random.chance(0.7) ? "ob_click_id" : "dicbo"]: `v1-${random.text(hex, 64)}` },
  })),
  channel(3, ["applovin", "cpc", "video-ridge-40"], "", (random) => ({
    clickIds: { aleid: random.text(alphanumeric, 44) },
    browserIds: { _axwrt: uuidFrom(random) },
  })),
  channel(3, ["dv360", "display", "retargeting"], "", (random) => ({
    clickIds: { dclid: `CL${random.text(alphanumeric, 24)}` },
  })),
  channel(2, ["amazon", "display", "outdoor-fans"], "amazon.de", (random) => ({
    clickIds: { aref: random.text(alphanumeric, 32) },
  })),
  channel(3, ["linkedin", "paid_social", "corporate-gifts"], "linkedin.com", linkedin),
  channel(2, ["snapchat", "paid_social", "autumn-collection"], "", (random) => ({
    clickIds: { ScCid: uuidFrom(random) },
  })),
  channel(2, ["reddit", "paid_social", "trail-running"], "reddit.com", reddit),
  newsletter,
  search,
];

/** Shares of a software product for small firms. */
export const productChannels: readonly Channel[] = [
  channel(24, ["google", "cpc", "bookkeeping"], "google.com", google({ gclid: 86, wbraid: 9, gbraid: 5 })),
  channel(18, ["linkedin", "paid_social", "owners"], "linkedin.com", linkedin),
  channel(9, ["chatgpt", "cpc", "invoice-questions"], "chatgpt.com", openai),
  channel(8, ["reddit", "paid_social", "smallbusiness"], "reddit.com", reddit),
  channel(7, ["quora", "cpc", "tax-answers"], "quora.com", (random) => ({
    clickIds: { qclid: `${random.text(alphanumeric, 22)}|${random.text("123456789", 6)}|0` },
  })),
  channel(6, ["nextdoor", "paid_social", "main-street"], "nextdoor.com", (random) => ({
    clickIds: { ndclid: random.text(alphanumeric, 36) },
  })),
  channel(5, ["x", "paid_social", "launch"], "x.com", (random) => ({
    clickIds: { twclid: `2-${random.text("0123456789abcdefghijklmnopqrstuvwxyz", 26)}` },
  })),
  channel(5, ["spotify", "audio", "podcast-spring"], "", (random) => ({
    clickIds: { spclid: random.text(alphanumeric, 30) },
    browserIds: { __spdt: random.text(hex, 32) },
  })),
  newsletter,
  search,
];

type Arrival = {
  browser: BrowserKind;
  seen: Browser;
  clickIds: Record<string, string>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
};

/** The part of a site that visitors see. */
type Landing = { host: string; pages: readonly string[]; channels: readonly Channel[] };

/** Draws a browser, a page and the ad click of a visit. */
export function drawArrival(random: Random, { host, pages, channels }: Landing, at: number): Arrival {
  const source = random.pickWeighted(channels);
  const browser = random.pickWeighted(browsers);
  const { clickIds = {}, browserIds = {} } = source.drawIds(random, at);
  const _ga = `GA1.1.${random.text("123456789", 9)}.${Math.floor(at / 1000)}`;
  return {
    browser,
    seen: {
      page: `https://${host}${random.pick(pages)}`,
      referrer: source.referrer,
      address: `${random.pick(["203.0.113", "198.51.100", "192.0.2"])}.${random.integer(1, 254)}`,
      userAgent: browser.userAgent,
    },
    clickIds,
    browserIds: random.chance(0.8) ? { _ga, ...browserIds } : browserIds,
    utm: source.utm,
  };
}

export const toVisit = ({ seen, clickIds, browserIds, utm: fields }: Arrival, at: number): Omit<Visit, "visitorId"> => ({
  seenAt: at,
  browser: seen,
  clickIds: Object.fromEntries(Object.entries(clickIds).map(([name, value]) => [name, { value, seenAt: at }])),
  browserIds,
  utm: fields,
});
