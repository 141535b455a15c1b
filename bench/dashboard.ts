// `npx node bench/dashboard.ts` measures the dashboard in Chromium: requests and bytes of the first load, the largest contentful
// paint on a slow phone, the time to render fifty rows as a ratio to an empty list, scrolling through ten thousand rows, and the
// usual interactions. `--interactions` and `--paints` measure one of these alone.
// Times depend on the machine and its load, which is printed; bytes and requests do not: test/dashboard/lists.test.ts checks them.

import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { countLoad } from "../test/dashboard/firstLoad.ts";
import { commandIn } from "../test/support/commands.ts";
import { median, medianRatio } from "./part.ts";
import { launch } from "./support/browser.ts";
import { measureInteractions, observeInteractions } from "./support/interactions.ts";
import { install, startRelay, type Installation } from "./support/relay.ts";

const options = process.argv.slice(2);
const numbers = options.filter((one) => !one.startsWith("--"));
const events = Number(numbers[0] ?? 10_000);
const rounds = Number(numbers[1] ?? 5);
const alone = ["--interactions", "--paints"].find((one) => options.includes(one));
const perBatch = 500;

/** Sends events with the inbound key, as a shop does. */
async function sendEvents(origin: string, { key }: Installation): Promise<void> {
  for (let sent = 0; sent < events; sent += perBatch) {
    const batch = Array.from({ length: Math.min(perBatch, events - sent) }, (_, i) => ({
      email: `person-${sent + i}@example.com`,
      event: "purchase",
      orderId: `B-${sent + i + 1}`,
      value: 10 + (i % 90),
      currency: "EUR",
    }));
    const answer = await fetch(`${origin}/__cc/inbound/batch`, {
      method: "POST",
      headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({ events: batch }),
    });
    if (!answer.ok) throw new Error(`a batch was refused: ${answer.status} ${await answer.text()}`);
  }
}

/** Opens the set-up link, and returns the session's cookies. */
async function becomeOwner(origin: string, { env }: Installation): Promise<string> {
  const log = readFileSync(join(env.CLEANCAST_DATA ?? "", "log"), "utf8");
  const token = /\/dashboard\/setup#(\w+)/.exec(log)?.[1];
  const owner = { token, email: "bench@example.com", name: "Bench", password: "a long enough password" };
  const answer = await fetch(`${origin}/api/v1/setup`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: origin },
    body: JSON.stringify(owner),
  });
  if (!answer.ok) throw new Error(`the set-up failed: ${await answer.text()}`);
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(";", 1)[0])
    .join("; ");
}

async function newPage(browser: Browser, origin: string, cookies: string): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    locale: "en-US",
    viewport: { width: 1280, height: 900 },
  });
  await context.addCookies(
    (cookies ? cookies.split("; ") : []).map((one) => {
      const [name = "", ...value] = one.split("=");
      return { name, value: value.join("="), url: origin };
    }),
  );
  return context.newPage();
}

/** Milliseconds to the largest contentful paint: 1.6 Mbit/s, 150 ms, a processor of a quarter of the speed. */
async function slowPaint(browser: Browser, origin: string, cookies: string, path: string): Promise<number> {
  const page = await newPage(browser, origin, cookies);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const speed = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
  await session.send("Network.emulateNetworkConditions", { offline: false, ...speed });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await page.addInitScript(() => {
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) Object.assign(window, { largestPaint: startTime });
    }).observe({ type: "largest-contentful-paint", buffered: true });
  });
  await page.goto(`${origin}/dashboard${path}`);
  await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".mantine-Skeleton-root"), null, {
    timeout: 120_000,
  });
  // The observer reports in a later task.
  await page.waitForTimeout(1000);
  const ms = await page.evaluate(() => (window as { largestPaint?: number }).largestPaint ?? 0);
  await page.context().close();
  return ms;
}

/**
 * Milliseconds of CPU time that the main thread takes to show a page of the dashboard that is already loaded, with the frame around
 * it. `shown` selects what is there once it is shown.
 */
async function taskMs(page: Page, session: CDPSession, path: string, shown: string): Promise<number> {
  await page.evaluate(() => history.pushState(null, "", "/dashboard/nowhere"));
  await page.getByText("Page not found").waitFor();
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
  };
  const before = await read();
  // Waits in the page: a driver that looks for a text again and again would be measured too.
  await page.evaluate(
    ([to, wanted]) =>
      new Promise<void>((resolve) => {
        new MutationObserver((_, observer) => {
          if (!document.querySelector(wanted)) return;
          observer.disconnect();
          requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
        }).observe(document.body, { childList: true, subtree: true });
        history.pushState(null, "", to);
      }),
    [`/dashboard${path}`, shown] as const,
  );
  return (await read()) - before;
}

/** Scrolls to the last row, and returns the longest pause between two frames and the most rows in the document. */
async function scrollThrough(page: Page): Promise<{ longestFrameMs: number; medianFrameMs: number; maxRows: number }> {
  return page.evaluate(async (count) => {
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    const loaded = () => Number(document.querySelector("table")?.getAttribute("aria-rowcount") ?? 0) - 1;
    // The pages are loaded first: what is measured is scrolling.
    while (loaded() < count) {
      scrollTo(0, document.documentElement.scrollHeight);
      await frame();
    }
    scrollTo(0, 0);
    await frame();
    const pauses: number[] = [];
    let maxRows = 0;
    for (let last = await frame(); scrollY + innerHeight < document.documentElement.scrollHeight - 1;) {
      scrollBy(0, 1200);
      const now = await frame();
      pauses.push(now - last);
      last = now;
      maxRows = Math.max(maxRows, document.querySelectorAll("tr[aria-rowindex]").length);
    }
    pauses.sort((one, other) => one - other);
    return { longestFrameMs: pauses.at(-1) ?? 0, medianFrameMs: pauses[pauses.length >> 1] ?? 0, maxRows };
  }, events);
}

/** Milliseconds from a key or a click to the next paint. */
async function interactions(browser: Browser, origin: string, cookies: string, at: string): Promise<void> {
  const page = await newPage(browser, origin, cookies);
  await observeInteractions(page);
  await page.goto(`${origin}/dashboard${at}/overview`);
  await page.locator("[role=slider]").first().waitFor();
  for (const { name, times } of await measureInteractions(page, at, rounds))
    console.log(`${name}: ${median(times)} ms to the next paint (longest ${Math.max(...times)}; ${times.join(", ")})`);
  await page.context().close();
}

async function loadsAndLists(browser: Browser, origin: string, cookies: string, at: string): Promise<void> {
  const page = await newPage(browser, origin, cookies);
  const loads = { overview: "[role=slider]", events: "tbody tr" };
  for (const [name, shown] of Object.entries(loads)) {
    await page.goto("about:blank");
    const { requests, bytes } = await countLoad(
      page,
      async () => void (await page.goto(`${origin}/dashboard${at}/${name}`)),
      () => page.locator(shown).first().waitFor(),
    );
    console.log(`first load of ${name}: ${requests} requests, ${bytes} bytes`);
  }

  const session = await page.context().newCDPSession(page);
  // CPU time, which other work of the machine makes longer by far less than the time on the clock.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const [full, empty]: number[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    full?.push(await taskMs(page, session, `${at}/events`, "tbody tr[aria-rowindex]"));
    empty?.push(await taskMs(page, session, `${at}/events?search=nothing`, "main .mantine-ThemeIcon-root"));
  }
  console.log(
    `fifty rows: ${median(full ?? []).toFixed(0)} ms of the main thread, ${medianRatio(full ?? [], empty ?? []).toFixed(2)} times an empty list`,
  );

  await page.goto(`${origin}/dashboard${at}/events`);
  await page.locator("tbody tr").first().waitFor();
  const { longestFrameMs, medianFrameMs, maxRows } = await scrollThrough(page);
  console.log(
    `${events} rows: ${medianFrameMs.toFixed(0)} ms for a frame while scrolling (longest ${longestFrameMs.toFixed(0)}), at most ${maxRows} rows in the document`,
  );
}

async function paints(browser: Browser, origin: string, cookies: string, at: string): Promise<void> {
  for (const path of ["/sign-in", `${at}/overview`, `${at}/events`]) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++)
      times.push(await slowPaint(browser, origin, path === "/sign-in" ? "" : cookies, path));
    const name = path.split("/").at(-1);
    console.log(
      `largest contentful paint of ${name}, slow 4G and a slow processor: ${(median(times) / 1000).toFixed(1)} s (${times.map((ms) => (ms / 1000).toFixed(1)).join(", ")})`,
    );
  }
}

const browser = await launch();
if (!browser) throw new Error("No Chromium was found. Run a browser test first, or set CLEANCAST_TEST_CHROMIUM.");
const installation = await install("sqlite", [], null);
await commandIn({ args: ["connection", "add", "shop.example.com", "sandbox"], env: installation.env });
const relay = await startRelay(installation);
try {
  const origin = `http://localhost:${relay.port}`;
  await sendEvents(origin, installation);
  const cookies = await becomeOwner(origin, installation);
  const at = `/sites/${installation.siteId}`;
  console.log(
    `load of the machine: ${loadavg()
      .map((one) => one.toFixed(1))
      .join(", ")}`,
  );

  if (alone !== "--paints") await interactions(browser, origin, cookies, at);
  if (!alone) await loadsAndLists(browser, origin, cookies, at);
  if (alone !== "--interactions") await paints(browser, origin, cookies, at);
} finally {
  await browser.close();
  await relay.stop();
}
process.exit(0);
