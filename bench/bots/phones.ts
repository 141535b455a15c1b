// People with phones. There is no touch screen, so they are the only people whose browser is driven by a protocol.

import { load, type Tool } from "./packages.ts";
import { selectors } from "./pages.ts";
import { chromium, chromiumArgs } from "./tools.ts";
import { between, pageLoaded, sleep, type SetUp, type Visit } from "./visit.ts";

type Phone = { userAgent: string; platform: string; hints: object | null; slowdown?: number };
/** The brand that a version of Chromium makes up, as real phones of that version send it. */
const madeUp: Record<number, [brand: string, version: string]> = {
  156: ["Not:A-Brand", "8"],
  125: ["Not.A/Brand", "24"],
  119: ["Not?A_Brand", "24"],
};
const android = (
  agent: string,
  { brand = "Google Chrome", version = 156, mobile = true, platform = "Android", slowdown = 1 } = {},
): Phone => {
  const [name, of] = madeUp[version] ?? ["", ""];
  return {
    userAgent: agent,
    platform: "Linux armv81",
    slowdown,
    hints: {
      platform,
      platformVersion: "15.0.0",
      architecture: "",
      model: "K",
      mobile,
      brands: [
        { brand: name, version: of },
        { brand: "Chromium", version: String(version) },
        { brand, version: String(version) },
      ],
    },
  };
};
const ofAndroid = (version: number, more = "") =>
  `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)${more} Chrome/${version}.0.0.0 Mobile Safari/537.36`;
const androidTablet = ofAndroid(156).replace(" Mobile", "");
const desktopSite = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const ofApp = (app: string): Phone => ({
  ...android(
    `Mozilla/5.0 (Linux; Android 15; SM-S928B Build/AP3A.240905.015.A2; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/156.0.7390.43 Mobile Safari/537.36 ${app}`,
  ),
  hints: null,
});
const instagram = "Instagram 400.0.0.49.68 Android (35/15; 450dpi; 1080x2124; samsung; SM-S928B; e3q; qcom; de_DE; 800000000)";
const facebook = "[FB_IAB/FB4A;FBAV/530.0.0.48.74;IABMV/1;]";
const tiktok =
  "trill_400003 JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/musical_ly app_version/40.0.3 ByteLocale/de ByteFullLocale/de Region/DE";

type TouchOptions = { suggestion?: boolean; tapMs?: [number, number]; network?: SetUp["network"] };
type Touch = { phone: Phone; suggestion: boolean; tapMs: [number, number] };

async function visitByTouch(browser: Tool, visit: Visit, { phone, suggestion, tapMs }: Touch): Promise<void> {
  const page = await (await browser.createBrowserContext()).newPage();
  await page.setViewport({ width: 412, height: 780, deviceScaleFactor: 2.625, isMobile: true, hasTouch: true });
  const protocol = await page.createCDPSession();
  const override = {
    userAgent: phone.userAgent,
    platform: phone.platform,
    ...(phone.hints ? { userAgentMetadata: phone.hints } : {}),
  };
  await protocol.send("Emulation.setUserAgentOverride", override);
  if (phone.slowdown) await protocol.send("Emulation.setCPUThrottlingRate", { rate: phone.slowdown });
  const at = selectors[visit.set];
  const tap = async (selector: string) => {
    await page.$eval(selector, (element: Tool) => element.scrollIntoView({ block: "center" }));
    const box = await (await page.$(selector)).boundingBox();
    const x = Math.round((box.x + box.width * between(0.3, 0.7)) * 8) / 8;
    const y = Math.round((box.y + box.height * between(0.3, 0.7)) * 8) / 8;
    await protocol.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
    await sleep(between(...tapMs));
    await protocol.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  const write = async (text: string) => {
    // A keyboard on the screen composes words; a suggestion inserts a whole one.
    if (suggestion) return protocol.send("Input.insertText", { text });
    for (let end = 1; end <= text.length; end++) {
      await protocol.send("Input.imeSetComposition", { text: text.slice(0, end), selectionStart: end, selectionEnd: end });
      await sleep(between(60, 220));
    }
    return protocol.send("Input.insertText", { text });
  };
  await page.goto(visit.url);
  await pageLoaded(visit, "/");
  await sleep(between(500, 1500));
  await tap(at.next);
  await pageLoaded(visit, at.formPath);
  await sleep(between(500, 1200));
  await tap(at.email);
  await sleep(300);
  await write(visit.email);
  await sleep(between(200, 700));
  await tap(at.send);
  await sleep(900);
  await page.close();
}

const touching = (
  name: string,
  phone: Phone,
  { suggestion = false, tapMs = [40, 130], network = "carrier" }: TouchOptions = {},
): SetUp => ({
  name: `touch, ${name}`,
  group: "person",
  hasForm: true,
  isEmulated: true,
  network,
  async run(visit, next) {
    const { launch } = await load("puppeteer-core");
    const browser = await launch({
      executablePath: chromium,
      headless: false,
      ignoreDefaultArgs: ["--enable-automation"],
      args: [...chromiumArgs(visit), "--disable-blink-features=AutomationControlled"],
      env: { ...process.env, DISPLAY: visit.display },
      acceptInsecureCerts: true,
    });
    try {
      do await visitByTouch(browser, visit, { phone, suggestion, tapMs });
      while (await next());
    } finally {
      await Promise.race([browser.close(), sleep(5000)]);
    }
  },
});

export const peopleWithPhones: readonly SetUp[] = [
  touching("Android", android(ofAndroid(156))),
  touching("Android, word suggestion", android(ofAndroid(156)), { suggestion: true }),
  touching("Android, short taps", android(ofAndroid(156)), { tapMs: [5, 20] }),
  touching("Android, VPN", android(ofAndroid(156)), { network: "hosted" }),
  touching("Android, home network", android(ofAndroid(156)), { network: "home" }),
  touching("old and slow Android", android(ofAndroid(119), { version: 119, slowdown: 4 })),
  touching("Android tablet", android(androidTablet, { mobile: false }), { network: "home" }),
  touching("Android, desktop site", android(desktopSite, { mobile: false, platform: "Linux" })),
  touching("Samsung Internet", android(ofAndroid(125, " SamsungBrowser/27.0"), { brand: "Samsung Internet", version: 125 })),
  touching("Instagram's browser", ofApp(instagram)),
  touching("Facebook's browser, word suggestion", ofApp(facebook), { suggestion: true }),
  touching("TikTok's browser, VPN", ofApp(tiktok), { network: "hosted" }),
];
