// Consent decisions of visitors, from every source that a page can have, and their effects.

import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { hashEmail } from "../support/person.ts";
import { eventually } from "../support/relay.ts";
import { inChromium, newVisitor } from "./chromium.ts";
import { consentPages } from "./consentPages.ts";
import { shop } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";
import { decided, heldCookies, land, newPage, relayCookies, submit, withoutIdentifiers } from "./visitor.ts";

const withGpc: BrowserContextOptions = { extraHTTPHeaders: { "Sec-GPC": "1" } };

async function newGpcVisitor(): Promise<BrowserContext> {
  const visitor = await newVisitor(withGpc);
  await visitor.addInitScript(() => Object.defineProperty(Navigator.prototype, "globalPrivacyControl", { get: () => true }));
  return visitor;
}

inChromium("opting out", () => {
  let stage: Stage;
  let orders = 0;

  beforeAll(async () => {
    stage = await setUpStage({ env: { CLEANCAST_RETRY_SECONDS: "1" } });
    Object.assign(stage.site.pages, consentPages(stage.site.tagLine));
  });

  /** Reads all rows about people, as one text and as a number. */
  const remembered = async () => {
    const { visitors, identities } = await stage.stored();
    return { text: JSON.stringify([visitors, identities]), rows: visitors.length + identities.length };
  };

  type Case = { path: string; source: string; again: string; after: string; click?: true; gpc?: true };
  const cases: [string, Case][] = [
    ["Global Privacy Control", { path: "/plain", source: "gpc", again: "/plain", after: "unknown", gpc: true }],
    ["TCF", { path: "/tcf-refused", source: "tcf", again: "/tcf-granted", after: "granted" }],
    ["TCF that loads late", { path: "/tcf-late", source: "tcf", again: "/tcf-granted", after: "granted" }],
    ["Consent Mode's default", { path: "/gcm-default", source: "gcm", again: "/gcm-agreed", after: "granted" }],
    [
      "Consent Mode's default for some region, which the tag cannot know",
      { path: "/gcm-regions", source: "gcm", again: "/gcm-agreed", after: "granted" },
    ],
    ["Consent Mode's update", { path: "/gcm-update", source: "gcm", again: "/gcm-agreed", after: "granted", click: true }],
    ["Consent Mode that loads late", { path: "/gcm-late", source: "gcm", again: "/gcm-agreed", after: "granted" }],
    ["cc.consent('denied')", { path: "/own", source: "own", again: "/own-granted", after: "granted", click: true }],
    [
      "cc.consent('denied') before the tag has loaded",
      { path: "/own-queued", source: "own", again: "/own-granted", after: "granted" },
    ],
    [
      "cc.consent('denied') as soon as the tag has loaded",
      { path: "/own-at-once", source: "own", again: "/own-granted", after: "granted" },
    ],
  ];

  test.each(cases)(
    "%s: nothing but the opt-out is stored, the browser holds no identifier, and conversions go out without identifiers until the visitor agrees",
    async (_name, { path, source, again, after, click, gpc }) => {
      orders += 1;
      const email = `refuses-${orders}@customers.example`;
      const gclid = `Refused-${orders}`;
      const before = await remembered();
      let page = gpc ? await (await newGpcVisitor()).newPage() : await newPage();
      await page.context().addCookies([{ name: "_fbp", value: `fb.1.${gclid}`, url: stage.site.origin }]);
      await land(stage, page, path, `?gclid=${gclid}&utm_source=${gclid}`);
      if (click) {
        await expect.poll(() => heldCookies(stage, page)).toEqual([expect.stringMatching(/^__cc_v=/)]);
        await page.click("#refuse");
      }
      await decided(stage, source, "denied");
      await submit(stage, page, email);
      await expect.poll(() => heldCookies(stage, page)).toEqual([`__cc_${source}=denied`]);

      const now = await remembered();
      expect(now.text).not.toContain(gclid);
      expect(now.text).not.toContain(hashEmail(email));
      expect(now.rows).toBe(before.rows);
      const { consents } = await stage.stored();
      const mine = consents.filter((one) => one.subject === hashEmail(email));
      expect(mine).toMatchObject([{ state: "denied" }]);
      expect(await stage.convert(email, { phone: "+4930123456" })).toEqual(withoutIdentifiers);

      if (gpc) {
        const cookies = await relayCookies(stage, page);
        await page.context().close();
        page = await newPage();
        await page.context().addCookies(cookies);
      }
      await land(stage, page, again, `?gclid=Again-${orders}`);
      await submit(stage, page, email);
      await expect.poll(() => heldCookies(stage, page)).toEqual([expect.stringMatching(/^__cc_v=/)]);
      const clickIds = { gclid: `Again-${orders}` };
      expect(await stage.convert(email)).toEqual(
        expect.objectContaining({ clickIds, emailSha256: hashEmail(email), consent: after }),
      );
    },
  );

  test("a page on which consent was refused earlier sends the refusal and nothing else", async () => {
    const page = await newPage();
    await land(stage, page, "/tcf-refused", "?gclid=Quiet");
    await decided(stage, "tcf", "denied");
    // This page has no consent platform: only the cookie remembers the refusal.
    await expect.poll(() => heldCookies(stage, page)).toEqual(["__cc_tcf=denied"]);
    await land(stage, page, "/plain", "?gclid=Quiet");
    await page.evaluate(() => history.pushState({}, "", "/plain/2?gclid=Quieter"));
    const visits = await stage.site.waitForReports("visit", 2);
    for (const { fields, headers } of visits) {
      expect(fields).toEqual({ consent: { tcf: "denied" } });
      expect(headers.cookie).toBe("__cc_tcf=denied");
    }
  });

  test("an answer that sets the visitor cookie after the refusal was answered leaves none, once the page is left", async () => {
    const { site } = stage;
    const page = await newPage();
    site.clearRecorded();
    const release = site.holdAnswers("/__cc/visit");
    onTestFinished(release);
    await page.goto(`${site.origin}/own?gclid=Overtaken`);
    await site.waitForReports("visit", 1);
    await page.click("#refuse");
    await expect.poll(() => heldCookies(stage, page)).toEqual(["__cc_own=denied"]);
    release();
    await expect.poll(() => heldCookies(stage, page)).toHaveLength(2);
    await page.goto("about:blank");
    await expect.poll(() => heldCookies(stage, page)).toEqual(["__cc_own=denied"]);
    expect((await remembered()).text).not.toContain("Overtaken");
  });

  test("the header Sec-GPC counts when the page's script cannot see it", async () => {
    const visitor = await newVisitor(withGpc);
    const page = await visitor.newPage();
    await land(stage, page, "/plain", "?gclid=Header-Only");
    await stage.site.waitForReports("visit", 1);
    await submit(stage, page, "header@customers.example");
    expect((await remembered()).text).not.toContain("Header-Only");
    expect(await stage.convert("header@customers.example")).toEqual(withoutIdentifiers);
    await visitor.close();
  });

  test("another visitor's grant does not lift an opt-out; the operator's does, and the history is kept", async () => {
    const email = "two-voices@customers.example";
    const firstPage = await newPage();
    const secondPage = await (await newVisitor()).newPage();
    await land(stage, firstPage, "/own", "?gclid=First");
    await firstPage.click("#refuse");
    await decided(stage, "own", "denied");
    await submit(stage, firstPage, email);

    await land(stage, secondPage, "/own-granted", "?gclid=Second");
    await submit(stage, secondPage, email);
    expect(await stage.convert(email)).toEqual(withoutIdentifiers);

    await stage.home.run("consent", "set", "shop.example.test", "granted", "--email", email);
    expect(await stage.convert(email)).toMatchObject({
      consent: "granted",
      clickIds: { gclid: "Second" },
      emailSha256: hashEmail(email),
    });
    const { consent_history: history } = await stage.stored();
    const states = history.filter((one) => one.subject === hashEmail(email)).map((one) => one.state);
    expect(states).toContain("denied");
    expect(states.slice(states.indexOf("denied") + 1)).toContain("granted");
    await secondPage.context().close();
  });

  test("a later opt-out removes what was stored before, and applies to deliveries already queued", async () => {
    const email = "withdraws@customers.example";
    const page = await newPage();
    await land(stage, page, "/own", "?gclid=Withdrawn&utm_source=mail");
    await submit(stage, page, email);

    stage.receiver.behave = (_request, response) => response.writeHead(503).end();
    const first = await stage.convert(email, { phone: "+4930123456" });
    expect(first).toMatchObject({ clickIds: { gclid: "Withdrawn" }, emailSha256: hashEmail(email) });
    // The delivery waits for as long as the browser takes.
    const { items } = await stage.home.run("connection", "list", shop);
    const { id } = items.find(({ platform }: { platform: string }) => platform === "webhook");
    await stage.home.run("connection", "pause", id);

    await land(stage, page, "/own", "");
    await page.click("#refuse");
    await decided(stage, "own", "denied");
    expect((await remembered()).text).not.toContain("Withdrawn");
    const refusedAt = Date.now();
    stage.receiver.behave = (_request, response) => response.writeHead(200).end("{}");
    await stage.home.run("connection", "resume", id);
    const retries = () =>
      stage.receiver.got
        .filter((one) => one.at > refusedAt)
        .map((one) => JSON.parse(one.text))
        .filter((body) => body.orderId === first.orderId);
    await eventually("the retry arrives", () => retries().length > 0);
    expect(retries()[0]).toEqual(withoutIdentifiers);
    expect(retries()[0].platformEventId).toBe(first.platformEventId);
  });

  const historyOf = async (subject: string | undefined) => {
    const { consent_history: history } = await stage.stored();
    return history.filter((one) => one.subject === subject).map((one) => one.state);
  };

  test("a visitor who agreed keeps their history, although every page starts with Consent Mode's default denied", async () => {
    const email = "agreed@customers.example";
    const page = await newPage();
    await land(stage, page, "/gcm-waits", "?gclid=Kept");
    await decided(stage, "gcm", "granted");
    await page.goto("about:blank");
    await land(stage, page, "/gcm-waits", "");
    await decided(stage, "gcm", "granted");
    await submit(stage, page, email);
    await land(stage, page, "/gcm-waits-known", `?who=${email}`);
    await stage.site.waitForReports("identify", 1);
    expect(await stage.convert(email)).toMatchObject({ clickIds: { gclid: "Kept" }, consent: "granted" });
    const [cookie] = await relayCookies(stage, page);
    expect(await historyOf(cookie?.value)).toEqual(["granted"]);
    expect(await historyOf(hashEmail(email))).toEqual(["granted"]);
  });

  test("a visitor who agreed keeps their history where Consent Mode's update comes only after the tag's wait for it", async () => {
    const email = "slow-banner@customers.example";
    const kept = { clickIds: { gclid: "Kept-Slowly" }, consent: "granted" };
    const page = await newPage();
    await land(stage, page, "/gcm-agreed", "?gclid=Kept-Slowly");
    await submit(stage, page, email);
    await land(stage, page, "/gcm-asking", "");
    const [visit] = await stage.site.waitForReports("visit", 1);
    expect(visit?.fields).toMatchObject({ consent: { gcm: "denied", byDefault: true } });
    expect(await stage.convert(email)).toMatchObject(kept);
    await page.click("#agree");
    await decided(stage, "gcm", "granted");
    expect(await stage.convert(email)).toMatchObject(kept);
    expect(await historyOf(hashEmail(email))).toEqual(["granted"]);
  });

  test("a default of granted does not end a refusal of an earlier page, nor does it send the click", async () => {
    const email = "repeats@customers.example";
    const page = await newPage();
    await land(stage, page, "/gcm-update", "?gclid=Repeats");
    await page.click("#refuse");
    await decided(stage, "gcm", "denied");
    await submit(stage, page, email);
    await land(stage, page, "/gcm-repeats", "?gclid=Repeats");
    await page.waitForFunction(() => "repeated" in window);
    await submit(stage, page, email);
    const sent = (["visit", "consent", "identify"] as const).flatMap((endpoint) => stage.site.reports(endpoint));
    expect(sent.map(({ fields }) => [(fields["consent"] as Record<string, string>)["gcm"], fields["params"]])).toEqual(
      sent.map(() => ["denied", undefined]),
    );
    expect(await heldCookies(stage, page)).toEqual(["__cc_gcm=denied"]);
    expect(await historyOf(hashEmail(email))).toEqual(["denied"]);
    expect(await stage.convert(email)).toEqual(withoutIdentifiers);
  });

  test("a form sent before Consent Mode's default of denied is updated counts as a refusal", async () => {
    const email = "quick@customers.example";
    const page = await newPage();
    await land(stage, page, "/gcm-default", "?gclid=Quick");
    await submit(stage, page, email);
    expect((await remembered()).text).not.toContain("Quick");
    expect(await historyOf(hashEmail(email))).toEqual(["denied"]);
    expect(await stage.convert(email)).toEqual(withoutIdentifiers);
  });

  test("a refusal during the first visit's request removes that visit too", async () => {
    const { site } = stage;
    const email = "on-its-way@customers.example";
    const page = await newPage();
    const before = await remembered();
    site.trouble = "slow";
    stage.site.clearRecorded();
    await page.goto(`${site.origin}/own?gclid=On-Its-Way`);
    const isVisit = ({ path }: { path: string }) => path === "/__cc/visit";
    await eventually("the visit is sent", () => site.recorded.some(isVisit));
    await page.click("#refuse");
    await page.fill("[name=email]", email);
    await page.click("#send");
    const isIdentify = ({ path }: { path: string }) => path === "/__cc/identify";
    await eventually("the email is sent", () => site.recorded.some(isIdentify));
    site.recover();
    await site.waitForReports("visit", 1);
    await site.waitForReports("consent", 1);
    await site.waitForReports("identify", 1);
    expect(site.reports("identify")[0]?.headers.cookie).toBeUndefined();
    expect(await remembered()).toEqual(before);

    await land(stage, page, "/own-granted", "?gclid=Same-Visitor");
    await submit(stage, page, email);
    expect((await stage.convert(email)).clickIds).toEqual({ gclid: "Same-Visitor" });
  });

  test("a visit is reported immediately where Consent Mode's default grants, even if the visitor leaves soon", async () => {
    const page = await newPage();
    await land(stage, page, "/gcm-granted", "?gclid=Soon-Gone");
    await page.waitForTimeout(500);
    await page.goto("about:blank");
    const [visit] = await stage.site.waitForReports("visit", 1);
    expect(visit?.fields["params"]).toEqual({ gclid: "Soon-Gone" });
  });
});
