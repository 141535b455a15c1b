// Lists every page that a signed-in user can open, also the tabs and drawers that the router's list (dashboard/pages.ts) lacks.

import type { Page } from "playwright-core";

type Shown = { event?: string; webhook?: string; visit?: string; source?: string };

/** Returns the paths of all pages; each id adds the drawer that shows it. */
export function pagesOf(site: string, { event, webhook, visit, source }: Shown = {}): string[] {
  const paths = [
    "overview",
    "first-conversion",
    "events",
    ...(event ? [`events/${event}`] : []),
    "sources",
    ...(source ? ["setup", "requests", "mapping", "settings"].map((tab) => `sources/${source}?tab=${tab}`) : []),
    "integrations",
    "integrations/log",
    "integrations/quality",
    "integrations/webhooks",
    "integrations/export",
    ...(webhook ? [`integrations/webhooks?webhook=${webhook}`] : []),
    "integrations/webhook",
    "integrations/webhook?tab=events",
    "integrations/webhook?tab=log",
    "integrations/webhook?tab=test",
    "integrations/webhook?tab=performance",
    "integrations/meta?tab=mapping",
    "reconciliation",
    "reconciliation/funnel",
    "leads",
    "bots/clicks",
    "bots/clicks?cost=0.8",
    "bots/evidence",
    "bots/visits",
    "bots/visits?suspicious=true",
    ...(visit ? [`bots/visits?visit=${visit}`] : []),
    "configuration/keys",
    "configuration/tag",
    "configuration/domains",
    "configuration/general",
    "configuration/traffic",
    "configuration/consent",
    "configuration/deduplication",
    "configuration/import",
    "settings/api-keys",
    "settings/assistants",
    "settings/members",
    "settings/alerts",
    "settings/sharing",
    "settings/oauth-apps",
    "settings/audit",
  ];
  return ["/sites", "/account", ...paths.map((path) => `/sites/${site}/${path}`)];
}

/** Waits until nothing is loading. The network is never idle, because the live feed never ends. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1, h2").first().waitFor();
  await page.waitForFunction(() => document.querySelector(".mantine-Skeleton-root, [data-loading=true]") === null);
}

/** Returns the different heights of the rows of virtual lists. */
export const rowHeights = (page: Page): Promise<number[]> =>
  page
    .locator("table[data-virtual] tr[aria-rowindex]")
    .evaluateAll((rows) => [...new Set(rows.map((row) => row.getBoundingClientRect().height))]);

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

/** Finds buttons and fields that are cut off at the side, also in tables, and an active tab that is not in view. */
export async function findCutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const controls = [...document.querySelectorAll<HTMLElement>("button, a[href], input, select")];
    const isCut = (one: HTMLElement) => {
      const own = one.getBoundingClientRect();
      let [left, right] = [0, innerWidth];
      for (let above = one.parentElement; above; above = above.parentElement) {
        if (getComputedStyle(above).overflowX === "visible") continue;
        const box = above.getBoundingClientRect();
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      }
      // What is left of the window is meant to be hidden, such as the navigation of a phone.
      return own.width > 1 && own.right > 0 && (own.left < left - 1 || own.right > right + 1);
    };
    return controls
      .filter((one) => one.getAttribute("role") !== "tab" || one.getAttribute("aria-selected") === "true")
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && isCut(one))
      .map((one) => one.getAttribute("aria-label") ?? (one.textContent || one.outerHTML.slice(0, 120)));
  });
}

/** Finds words of a usual length that are broken in the middle. Ids, addresses and code may be broken anywhere. */
export async function findBrokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const broken: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const lines = () => new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    while (texts.nextNode()) {
      const node = texts.currentNode as Text;
      range.selectNodeContents(node);
      if (lines() < 2 || node.parentElement?.closest("pre, .cc-mono")) continue;
      for (const { index, 0: word } of node.data.matchAll(/(?<!\S)\p{L}{2,20}(?=[.,:;!?)…]*(?:\s|$))/gu)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (lines() > 1) broken.push(`${word} in "${node.data.slice(0, 80)}"`);
      }
    }
    return broken;
  });
}
