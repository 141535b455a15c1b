// Links between the domains of a site, over HTTP: the tag asks for a token on one host, and a page of another host reports it. Also
// Stripe Payment Links, with the strict sender.

import { beforeAll, describe, expect, test } from "vitest";
import { stripe } from "../../standins/senders/payments.ts";
import { createSender } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { hashEmail } from "../support/person.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { botHeaders, cookieOf, report } from "../support/visits.ts";

const shop = "www.shop.example";
const checkout = "checkout.example";
const secret = "whsec_a-secret";
const minuteMs = 60_000;

type Headers = Record<string, string>;

describe.each(endToEndEngines)("links between domains on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let other: TestSite;
  let source: { address: string };

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    site = await home.addSite(shop, `link_domains=${checkout},buy.stripe.com`, "conversions_without_email=on");
    await home.run("host", "add", shop, checkout);
    await home.run("connection", "add", shop, "webhook", `url=${receiver.url}/shop`);
    source = await home.run("source", "add", shop, "stripe", `signing_secret=${secret}`);
    other = await home.addSite("other.example", "link_domains=checkout.other.example");
    relay = await home.start();
  });

  let visitors = 0;
  const address = (): Headers => ({ "X-Forwarded-For": `203.0.113.${++visitors}` });

  /** A visit from an advertisement; returns the headers of its browser. */
  async function visit(gclid: string, host = shop, more: object = {}): Promise<Headers> {
    const from = address();
    const answer = await report(relay, host, "visit", { params: { gclid, utm_campaign: "spring" }, ...more }, from);
    expect(answer.status).toBe(204);
    return { ...from, ...cookieOf(answer) };
  }
  const ask = (browser: Headers, host = shop) => report(relay, host, "link", {}, browser);
  async function tokens(browser: Headers, host = shop): Promise<{ page: string; payment: string }> {
    const { status, text } = await ask(browser, host);
    expect(status).toBe(200);
    const [page = "", payment = ""] = text.split(" ");
    return { page, payment };
  }

  /** Opens a page of the other domain with the token, and submits an email there. */
  async function arrive(token: string, email: string, more: object = {}, headers: Headers = address()): Promise<Headers> {
    const body = { params: { cc_clid: token }, ...more };
    const answer = await report(relay, checkout, "visit", body, headers);
    const browser = { ...headers, ...cookieOf(answer) };
    const emails = [hashEmail(email)];
    await report(relay, checkout, "identify", { ...body, emails, submit: [5000, 3, 0] }, browser);
    return browser;
  }

  let orders = 0;
  async function convert(email: string) {
    orders += 1;
    const orderId = `order-${orders}`;
    await relay.post(site.key, { email, event: "purchase", orderId });
    await eventually("the conversion arrives", () => sent(orderId) !== undefined);
    return sent(orderId);
  }
  const sent = (orderId: string) => receiver.bodies().find((body) => body["orderId"] === orderId);

  test("a link carries click and campaign to the visitor who follows it", async () => {
    const { page } = await tokens(await visit("Carried"));
    await arrive(page, "carried@example.com");
    expect(await convert("carried@example.com")).toMatchObject({
      clickIds: { gclid: "Carried" },
      utm: { utm_campaign: "spring" },
    });
  });

  test("a token that was followed twice, also in another browser, merges nobody", async () => {
    const from = await visit("Shared");
    const { page } = await tokens(from);
    const one = await arrive(page, "one@example.com");
    const two = await arrive(page, "two@example.com");
    const cookies = [from, one, two].map(({ Cookie }) => Cookie);
    expect(new Set(cookies).size).toBe(3);
    // Whoever submits an email in the browser of the first domain is still only themselves.
    await report(relay, shop, "identify", { emails: [hashEmail("first@example.com")], submit: [5000, 3, 0] }, from);
    for (const email of ["one@example.com", "two@example.com", "first@example.com"])
      expect(await convert(email)).toMatchObject({ clickIds: { gclid: "Shared" } });
    const shown = await home.run("person", "export", shop, "--email", "one@example.com");
    expect(JSON.stringify(shown)).not.toContain(from.Cookie?.replace("__cc_v=", ""));
    expect(shown.identity.visits).toHaveLength(2);
  });

  test("a visitor with a click of their own keeps it", async () => {
    const own = await visit("Own", checkout);
    await report(relay, checkout, "identify", { emails: [hashEmail("own@example.com")], submit: [5000, 3, 0] }, own);
    const { page } = await tokens(await visit("Strangers"));
    await arrive(page, "own@example.com", {}, own);
    expect(await convert("own@example.com")).toMatchObject({ clickIds: { gclid: "Own" } });
  });

  test("nothing is carried with a changed token, a token for payments, or one of another site", async () => {
    const from = await visit("Kept");
    const { page, payment } = await tokens(from);
    const foreign = await tokens(await visit("Foreign", other.host), other.host);
    const changed = `${page.slice(0, 20)}${page[20] === "A" ? "B" : "A"}${page.slice(21)}`;
    for (const [i, token] of [changed, payment, foreign.page, "gclid"].entries()) {
      await arrive(token, `wrong${i}@example.com`);
      expect(await convert(`wrong${i}@example.com`)).toMatchObject({ clickIds: {}, utm: {} });
    }
  });

  test("a refusal on the first domain carries nothing, though the token was made before it", async () => {
    const from = await visit("Refused");
    const { page } = await tokens(from);
    await report(relay, shop, "consent", { consent: { own: "denied" } }, from);
    await arrive(page, "refused@example.com");
    expect(await convert("refused@example.com")).toMatchObject({ clickIds: {}, utm: {} });
    expect((await ask(from)).status).toBe(204);
    expect((await ask({ ...(await visit("Signal")), "Sec-GPC": "1" })).status).toBe(204);
    expect((await ask({ ...(await visit("Cookie")), Cookie: "__cc_own=denied" })).status).toBe(204);
  });

  test("a refusal on the second domain carries nothing", async () => {
    const { page } = await tokens(await visit("Arrives"));
    const browser = await arrive(page, "arrives@example.com", { consent: { own: "denied" } });
    expect(browser.Cookie).toBe("__cc_v=");
    expect(await convert("arrives@example.com")).toMatchObject({ clickIds: {}, utm: {}, consent: "denied" });
  });

  test("bots, visitors without a click, unknown visitors and sites without link domains get no token", async () => {
    const from = address();
    const plain = await report(relay, shop, "visit", { cookies: { _fbp: "fb.1.1.1" } }, from);
    expect((await ask({ ...from, ...cookieOf(plain) })).status).toBe(204);
    expect((await ask(address())).status).toBe(204);
    expect((await ask({ Cookie: "__cc_v=0123456789012345678901" })).status).toBe(204);
    const unlisted = await home.addSite("unlisted.example");
    await eventually("the site is known", async () => (await report(relay, unlisted.host, "consent")).status === 204);
    const known = await report(relay, unlisted.host, "visit", { params: { gclid: "Unlisted" } }, from);
    expect((await ask({ ...from, ...cookieOf(known) }, unlisted.host)).status).toBe(204);
    const { page } = await tokens(await visit("Bots"));
    const bot = await report(relay, checkout, "visit", { params: { cc_clid: page } }, { ...address(), ...botHeaders });
    expect(cookieOf(bot)).toEqual({});
  });

  test("pages of strangers get no token", async () => {
    const from = await visit("Stolen");
    expect((await ask({ ...from, Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await ask({ ...from, Origin: "https://evil.example" })).status).toBe(403);
  });

  /** Pays with Stripe, from a link with this reference; returns the id of the order. */
  async function pay(reference: string | null, email: string | null, minutesLater = 1): Promise<string> {
    orders += 1;
    const n = `link_${orders}`;
    const facts = { n, email: email ?? "", value: 49.9, currency: "EUR", at: Date.now() };
    const sender = createSender(sheetOf("stripe"), { url: source.address, at: relay.url, secrets: [secret], patience: 20 });
    const openedAt = Date.now() + (minutesLater - 1) * minuteMs;
    const link = { reference, openedAt, ...(email === null && { email }) };
    const { state } = await sender.send(stripe.checkout(facts, null, link));
    expect(state).toBe("delivered");
    return `pi_${n}`;
  }
  async function paid(...payment: Parameters<typeof pay>) {
    const orderId = await pay(...payment);
    await eventually("the conversion arrives", () => sent(orderId) !== undefined);
    return sent(orderId);
  }

  test("a Payment Link finds the click of its visit, with an email that was never seen", async () => {
    const { payment } = await tokens(await visit("Paid"));
    expect(await paid(payment, "buyer@example.com")).toMatchObject({
      clickIds: { gclid: "Paid" },
      utm: { utm_campaign: "spring" },
      emailSha256: hashEmail("buyer@example.com"),
    });
    // The person is known from now on.
    expect(await convert("buyer@example.com")).toMatchObject({ clickIds: { gclid: "Paid" } });
  });

  test("a Payment Link without an email is a conversion by its click, where the site takes those", async () => {
    const { payment } = await tokens(await visit("Nobody"));
    expect(await paid(payment, null)).toMatchObject({ clickIds: { gclid: "Nobody" }, emailSha256: null });
  });

  test("a Payment Link that was opened late, with a token for pages, or with the sender's own reference has no click", async () => {
    const { payment, page } = await tokens(await visit("Late"));
    expect(await paid(payment, "late@example.com", 20)).toMatchObject({ clickIds: {} });
    expect(await paid(page, "page@example.com")).toMatchObject({ clickIds: {} });
    expect(await paid("customer-77", "reference@example.com")).toMatchObject({ clickIds: {} });
    expect(await paid(null, "none@example.com")).toMatchObject({ clickIds: {} });
  });

  test("a Payment Link of a visitor who has refused since has no click", async () => {
    const from = await visit("Withdrawn");
    const { payment } = await tokens(from);
    await report(relay, shop, "consent", { consent: { own: "denied" } }, from);
    expect(await paid(payment, "withdrawn@example.com")).toMatchObject({ clickIds: {}, utm: {} });
  });

  test("what a link carried is exported and erased with the person", async () => {
    const { page } = await tokens(await visit("Erased"));
    await arrive(page, "erased@example.com");
    const exported = await home.run("person", "export", shop, "--email", "erased@example.com");
    expect(JSON.stringify(exported.identity)).toContain("Erased");
    await home.run("person", "erase", shop, "--email", "erased@example.com", "--yes");
    expect(await convert("erased@example.com")).toMatchObject({ clickIds: {} });
  });
});
