// Lists every page that a signed-in user can open, also the tabs and drawers that the router's list (dashboard/pages.ts) lacks.

import type { Page } from "playwright-core";

export type Shown = { event?: string; webhook?: string; visit?: string };

/** Returns the paths of all pages; each id adds the drawer that shows it. */
export function pagesOf(site: string, { event, webhook, visit }: Shown = {}): string[] {
  const paths = [
    "overview",
    "events",
    ...(event ? [`events/${event}`] : []),
    "integrations",
    "integrations/log",
    "integrations/quality",
    "integrations/webhooks",
    ...(webhook ? [`integrations/webhooks?webhook=${webhook}`] : []),
    "integrations/webhook",
    "integrations/webhook?tab=events",
    "integrations/webhook?tab=log",
    "integrations/webhook?tab=test",
    "integrations/webhook?tab=performance",
    "integrations/meta?tab=mapping",
    "reconciliation",
    "funnel",
    "configuration/keys",
    "configuration/tag",
    "configuration/domains",
    "configuration/general",
    "configuration/traffic",
    ...(visit ? [`configuration/traffic?visit=${visit}`] : []),
    "configuration/consent",
    "configuration/deduplication",
    "configuration/import",
    "settings/api-keys",
    "settings/members",
    "settings/alerts",
    "settings/oauth-apps",
    "settings/audit",
  ];
  return ["/sites", "/account", ...paths.map((path) => `/sites/${site}/${path}`)];
}

/** Waits until nothing is loading. The network is never idle, because the live feed never ends. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1, h2").first().waitFor();
  await page.waitForFunction(
    () => document.querySelector(".mantine-Skeleton-root, [data-loading=true]") === null,
  );
}

/** Finds elements that make the page scroll sideways. */
export async function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    if ((document.scrollingElement?.scrollWidth ?? 0) <= innerWidth) return [];
    const isCut = (one: Element | null): boolean =>
      one !== null && (getComputedStyle(one).overflowX !== "visible" || isCut(one.parentElement));
    // Measures the content too: text may stick out of an element whose own box does not.
    const beyond = [...document.querySelectorAll("body *")].filter((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getBoundingClientRect().right > innerWidth && !isCut(one);
    });
    return ["the page", ...beyond.slice(-5).map((one) => one.outerHTML.slice(0, 160))];
  });
}
