// Whatever happens to the relay, the page works as if the tag were not there.

import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { inChromium, newVisitor } from "./chromium.ts";
import { stub } from "./consentPages.ts";
import { pageWith, type Trouble } from "./site.ts";
import { eventually } from "../support/relay.ts";
import { setUpStage, type Stage } from "./stage.ts";

/** Messages that a page's owner would see in the console and in an error monitor. */
type Messages = { errors: string[]; network: string[] };

async function listen(page: Page): Promise<Messages> {
  const messages: Messages = { errors: [], network: [] };
  page.on("pageerror", (error) => messages.errors.push(`uncaught: ${error}`));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // The browser itself logs failed requests, beacons too; no script can prevent that.
    const isNetwork = message.text().startsWith("Failed to load resource");
    (isNetwork ? messages.network : messages.errors).push(`${message.text()} ${message.location().url}`);
  });
  await page.addInitScript(() => {
    addEventListener("unhandledrejection", (event) => console.error(`unhandled: ${event.reason}`));
    addEventListener("error", (event) => event.message && console.error(`error: ${event.message}`));
    addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.blockedURI}`));
  });
  return messages;
}

const form = `<form id="native" action="/thanks" method="post"><input type="email" name="email"><button>Send</button></form>
  <form id="ajax"><input type="email" name="again"><button>Send</button><output></output></form>
  <script>
    const ajax = document.querySelector("#ajax");
    ajax.addEventListener("submit", (event) => { event.preventDefault(); ajax.querySelector("output").value = "done"; });
  </script>`;

const hostilePages = [
  ["cookies cannot be read", `Object.defineProperty(Document.prototype, "cookie", { get() { throw new Error("no cookies") } })`],
  ["there is no SubtleCrypto, as on plain http", `Object.defineProperty(Crypto.prototype, "subtle", { value: undefined })`],
  ["beacons and fetch throw", `navigator.sendBeacon = fetch = () => { throw new Error("blocked") }`],
  ["the data layer is frozen", `dataLayer = Object.freeze([])`],
  ["the consent platform throws", `__tcfapi = () => { throw new Error("broken") }`],
  [
    "the consent platform calls back with nonsense",
    `__tcfapi = (c, v, tell) => { tell(); tell(null, true); tell(7, true); tell({ purpose: 3 }, true) }`,
  ],
  [
    "the data layer holds nonsense",
    `dataLayer = [null, 7, "consent", ["consent"], ["consent", "update", null], { get 0() { throw new Error("trap") }, length: 1 }]`,
  ],
  ["storage is forbidden", `Object.defineProperty(window, "localStorage", { get() { throw new Error("forbidden") } })`],
  ["cc is something else", `cc = { q: [null, 3, ["no such thing", []], ["identifyEmail", [null]], ["eventId", []]] }`],
] as const;

inChromium("a relay in trouble", () => {
  let stage: Stage;
  let visitor: BrowserContext;
  let page: Page;
  let messages: Messages;

  beforeAll(async () => {
    stage = await setUpStage();
    const { pages, tagLine } = stage.site;
    pages["/page"] = pageWith(stub + tagLine, form);
    pages["/start"] = pageWith("", "");
    visitor = await newVisitor();
    page = await visitor.newPage();
    messages = await listen(page);
  });
  beforeEach(async () => {
    stage.site.recover();
    await page.goto(`${stage.site.origin}/start`);
    await page.evaluate(() => localStorage.clear());
    await visitor.clearCookies();
    stage.site.clearRecorded();
    messages.errors.length = messages.network.length = 0;
  });

  const troubles: [string, Trouble][] = [
    ["down", "down"],
    ["slow", "slow"],
    ["answering 500", "error"],
  ];

  /** Uses the page as a visitor would, and returns the milliseconds from the click to the request of its form. */
  async function use(): Promise<number> {
    await page.fill("[name=again]", "ajax@customers.example");
    await page.click("#ajax button");
    expect(await page.textContent("output")).toBe("done");
    await page.fill("[name=email]", "native@customers.example");
    const sentAt = await page.evaluate(() => {
      const { cc } = window as unknown as { cc: { consent(decision: string): void } };
      history.pushState({}, "", "/page/2?gclid=Spa");
      cc.consent("granted");
      cc.consent("denied");
      (document.querySelector("#native button") as HTMLButtonElement).click();
      return Date.now();
    });
    await page.waitForURL("**/thanks", { waitUntil: "commit" });
    const submitted = stage.site.recorded.filter((one) => one.path === "/thanks");
    expect(submitted.map((one) => one.body)).toEqual(["email=native%40customers.example"]);
    return (submitted[0]?.at ?? 0) - sentAt;
  }

  test.each(troubles)("a page in use works and logs no script error while the relay is %s", async (_name, trouble) => {
    await page.goto(`${stage.site.origin}/page?gclid=Trouble`);
    await stage.site.waitForReports("visit", 1);
    // The second part of the tag is loaded, where this visitor gets it.
    await page.waitForLoadState("networkidle");
    stage.site.trouble = trouble;
    const took = await use();
    // Failed beacons need time to report their error.
    await page.waitForTimeout(300);
    expect(messages.errors).toEqual([]);
    for (const note of messages.network) expect(note).toContain("/__cc/");
    expect(took).toBeLessThan(stage.site.slowMs / 2);
    // The page did call the relay.
    expect(stage.site.recorded.some((one) => one.path === "/__cc/identify")).toBe(true);
  });

  test.each(troubles)("a page opened while the relay is %s works without its tag", async (_name, trouble) => {
    // A cached file would hide the trouble.
    const cdp = await visitor.newCDPSession(page);
    await cdp.send("Network.clearBrowserCache");
    stage.site.trouble = trouble;
    await page.goto(`${stage.site.origin}/page?gclid=Trouble`, { waitUntil: "domcontentloaded" });
    expect(await use()).toBeLessThan(stage.site.slowMs / 2);
    expect(messages.errors).toEqual([]);
    for (const note of messages.network) expect(note).toContain("/__cc/tag.js");
    const asked = stage.site.recorded.filter((one) => one.isForRelay).map((one) => one.path);
    expect(new Set(asked)).toEqual(new Set(["/__cc/tag.js"]));
  });

  test("the second part of the tag takes no connection from a page that is still loading", async () => {
    stage.site.pages["/loading"] = pageWith(stub + stage.site.tagLine, `<img src="/picture">`);
    const { promise, resolve: show } = Promise.withResolvers<void>();
    await page.route("**/picture", async (route) => {
      await promise;
      await route.fulfill({ status: 404 });
    });
    await page.goto(`${stage.site.origin}/loading?gclid=Loading`, { waitUntil: "commit" });
    await stage.site.waitForReports("visit", 1);
    const isAsked = () => stage.site.recorded.some((one) => one.path === "/__cc/use.js");
    await page.waitForTimeout(500);
    expect(isAsked()).toBe(false);
    show();
    await eventually("the second part is loaded", isAsked);
    await page.unroute("**/picture");
  });

  test("a second part that does not arrive holds up no request of the page", async () => {
    stage.site.pages["/held"] = pageWith(stub + stage.site.tagLine, form);
    await page.route("**/use.js", async (route) => {
      // The tag is there, and from here on the relay hangs.
      stage.site.trouble = "slow";
      await route.continue();
    });
    await page.goto(`${stage.site.origin}/held?gclid=Held`);
    await eventually("the second part is asked for", () => stage.site.recorded.some((one) => one.path === "/__cc/use.js"));
    const began = Date.now();
    // As many at once as fit beside it into the connections that browsers open to a host.
    await page.evaluate(() => Promise.all([1, 2, 3, 4, 5].map(async (n) => (await fetch(`/start?${n}`)).text())));
    await page.click("#native button");
    await page.waitForURL("**/thanks", { waitUntil: "commit" });
    expect(Date.now() - began).toBeLessThan(stage.site.slowMs);
    await page.unroute("**/use.js");
  });

  test.each(hostilePages)("no error reaches a page where %s", async (_name, code) => {
    stage.site.pages["/hostile"] = pageWith(`<script>${code}</script>${stub}${stage.site.tagLine}`, form);
    await page.goto(`${stage.site.origin}/hostile?gclid=Hostile`);
    await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await page.evaluate(async () => {
      type Api = Record<string, (...args: unknown[]) => unknown>;
      const { cc } = window as unknown as { cc: Api };
      const calls = [[], [null], [3, {}], ["x", "y"], ["ada@customers.example", ""], ["granted"], ["denied"]];
      for (const call of calls) for (const name of ["identifyEmail", "consent", "eventId"]) await cc[name]?.(...call);
    });
    // The tag looks for a late consent platform again within this time.
    await page.waitForTimeout(600);
    await use();
    expect(messages.errors).toEqual([]);
  });

  test("no error reaches a page inside a sandboxed frame", async () => {
    const { origin, pages } = stage.site;
    pages["/frame"] = `<iframe sandbox="allow-scripts allow-forms" src="${origin}/page?gclid=Framed"></iframe>`;
    await page.goto(`${origin}/frame`);
    const frame = page.frameLocator("iframe");
    await frame.locator("[name=email]").fill("framed@customers.example");
    const child = page.frames()[1];
    await child?.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await child?.evaluate(() => (window as unknown as { cc: { consent(word: string): void } }).cc.consent("granted"));
    await page.waitForTimeout(300);
    await frame.locator("#native button").click();
    await frame.locator("h1").waitFor();
    expect(messages.errors).toEqual([]);
  });
});
