// A site that asks first: before the visitor's answer nothing is stored, and afterwards nothing is lost.

import { beforeAll, expect, test } from "vitest";
import { hashEmail } from "../support/person.ts";
import { inChromium } from "./chromium.ts";
import { consentPages } from "./consentPages.ts";
import { setUpStage, type Stage } from "./stage.ts";
import { decided, heldCookies, land, newPage, withoutIdentifiers } from "./visitor.ts";

inChromium("a site that asks first (opt-in)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setUpStage({ settings: ["consent_mode=opt-in"] });
    Object.assign(stage.site.pages, consentPages(stage.site.tagLine));
  });

  const storedRows = async () => Object.values(await stage.stored()).flat().length;

  const undecided = [
    ["the site asks by itself", "/ajax"],
    ["a TCF banner is shown", "/tcf-asking"],
    ["Consent Mode starts with denied", "/gcm-asking"],
    ["Consent Mode updates other kinds of storage", "/gcm-others"],
  ] as const;

  test.each(undecided)("nothing is sent or stored and no cookie is set before the decision: %s", async (_how, path) => {
    const page = await newPage();
    const before = await storedRows();
    await land(stage, page, path, "?gclid=Undecided&utm_source=mail");
    await page.fill("[name=email]", "undecided@customers.example");
    await page.click("#send");
    await page.evaluate(() => history.pushState({}, "", "/ajax/2?fbclid=Undecided"));
    // A late report would be sent within this time.
    await page.waitForTimeout(2200);
    expect(await heldCookies(stage, page)).toEqual([]);
    expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual(["", 0, 0]);
    // Nor does leaving the page send anything.
    await page.goto(`${stage.site.origin}/start`);
    const sent = stage.site.recorded.filter((one) => one.isForRelay && one.method === "POST");
    expect(sent).toEqual([]);
    expect(await storedRows()).toBe(before);
    expect(await stage.convert("undecided@customers.example")).toEqual(withoutIdentifiers);
  });

  test.each(undecided)(
    "on agreement the ids of the landing page are stored, though the router stripped them: %s",
    async (_how, path) => {
      const email = `agrees${path.slice(1)}@customers.example`;
      const page = await newPage();
      await land(stage, page, path, "?gclid=Landing-Page&utm_source=mail&strip");
      expect(page.url()).not.toContain("gclid");
      await page.fill("[name=email]", email);
      await page.click("#send");
      await page.click("#agree");
      await stage.site.waitForReports("identify", 1);
      expect(await stage.convert(email)).toMatchObject({
        clickIds: { gclid: "Landing-Page" },
        utm: { utm_source: "mail" },
        consent: "granted",
        emailSha256: hashEmail(email),
      });
    },
  );

  test("a decision on the second page still finds the click id of the first", async () => {
    const email = "second-page@customers.example";
    const page = await newPage();
    await land(stage, page, "/ajax", "?gclid=First-Page");
    await page.click("#next");
    await page.waitForURL("**/own-granted");
    await page.fill("[name=email]", email);
    await page.click("#send");
    await stage.site.waitForReports("identify", 1);
    expect((await stage.convert(email)).clickIds).toEqual({ gclid: "First-Page" });
  });

  test("a visitor who agreed is counted on the next page too", async () => {
    const email = "next-page@customers.example";
    const page = await newPage();
    await land(stage, page, "/ajax", "?gclid=Once");
    await page.click("#agree");
    await decided(stage, "own", "granted");
    await page.goto("about:blank");
    await land(stage, page, "/ajax", "?fbclid=Twice");
    await page.fill("[name=email]", email);
    await page.click("#send");
    await stage.site.waitForReports("identify", 1);
    expect(await stage.convert(email)).toMatchObject({
      clickIds: { gclid: "Once", fbclid: "Twice" },
      consent: "granted",
    });
  });

  test("a refusal sends and stores nothing but itself, and a grant after it sends the email", async () => {
    const email = "opt-in-refuses@customers.example";
    const page = await newPage();
    const before = await stage.stored();
    await land(stage, page, "/ajax", "?gclid=No-Thanks");
    await page.fill("[name=email]", email);
    await page.click("#send");
    await page.click("#refuse");
    const [visit] = await stage.site.waitForReports("visit", 1);
    expect(visit?.fields).toEqual({ consent: { own: "denied" } });
    await expect.poll(() => heldCookies(stage, page)).toEqual(["__cc_own=denied"]);
    expect(await page.evaluate(() => Object.entries(localStorage))).toEqual([["__cc", "denied"]]);
    expect(await stage.stored()).toEqual(before);
    expect(await stage.convert(email)).toEqual(withoutIdentifiers);
    expect(stage.site.reports("identify")).toEqual([]);

    await page.click("#agree");
    await stage.site.waitForReports("identify", 1);
    expect(await stage.convert(email)).toMatchObject({
      clickIds: { gclid: "No-Thanks" },
      consent: "granted",
    });
  });

  test("an update of Consent Mode that grants storage alone is no grant, until the other is granted too", async () => {
    const page = await newPage();
    await land(stage, page, "/gcm-partial", "?gclid=Partial");
    await page.click("#agree");
    const [visit] = await stage.site.waitForReports("visit", 1);
    expect(visit?.fields).toEqual({ consent: { gcm: "denied", byDefault: false } });
    await expect.poll(() => heldCookies(stage, page)).toEqual(["__cc_gcm=denied"]);
    await page.click("#refuse");
    const [consent] = await stage.site.waitForReports("consent", 1);
    expect(consent?.fields).toMatchObject({ consent: { gcm: "granted" }, params: { gclid: "Partial" } });
  });

  test("a visitor who withdraws is deleted, and the browser keeps no identifier", async () => {
    const email = "withdraws@customers.example";
    const page = await newPage();
    await land(stage, page, "/ajax", "?gclid=Withdrawn");
    await page.fill("[name=email]", email);
    await page.click("#send");
    await page.click("#agree");
    await stage.site.waitForReports("identify", 1);
    await expect.poll(() => heldCookies(stage, page)).toEqual([expect.stringMatching(/^__cc_v=/)]);
    await page.click("#refuse");
    await expect.poll(() => heldCookies(stage, page)).toEqual(["__cc_own=denied"]);
    const { visitors, identities } = await stage.stored();
    expect(JSON.stringify([visitors, identities])).not.toContain("Withdrawn");
    expect(await stage.convert(email)).toEqual(withoutIdentifiers);
  });
});
