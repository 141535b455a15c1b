// The tag's main stories in Firefox and WebKit. Other files tell them, with all details, in Chromium.
//
// WebKit's driver does not list all cookies, so the tests look at the cookies that the browsers send.

import { beforeAll, describe, expect, test } from "vitest";
import { hashEmail } from "../support/person.ts";
import { call, eventually } from "../support/relay.ts";
import { report } from "../support/visits.ts";
import { consentPages } from "./consentPages.ts";
import { inBrowser, otherBrowsers, type Tab } from "./drivers/tab.ts";
import { pageWith, shop } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";
import { decided, withoutIdentifiers } from "./visitor.ts";

/** A page whose policy allows only files of its own host, with every kind of form that needs a script. */
const appScript = `
  document.querySelector("#ajax").addEventListener("submit", (event) => event.preventDefault());
  const shadow = document.querySelector("#host").attachShadow({ mode: "open" });
  shadow.innerHTML = '<form><input type="email"><button>Send</button></form>';
  shadow.firstChild.addEventListener("submit", (event) => event.preventDefault());`;
const appBody = `
  <form id="ajax"><input type="email" name="a"><button id="send-a">Send</button></form>
  <div><input name="email" id="b"><button id="send-b">Send</button></div>
  <div id="host"></div><script src="/app.js"></script>`;

let stage: Stage;
/** By the browser's name; with " GPC" for the tab that sends this signal. */
const tabs = new Map<string, Tab>();

const openTabs = () =>
  otherBrowsers
    .filter((browser) => browser.missing === null)
    .flatMap(({ name, openTab, openTabWithGpc }) => [
      openTab().then((tab) => tabs.set(name, tab)),
      openTabWithGpc?.().then((tab) => tabs.set(`${name} GPC`, tab)),
    ]);

beforeAll(async () => {
  [stage] = await Promise.all([setUpStage(), ...openTabs()]);
  const { pages, tagLine } = stage.site;
  Object.assign(pages, consentPages(tagLine), {
    "/start": { html: pageWith("", ""), headers: { "clear-site-data": '"cookies", "storage"' } },
    "/app": {
      html: pageWith(tagLine, appBody),
      headers: { "content-security-policy": "default-src 'self'" },
    },
    "/app.js": { html: appScript, headers: { "content-type": "text/javascript" } },
  });
});

/** Clears the browser's data, so that the tab belongs to a new visitor. */
async function startOver(tab: Tab): Promise<void> {
  await tab.open(`${stage.site.origin}/start`);
  stage.site.clearRecorded();
}

const land = (tab: Tab, path: string) => tab.open(stage.site.origin + path);

const arrives = (tab: Tab, path: string) =>
  eventually(`the browser is on ${path}`, async () => {
    // While the browser navigates, there is no page to ask.
    return (await tab.run("location.pathname").catch(() => "")) === path;
  });

async function submit(tab: Tab, email: string): Promise<void> {
  await tab.fill("[name=email]", email);
  await tab.click("#send");
  await arrives(tab, "/thanks");
}

/** The relay's cookies that this browser holds, as it sends them, without the proof of a refusal, which identifies nobody. */
async function heldCookies(tab: Tab): Promise<string> {
  await tab.run(`fetch("/__cc/held").then(() => true)`);
  const header = stage.site.recorded.findLast((one) => one.path === "/__cc/held")?.headers.cookie ?? "";
  return header
    .split("; ")
    .filter((one) => !one.startsWith("__cc_p="))
    .join("; ");
}
const visitorCookie = expect.stringMatching(/^__cc_v=[\w-]{22}$/);

const reports = () => stage.site.recorded.filter((one) => one.isForRelay && one.method === "POST" && one.path !== "/__cc/held");

for (const browser of otherBrowsers) {
  const nameOf = (email: string) => `${email}.${browser.name.toLowerCase()}@customers.example`;

  inBrowser(browser, "the tag", () => {
    let tab: Tab;
    beforeAll(() => {
      tab = tabs.get(browser.name) as Tab;
    });

    test("the click ids of an ad and the hash of a submitted email reach the platform; the plain email stays in the form", async () => {
      await startOver(tab);
      const email = nameOf("Ada");
      await land(tab, "/plain?gclid=Ab-Cd_9&fbclid=IwAR.2&ttclid=E.C.P&utm_source=mail");
      const [visit] = await stage.site.waitForReports("visit", 1);
      const params = { gclid: "Ab-Cd_9", fbclid: "IwAR.2", ttclid: "E.C.P", utm_source: "mail" };
      expect(visit?.fields["params"]).toEqual(params);
      await expect.poll(() => heldCookies(tab)).toEqual(visitorCookie);
      await submit(tab, email);
      const [identify] = await stage.site.waitForReports("identify", 1);
      expect(identify?.headers.cookie).toEqual(visitorCookie);
      const { utm_source, ...clickIds } = params;
      expect(await stage.convert(email)).toMatchObject({
        clickIds,
        utm: { utm_source },
        emailSha256: hashEmail(email),
      });
      const carriers = stage.site.recorded.filter((one) =>
        /ada\.[a-z]+(@|%40)/i.test(JSON.stringify([one.path, one.headers, one.body])),
      );
      expect(carriers.map((one) => `${one.method} ${one.path}`)).toEqual(["POST /thanks"]);

      await tab.run("history.back()");
      await stage.site.waitForReports("visit", 2);
    });

    test("the first input after an ad click is reported when the page is left, or else with the submitted email", async () => {
      await startOver(tab);
      await land(tab, "/plain?gclid=Left");
      const hasSecondPart = () => tab.run(`"use" in cc`);
      await expect.poll(hasSecondPart).toBe(true);
      await tab.click("[name=email]");
      expect(stage.site.reports("use")).toEqual([]);
      await land(tab, "/plain?gclid=Submitted");
      const [left] = await stage.site.waitForReports("use", 1);
      expect(left?.fields["use"]).toHaveLength(17);
      await expect.poll(hasSecondPart).toBe(true);
      await submit(tab, nameOf("Input"));
      const [identify] = await stage.site.waitForReports("identify", 1);
      expect(identify?.fields["submit"]).toMatchObject({ 3: expect.any(Array) });
      // Nor after a refusal.
      await land(tab, "/plain?gclid=Refused");
      await expect.poll(hasSecondPart).toBe(true);
      await tab.click("[name=email]");
      await tab.run(`cc.consent("denied")`);
      await stage.site.waitForReports("consent", 1);
      await land(tab, "/app");
      await tab.run(`fetch("/__cc/held").then(() => true)`);
      expect(stage.site.reports("use")).toHaveLength(1);
    });

    test("an app under a strict policy: its moves are visits, and AJAX forms, buttons and shadow roots give their emails", async () => {
      await startOver(tab);
      await land(tab, "/app?gclid=App");
      await stage.site.waitForReports("visit", 1);
      await tab.run(`history.pushState({}, "", "/app/2?fbclid=Moved")`);
      const [, moved] = await stage.site.waitForReports("visit", 2);
      expect(moved?.fields).toMatchObject({
        params: { gclid: "App", fbclid: "Moved" },
        page: `${stage.site.origin}/app/2`,
      });
      const emails = ["ajax", "button", "shadow"].map(nameOf);
      await tab.fill("[name=a]", emails[0] as string);
      await tab.click("#send-a");
      await tab.fill("#b", emails[1] as string);
      await tab.click("#send-b");
      await tab.run(`(() => {
        const [field, button] = document.querySelector("#host").shadowRoot.querySelectorAll("input, button");
        field.focus();
        field.value = ${JSON.stringify(emails[2])};
        button.click();
      })()`);
      const identified = await stage.site.waitForReports("identify", 3);
      const hashes = identified.map((one) => (one.fields["emails"] as string[])[0]);
      expect(new Set(hashes)).toEqual(new Set(emails.map(hashEmail)));
    });

    type Refusal = { source: string; path: string; later: string; click?: true };
    const gpcPath = browser.openTabWithGpc ? "/plain" : "/gpc";
    const refusals: Refusal[] = [
      { source: "own", path: "/own", later: "/plain", click: true },
      { source: "gcm", path: "/gcm-update", later: "/plain", click: true },
      { source: "tcf", path: "/tcf-late", later: "/plain" },
      { source: "gpc", path: gpcPath, later: gpcPath },
    ];

    test.each(refusals)(
      "a refusal by $source leaves no identifier in the browser, and later pages send none",
      async ({ source, path, later, click }) => {
        const used = (source === "gpc" && tabs.get(`${browser.name} GPC`)) || tab;
        await startOver(used);
        const email = nameOf(`refuses-${source}`);
        await land(used, `${path}?gclid=Before-${source}`);
        if (click) {
          await stage.site.waitForReports("visit", 1);
          await expect.poll(() => heldCookies(used)).toEqual(visitorCookie);
          await used.click("#refuse");
        }
        await decided(stage, source, "denied");
        await expect.poll(() => heldCookies(used)).toBe(`__cc_${source}=denied`);

        await used.open("about:blank");
        stage.site.clearRecorded();
        await land(used, `${later}?gclid=After-${source}`);
        const [visit] = await stage.site.waitForReports("visit", 1);
        expect(visit?.fields).toEqual({
          ...(source === "own" && { earlier: "denied" }),
          consent: { [source]: "denied" },
        });
        await submit(used, email);
        await stage.site.waitForReports("identify", 1);
        expect(new Set(reports().map((one) => one.headers.cookie))).toEqual(new Set([`__cc_${source}=denied`]));
        const { visitors, identities } = await stage.stored();
        expect(JSON.stringify([visitors, identities])).not.toMatch(`(Before|After)-${source}`);
        expect(await stage.convert(email)).toEqual(withoutIdentifiers);
      },
    );

    test("another's grant does not lift a refusal, and that of the browser that refused does", async () => {
      await startOver(tab);
      const email = nameOf("lifts");
      await land(tab, "/own?gclid=Refused");
      await stage.site.waitForReports("visit", 1);
      await tab.click("#refuse");
      await decided(stage, "own", "denied");
      await submit(tab, email);
      await stage.site.waitForReports("identify", 1);
      const granting = { emails: [hashEmail(email)], params: { gclid: "Stranger" }, consent: { own: "granted" } };
      for (const endpoint of ["visit", "identify", "consent"] as const)
        await report(stage.relay, shop, endpoint, granting, { Cookie: `__cc_own=denied; __cc_p=${"a".repeat(22)}` });
      expect(await stage.convert(email)).toEqual(withoutIdentifiers);

      await tab.open("about:blank");
      stage.site.clearRecorded();
      await land(tab, "/own-granted?gclid=Own");
      await stage.site.waitForReports("visit", 1);
      await submit(tab, email);
      await stage.site.waitForReports("identify", 1);
      expect(await stage.convert(email)).toMatchObject({
        clickIds: { gclid: "Own" },
        emailSha256: hashEmail(email),
        consent: "granted",
      });
    });
  });
}

describe("opt-in mode", () => {
  beforeAll(async () => {
    await stage.home.run("site", "set", shop, "consent_mode=opt-in");
    const request = { method: "GET", path: "/__cc/tag.js", headers: { Host: shop } };
    const isOptIn = async () => (await call(stage.relay.url, request)).text.includes('",true,"');
    await eventually("the tag asks first", isOptIn);
    // The browsers have the tag of the other mode in their caches.
    const { pages, tagLine } = stage.site;
    Object.assign(pages, consentPages(tagLine.replace("tag.js", "tag.js?opt-in")));
  });

  for (const browser of otherBrowsers) {
    inBrowser(browser, "a site that asks first", () => {
      test("nothing is sent or set before the visitor agrees, and a withdrawal leaves no identifier", async () => {
        const tab = tabs.get(browser.name) as Tab;
        const email = `asked.${browser.name.toLowerCase()}@customers.example`;
        await startOver(tab);
        await land(tab, "/ajax?gclid=Asked");
        await tab.fill("[name=email]", email);
        await tab.click("#send");
        expect(await heldCookies(tab)).toBe("");
        expect(await tab.run("[document.cookie, localStorage.length, sessionStorage.length]")).toEqual(["", 0, 0]);
        expect(reports()).toEqual([]);

        await tab.click("#agree");
        await stage.site.waitForReports("identify", 1);
        expect(await stage.convert(email)).toMatchObject({
          clickIds: { gclid: "Asked" },
          consent: "granted",
        });
        await expect.poll(() => heldCookies(tab)).toEqual(visitorCookie);

        await tab.click("#refuse");
        await expect.poll(() => heldCookies(tab)).toBe("__cc_own=denied");
        expect(await stage.convert(email)).toEqual(withoutIdentifiers);
      });
    });
  }
});
