// Bots that drive a real browser, and a person's browser, distinguished by the tag and the requests.

import type { Browser, BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/relay.ts";
import { inChromium, launchWith } from "./chromium.ts";
import { pageWith, shop, type Report } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";

type Judged = { reason: string; verdict: { score: number; reasons: string[] } };

const windowsChrome = (version: string) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
const iPhone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const pixel = (version: string) =>
  `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Mobile Safari/537.36`;
/** Returns the time, the inputs, whether a script submitted, and whether the second part of the tag saw a filled trap. */
function submitOf(report: Report | undefined): unknown[] {
  const [afterMs, inputs, untrusted, use] = (report?.fields["submit"] ?? []) as [unknown, unknown, unknown, unknown[]?];
  return [afterMs, inputs, untrusted, use?.at(13)];
}
const hasSecondPart = () => "use" in ((window as { cc?: object }).cc ?? {});
const noAutomationFlag = "--disable-blink-features=AutomationControlled";

inChromium("traffic in a real browser", () => {
  let stage: Stage;
  let version: string;
  let visits = 0;

  beforeAll(async () => {
    stage = await setUpStage({ settings: ["allow_networks="] });
    stage.site.pages["/form"] = pageWith(
      stage.site.tagLine,
      `<form action="/thanks" method="post"><input type="email" name="email"><button id="send">Send</button></form>`,
    );
    stage.site.pages["/trap"] = pageWith(
      stage.site.tagLine,
      `<form onsubmit="return false"><input type="email" name="email">
       <input name="website" data-cc-trap style="position:absolute;left:-9999px" tabindex="-1" autocomplete="off">
       <button id="send">Send</button></form>`,
    );
    const browser = await launchWith([]);
    version = browser.version().split(".", 1)[0] as string;
    await browser.close();
  });

  beforeEach(() => stage.site.clearRecorded());

  const counts = async () => (await stage.home.run("traffic", "counts", shop)).all;

  /** Opens a page and returns how the visit was counted. */
  async function countedAs(page: Page): Promise<string> {
    const before = await counts();
    await page.goto(`${stage.site.origin}/form?gclid=click-${++visits}`);
    await stage.site.waitForReports("visit", 1);
    await eventually("the visit is counted", async () => (await counts()).gross > before.gross);
    const after = await counts();
    return ["people", "bots", "not a visit", "suppressed"].filter((one) => after[one] > before[one]).join();
  }

  async function newestBot(): Promise<Judged> {
    const { items: bots } = await stage.home.run("traffic", "bots", shop);
    return bots[0];
  }

  async function pageIn(switches: readonly string[], options = {}): Promise<Page> {
    const browser: Browser = await launchWith(switches);
    const context: BrowserContext = await browser.newContext({ locale: "en-US", ...options });
    return context.newPage();
  }

  test("headless Chromium with its own user agent is a bot", async () => {
    const page = await pageIn([]);
    expect(await countedAs(page)).toBe("bots");
    const { reason, verdict } = await newestBot();
    expect(reason).toBe("user agent:headless browser");
    expect(verdict.reasons.join()).toContain("automation:webdriver");
  });

  test("headless Chromium with another user agent is detected by its automation flag", async () => {
    const page = await pageIn([`--user-agent=${windowsChrome(version)}`]);
    expect(await countedAs(page)).toBe("bots");
    expect((await newestBot()).verdict.reasons.join()).toContain("automation:webdriver");
  });

  test.each([
    ["Chrome on Windows", () => windowsChrome(version)],
    ["an old Chrome on Windows", () => windowsChrome("120")],
    ["an iPhone", () => iPhone],
    ["an Android phone", () => pixel(version)],
  ])("headless Chromium as %s, without the automation flag, has at least two contradictions", async (_name, userAgent) => {
    const page = await pageIn([`--user-agent=${userAgent()}`, noAutomationFlag]);
    expect(await page.evaluate(() => navigator.webdriver)).toBe(false);
    expect(await countedAs(page)).toBe("bots");
    const { verdict } = await newestBot();
    expect(verdict.score).toBe(100);
    const contradictions = verdict.reasons.filter((one) => one.startsWith("contradiction:"));
    expect(contradictions.length).toBeGreaterThan(1);
  });

  test.each([
    ["Windows", () => windowsChrome(version)],
    ["a Mac", () => windowsChrome(version).replace(/\(.*?\)/, "(Macintosh; Intel Mac OS X 10_15_7)")],
    ["Firefox", () => "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"],
  ])("headless Chromium with the user agent and client hints of %s is a bot", async (_name, userAgent) => {
    const page = await pageIn([noAutomationFlag], { userAgent: userAgent() });
    expect(await page.evaluate(() => navigator.webdriver)).toBe(false);
    expect(await countedAs(page)).toBe("bots");
    expect((await newestBot()).verdict.score).toBe(100);
  });

  /** Opens a page with the browser's own user agent, hints and window, without "Headless". */
  async function personsPage(): Promise<Page> {
    const page = await pageIn([noAutomationFlag, "--window-size=1400,1000"], { viewport: null });
    const session = await page.context().newCDPSession(page);
    const userAgent = (await page.evaluate(() => navigator.userAgent)).replace("Headless", "");
    await session.send("Emulation.setUserAgentOverride", {
      userAgent,
      userAgentMetadata: {
        brands: [
          { brand: "Chromium", version },
          { brand: "Not_A Brand", version: "99" },
        ],
        platform: "Linux",
        platformVersion: "",
        architecture: "",
        model: "",
        mobile: false,
      },
    });
    return page;
  }

  test("a browser that dueWork and behaves like a person's passes, and its conversion is sent", async () => {
    const page = await personsPage();
    expect(await countedAs(page)).toBe("people");
    await page.mouse.move(200, 200);
    await page.click("[name=email]");
    await page.keyboard.type("person@customers.example", { delay: 30 });
    await page.waitForTimeout(800);
    await page.click("#send");
    await stage.site.waitForReports("identify", 1);
    const [report] = stage.site.reports("identify");
    const [afterMs, inputs, untrusted, trap] = submitOf(report);
    expect({ untrusted, trap }).toEqual({ untrusted: false, trap: false });
    expect(afterMs).toBeGreaterThan(800);
    expect(inputs).toBeGreaterThan(20);
    const conversion = await stage.convert("person@customers.example");
    expect(conversion.clickIds).toEqual({ gclid: `click-${visits}` });
  });

  test("a script that fills in every field and the trap, at once, is a bot, and its conversion is filtered", async () => {
    const page = await personsPage();
    await page.goto(`${stage.site.origin}/trap?gclid=trap`);
    await page.waitForFunction(hasSecondPart);
    await page.evaluate(() => {
      for (const field of document.querySelectorAll("input")) field.value = "spam@customers.example";
      document.querySelector("form")?.requestSubmit();
    });
    const [report] = await stage.site.waitForReports("identify", 1);
    const [afterMs, inputs, untrusted, trap] = submitOf(report);
    expect({ inputs, untrusted, trap }).toEqual({ inputs: 0, untrusted: false, trap: true });
    expect(afterMs).toBeGreaterThan(0);
    expect(await stage.convert("spam@customers.example")).toBeUndefined();
    const { items: events } = await stage.home.run("event", "list", shop, "--filtered");
    const trace = await stage.home.run("event", "show", events[0].id);
    expect(trace.filterReasons[0].detail).toContain("trap:hidden field filled in");
  });

  test("text typed into a trap field is never sent, and an unticked box is no trap", async () => {
    stage.site.pages["/traps"] = pageWith(
      stage.site.tagLine,
      `<form onsubmit="return false"><input type="email" name="email"><input type="checkbox" data-cc-trap>
       <div data-cc-trap><textarea name="more"></textarea></div><button id="send">Send</button></form>`,
    );
    const page = await personsPage();
    for (const [typed, trapped] of [
      ["", false],
      ["own words ".repeat(1000), true],
    ] as const) {
      stage.site.clearRecorded();
      await page.goto(`${stage.site.origin}/traps`);
      await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
      await page.fill("textarea", typed);
      await page.fill("[name=email]", "trap@customers.example");
      await page.waitForFunction(hasSecondPart);
      await page.click("#send");
      const [report] = await stage.site.waitForReports("identify", 1);
      expect(submitOf(report)[3]).toBe(trapped);
      expect(report?.body).not.toContain("own words");
    }
  });

  test("a visit whose page calls identifyEmail on load is not judged a fast bot", async () => {
    const page = await personsPage();
    await page.goto(`${stage.site.origin}/form?gclid=known`);
    await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await page.evaluate(() =>
      (window as unknown as { cc: { identifyEmail(email: string): Promise<boolean> } }).cc.identifyEmail(
        "known@customers.example",
      ),
    );
    const [report] = await stage.site.waitForReports("identify", 1);
    expect(report?.fields["submit"]).toBeUndefined();
    expect((await stage.convert("known@customers.example")).clickIds).toEqual({ gclid: "known" });
  });
});
