// The plugin in Debian's WordPress, with a real database, a real browser and a real relay. WooCommerce and the WP Consent API are
// doubles. It takes minutes, so it only runs with WORDPRESS=1.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { hashEmail } from "../../support/person.ts";
import { eventually } from "../../support/relay.ts";
import { newVisitor, whySkipped } from "../chromium.ts";
import { shop } from "../site.ts";
import { setUpStage, type Conversion, type Stage } from "../stage.ts";
import { findMissing, startWordPress, type WordPress } from "./install.ts";

const missing = findMissing();
const why = whySkipped ?? (process.env["WORDPRESS"] ? missing && `not installed: ${missing}` : "set WORDPRESS=1");
if (why && process.env["WORDPRESS"]) console.log(`The plugin is not run in WordPress: ${why}.`);

const order = {
  class: "WC_Order",
  total: "59.90",
  currency: "EUR",
  billing_email: "ada@example.com",
  billing_first_name: "Ada",
  items: [{ name: "Mug", sku: "SKU-1", product_id: 11, quantity: 2, total: "59.90" }],
};

describe.skipIf(why)(`the plugin in WordPress${why ? ` (skipped: ${why})` : ""}`, () => {
  let stage: Stage;
  let wordPress: WordPress;
  let key: string;
  let admin: Page;

  beforeAll(async () => {
    stage = await setUpStage();
    ({ key } = await stage.home.run("key", "add", shop, "WooCommerce"));
    const { host, origin } = new URL(stage.site.origin);
    wordPress = await startWordPress(host);
    stage.site.upstream = wordPress.url;
    await wordPress.call("wp_install", "Shop", "owner", "owner@example.com", true, "", "a long password");
    await wordPress.call("switch_theme", "plain");
    await wordPress.call("activate_plugin", "doubles/doubles.php");
    admin = await (await newVisitor()).newPage();
    await admin.goto(`${origin}/wp-login.php`);
    await admin.fill("#user_login", "owner");
    await admin.fill("#user_pass", "a long password");
    await admin.click("#wp-submit");
    await admin.waitForURL("**/wp-admin/**");
  });

  const openPage = (path: string) => admin.goto(`${stage.site.origin}/wp-admin/${path}`);
  const notice = () => admin.locator(".wrap .notice").first().innerText();
  const setOption = (name: string, value: unknown) => wordPress.call("update_option", name, value);
  const runQueue = (inSeconds = 0) => wordPress.call("double_run_queue", Math.floor(Date.now() / 1000) + inSeconds);
  const conversionsOf = (orderId: string) => stage.receiver.bodies().filter((one) => one["orderId"] === orderId) as Conversion[];

  async function pay(id: number, more: object = {}): Promise<void> {
    await setOption(`double_order_${id}`, { ...order, id, order_number: `W-${id}`, ...more });
    await wordPress.call("do_action", "woocommerce_order_status_processing", id);
  }

  async function save(fields: { url: string; key: string }): Promise<void> {
    await openPage("options-general.php?page=cleancast");
    await admin.fill("#cleancast-url", fields.url);
    await admin.fill("#cleancast-key", fields.key);
    await admin.click("form[action='options.php'] [type=submit]");
    await admin.waitForURL("**settings-updated=true**");
  }

  async function testConnection(): Promise<string> {
    await admin.click("form[action$='admin-post.php'] [type=submit]");
    await admin.waitForURL("**settings-updated=1**");
    return notice();
  }

  test("an owner activates the plugin, saves the address and the key, and tests the connection", async () => {
    await openPage("plugins.php");
    await admin.click("tr[data-plugin='cleancast/cleancast.php'] .activate a");
    await admin.waitForURL("**activate=true**");
    await save({ url: stage.site.origin, key: "cc_wrong" });
    expect(await testConnection()).toContain("The relay answered 401: Invalid API key");
    await save({ url: `${stage.site.origin}/__cc/inbound`, key });
    expect(await admin.inputValue("#cleancast-url")).toBe(stage.site.origin);
    expect(await testConnection()).toContain("Connected: the relay accepts the key.");
    expect(await admin.content()).not.toContain(key);
  });

  test("a wrong address is refused by name, and the stored one stays", async () => {
    await save({ url: "http://shop.example.com", key: "" });
    expect(await notice()).toContain("The address must begin with https://");
    expect(await admin.inputValue("#cleancast-url")).toBe(stage.site.origin);
    expect(await testConnection()).toContain("Connected: the relay accepts the key.");
  });

  test("a visitor without an account cannot open the settings or start the test of the connection", async () => {
    const stranger = await (await newVisitor()).newPage();
    await stranger.goto(`${stage.site.origin}/wp-admin/options-general.php?page=cleancast`);
    expect(stranger.url()).toContain("wp-login.php");
    stage.site.clearRecorded();
    await stranger.evaluate(() =>
      fetch("/wp-admin/admin-post.php", {
        method: "POST",
        body: new URLSearchParams({ action: "cleancast_test" }),
      }),
    );
    expect(stage.site.recorded.filter(({ path }) => path === "/__cc/inbound")).toEqual([]);
  });

  describe("the tag", () => {
    let visitor: BrowserContext;
    let page: Page;

    /** Opens the shop as a new visitor; `type` is the one that the WP Consent API has. */
    async function visit(type: string, click: string): Promise<void> {
      await setOption("double_consent_type", type);
      visitor = await newVisitor();
      page = await visitor.newPage();
      stage.site.clearRecorded();
      await page.goto(`${stage.site.origin}/?gclid=${click}`);
    }
    const decide = (decision: string) =>
      page.evaluate(
        (value) => (window as unknown as { wp_set_consent: (...args: string[]) => void }).wp_set_consent("marketing", value),
        decision,
      );
    const isLoaded = () => page.evaluate(() => Boolean((window as { cc?: { ready?: true } }).cc?.ready));

    async function subscribe(email: string): Promise<void> {
      await page.fill("[name=newsletter]", email);
      await page.click("#send");
      await stage.site.waitForReports("identify", 1);
    }

    test("without the WP Consent API the tag loads on every page", async () => {
      await visit("off", "plain-click");
      await stage.site.waitForReports("visit", 1);
      await subscribe("plain@example.com");
      expect((await stage.convert("plain@example.com")).clickIds).toEqual({ gclid: "plain-click" });
    });

    test("with opt-in nothing is loaded before the decision, and an accepted visitor's order has the click", async () => {
      await visit("optin", "accepted-click");
      expect(await isLoaded()).toBe(false);
      expect(stage.site.recorded.filter(({ isForRelay }) => isForRelay)).toEqual([]);
      await decide("allow");
      await stage.site.waitForReports("visit", 1);
      await subscribe("accepted@example.com");
      await pay(1, { billing_email: "accepted@example.com" });
      await runQueue();
      expect(conversionsOf("W-1")).toMatchObject([
        { event: "purchase", clickIds: { gclid: "accepted-click" }, consent: "granted" },
      ]);
    });

    test("a visitor who refuses leaves no click on an order", async () => {
      await visit("optout", "refused-click");
      await stage.site.waitForReports("visit", 1);
      await decide("deny");
      await stage.site.waitForReports("consent", 1);
      await subscribe("refused@example.com");
      await pay(2, { billing_email: "refused@example.com" });
      await runQueue();
      expect(conversionsOf("W-2")).toMatchObject([{ clickIds: {}, emailSha256: null, consent: "denied" }]);
    });

    test("where the type depends on the country, the tag waits until it is announced", async () => {
      await visit("wait", "waiting-click");
      expect(await isLoaded()).toBe(false);
      await page.evaluate(() => {
        (window as { wp_consent_type?: string }).wp_consent_type = "optout";
        document.dispatchEvent(new CustomEvent("wp_consent_type_defined"));
      });
      await stage.site.waitForReports("visit", 1);
    });
  });

  describe("the jobs", () => {
    test("an order is sent by a job with its items, and a second status sends nothing more", async () => {
      await pay(11);
      await wordPress.call("do_action", "woocommerce_order_status_completed", 11);
      expect(conversionsOf("W-11")).toEqual([]);
      await runQueue();
      expect(conversionsOf("W-11")).toMatchObject([
        { event: "purchase", value: 59.9, currency: "EUR", emailSha256: hashEmail("ada@example.com") },
      ]);
    });

    test("while the relay is down a job is scheduled again, and the order arrives once when it is back", async () => {
      stage.site.trouble = "down";
      await pay(12);
      await runQueue();
      stage.site.trouble = "none";
      await runQueue();
      expect(conversionsOf("W-12")).toEqual([]);
      await runQueue(61);
      await runQueue(7200);
      expect(conversionsOf("W-12")).toHaveLength(1);
    });

    test("refunds in parts are events of their own", async () => {
      const refund = { class: "WC_Order_Refund", amount: "9.90" };
      await pay(13);
      for (const id of [131, 132]) {
        await setOption(`double_order_${id}`, { ...refund, id });
        await wordPress.call("do_action", "woocommerce_order_refunded", 13, id);
      }
      await runQueue();
      // The purchase, and two refunds of it.
      await eventually("both refunds arrive", () => conversionsOf("W-13").length === 3);
    });

    test("a refused order fails its job with the relay's words, and the log does not contain the key", async () => {
      await pay(14, { billing_email: "no address" });
      await runQueue();
      const logs = /INSERT INTO `wp_actionscheduler_logs`[^]*?;\n/.exec(await wordPress.dump())?.[0];
      expect(logs).toContain("Cleancast: 400 email is not an email address");
      expect(logs).not.toContain(key);
    });
  });

  test("deleting the plugin leaves neither settings nor jobs in the database, nor files", async () => {
    await pay(21);
    expect(await wordPress.dump()).toContain("cleancast_send");
    await openPage("plugins.php");
    await admin.click("tr[data-plugin='cleancast/cleancast.php'] .deactivate a");
    await admin.waitForURL("**deactivate=true**");
    admin.once("dialog", (dialog) => void dialog.accept());
    await admin.click("tr[data-plugin='cleancast/cleancast.php'] .delete a");
    await eventually(
      "WordPress has deleted the plugin",
      () => !readdirSync(join(wordPress.folder, "wp-content/plugins")).includes("cleancast"),
    );
    await openPage("plugins.php");
    const rows = (await wordPress.dump()).split(/(?:\),|\n)/).filter((row) => /cleancast|cc_/i.test(row));
    // The list of recently active plugins is WordPress's own and ends after a week.
    expect(rows.filter((row) => !row.includes("recently_activated"))).toEqual([]);
  });
});
