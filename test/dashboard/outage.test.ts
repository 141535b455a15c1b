// The dashboard where things are not as they should be: no HTTPS, a relay that is down or slow, a browser with an odd language.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { becomeOwner, password, type Person } from "../support/apiClient.ts";
import { inChromium, launchWith } from "../browser/chromium.ts";
import { eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { findViolations } from "./access.ts";
import { dialog, field, press, scenarioMs, sees, signIn, user, type User } from "./users.ts";
import { sha256Of } from "../support/sha256.ts";

inChromium("odd circumstances", () => {
  const section = (page: Page, name: string) => page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name });
  let installation: Installation;
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;
  const purchase = { email: "ada@example.com", event: "purchase", orderId: "B-1", value: 4321.09, currency: "EUR" };

  beforeAll(async () => {
    installation = await newInstallation("sqlite");
    relay = await installation.start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    browser = await user(relay, owner);
  });
  afterAll(() => {
    expect(browser.errors.scriptErrors).toEqual([]);
  });

  test(
    "without HTTPS notices appear, texts are copied, emails are hashed, and the page says what to do",
    async () => {
      // A name of this machine other than localhost: to the browser, another machine.
      const elsewhere = { url: relay.url.replace(/\/\/[^:/]+/, "//relay.test") };
      const { page, open, errors } = await user(elsewhere, null);
      await open("/sign-in");
      await signIn(page, "owner@example.com", password);
      await page.getByRole("navigation", { name: "Sections" }).waitFor();
      await sees(page, "This page is not on HTTPS");
      expect(await page.evaluate(() => isSecureContext)).toBe(false);
      await sees(page, /ssh -N -L \d+:127\.0\.0\.1:\d+ relay\.test/);

      await open(`/sites/${site}/events`);
      await page.getByRole("search").getByRole("textbox").fill("Ada@example.com");
      await page.waitForURL((url) => url.search.includes(sha256Of("ada@example.com")));
      expect(page.url()).not.toContain("ada");

      await open(`/sites/${site}/configuration/keys`);
      await press(page, "Create key");
      await field(dialog(page, "Create an inbound key"), "Name").fill("CRM");
      await press(dialog(page, "Create an inbound key"), "Create");
      const secret = (await page.locator("[data-secret]").textContent()) ?? "";
      await page.evaluate(() =>
        document.addEventListener("copy", () => {
          document.title = (document.activeElement as HTMLTextAreaElement).value;
        }),
      );
      await press(page.getByRole("dialog"), "Copy");
      await expect.poll(() => page.title()).toBe(secret);
      // A browser that refuses even that.
      await page.evaluate(() => {
        document.execCommand = () => false;
      });
      await press(page.getByRole("dialog"), "Copy");
      await sees(page, "The text is selected. Press Ctrl+C to copy it.");
      // The browser itself remarks on each page that a header has no effect without HTTPS.
      expect(errors.scriptErrors.filter((one) => !one.includes("Cross-Origin-Opener-Policy"))).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a filter that the relay does not know is named in plain words, and a page that does not exist is inside of the frame",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/events?status=rejected`);
      await page.getByRole("combobox", { name: "Status" }).waitFor();
      await expect.poll(() => page.getByRole("combobox", { name: "Status" }).inputValue()).toBe("state rejected");
      expect(await page.getByText(/Invalid option|expected one of/).count()).toBe(0);
      await open("/nowhere/at/all");
      await page.getByRole("main").getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
      await page.getByRole("navigation", { name: "Sections" }).waitFor();
      expect(await findViolations(page)).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a slow answer shows the frame at once",
    async () => {
      const { page } = await user(relay, owner);
      await page.route("**/api/v1/session", () => {});
      await page.goto(`${relay.url}/dashboard/sites/${site}/overview`);
      await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Events" }).waitFor();
      expect(await (await page.request.get(`${relay.url}/dashboard/`)).text()).toMatch(/icon\.svg.*Cleancast/s);
      await page.context().close();
    },
    scenarioMs,
  );

  test(
    "figures of one site are never shown under the name of another, however slow the relay answers",
    async () => {
      const busy = await installation.addSite("busy.example");
      await eventually("the site is known", async () => (await relay.post(busy.key, purchase)).status === 200);
      const { page, open } = await user(relay, owner);
      await open(`/sites/${busy.id}/overview`);
      const value = page.getByText("€4,321.09").filter({ visible: true });
      await value.first().waitFor();
      const answers = Promise.withResolvers<void>();
      await page.route(`**/sites/${site}/statistics*`, async (route) => {
        await answers.promise;
        await route.continue();
      });
      await page.evaluate((path) => history.pushState(null, "", path), `/dashboard/sites/${site}/overview`);
      await page.getByRole("navigation", { name: "Sections" }).locator(`a[href*="${site}"]`).first().waitFor();
      expect(await value.count()).toBe(0);
      answers.resolve();
      await page.context().close();
    },
    scenarioMs,
  );

  test(
    "while the relay is down a banner says so, pages that were open still open, others wait, and all goes on when it is back",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/overview`);
      await section(page, "Events").click();
      await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
      await section(page, "Overview").click();
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
      const { port } = new URL(relay.url);
      await relay.stop();
      await sees(page, "The relay cannot be reached");
      await section(page, "Events").click();
      await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
      await section(page, "Settings").click();
      await sees(page, "The relay cannot be reached");
      expect(await page.getByText("This page could not be shown").count()).toBe(0);
      relay = await installation.start({ PORT: port });
      await page.getByRole("tab", { name: "API keys" }).waitFor();
      await page.getByText("The relay cannot be reached").waitFor({ state: "detached" });
    },
    scenarioMs,
  );

  test(
    "a page that fails says why, and its details can be copied",
    async () => {
      const { page } = await user(relay, owner);
      await page.addInitScript(() => {
        Object.defineProperty(Intl, "RelativeTimeFormat", {
          value: function broken() {
            throw new TypeError("a defect of this page");
          },
        });
      });
      await page.goto(`${relay.url}/dashboard/account`);
      await sees(page, "TypeError: a defect of this page");
      await page.getByRole("button", { name: "Copy the details" }).waitFor();
      await page.context().close();
    },
    scenarioMs,
  );

  test(
    "a browser with a malformed language, as under LANG=C, shows all pages",
    async () => {
      const chromium = await launchWith(["--lang=en-US"]);
      const context = await chromium.newContext();
      await context.addInitScript(() =>
        Object.defineProperty(navigator, "languages", { get: () => ["en-US@posix"], configurable: true }),
      );
      await context.addCookies(
        owner.cookie.split("; ").map((one) => {
          const [name = "", ...value] = one.split("=");
          return { name, value: value.join("="), url: relay.url };
        }),
      );
      const page = await context.newPage();
      await page.goto(`${relay.url}/dashboard/sites/${site}/overview`);
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
      expect(await page.getByText("This page could not be shown").count()).toBe(0);
    },
    scenarioMs,
  );
});
