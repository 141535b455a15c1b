// From the set-up link to the first conversion, in the dashboard alone.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { password } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { endToEndEngines, newInstallation } from "../support/relay.ts";
import { dialog, field, press, sees, signIn, signOut, takeSecret, scenarioMs, user } from "./users.ts";

/** True while the page was not reloaded. */
const isSamePage = (page: Page) => page.evaluate(() => (window as { isSamePage?: true }).isSamePage === true);

inChromium("the first conversion", () => {
  test.each(endToEndEngines)(
    "a new owner sets up, sends a first conversion with the next click and sees it arrive, on %s",
    async (engine) => {
      const relay = await (await newInstallation(engine)).start();
      const { page, errors, open } = await user(relay, null);
      const link = /(http\S+\/dashboard\/setup#\w+)/.exec(relay.output())?.[1] ?? "";

      // The link creates the owner, once.
      await page.goto(link.replace("localhost", "127.0.0.1"));
      await field(page, "Your name").fill("Olga Owner");
      await field(page, "Email").fill("olga@example.com");
      await field(page, "Password").fill("short");
      await press(page, "Create owner");
      expect(await field(page, "Password").evaluate((input: HTMLInputElement) => input.checkValidity())).toBe(false);
      await field(page, "Password").fill(password);
      await press(page, "Create owner");

      // One page makes a key and the sandbox. Sending is the second click since the link was opened.
      await page.getByRole("heading", { name: "See it arrive", level: 1 }).waitFor();
      await sees(page, "Waiting for a conversion");
      await press(page, "Send one for me");
      await sees(page, /^Sandbox accepted it .+ after it arrived\.$/);
      await page.getByRole("heading", { name: "Traffic filter" }).waitFor();

      // The program has the same key: what a server sends is shown as well, without a reload.
      const program = (await page.getByLabel("First event with curl", { exact: true }).textContent()) ?? "";
      const testKey = /X-CC-Api-Key: (cc_\w{20,})/.exec(program)?.[1] ?? "";
      await page.evaluate(() => Object.assign(window, { isSamePage: true }));
      expect((await relay.post(testKey, { email: "ada@customers.example", event: "lead", orderId: "T-1" })).status).toBe(200);
      await sees(page, "T-1");
      // The key ends by itself, and another visit of the page creates none.
      await page.getByRole("link", { name: "Create a live key" }).click();
      await sees(page, "See it arrive");

      // A key is shown once.
      await press(page, "Create key");
      const form = dialog(page, "Create an inbound key");
      await field(form, "Name").fill("Shop");
      await press(form, "Create");
      const key = await takeSecret(page);
      expect(key).toMatch(/^cc_\w{20,}$/);
      await page.goBack();
      await page.getByRole("heading", { name: "See it arrive", level: 1 }).waitFor();
      expect(await page.getByLabel("First event with curl", { exact: true }).textContent()).toBe(program);
      await page.getByRole("link", { name: "Configuration" }).click();
      const keys = page.getByRole("region", { name: "Inbound keys" });
      expect(await keys.getByText("See it arrive").count()).toBe(1);
      await page.reload();
      await sees(page, "Shop");
      const content = await page.content();
      expect(content).toContain(key.slice(0, 7));
      expect(content).not.toContain(key);

      // The first steps show what is left to do, with links. Test events are none of the site's.
      await page.getByRole("link", { name: "Events", exact: true }).click();
      await sees(page, "No events yet");
      await page.getByRole("link", { name: "See one arrive" }).waitFor();
      await page.getByRole("link", { name: "Import past conversions" }).waitFor();
      await page.getByRole("link", { name: "Overview" }).click();
      await sees(page, "First steps");
      const steps = page.getByRole("listitem").filter({ hasText: /to do|done/ });
      await sees(steps.filter({ hasText: "First conversion" }), "done");
      await sees(steps.filter({ hasText: "Inbound key" }), "done");
      await steps.filter({ hasText: "Platform" }).getByRole("link", { name: "Connect" }).waitFor();

      // An event that is sent with the live key appears without a reload.
      await page.getByRole("status", { name: "Live feed: connected" }).waitFor();
      await sees(page, "Waiting for the first event");
      await page.getByRole("button", { name: "Show test data" }).waitFor();
      await page.evaluate(() => Object.assign(window, { isSamePage: true }));
      const answer = await relay.post(key, {
        email: "ada@customers.example",
        event: "purchase",
        orderId: "A-1001",
        value: 49.9,
        currency: "EUR",
        items: [{ id: "SKU-1", name: "Mug", brand: "North", price: 24.95, quantity: 2 }],
      });
      expect(answer.status).toBe(200);
      const live = page.getByRole("listitem").filter({ hasText: /purchase.*€49\.90.*sent/ });
      await live.waitFor();

      // The event's trace shows the request to the sandbox and the response.
      await live.getByRole("link", { name: "purchase" }).click();
      const trace = page.getByRole("dialog");
      await trace.getByRole("heading", { name: "Sandbox" }).waitFor();
      await sees(trace, "A-1001");
      await sees(trace, "email, all hashed");
      expect(await trace.getByRole("table", { name: "Items" }).textContent()).toMatch(/Mug.*SKU-1, North.*2.*€24\.95/);
      await press(trace, /^Attempt 1/);
      const request = trace.getByLabel("Request", { exact: true });
      await request.waitFor();
      expect(await request.textContent()).toContain('"orderId":"A-1001"');
      expect(await trace.getByLabel("Response", { exact: true }).textContent()).toContain("accepted");
      expect(await isSamePage(page)).toBe(true);
      const address = page.url();
      // Closing the trace returns to the page on which it was opened.
      await press(trace, "Close");
      await trace.waitFor({ state: "detached" });
      await page.getByRole("heading", { name: "Overview" }).waitFor();

      // The order is found from any page.
      await page.keyboard.press("ControlOrMeta+K");
      await page.getByLabel("Jump to", { exact: true }).fill("A-1001");
      await page.getByRole("option", { name: /purchase · A-1001/ }).waitFor();
      await page.keyboard.press("Enter");
      await trace.getByRole("heading", { name: "Sandbox" }).waitFor();
      await page.keyboard.press("Escape");
      await trace.waitFor({ state: "detached" });

      // Signing out ends the session; a wrong password is refused; the right one returns to the page.
      await signOut(page);
      await page.goto(address);
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await signIn(page, "olga@example.com", "another long password");
      await sees(page, "The email or the password is wrong.");
      await signIn(page, "olga@example.com", password);
      await trace.getByRole("heading", { name: "Sandbox" }).waitFor();
      expect(errors.scriptErrors).toEqual([]);
      // A site that is added later has neither key nor platform: its page makes both.
      await open("/sites");
      await press(page, "Add a site");
      await field(dialog(page, "Add a site"), "Domain").fill("second.example");
      await press(dialog(page, "Add a site"), "Add");
      await press(page, "Send one for me");
      await sees(page, /^Sandbox accepted it/);
      await open("/setup");
      await sees(page, "This installation already has an owner.");
      await page.context().close();
    },
    scenarioMs,
  );
});
