// From an ad click to an attributed conversion: a visitor lands, hands in a form, and later the CRM posts the email.

import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Identity } from "../../src/kernel/event.ts";
import { clickIds } from "../../src/identity/clickIds.ts";
import { hashEmail } from "../support/person.ts";
import { unpackRecord } from "../../src/store/people/personCodec.ts";

import { inChromium, newVisitor } from "./chromium.ts";
import { pageWith } from "./site.ts";
import { setUpStage, type Options, type Stage } from "./stage.ts";
import { land, relayCookies, submit } from "./visitor.ts";

const contactForm = `
  <form action="/thanks" method="post">
    <input name="name" value="Ada"><input type="email" name="email"><button id="send">Send</button>
  </form>`;

async function open(options: Options = {}): Promise<Stage> {
  const stage = await setUpStage(options);
  stage.site.pages["/landing"] = pageWith(stage.site.tagLine, contactForm);
  return stage;
}

/** Lands with this query, fills the form and sends it the way browsers do. */
async function landAndSubmit(stage: Stage, page: Page, query: string, email: string): Promise<void> {
  await land(stage, page, "/landing", query);
  await stage.site.waitForReports("visit", 1);
  await submit(stage, page, email);
  expect(stage.site.reports("identify").map((one) => one.answer?.status)).toEqual([204]);
}

/** Returns a value of this length with every character that click ids may have. */
function valueOf(name: string, length: number): string {
  return `${name}.Ab-Cd_Ef~0123456789.`.repeat(100).slice(0, length);
}

const utm = { utm_source: "Google", utm_medium: "cpc", utm_campaign: "Herbst & Winter 25%", utm_id: "4711" };
const browserIds = {
  _fbp: "fb.1.1731600000000.1098115397",
  // Its click must not be too old to be of use.
  _fbc: `fb.1.${Date.now() - 60_000}.IwAR2-Ab_Cd.ef`,
  _ga: "GA1.1.1234567890.1731600000",
  _ga_ABC123DEF4: "GS2.1.s1731600000$o1$g1$t1731600010",
  _ttp: "2Ab-Cd_Ef",
  _scid: "9f0c6f0e-1c9e-4b5a-8d9e-0a1b2c3d4e5f",
  _rdt_uuid: "1731600000000.9f0c6f0e-1c9e-4b5a",
  _epik: "dj0yJnU9Ab-Cd_Ef",
  _uetvid: "9f0c6f0e1c9e11efa5d06f1de2a7c901",
};

inChromium("the story on one host", () => {
  let stage: Stage;
  let visitor: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    stage = await open({ withSandbox: true });
    visitor = await newVisitor();
    page = await visitor.newPage();
  });

  /** Another browser: a late answer to the last one could set its cookie again. */
  async function startAnew(): Promise<void> {
    await visitor.close();
    visitor = await newVisitor();
    page = await visitor.newPage();
  }

  test.each(clickIds.map(({ name }, i) => [name, [24, 91, 400, 2000][i % 4] as number] as const))(
    "%s of the landing page reaches the platform byte for byte, %i characters long",
    async (name, length) => {
      await startAnew();
      const email = `${name}@customers.example`;
      await landAndSubmit(stage, page, `?${name}=${valueOf(name, length)}&color=red`, email);
      const { clickIds: received, consent } = await stage.convert(email);
      expect(received).toEqual({ [name]: valueOf(name, length) });
      expect(consent).toBe("unknown");
    },
  );

  test("names of click ids match in any case, and their values keep their case", async () => {
    await startAnew();
    await landAndSubmit(stage, page, "?GCLID=AbC&sccid=XyZ", "case@customers.example");
    expect((await stage.convert("case@customers.example")).clickIds).toEqual({ gclid: "AbC", ScCid: "XyZ" });
  });

  test("UTM fields and browser ids are stored too, and the sandbox shows what a platform receives", async () => {
    await startAnew();
    await visitor.addCookies(Object.entries(browserIds).map(([name, value]) => ({ name, value, url: stage.site.origin })));
    const query = new URLSearchParams({ ...utm, gclid: "EAIaIQobChMI-Ab_Cd" });
    await landAndSubmit(stage, page, `?${query}`, "Utm@Customers.example");
    const { platformEventId } = await stage.convert("utm@customers.example");

    const trace = await stage.home.run("event", "show", platformEventId);
    const sandbox = trace.deliveries.find((one: { platform: string }) => one.platform === "sandbox");
    const request = JSON.parse(sandbox.log[0].request.split("\n\n")[1]);
    expect(request.conversions).toMatchObject([
      {
        clickIds: { gclid: "EAIaIQobChMI-Ab_Cd" },
        utm,
        browserIds,
        emailSha256: hashEmail("utm@customers.example"),
      },
    ]);
    await startAnew();
  });

  test("a very long value in the address does not affect the other values", async () => {
    await startAnew();
    const query = `?utm_content=${"x".repeat(9000)}&utm_source=mail&gclid=Short-1`;
    await landAndSubmit(stage, page, query, "endless@customers.example");
    const { clickIds: received, utm: fields } = await stage.convert("endless@customers.example");
    expect(received).toEqual({ gclid: "Short-1" });
    expect(fields).toEqual({ utm_source: "mail" });
  });

  test("the visitor's cookie is out of reach for scripts, lasts 400 days, and is the same on the next visit", async () => {
    await startAnew();
    await landAndSubmit(stage, page, "?gclid=Cookie-1", "cookie@customers.example");
    const [first, ...others] = await visitor.cookies(`${stage.site.origin}/__cc/visit`);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ name: "__cc_v", httpOnly: true, secure: true, sameSite: "Lax" });
    expect(first?.domain).toBe("shop.example.test");
    expect(Math.abs((first?.expires ?? 0) - Date.now() / 1000 - 400 * 86_400)).toBeLessThan(600);
    expect(await page.evaluate(() => document.cookie)).toBe("");

    await landAndSubmit(stage, page, "?fbclid=Cookie-2", "cookie@customers.example");
    const [second] = await relayCookies(stage, page);
    expect(second?.value).toBe(first?.value);
  });

  test("a click id keeps the time of its click when the page is loaded again", async () => {
    await startAnew();
    await landAndSubmit(stage, page, "?gclid=Reload-1", "reload@customers.example");
    const seenAt = async () => {
      const { identities } = await stage.stored();
      const person = hashEmail("reload@customers.example");
      const row = identities.find((one) => one.email_sha256 === person);
      const { visits } = unpackRecord(row?.record ?? "", person) as Identity;
      return visits.map((visit) => visit.clickIds.gclid?.seenAt);
    };
    const [first] = await seenAt();
    await landAndSubmit(stage, page, "?gclid=Reload-1&fbclid=New", "reload@customers.example");
    const times = await seenAt();
    expect(new Set(times)).toEqual(new Set([first]));
    expect(times.length).toBeGreaterThan(1);
  });

  test("two devices of one person are joined: both click ids are sent, and the newest of a kind wins", async () => {
    const phone = await newVisitor({ viewport: { width: 390, height: 844 }, isMobile: true });
    const laptop = await newVisitor();
    const email = "devices@customers.example";
    await landAndSubmit(stage, await phone.newPage(), "?fbclid=Phone-1&gclid=Old&utm_source=ig", email);
    await landAndSubmit(stage, await laptop.newPage(), "?gclid=Laptop-1&utm_source=google", email);
    const { clickIds: received, utm: last } = await stage.convert(email);
    expect(received).toEqual({ fbclid: "Phone-1", gclid: "Laptop-1" });
    expect(last).toEqual({ utm_source: "google" });
    const { firstUtm } = await stage.home.run("identity", "get", "shop.example.test", "--email", email);
    expect(firstUtm).toEqual({ utm_source: "ig" });
    await phone.close();
    await laptop.close();
  });

  test("the click id of the landing page is kept for a form several pages later", async () => {
    await startAnew();
    stage.site.clearRecorded();
    await page.goto(`${stage.site.origin}/landing?msclkid=Pages-Later`);
    await stage.site.waitForReports("visit", 1);
    await page.goto("about:blank");
    await landAndSubmit(stage, page, "", "later@customers.example");
    expect((await stage.convert("later@customers.example")).clickIds).toEqual({ msclkid: "Pages-Later" });
  });

  test("pages on a subdomain of the site share its visitors", async () => {
    const { site } = stage;
    await startAnew();
    await landAndSubmit(stage, page, "?gclid=Shop", "blog@customers.example");
    site.pages["/post"] = pageWith(`<script async src="${site.origin}/__cc/tag.js"></script>`, contactForm);
    const blog = site.origin.replace("shop.", "blog.shop.");
    site.clearRecorded();
    await page.goto(`${blog}/post?fbclid=Blog`);
    const [visit] = await site.waitForReports("visit", 1);
    expect(visit?.host).toBe("shop.example.test");
    expect(visit?.headers.origin).toBe(blog);
    expect(visit?.answer).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": blog, "access-control-allow-credentials": "true" },
    });
    await submit(stage, page, "blog@customers.example");
    expect((await stage.convert("blog@customers.example")).clickIds).toEqual({
      gclid: "Shop",
      fbclid: "Blog",
    });
    expect(await relayCookies(stage, page)).toHaveLength(1);
  });

  test("an event that carries only hashed_email is delivered with the same ids", async () => {
    await startAnew();
    await landAndSubmit(stage, page, "?gclid=By-Hash", "Hash.Only@Customers.example");
    const hashed_email = hashEmail("hash.only@customers.example");
    const received = await stage.convert("", { email: null, hashed_email });
    expect(received).toMatchObject({ clickIds: { gclid: "By-Hash" }, emailSha256: hashed_email });
  });
});

inChromium("the story elsewhere", () => {
  test.each([
    ["on PostgreSQL", { engine: "postgres" }],
    ["with the relay on a subdomain", { relayHost: "cc.shop.example.test" }],
  ] as const)("%s a click becomes an attributed conversion, and the visitor is known again", async (_where, options) => {
    const stage = await open(options);
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    const value = valueOf("gclid", 1000);
    const query = new URLSearchParams({ ...utm, gclid: value });
    await landAndSubmit(stage, page, `?${query}`, "ada@customers.example");
    expect(await stage.convert("ada@customers.example")).toMatchObject({ clickIds: { gclid: value }, utm });
    await landAndSubmit(stage, page, "?fbclid=Again", "ada@customers.example");
    expect((await stage.convert("ada@customers.example")).clickIds).toEqual({
      gclid: value,
      fbclid: "Again",
    });
    const { visitors, identities } = await stage.stored();
    expect(visitors).toHaveLength(1);
    expect(identities.map((one) => one.email_sha256)).toEqual([hashEmail("ada@customers.example")]);
  });
});
