import crawlers from "crawler-user-agents";
import { describe, expect, test } from "vitest";
import { readUserAgent } from "./userAgent.ts";

const webView = (device: string, chrome = "126.0.6478.122") =>
  `Mozilla/5.0 (Linux; Android ${device}; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/${chrome} Mobile Safari/537.36`;
const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";
const chrome = (version: string, platform = "Windows NT 10.0; Win64; x64") =>
  `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`;

const judgeUserAgent = (userAgent: string) => readUserAgent(userAgent).evidence;
const kindOf = (userAgent: string) => judgeUserAgent(userAgent)?.kind ?? null;

describe("in-app browsers", () => {
  const androids = [
    "14; SM-S918B Build/UP1A.231005.007",
    "15; CPH2557 Build/AP3A.240617.008",
    "13; 22101316G Build/TP1A.220624.014",
    "12; CUBOT X30 Build/SP1A.210812.016",
    "16; Pixel 10 Pro XL Build/CP1A.260305.018",
    "9; Spider 8 Build/PPR1.180610.011",
    "8.1.0; GM Discovery II Build/OPM1.171019.026",
  ];
  const screen = "(35/15; 480dpi; 1080x2400; CUBOT; CUBOT_X30; CUBOT_X30; mt6771; en_MY; 822918295; IABMV/1)";
  const androidApps = {
    Facebook: "[FB_IAB/FB4A;FBAV/465.0.0.55.91;IABMV/1;]",
    Messenger: "[FB_IAB/Orca-Android;FBAV/450.0.0.44.110;]",
    "Facebook on Android 16": "MetaIAB Facebook",
    Instagram: `Instagram 406.0.0.58.159 Android ${screen} NV/1`,
    Threads: `Barcelona 384.0.0.33.86 Android ${screen}`,
    TikTok:
      "musical_ly_2022803040 JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/musical_ly app_version/28.3.4 ByteLocale/en ByteFullLocale/en Region/US BytedanceWebview/d8a21c6",
    Snapchat: "Snapchat/12.89.0.40 (SM-S918B; Android 14#S918BXXS7CXE8#34; gzip; )",
    Pinterest: "[Pinterest/Android]",
    LinkedIn: "[LinkedInApp]/4.1.940",
    WeChat: "XWEB/1160117 MMWEBSDK/20240404 MicroMessenger/8.0.49.2600(0x28003135) WeChat/arm64 Weixin tools",
    Line: "Line/14.9.1/IAB",
    "Google app": "GSA/15.22.30.28.arm64",
    X: "TwitterAndroid",
    "an app of one's own": "MyShop/4.2.0 (release; build 118)",
  };
  for (const [app, suffix] of Object.entries(androidApps))
    test(`the in-app browser of ${app} is a person on every phone`, () => {
      const verdicts = androids.map((device) => judgeUserAgent(`${webView(device)} ${suffix}`));
      expect(verdicts).toEqual(androids.map(() => null));
    });

  test.each([
    "[FBAN/FBIOS;FBAV/466.0.0.41.106;FBBV/602222222;FBDV/iPhone15,3;FBMD/iPhone;FBSN/iOS;FBSV/17.5.1;FBSS/3;FBCR/Vodafone.de;FBID/phone;FBLC/en_US;FBOP/5;FBRV/604]",
    "Instagram 334.0.4.32.98 (iPhone15,3; iOS 17_5_1; en_US; en; scale=3.00; 1290x2796; 608692094; IABMV/1)",
    "musical_ly_34.9.0 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/en Region/US isDarkMode/1 WKWebView/1 BytedanceWebview/d8a21c6",
    "Snapchat/12.90.0.45 (like Safari/8617.1.17.10.12, panda)",
    "[Pinterest/iOS]",
    "[LinkedInApp]/9.29.6388",
    "MicroMessenger/8.0.49(0x18003137) NetType/WIFI Language/en",
    "Safari Line/14.9.0",
    "Twitter for iPhone/10.44",
    "Feedly/71.0",
    "",
  ])("an in-app browser on an iPhone is a person: %s", (suffix) => {
    expect(judgeUserAgent(`${iPhone} ${suffix}`)).toBeNull();
  });

  test("a crawler that pretends to be an in-app browser is still a crawler", () => {
    const link = "(compatible; facebookexternalhit/1.1; +http://www.facebook.com/externalhit_uatext.php)";
    expect(judgeUserAgent(`${iPhone} Instagram 334.0.4.32.98 ${link}`)).toMatchObject({ hard: true });
    expect(judgeUserAgent(`${webView("14; SM-S918B")} (compatible; Googlebot/2.1)`)).toMatchObject({
      hard: true,
    });
  });
});

describe("browsers", () => {
  test.each([
    chrome("126.0.0.0"),
    chrome("126.0.0.0", "Macintosh; Intel Mac OS X 10_15_7"),
    chrome("126.0.0.0", "X11; CrOS x86_64 14541.0.0"),
    `${chrome("126.0.0.0")} Edg/126.0.0.0`,
    `${chrome("126.0.0.0")} OPR/112.0.0.0 (Edition Yx 05)`,
    `${chrome("126.0.0.0")} Norton/126.0.25496.127`,
    chrome("91.0.4472.164").replace(" Safari", " Spotify/1.2.40.599 Safari"),
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Notion/3.7.0 Chrome/124.0.6367.243 Electron/30.1.1 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:109.0) Gecko/20100101 Firefox/115.0",
    "Mozilla/5.0 (X11; U; Linux x86_64; en-US; rv:1.9.1.3) Gecko/20091020 Linux Mint/8 (Helena) Firefox/3.5.3",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Safari/605.1.15",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
    "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; .NET4.0C)",
    "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.35 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36 (Ecosia android@150.0.0.0)",
    "Mozilla/5.0 (Linux; Android 10; XBot Senior) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/118.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 7.0; CUBOT_MAX Build/NRD90M) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/118.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 7.0; ECHO JAVA) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/118.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/87.0.4280.88 Safari/537.36 HbbTV/1.6.1 (+DRM; LGE/KTC/BOTECH; 58BSE9503; WEBOS22 04.42.26;)",
    "Opera/9.80 (Android; Opera Mini/36.2.2254/191.283; U; en) Presto/2.12.423 Version/12.16",
  ])("an ordinary browser is a person: %s", (userAgent) => {
    expect(judgeUserAgent(userAgent)).toBeNull();
  });

  test("an outdated browser is soft evidence only", () => {
    for (const old of [
      "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)",
      "Opera/9.80 (Windows NT 6.1; U; en) Presto/2.7.62 Version/11.01",
      "Dalvik/2.1.0 (Linux; U; Android 13; SM-A136U1 Build/TP1A.220624.014)",
    ])
      expect(judgeUserAgent(old)).toMatchObject({ kind: "looks like a bot", hard: false });
  });
});

describe("programs", () => {
  test("every ad reviewer and preloader is hard evidence, with its network", () => {
    const reviewers: Record<string, string> = {
      "AdsBot-Google (+http://www.google.com/adsbot.html)": "Google Ads",
      "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36 (compatible; AdsBot-Google-Mobile; +http://www.google.com/mobile/adsbot.html)":
        "Google Ads",
      [`${chrome("126.0.0.0", "X11; Linux x86_64")} Google-Ads-Creatives-Assistant`]: "Google Ads",
      "Mediapartners-Google": "Google Ads",
      "meta-externalads/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)": "Meta Ads",
      [`${iPhone} (compatible; TikTokAdsBot/1.0)`]: "TikTok Ads",
      [`${webView("14; SM-S918B")} musical_ly_2022803040 BytedanceWebview/d8a21c6 thirdLandingPageFeInfra`]: "TikTok Ads",
      thirdLandingPageFeInfra: "TikTok Ads",
      "Mozilla/5.0 (compatible; adidxbot/2.0; +http://www.bing.com/bingbot.htm)": "Microsoft Advertising",
      [`${iPhone} (compatible; adidxbot/2.0; +http://www.bing.com/bingbot.htm)`]: "Microsoft Advertising",
      "SnapchatAds/1.0": "Snapchat Ads",
      "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)": "Pinterest Ads",
    };
    for (const [userAgent, detail] of Object.entries(reviewers))
      expect(judgeUserAgent(userAgent), userAgent).toEqual({ kind: "ad reviewer", detail, hard: true });
  });

  test("an AI agent that acts for a person is named as an AI agent", () => {
    for (const name of ["ChatGPT-User/1.0", "Claude-User/1.0", "Perplexity-User/1.0", "MistralAI-User/1.0"])
      expect(kindOf(`Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ${name}; +https://x.example)`)).toBe(
        "AI agent",
      );
  });

  test("a headless browser is named as a headless browser", () => {
    expect(kindOf(chrome("126.0.0.0").replace("Chrome", "HeadlessChrome"))).toBe("headless browser");
    expect(kindOf(`${chrome("126.0.0.0")} Playwright/1.40.0`)).toBe("headless browser");
    expect(kindOf("Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/24.1.0")).toBe("headless browser");
  });

  test("a missing user agent is hard evidence", () => {
    expect(judgeUserAgent("")).toEqual({ kind: "empty", detail: "no user agent", hard: true });
    expect(kindOf("   ")).toBe("empty");
  });

  test.each([
    "curl/8.7.1",
    "python-requests/2.32.3",
    "Go-http-client/2.0",
    "okhttp/4.12.0",
    "axios/1.7.2",
    "Java/17.0.9",
    "PostmanRuntime/7.39.0",
    "MyReader/3.1 CFNetwork/1496.0.7 Darwin/23.5.0",
    "WhatsApp/2.24.11 A",
    "Mozilla/5.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64)",
    "mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36",
    "-",
    "Mozilla/5.0 (compatible; NeverSeenBefore/1.0)",
    "Mozilla/4.0 (compatible; NeverSeenBefore)",
    `${chrome("126.0.0.0")} (compatible; NeverSeenBefore/1.0)`,
    `${chrome("126.0.0.0")} NeverSeenBot/1.0`,
    `${chrome("126.0.0.0")} (+https://never.seen.example/about)`,
    `${chrome("126.0.0.0")} ops@never-seen.example`,
    "Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3.170816.012; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
  ])("a program's user agent is hard evidence: %s", (userAgent) => {
    expect(judgeUserAgent(userAgent)).toMatchObject({ hard: true });
  });

  test.each([
    `${chrome("126.0.0.0")} NeverSeen/1.0`,
    `${chrome("126.0.0.0")} NeverSeen`,
    `${chrome("126.0.0.0")} (NeverSeen)`,
    `${chrome("126.0.0.0")} never-seen.com`,
    chrome("126.0.0.0", "X11; NeverSeen; Linux x86_64"),
    chrome("126.0.0.0", "NeverSeen; Windows NT 10.0"),
    chrome("126.0"),
    chrome("W.X.Y.Z"),
    chrome("126.0.0.0", "Windows NT 11.0; Win64; x64"),
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko; NeverSeen) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:90.0) Gecko/20100101 Firefox/127.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36",
    "Mozilla/5.0 (Linux; Android 11; moto g power (2022)) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36 NeverSeen/1.0",
  ])("an unusual user agent is soft evidence: %s", (userAgent) => {
    expect(judgeUserAgent(userAgent)).toMatchObject({ kind: "looks like a bot", hard: false });
  });
});

describe("the public list's own examples", () => {
  /** Patterns that match people: in-app browsers, editors, a browser for single sites. */
  const people = new Set(["AP3A\\.240617\\.008", "MetaIAB Facebook", "Code\\/1\\.", "Trae\\/", "Fluid"]);

  test("nearly all examples of the public list are hard evidence", () => {
    const bots = crawlers.filter(({ pattern }) => !people.has(pattern)).flatMap(({ instances }) => instances);
    const verdicts = bots.map((userAgent) => judgeUserAgent(userAgent));
    expect(bots.filter((_, i) => verdicts[i] === null)).toEqual([]);
    expect(verdicts.filter((verdict) => verdict?.hard).length / bots.length).toBeGreaterThan(0.995);
    for (const verdict of verdicts) {
      expect(verdict?.hard).toBe(verdict?.kind !== "looks like a bot");
      expect(verdict?.detail).toMatch(/^.{1,40}$/);
    }
  });

  test("examples of the public list that are people pass", () => {
    const mislabelled = crawlers.filter(({ pattern }) => people.has(pattern));
    expect(mislabelled).toHaveLength(people.size);
    expect(mislabelled.flatMap(({ instances }) => instances.map(judgeUserAgent))).toEqual(
      mislabelled.flatMap(({ instances }) => instances.map(() => null)),
    );
  });
});

describe("hostile strings", () => {
  const starts = ["", "Mozilla/5.0 (", "Mozilla/5.0 (X11; Linux) Gecko ", chrome("99.0.1.1"), webView("9; X")];
  const bricks = "a|(|()|[|bot|a@|a-|a.|\\w-|; |Chrome/1.0 |MSIE |google-|0| |AppleWebKit|+a.|compatible;|http:";

  test("hostile user agents are judged quickly", () => {
    let slowest = 0;
    for (const start of starts)
      for (const brick of bricks.split("|")) {
        const base = (start + brick.repeat(512)).slice(0, 500);
        judgeUserAgent(base);
        const times = [1, 2, 3].map((n) => {
          const began = performance.now();
          judgeUserAgent(`${base}${n}`);
          return performance.now() - began;
        });
        slowest = Math.max(slowest, Math.min(...times));
      }
    expect(slowest).toBeLessThan(5);
  });

  test("the part beyond the maximum length does not count", () => {
    const person = `${webView("14; SM-S918B")} ${"MyShop/4.2.0 ".repeat(40)}`;
    expect(person.length).toBeGreaterThan(512);
    expect(judgeUserAgent(`${person}Googlebot/2.1`)).toBeNull();
    expect(judgeUserAgent(`Googlebot/2.1 ${"x".repeat(1_000_000)}`)).toMatchObject({ hard: true });
  });

  test("a flood of new user agents changes no verdict", () => {
    const person = chrome("126.0.0.0");
    expect(judgeUserAgent(person)).toBeNull();
    for (let i = 0; i < 10_000; i++) judgeUserAgent(`curl/8.${i}`);
    expect(judgeUserAgent(person)).toBeNull();
    expect(judgeUserAgent("curl/8.1")).toMatchObject({ hard: true });
  });
});
