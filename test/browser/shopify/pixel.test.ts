// The custom pixel and the theme's lines in Chromium, with a double of Shopify's pages and a real relay.

import { readFileSync } from "node:fs";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { hashEmail } from "../../support/person.ts";
import { inChromium, newVisitor } from "../chromium.ts";
import { setUpStage, type Stage } from "../stage.ts";
import { heldCookies } from "../visitor.ts";
import { shopPages } from "./double.ts";

const file = (name: string) => readFileSync(new URL(`../../../plugins/shopify/${name}`, import.meta.url), "utf8");
const email = "ada@example.com";

type ShopWindow = {
  publish(name: string, data: unknown): void;
  pixelStarted?: true;
  dataLayer?: Record<string, unknown>[];
  Shopify: { customerPrivacy: { setTrackingConsent(consent: object, done: () => void): void } };
};

inChromium("the Shopify pixel", () => {
  let stage: Stage;
  let visitor: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    stage = await setUpStage({ relayHost: "cc.shop.example.test" });
    const theme = file("theme.html").replace("https://cc.shop.example.com", stage.site.relayOrigin);
    stage.site.pages = shopPages(theme, file("pixel.js"));
  });

  beforeEach(async () => {
    visitor = await newVisitor();
    page = await visitor.newPage();
    stage.site.clearRecorded();
  });

  async function open(path: string): Promise<void> {
    await page.goto(`${stage.site.origin}${path}`);
    const isCheckout = path === "/checkout";
    await page.waitForFunction(
      (checkout) => (checkout ? (window as unknown as ShopWindow).pixelStarted : (window as { cc?: { ready?: true } }).cc?.ready),
      isCheckout,
    );
  }
  const decide = (marketing: boolean) =>
    page.evaluate(
      (decision) =>
        new Promise<void>((resolve) =>
          (window as unknown as ShopWindow).Shopify.customerPrivacy.setTrackingConsent({ marketing: decision }, resolve),
        ),
      marketing,
    );
  const publish = (name: string, checkout: object) =>
    page.evaluate(([event, data]) => (window as unknown as ShopWindow).publish(event as string, data), [name, { checkout }]);
  const carried = () => page.evaluate(() => localStorage.getItem("cleancast_checkout"));
  const waitUntilCarried = () => page.waitForFunction(() => localStorage.getItem("cleancast_checkout"));

  test("the email of a checkout reaches the tag as a hash on the next page, and the order has the click", async () => {
    await open("/?gclid=shopify-click");
    await decide(true);
    await stage.site.waitForReports("visit", 1);
    await open("/checkout");
    await publish("checkout_contact_info_submitted", { email: " Ada@Example.com ", order: null });
    await waitUntilCarried();
    expect(JSON.parse((await carried()) ?? "")).toEqual({ emailSha256: hashEmail(email) });
    await open("/");
    const [report] = await stage.site.waitForReports("identify", 1);
    expect(report?.fields["emails"]).toEqual([hashEmail(email)]);
    expect(await carried()).toBeNull();
    const { clickIds, consent } = await stage.convert(email);
    expect({ clickIds, consent }).toEqual({ clickIds: { gclid: "shopify-click" }, consent: "granted" });
  });

  test("the id of a completed order gives pixels of the page the id that the relay sends", async () => {
    await open("/");
    await decide(true);
    await open("/checkout");
    await publish("checkout_completed", {
      email: "order@example.com",
      order: { id: "gid://shopify/Order/5551" },
    });
    await waitUntilCarried();
    await open("/");
    await page.waitForFunction(() =>
      (window as unknown as ShopWindow).dataLayer?.some(({ event }) => event === "cleancast_order"),
    );
    const pushed = await page.evaluate(() =>
      (window as unknown as ShopWindow).dataLayer?.find(({ event }) => event === "cleancast_order"),
    );
    const { platformEventId } = await stage.convert("order@example.com", { orderId: "5551" });
    expect(pushed).toEqual({ event: "cleancast_order", order_id: "5551", event_id: platformEventId });
  });

  test("a visitor who refuses marketing leaves nothing, neither in the checkout nor at the relay", async () => {
    await open("/?gclid=refused-click");
    await decide(false);
    await open("/checkout");
    await publish("checkout_completed", { email: "refused@example.com", order: { id: "5552" } });
    // A second message is answered after the first one.
    await publish("checkout_completed", { email: "refused@example.com", order: { id: "5552" } });
    await page.frames()[1]?.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    expect(await carried()).toBeNull();
    await open("/");
    await stage.site.waitForReports("visit", 1);
    expect(stage.site.reports("identify")).toEqual([]);
    expect((await heldCookies(stage, page)).filter((one) => one.startsWith("__cc_v"))).toEqual([]);
    expect((await stage.convert("refused@example.com")).clickIds).toEqual({});
  });

  test("a decision in the checkout counts for the email that was entered before it", async () => {
    await open("/checkout");
    await publish("checkout_contact_info_submitted", { email, order: null });
    expect(await carried()).toBeNull();
    await decide(true);
    await waitUntilCarried();
    await decide(false);
    await page.waitForFunction(() => localStorage.getItem("cleancast_checkout") === null);
  });

  test("where Shopify asks for no decision, the email is passed on without one", async () => {
    await open("/unasked");
    await page.evaluate((hash) => {
      localStorage.setItem("cleancast_checkout", JSON.stringify({ emailSha256: hash }));
    }, hashEmail("unasked@example.com"));
    await open("/unasked");
    const [report] = await stage.site.waitForReports("identify", 1);
    expect(report?.fields["consent"]).toEqual({});
  });
});
