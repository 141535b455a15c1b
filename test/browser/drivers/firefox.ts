// Firefox for tests: the system's own, driven over WebDriver BiDi. One browser per test file and set of preferences; they end
// with the file.

import { launch as launchBrowser, type Browser } from "puppeteer-core";
import { afterFile } from "../../support/afterFile.ts";
import { eventually } from "../../support/relay.ts";
import { findOnPath, type Machine } from "../launch.ts";
import { shop } from "../site.ts";
import type { Tab } from "./tab.ts";

const remedy = "install Debian's firefox-esr (apt-get install firefox-esr), or name one in CLEANCAST_TEST_FIREFOX";

export function findFirefox(env: Machine["env"]): { path: string } | { missing: string } {
  const path = env["CLEANCAST_TEST_FIREFOX"] || findOnPath(["firefox-esr", "firefox"], env);
  return path ? { path } : { missing: `no Firefox was found: ${remedy}` };
}

const found = findFirefox(process.env);
export const whyNoFirefox = "missing" in found ? found.missing : null;

type Preferences = Record<string, boolean | string>;
const launched = new Map<string, Promise<Browser>>();

afterFile(async () => {
  const browsers = [...launched.values()];
  launched.clear();
  for (const browser of browsers) await (await browser).close();
});

async function launch(preferences: Preferences): Promise<Browser> {
  if ("missing" in found) throw new Error(found.missing);
  return launchBrowser({
    browser: "firefox",
    executablePath: found.path,
    // The certificate of the test sites is self-signed.
    acceptInsecureCerts: true,
    extraPrefsFirefox: {
      // These names resolve to this machine.
      "network.dns.localDomains": shop,
      ...preferences,
    },
  });
}

export function launchFirefox(preferences: Preferences = {}): Promise<Browser> {
  const key = JSON.stringify(preferences);
  const browser = launched.get(key) ?? launch(preferences);
  launched.set(key, browser);
  return browser;
}

export async function openFirefoxTab(preferences: Preferences = {}): Promise<Tab> {
  const browser = await launchFirefox(preferences);
  const page = await (await browser.createBrowserContext()).newPage();
  const isLoaded = (url: string) =>
    page.evaluate(`location.href === ${JSON.stringify(url)} && document.readyState === "complete"`);
  return {
    async open(url) {
      // The driver's own goto hangs after a page was restored from the back/forward cache.
      await page.evaluate(`location.assign(${JSON.stringify(url)})`);
      // While the browser navigates, there is no page to ask.
      await eventually(`Firefox loads ${url}`, async () => Boolean(await isLoaded(url).catch(() => false)));
    },
    fill: (selector, text) => page.locator(selector).fill(text),
    click: (selector) => page.locator(selector).click(),
    run: (expression) => page.evaluate(expression),
  };
}
