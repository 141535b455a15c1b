// Forms of the dashboard: nothing typed is lost, nothing is sent twice, and errors are at their fields.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { becomeOwner, password, type Person } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { checkLayer, coloursOnly, findViolations, hasFocus } from "./access.ts";
import { findOverflow, pagesOf, settled } from "./pages.ts";
import { dialog, field, press, scenarioMs, sees, takeSecret, user, type User } from "./users.ts";

inChromium("forms", () => {
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;

  beforeAll(async () => {
    relay = await (await newInstallation("sqlite")).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("POST /sites", { host: "shop.test" })).json.id;
    browser = await user(relay, owner);
  });
  afterAll(() => {
    expect(browser.errors.scriptErrors).toEqual([]);
  });

  /** Sends the form twice before the page is drawn again, as two Enters or a double click can. */
  const submitTwice = (form: Locator) =>
    form.locator("form").evaluate((one) => {
      (one as HTMLFormElement).requestSubmit();
      (one as HTMLFormElement).requestSubmit();
    });
  const count = async (path: string) => (await owner.ask(`GET ${path}`)).json.items.length as number;
  const sections = (page: Page, name: string) => page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name });
  const leaves = (page: Page) => dialog(page, "Discard your changes?");

  test(
    "the first key of a site opens one dialog, and two Enters make one key, webhook, API key and site",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/configuration/keys`);
      await page.getByRole("button", { name: "Create key" }).last().click();
      const form = dialog(page, "Create an inbound key");
      await field(form, "Name").fill("CRM");
      expect(await page.getByRole("dialog").count()).toBe(1);
      await submitTwice(form);
      await takeSecret(page);
      expect(await count(`/sites/${site}/keys`)).toBe(1);

      await open(`/sites/${site}/integrations/webhooks`);
      await page.getByRole("button", { name: "Add webhook" }).first().click();
      await field(page.getByRole("dialog"), "URL").fill("https://hooks.example.com/cleancast");
      await submitTwice(page.getByRole("dialog"));
      await takeSecret(page);
      expect(await count(`/sites/${site}/webhooks`)).toBe(1);

      await open(`/sites/${site}/settings/api-keys`);
      await page.getByRole("button", { name: "Create API key" }).first().click();
      await field(page.getByRole("dialog"), "Name").fill("program");
      await submitTwice(page.getByRole("dialog"));
      await takeSecret(page);
      expect(await count("/api-keys")).toBe(1);

      const before = await count("/sites");
      await open("/sites");
      await press(page, "Add a site");
      // A pasted address is cleaned to its host name.
      await field(page.getByRole("dialog"), "Domain").fill("https://www.shop.test/path?x=1");
      await submitTwice(page.getByRole("dialog"));
      await page.waitForURL(/\/first-conversion$/);
      expect(await count("/sites")).toBe(before + 1);
      const { items } = (await owner.ask("GET /sites")).json;
      expect(items.map(({ name }: { name: string }) => name)).toContain("www.shop.test");
    },
    scenarioMs,
  );

  test(
    "unsaved input is not lost without a question: by a link, the back button, a reload, a click outside, Escape",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/configuration/keys`);
      await page.getByRole("tab", { name: "Consent & privacy" }).click();
      const days = page.getByRole("textbox", { name: "Keep events and deliveries for" });
      const saved = await days.inputValue();
      await days.fill("33");
      await sees(page, "You have unsaved changes.");

      await sections(page, "Events").click();
      await checkLayer(page, "scenes/frame/Guards.tsx");
      await press(leaves(page), "Keep editing");
      expect(page.url()).toContain("/configuration/consent");
      expect(await days.inputValue()).toBe("33");

      await page.goBack();
      await press(leaves(page), "Keep editing");
      expect(await days.inputValue()).toBe("33");

      const asked = page.waitForEvent("dialog");
      const reloading = page.reload({ timeout: 5000 }).catch(() => null);
      const question = await asked;
      expect(question.type()).toBe("beforeunload");
      await question.dismiss();
      await reloading;
      expect(await days.inputValue()).toBe("33");

      await sections(page, "Events").click();
      await press(leaves(page), "Discard changes");
      await page.waitForURL(/\/events$/);
      await open(`/sites/${site}/configuration/consent`);
      await settled(page);
      expect(await days.inputValue()).toBe(saved);

      await open(`/sites/${site}/configuration/keys`);
      await page.getByRole("button", { name: "Create key" }).first().click();
      const form = dialog(page, "Create an inbound key");
      await field(form, "Name").fill("typed");
      await page.mouse.click(5, 5);
      await field(form, "Name").press("Escape");
      await press(leaves(page), "Keep editing");
      expect(await field(form, "Name").inputValue()).toBe("typed");
      await press(form, "Cancel");
      await form.waitFor({ state: "detached" });
    },
    scenarioMs,
  );

  test(
    "forms that are refused stay accessible in both themes, in dialogs and on pages",
    async () => {
      const { page, open } = browser;
      const at = `/sites/${site}`;
      const invalid = page.locator("[aria-invalid=true]").filter({ visible: true });
      const isReadable = async (where: string) => {
        await invalid.first().waitFor();
        const faults = await findViolations(page);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.waitForFunction(() => document.documentElement.dataset["mantineColorScheme"] === "dark");
        for (const fault of await findViolations(page, coloursOnly)) faults.push(`dark: ${fault}`);
        await page.emulateMedia({ colorScheme: "light" });
        await page.waitForFunction(() => document.documentElement.dataset["mantineColorScheme"] === "light");
        expect(faults, where).toEqual([]);
      };
      for (const [path, opener] of [
        [`${at}/configuration/keys`, "Create key"],
        [`${at}/integrations/webhooks`, "Add webhook"],
        [`${at}/settings/api-keys`, "Create API key"],
        [`${at}/settings/members`, "Invite"],
        ["/sites", "Add a site"],
      ] as const) {
        await open(path);
        await settled(page);
        await press(page, opener);
        await page.getByRole("dialog").locator("button[type=submit]").click();
        await isReadable(path);
      }
      await open(`${at}/configuration/domains`);
      await settled(page);
      await field(page, "Add a domain").fill("not a domain");
      await press(page, "Add");
      await isReadable("a domain");
    },
    scenarioMs,
  );

  test(
    "the pages of a site without any data are accessible, wide and narrow, in both themes",
    async () => {
      const { page, open, go } = browser;
      const { id } = (await owner.ask("POST /sites", { host: "empty.test" })).json;
      const wrong: string[] = [];
      const asOnDesktop = async () => {
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize({ width: 1440, height: 900 });
      };
      await open("/sites");
      for (const path of pagesOf(id)) {
        await asOnDesktop();
        await go(path);
        await settled(page);
        for (const fault of await findViolations(page)) wrong.push(`${path}, light: ${fault}`);
        if ((await page.getByText("compared with").count()) > 0) wrong.push(`${path} compares nothing with nothing`);
        await page.emulateMedia({ colorScheme: "dark" });
        await page.setViewportSize({ width: 390, height: 844 });
        await page.waitForFunction(() => document.documentElement.dataset["mantineColorScheme"] === "dark");
        for (const fault of await findViolations(page)) wrong.push(`${path}, dark on a phone: ${fault}`);
        for (const one of await findOverflow(page)) wrong.push(`${path}, too wide for a phone: ${one}`);
      }
      await asOnDesktop();
      expect(wrong.join("\n\n")).toBe("");
    },
    scenarioMs * 2,
  );

  test(
    "pages of no site keep the navigation of the site that the user comes from",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/events`);
      await sections(page, "Events").waitFor();
      for (const path of ["/account", "/nowhere", "/sites/none/events"]) {
        await open(path);
        await settled(page);
        await page.getByRole("button", { name: "Site: shop.test" }).filter({ visible: true }).waitFor();
        expect(await sections(page, "Events").getAttribute("href")).toBe(`/dashboard/sites/${site}/events`);
      }
      // The list of sites is of none.
      await open("/sites");
      await page.getByRole("button", { name: "Site: All sites" }).filter({ visible: true }).waitFor();
      expect(await sections(page, "Events").count()).toBe(0);
    },
    scenarioMs,
  );

  test(
    "an invalid form marks all its fields, focuses the first, and is readable in both themes",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/integrations/meta`);
      await press(page, "Connect Meta");
      const invalid = page.locator("[aria-invalid=true]");
      await expect.poll(() => invalid.count()).toBe(2);
      await hasFocus(field(page, "Access token"));
      expect(await page.getByText("Fill in this field.").count()).toBe(2);
      for (const theme of ["light", "dark"]) {
        await page.evaluate((scheme) => (document.documentElement.dataset["mantineColorScheme"] = scheme), theme);
        expect(await findViolations(page, coloursOnly), theme).toEqual([]);
      }
      // A closed set is a list.
      await press(page, /^More settings/);
      await page.getByLabel("Where conversions happen").and(page.locator("input")).click();
      await page.getByRole("option", { name: "phone_call" }).click();
      await sees(page, "You have unsaved changes.");
      await press(page, "Discard");
    },
    scenarioMs,
  );

  test(
    "the title of a dialog is stronger than its labels, and fields, buttons, links and tiles have one focus ring",
    async () => {
      const { page, open } = browser;
      await open("/sites");
      await press(page, "Add a site");
      const looks = (one: Locator) =>
        one.evaluate((element) => {
          const { fontSize, fontWeight } = getComputedStyle(element);
          return { size: Number.parseFloat(fontSize), weight: Number(fontWeight) };
        });
      const title = await looks(page.getByRole("dialog").getByRole("heading"));
      const label = await looks(page.getByRole("dialog").locator("label").first());
      expect(title.size).toBeGreaterThan(label.size);
      expect(title.weight).toBeGreaterThanOrEqual(label.weight);
      await page.keyboard.press("Escape");
      await open(`/sites/${site}/integrations`);
      await settled(page);
      const others: string[] = [];
      const kinds = new Set<string>();
      await page.keyboard.press("Tab");
      for (let stop = 0; stop < 40; stop++) {
        await page.keyboard.press("Tab");
        const { kind, ring, html } = await page.evaluate(() => {
          const { tagName, outerHTML } = document.activeElement as HTMLElement;
          const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(document.activeElement as HTMLElement);
          return { kind: tagName, ring: `${outlineStyle} ${outlineWidth} ${outlineColor}`, html: outerHTML.slice(0, 200) };
        });
        // After the last one, the focus is on none.
        if (kind === "BODY") break;
        kinds.add(kind);
        if (ring !== "solid 2px rgb(67, 83, 199)") others.push(`${ring} at ${html}`);
      }
      expect([...kinds]).toEqual(expect.arrayContaining(["A", "BUTTON", "INPUT"]));
      expect(others).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a password that is too short is reported at the field, not by the browser",
    async () => {
      const { page, open } = browser;
      await open("/account");
      await field(page, "New password").fill("short");
      await press(page, "Change password");
      await sees(page, "Enter at least 12 characters.");
      await sees(page, "Fill in this field.");
      await hasFocus(field(page, "Current password"));
      await field(page, "New password").fill("");
    },
    scenarioMs,
  );

  test(
    "an expired sign-in while saving asks for the password in place, and then saves",
    async () => {
      const { page, open, context } = browser;
      await open(`/sites/${site}/configuration/general`);
      await field(page, "Site name").fill("Renamed while signed out");
      expect(await page.getByRole("button", { name: "Save" }).count()).toBe(1);
      await context.clearCookies();
      await press(page, "Save");
      const again = dialog(page, "Your sign-in has expired");
      await field(again, "Password").waitFor();
      // The page behind it is still saving, so it never settles.
      expect(await findViolations(page, undefined, "[role=dialog]"), "scenes/frame/Guards.tsx").toEqual([]);
      await field(again, "Password").fill("a wrong password");
      await press(again, "Sign in");
      await again.locator("[aria-invalid=true]").waitFor();
      await field(again, "Password").fill(password);
      await press(again, "Sign in");
      await again.waitFor({ state: "detached" });
      await expect
        .poll(async () => (await owner.ask("GET /sites")).json.items.map(({ name }: { name: string }) => name))
        .toContain("Renamed while signed out");
      expect(page.url()).toContain("/configuration/general");
    },
    scenarioMs,
  );
});
