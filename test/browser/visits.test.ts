// Pages without a reload, pages that are not shown yet, and the functions that the tag offers to a page's own scripts.

import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { hashEmail } from "../support/person.ts";
import { eventually } from "../support/relay.ts";
import { inChromium, newVisitor, connectWithoutDriver } from "./chromium.ts";
import { stub } from "./consentPages.ts";
import { pageWith, shop } from "./site.ts";
import { botHeaders, report } from "../support/visits.ts";
import { setUpStage, type Stage } from "./stage.ts";

type Api = {
  cc: {
    identifyEmail(email: unknown): Promise<boolean>;
    eventId(event: string, orderId: unknown): Promise<string>;
  };
};

inChromium("visits", () => {
  let stage: Stage;
  let visitor: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    stage = await setUpStage();
    stage.site.pages["/app"] = pageWith(stage.site.tagLine, `<a href="#part">Part</a>`);
    visitor = await newVisitor();
    page = await visitor.newPage();
  });
  beforeEach(async () => {
    await visitor.clearCookies();
    stage.site.clearRecorded();
  });

  const identify = (email: string) => page.evaluate((text) => (window as unknown as Api).cc.identifyEmail(text), email);
  const params = () => stage.site.reports("visit").map((one) => one.fields["params"]);

  test("a single-page app that moves to an address with a new click id has a new visit", async () => {
    await page.goto(`${stage.site.origin}/app?gclid=First`);
    await stage.site.waitForReports("visit", 1);
    await page.evaluate(() => history.pushState({}, "", "/app/two?fbclid=Second"));
    await stage.site.waitForReports("visit", 2);
    await page.evaluate(() => history.replaceState({}, "", "/app/three?gclid=Third"));
    await stage.site.waitForReports("visit", 3);
    await page.evaluate(() => history.back());
    await stage.site.waitForReports("visit", 4);
    expect(params()).toEqual([
      { gclid: "First" },
      { gclid: "First", fbclid: "Second" },
      { gclid: "Third", fbclid: "Second" },
      { gclid: "First", fbclid: "Second" },
    ]);
    expect(stage.site.reports("visit").map((one) => one.fields["page"])).toEqual(
      ["/app", "/app/two", "/app/three", "/app"].map((path) => stage.site.origin + path),
    );
    await identify("spa@customers.example");
    await stage.site.waitForReports("identify", 1);
    expect((await stage.convert("spa@customers.example")).clickIds).toMatchObject({ fbclid: "Second" });
  });

  test("moving inside a page is not a visit", async () => {
    await page.goto(`${stage.site.origin}/app?gclid=Part`);
    await stage.site.waitForReports("visit", 1);
    await page.click("a");
    await page.evaluate(() => history.pushState({}, "", "#other"));
    await page.evaluate(() => history.replaceState({ same: true }, ""));
    await identify("part@customers.example");
    await stage.site.waitForReports("identify", 1);
    expect(stage.site.reports("visit")).toHaveLength(1);
  });

  test("a page restored from the back/forward cache is a new visit", async () => {
    await page.goto(`${stage.site.origin}/app?gclid=Back`);
    await stage.site.waitForReports("visit", 1);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
    await stage.site.waitForReports("visit", 2);
  });

  test("a page in a background tab counts when it is shown, and not before", async () => {
    const hiddenTab = await visitor.newPage();
    await hiddenTab.addInitScript(() => {
      let isSeen = false;
      Object.defineProperty(Document.prototype, "hidden", { get: () => !isSeen });
      const announce = () => document.dispatchEvent(new Event("visibilitychange"));
      const show = () => {
        isSeen = true;
        announce();
      };
      Object.assign(window, { announce, show });
    });
    type Emulated = { announce(): void; show(): void };
    await hiddenTab.goto(`${stage.site.origin}/app?gclid=Unseen`);
    await hiddenTab.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await hiddenTab.evaluate(() => (window as unknown as Emulated).announce());
    await hiddenTab.waitForTimeout(300);
    expect(stage.site.reports("visit")).toEqual([]);
    await hiddenTab.evaluate(() => (window as unknown as Emulated).show());
    await stage.site.waitForReports("visit", 1);
    await hiddenTab.evaluate(() => (window as unknown as Emulated).announce());
    await hiddenTab.waitForTimeout(300);
    expect(params()).toEqual([{ gclid: "Unseen" }]);
    await hiddenTab.close();
  });

  // A browser with a debugger attached prerenders nothing, so this one has no driver.
  test("a prerendered page counts exactly once, when it is shown, with its click id", async () => {
    const counts = async () => (await stage.home.run("traffic", "counts", shop)).all;
    const rules = JSON.stringify({
      prerender: [{ source: "list", urls: ["/ahead?gclid=Ahead"], eagerness: "immediate" }],
    });
    stage.site.pages["/ahead"] = pageWith(
      stage.site.tagLine,
      `<script>addEventListener("load", () => setTimeout(() => cc.identifyEmail("ahead@customers.example"), 300))</script>`,
    );
    // The page navigates as soon as the page /go exists.
    const goOn = `setInterval(async () => (await fetch("/go")).ok && location.assign("/ahead?gclid=Ahead"), 200)`;
    stage.site.pages["/now"] = pageWith("", `<script type="speculationrules">${rules}</script><script>${goOn}</script>`);
    // Counts are written once a second: when this bot is counted, all earlier visits are too.
    await report(stage.relay, shop, "visit", {}, { ...botHeaders, "X-Forwarded-For": "198.51.100.7" });
    const named = async () => (await counts()).reasons["user agent:named bot"] === 1;
    await eventually("all earlier visits are counted", named);
    const before = await counts();
    const close = await connectWithoutDriver(`${stage.site.origin}/now`, [
      "--disable-features=Prerender2MemoryControls,PreloadingConfig,PrerenderFallbackToPrefetchSpecRules",
    ]);
    try {
      const [prerendered] = await stage.site.waitForReports("visit", 1);
      expect(prerendered?.fields["prerendered"]).toBe(1);
      await eventually(
        "the prerendered page is counted",
        async () => (await counts())["not a visit"] === before["not a visit"] + 1,
      );
      expect(stage.site.reports("identify")).toEqual([]);
      stage.site.pages["/go"] = pageWith("", "");
      const [, shown] = await stage.site.waitForReports("visit", 2);
      expect(shown?.headers["sec-purpose"]).toBeUndefined();
      await stage.site.waitForReports("identify", 1);
      await eventually("the shown page is a visit", async () => (await counts())["not a visit"] === before["not a visit"]);
      const after = await counts();
      expect(after.people + after.bots).toBe(before.people + before.bots + 1);
      expect(after.gross).toBe(before.gross + 1);
      expect((await stage.convert("ahead@customers.example")).clickIds).toEqual({ gclid: "Ahead" });
    } finally {
      await close();
    }
  });

  test("a tag that is loaded twice acts once", async () => {
    stage.site.pages["/twice"] = pageWith(
      stage.site.tagLine.repeat(2),
      `<form onsubmit="return false"><input type="email" value="twice@customers.example"><button>Send</button></form>`,
    );
    await page.goto(`${stage.site.origin}/twice?gclid=Twice`, { waitUntil: "load" });
    await page.click("button");
    await page.evaluate(() => history.pushState({}, "", "/twice/2"));
    await identify("end@customers.example");
    await stage.site.waitForReports("identify", 2);
    expect(stage.site.reports("visit")).toHaveLength(2);
    expect(stage.site.reports("identify")).toHaveLength(2);
  });

  test("calls made before the tag has loaded run when it loads, and their promises resolve", async () => {
    const { tagLine } = stage.site;
    stage.site.pages["/early"] = pageWith(stub, "");
    await page.goto(`${stage.site.origin}/early?gclid=Early`);
    const results = await page.evaluate(
      async (source) => {
        const { cc } = window as unknown as Api;
        const waiting = [cc.identifyEmail("Early@Customers.example"), cc.identifyEmail("nobody"), cc.eventId("a", "1")];
        const script = document.createElement("script");
        script.src = source;
        document.head.append(script);
        return Promise.all(waiting);
      },
      /src="([^"]+)"/.exec(tagLine)?.[1] as string,
    );
    expect(results).toEqual([true, false, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    await stage.site.waitForReports("identify", 1);
    expect((await stage.convert("early@customers.example")).clickIds).toEqual({ gclid: "Early" });
  });

  test("identifyEmail accepts an address or its hash, and returns false for anything else", async () => {
    await page.goto(`${stage.site.origin}/app?gclid=Hash`);
    await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    const hash = hashEmail("hashed@customers.example");
    expect(await identify(` ${hash.toUpperCase()} `)).toBe(true);
    expect(await identify("Plain@Customers.example")).toBe(true);
    expect(await identify(hash.slice(1))).toBe(false);
    expect(await identify("")).toBe(false);
    const reports = await stage.site.waitForReports("identify", 2);
    const keys = reports.map((one) => (one.fields["emails"] as string[])[0]);
    expect(new Set(keys)).toEqual(new Set([hash, hashEmail("plain@customers.example")]));
    expect(reports.find((one) => (one.fields["emails"] as string[]).length === 1)?.fields["emails"]).toEqual([hash]);
    for (const email of ["hashed@customers.example", "plain@customers.example"])
      expect((await stage.convert(email)).clickIds).toEqual({ gclid: "Hash" });
  });

  test.each([
    ["purchase", "A-1001"],
    [" Purchase ", " A-1002 "],
    ["purchase", "#a-1005"],
    ["lead", 1003],
    ["Zakup żółty", "zamówienie-4"],
  ])("cc.eventId(%j, %j) is the id that platforms receive from the relay", async (event, orderId) => {
    await page.goto(`${stage.site.origin}/app`);
    await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    const expected = await page.evaluate(
      ([name, order]) => (window as unknown as Api).cc.eventId(name as string, order),
      [event, orderId],
    );
    const { platformEventId } = await stage.convert("pixel@customers.example", { event, orderId });
    expect(platformEventId).toBe(expected);
  });
});
