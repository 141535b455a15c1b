// One interface to the browsers that are not Chromium, for the stories that must hold in every browser.

import { describe } from "vitest";
import { openFirefoxTab, whyNoFirefox } from "./firefox.ts";
import { openWebKitTab, whyNoWebKit } from "./webkit.ts";

/** A tab of a browser. Its cookies and storage are its own. */
export type Tab = {
  open(url: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
  /** Evaluates an expression in the page, and waits for its promise. */
  run(expression: string): Promise<unknown>;
};

type TestBrowser = {
  name: string;
  /** The reason why its tests are skipped. */
  missing: string | null;
  openTab: () => Promise<Tab>;
  /** Opens a tab whose browser sends Global Privacy Control by itself; null where the browser does not have it. */
  openTabWithGpc: (() => Promise<Tab>) | null;
};

export const otherBrowsers: readonly TestBrowser[] = [
  {
    name: "Firefox",
    missing: whyNoFirefox,
    openTab: () => openFirefoxTab(),
    openTabWithGpc: () => openFirefoxTab({ "privacy.globalprivacycontrol.enabled": true }),
  },
  { name: "WebKit", missing: whyNoWebKit, openTab: openWebKitTab, openTabWithGpc: null },
];

/** A `describe` that needs this browser. */
export function inBrowser({ name, missing }: TestBrowser, title: string, tests: () => void): void {
  if (missing === null) describe(`${title}, in ${name}`, tests);
  else describe.skip(`${title}, in ${name} (skipped: ${missing})`, tests);
}
