// Links from one domain of a site to another, in a real browser: what they carry, when they carry nothing, and that they work
// without the relay.

import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { blocksOf } from "../support/documents/documents.ts";
import { eventually } from "../support/relay.ts";
import { report } from "../support/visits.ts";
import { inChromium } from "./chromium.ts";
import { pageWith, shop } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";
import { newPage, submit } from "./visitor.ts";

const checkout = "checkout.example.test";
const payments = "buy.stripe.com";
type Api = { cc: { link(address: string): Promise<string>; consent(decision: string): void } };

const form = `<form action="/thanks" method="post"><input type="email" name="email"><button id="send">Send</button></form>`;

inChromium("links between domains", () => {
  let stage: Stage;
  let page: Page;
  let target: string;

  beforeAll(async () => {
    stage = await setUpStage({ settings: [`link_domains=${checkout},${payments}`] });
    await stage.home.run("host", "add", shop, checkout);
    const { site } = stage;
    target = `https://${checkout}:${site.port}`;
    site.pages["/pay"] = pageWith(site.tagLine, form);
    site.pages["/start"] = pageWith(
      site.tagLine,
      `<a id="link" href="${target}/pay?a=%20b#part">Pay</a>
       <a id="blank" target="_blank" href="${target}/pay">Pay in a new tab</a>
       <a href="${target}/pay?icon"><svg width="20" height="20"><symbol id="cart"><rect width="20" height="20"/></symbol>
         <use id="icon" href="#cart"/></svg></a>
       <svg width="20" height="20"><a id="drawn" href="${target}/pay?drawn"><rect width="20" height="20"/></a></svg>
       <a id="own" href="/pay?own">Own</a>
       <a id="stranger" href="https://stranger.example.test:${site.port}/pay">Stranger</a>
       <a id="payment" href="https://${payments}/test_1?prefilled_promo_code=X">Payment Link</a>
       <a id="referenced" href="https://${payments}/test_1?client_reference_id=mine">Payment Link with a reference</a>
       <form id="get" action="${target}/pay?dropped"><input name="plan" value="pro"><button id="go">Go</button></form>
       <div id="later"></div>`,
    );
    const isKnown = async () => (await report(stage.relay, checkout, "consent")).status === 204;
    await eventually("the relay knows the other host", isKnown);
  });
  beforeEach(async () => {
    stage.site.recover();
    page = await newPage();
  });

  /** Lands from an advertisement, and waits for the token. */
  async function land(gclid: string, path = "/start"): Promise<void> {
    stage.site.clearRecorded();
    await page.goto(`${stage.site.origin}${path}?gclid=${gclid}`);
    await eventually("a token", () => links().some(({ answer }) => answer?.status === 200));
    await page.waitForFunction(() => "link" in (window as unknown as Api).cc);
    // The answer has reached the page.
    await page.waitForLoadState("networkidle");
  }
  const links = () => stage.site.recorded.filter(({ path }) => path === "/__cc/link");
  /** The requests for pages of a host, with their queries. */
  const opened = (host: string) =>
    stage.site.recorded
      .filter((one) => one.host === host && !one.isForRelay && !one.path.includes("favicon"))
      .map((one) => one.path);
  const arrived = (path: string) => stage.site.reports("visit").some(({ fields }) => String(fields["page"]) === target + path);

  test("a link carries the click over, and leaves nothing in the address", async () => {
    await land("Linked");
    await page.click("#link");
    await page.waitForURL(`${target}/pay**`);
    expect(opened(checkout)).toEqual([expect.stringMatching(/^\/pay\?a=%20b&cc_clid=cc_[\w-]{60,120}$/)]);
    await eventually("the visit is reported", () => arrived("/pay"));
    await page.waitForURL(`${target}/pay?a=+b#part`);
    const visits = stage.site.reports("visit").length;
    await submit(stage, page, "linked@customers.example");
    expect(stage.site.reports("visit").filter(({ fields }) => fields["page"] === `${target}/pay`)).toHaveLength(1);
    expect(visits).toBe(2);
    expect(await stage.convert("linked@customers.example")).toMatchObject({ clickIds: { gclid: "Linked" } });
  });

  test("the link itself stays as it was written", async () => {
    await land("Written");
    await page.evaluate(() => addEventListener("click", (event) => event.preventDefault()));
    await page.click("#link");
    await eventually(
      "the attribute is back",
      async () => (await page.getAttribute("#link", "href")) === `${target}/pay?a=%20b#part`,
    );
  });

  test("a link in a new tab, a link that was added later and a form with GET carry it over", async () => {
    await land("Several");
    const popup = page.waitForEvent("popup");
    await page.click("#blank");
    await (await popup).waitForURL(`${target}/pay**`);
    await page.evaluate((address) => {
      const root = document.getElementById("later")?.attachShadow({ mode: "open" });
      if (root) root.innerHTML = `<a id="added" href="${address}/pay?added">Added</a>`;
    }, target);
    await page.click("#added", { modifiers: ["Control"] });
    await eventually("both tabs are open", () => opened(checkout).length === 2);
    await page.click("#go");
    await page.waitForURL(`${target}/pay**`);
    expect(opened(checkout)).toEqual([
      expect.stringMatching(/^\/pay\?cc_clid=cc_/),
      expect.stringMatching(/^\/pay\?added&cc_clid=cc_/),
      expect.stringMatching(/^\/pay\?plan=pro&cc_clid=cc_/),
    ]);
  });

  test("a link around an icon, and one inside a drawing, carry it over", async () => {
    await land("Icon");
    await page.click("#icon", { modifiers: ["Control"] });
    await page.click("#drawn", { modifiers: ["Control"] });
    await eventually("both tabs are open", () => opened(checkout).length === 2);
    expect(opened(checkout).toSorted()).toEqual([
      expect.stringMatching(/^\/pay\?drawn&cc_clid=cc_/),
      expect.stringMatching(/^\/pay\?icon&cc_clid=cc_/),
    ]);
    expect(await page.getAttribute("#drawn", "href")).toBe(`${target}/pay?drawn`);
  });

  test("links to the same host and to strangers stay as they are", async () => {
    await land("Plain");
    await page.click("#own", { modifiers: ["Control"] });
    await page.click("#stranger", { modifiers: ["Control"] });
    await eventually("both tabs are open", () => opened("stranger.example.test").length === 1 && opened(shop).length === 2);
    expect(opened("stranger.example.test")).toEqual(["/pay"]);
    expect(opened(shop)).toContain("/pay?own");
  });

  test("a Payment Link gets the token as its client reference id, unless it has one", async () => {
    await land("Paying");
    const asked: string[] = [];
    await page.route(`https://${payments}/**`, (route) => {
      asked.push(route.request().url());
      return route.fulfill({ status: 204 });
    });
    await page.click("#payment");
    await page.click("#referenced");
    await eventually("both are asked for", () => asked.length === 2);
    expect(asked[0]).toMatch(/\/test_1\?prefilled_promo_code=X&client_reference_id=cc_[A-Za-z0-9_-]{60,120}$/);
    expect(asked[1]).toBe(`https://${payments}/test_1?client_reference_id=mine`);
  });

  test("scripts of the page get a decorated address for listed domains, and others as they are", async () => {
    await land("Scripted");
    const link = (address: string) => page.evaluate((text) => (window as unknown as Api).cc.link(text), address);
    expect(await link(`${target}/pay?x=1`)).toMatch(/\/pay\?x=1&cc_clid=cc_/);
    expect(await link("https://stranger.example.test/")).toBe("https://stranger.example.test/");
  });

  test("the sample of the guide follows the address that it gets", async () => {
    await land("Sample");
    const sample = blocksOf("docs/how-to/links-between-domains.md").find(({ mark }) => mark === "by test/browser/links.test.ts");
    const code = (sample?.text ?? "").replace("https://checkout.example.net/cart", `${target}/pay`);
    await page.addScriptTag({ content: `(async () => { ${code} })()` });
    await page.waitForURL(`${target}/pay**`);
    expect(opened(checkout)).toEqual([expect.stringMatching(/^\/pay\?cc_clid=cc_/)]);
  });

  test("after a refusal on the page links carry nothing", async () => {
    await land("Refusing");
    await page.evaluate(() => (window as unknown as Api).cc.consent("denied"));
    await page.click("#link");
    await page.waitForURL(`${target}/pay**`);
    expect(opened(checkout)).toEqual(["/pay?a=%20b"]);
  });

  test("a browser that refuses on the second domain gets nothing from the link", async () => {
    await land("Arriving");
    const address = await page.evaluate((text) => (window as unknown as Api).cc.link(text), `${target}/pay`);
    const refusing = await newPage();
    await refusing.goto(`${target}/pay`);
    await refusing.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await refusing.evaluate(() => (window as unknown as Api).cc.consent("denied"));
    await eventually("the refusal is known", () => stage.site.reports("consent").length > 0);
    stage.site.clearRecorded();
    await refusing.goto(address);
    await submit(stage, refusing, "arriving@customers.example");
    expect(await stage.convert("arriving@customers.example")).toMatchObject({ clickIds: {}, consent: "denied" });
  });

  test("without the relay links work as if there were no tag", async () => {
    stage.site.trouble = "down";
    await page.goto(`${stage.site.origin}/start?gclid=Down`);
    await page.click("#link");
    await page.waitForURL(`${target}/pay**`);
    stage.site.recover();
    await page.goto(`${stage.site.origin}/start?gclid=Hanging`);
    await stage.site.waitForReports("visit", 1);
    await page.waitForFunction(() => "link" in ((window as unknown as Partial<Api>).cc ?? {}));
    stage.site.trouble = "slow";
    await page.click("#link");
    await page.waitForURL(`${target}/pay**`, { waitUntil: "commit" });
  });
});
