// The duration of interactions as the browser reports it (Event Timing): from the key or click to the next paint. What is loaded
// from the relay is painted later. The browser rounds to 8 ms and reports nothing below 16 ms.

import type { Page } from "playwright-core";

type Interaction = {
  name: string;
  /** Brings the page into the state before, which is not measured. */
  before: (page: Page) => Promise<void>;
  act: (page: Page) => Promise<void>;
  /** What the interaction leads to. */
  shown: string;
};

type Seen = { seen: { id: number; ms: number }[] };

/** Reports the interactions of every page that is opened from now on. */
export async function observeInteractions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: { id: number; ms: number }[] = [];
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const one of list.getEntries() as (PerformanceEventTiming & { interactionId: number })[])
        if (one.interactionId > 0) seen.push({ id: one.interactionId, ms: one.duration });
    }).observe({ type: "event", durationThreshold: 16, buffered: true } as PerformanceObserverInit);
  });
}

/** Waits until the observer has reported all of it, and returns the longest. */
async function longest(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const { seen } = window as unknown as Seen;
    for (let frames = 0; frames < 4; frames++)
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 40)));
    return Math.max(0, ...seen.splice(0).map(({ ms }) => ms));
  });
}

const close = async (page: Page) => {
  await page.keyboard.press("Escape");
  await page.locator("[role=dialog], [role=menu]").filter({ visible: true }).waitFor({ state: "detached" });
};

function interactionsOf(at: string): Interaction[] {
  const open = (path: string, shown: string) => async (page: Page) => {
    await page.evaluate(() => history.pushState(null, "", "/dashboard/nowhere"));
    await page.getByText("Page not found").waitFor();
    await page.evaluate((to) => history.pushState(null, "", to), `/dashboard${at}/${path}`);
    await page.locator(shown).first().waitFor();
    await page.waitForFunction(() => !document.querySelector(".mantine-Skeleton-root"));
  };
  const row = "tbody tr[aria-rowindex]";
  const events = open("events", row);
  const overview = open("overview", "[role=slider]");
  const focused = (before: (page: Page) => Promise<void>, label: string) => async (page: Page) => {
    await before(page);
    await page.locator(`:is(input, select)[aria-label="${label}"]`).focus();
  };
  const press = (key: string) => (page: Page) => page.keyboard.press(key);
  const click = (selector: string) => (page: Page) => page.locator(selector).first().click();
  return [
    { name: "open a trace", before: events, act: click(`${row} a[data-row-link]`), shown: "[role=dialog] h3" },
    { name: "change the period", before: focused(overview, "Time range"), act: press("ArrowUp"), shown: "[role=slider]" },
    {
      name: "filter by platform",
      before: focused(events, "Platform"),
      act: press("ArrowDown"),
      shown: "table, main .mantine-ThemeIcon-root",
    },
    {
      name: "type in the search",
      before: focused(events, "Search events"),
      act: (page) => page.keyboard.type("B-99", { delay: 60 }),
      shown: row,
    },
    { name: "open the jump dialog", before: events, act: press("Control+k"), shown: "[role=option]" },
    { name: "switch the tab", before: open("integrations", "article"), act: click("[role=tab]:nth-child(2)"), shown: row },
    { name: "open a menu", before: events, act: click("nav button[aria-haspopup=menu] >> nth=-1"), shown: "[role=menuitem]" },
    { name: "select all rows", before: events, act: click("thead .cc-check"), shown: ".cc-selection" },
  ];
}

/** Repeats each interaction, and returns its durations. */
export async function measureInteractions(page: Page, at: string, rounds: number): Promise<{ name: string; times: number[] }[]> {
  const measured: { name: string; times: number[] }[] = [];
  for (const { name, before, act, shown } of interactionsOf(at)) {
    const times: number[] = [];
    // The first round loads scripts and fills caches.
    for (let round = 0; round <= rounds; round++) {
      await before(page);
      await longest(page);
      await act(page);
      await page.locator(shown).first().waitFor();
      const ms = await longest(page);
      if (round > 0) times.push(ms);
      if ((await page.locator("[role=dialog], [role=menu]").filter({ visible: true }).count()) > 0) await close(page);
    }
    measured.push({ name, times });
  }
  return measured;
}
