// A new user lets Stripe send its own webhooks, and maps the fields of another sender, in the dashboard alone.

import { createHmac } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, password } from "../support/apiClient.ts";
import { call, newInstallation, type Relay } from "../support/relay.ts";
import { checkLayer } from "./access.ts";
import { dialog, field, press, scenarioMs, sees, user } from "./users.ts";

const post = (relay: Relay, address: string, body: unknown, headers: Record<string, string> = {}) =>
  call(relay.url, {
    path: new URL(address).pathname,
    headers: { host: "localhost", "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Counts what a person clicks. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() =>
    addEventListener(
      "click",
      ({ isTrusted }) => {
        // A submit by Enter is a click that no pointer made.
        if (isTrusted) sessionStorage.setItem("clicks", String(Number(sessionStorage.getItem("clicks")) + 1));
      },
      true,
    ),
  );
  return () => page.evaluate(() => Number(sessionStorage.getItem("clicks")));
}

const addressOn = (page: Page) => page.getByLabel("Address", { exact: true }).innerText();

inChromium("sources", () => {
  test(
    "from an empty installation to a payment of Stripe, in at most eight clicks and one paste on each side",
    async () => {
      const relay = await (await newInstallation("sqlite")).start();
      const { page, context, errors } = await user(relay, null);
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      const clicks = await countClicks(page);
      const link = /(http\S+\/dashboard\/setup#\w+)/.exec(relay.output())?.[1] ?? "";
      await page.goto(link.replace("localhost", "127.0.0.1"));
      await field(page, "Your name").fill("Olga Owner");
      await field(page, "Email").fill("olga@example.com");
      await field(page, "Password").fill(password);
      await press(page, "Create owner");

      // The first page names sources; the navigation has them on every page.
      await sees(page, "Stripe, Shopify, HubSpot and others send their own webhooks. No code.");
      await page.getByRole("link", { name: "Sources", exact: true }).click();
      await press(page, "Add Stripe");
      await checkLayer(page, "scenes/sources/AddSource.tsx");
      await press(dialog(page, "Add Stripe"), "Create source");

      // The address goes to Stripe, and Stripe's secret comes back.
      await sees(page, "One step is left: the secret");
      await page.getByRole("button", { name: "Copy Address" }).last().click();
      const address = await page.evaluate(() => navigator.clipboard.readText());
      expect(address).toMatch(/\/__cc\/in\/[0-9A-Za-z]{26}$/);
      const secret = "whsec_of-stripe";
      await field(page, "Paste it here: Signing secret").fill(secret);
      await press(page, "Save secret");
      await sees(page, "Waiting for the first request");

      // A signed payment of the sandbox arrives, and the page shows it without a reload.
      await page.evaluate(() => Object.assign(window, { isSamePage: true }));
      const at = Math.floor(Date.now() / 1000);
      const paid = {
        id: "evt_first",
        type: "checkout.session.completed",
        created: at,
        livemode: false,
        data: {
          object: {
            id: "cs_first",
            payment_status: "paid",
            amount_total: 4990,
            currency: "eur",
            payment_intent: "pi_first",
            customer_details: { email: "ada@customers.example", name: "Ada Lovelace" },
            metadata: { gclid: "Cj0-first" },
          },
        },
      };
      const signature = createHmac("sha256", secret)
        .update(`${at}.${JSON.stringify(paid)}`)
        .digest("hex");
      const answer = await post(relay, address, paid, { "stripe-signature": `t=${at},v1=${signature}` });
      expect(answer.status, answer.text).toBe(200);
      await page.getByRole("heading", { name: "Live", exact: true }).waitFor();
      await sees(page, "checkout.session.completed");
      await page.getByRole("link", { name: "View the conversion" }).click();
      const trace = page.getByRole("dialog");
      await trace.getByRole("heading", { name: "Sandbox" }).waitFor();
      await sees(trace, "pi_first");
      await sees(trace, "Sender");
      await sees(trace, "The sender gave these IDs of the ad click:");
      await sees(trace, "Cj0-first");
      expect(await page.evaluate(() => (window as { isSamePage?: true }).isSamePage)).toBe(true);
      expect(await clicks()).toBeLessThanOrEqual(8);
      expect(errors.scriptErrors).toEqual([]);
      await context.close();
    },
    scenarioMs,
  );

  test(
    "an admin maps the fields of a sender from its requests, sees the conversion, and rotates and removes the source",
    async () => {
      const relay = await (await newInstallation("sqlite")).start();
      const owner = await becomeOwner(relay);
      const site = (await owner.ask("GET /sites")).json.items[0].id;
      const { page, open, context, errors } = await user(relay, owner);
      await open(`/sites/${site}/sources`);

      // What is not in the list is a custom source.
      await page.getByLabel("Search for a system").fill("our own shop");
      await press(page, "Add a custom source");
      await press(dialog(page, "Add Custom"), "Create source");
      await sees(page, "Waiting for the first request");
      const address = await addressOn(page);
      const send = (total: string) =>
        post(relay, address, { buyer: { mail: "ada@customers.example" }, order: { number: "A-7", total } });
      expect((await send("12.50")).status).toBe(200);
      await page.getByRole("heading", { name: "Live", exact: true }).waitFor();
      await sees(page, "Names no person");

      // The picker fills the chosen line. Values are masked.
      await page.getByRole("tab", { name: "Mapping" }).click();
      await sees(page, "a…@c…");
      await field(page, "Email from").focus();
      await press(page, /^buyer\.mail/);
      await field(page, "Order id from").focus();
      await press(page, /^order\.number/);
      expect(await field(page, "Email from").inputValue()).toBe("buyer.mail");
      // Each line suggests the fields too.
      const list = await field(page, "Value from").getAttribute("list");
      expect(await page.locator(`[id="${list}"] option[value="order.total"]`).count()).toBe(1);
      await press(page, "Save");
      await sees(page, "Saved.");

      // A request that is kept shows the conversion, also with changes that are not saved.
      await page.getByLabel("Keep whole requests for 24 hours").click();
      await expect
        .poll(
          async () => {
            await send("12.50");
            return page.getByText("Contact data is masked.").isVisible();
          },
          { timeout: scenarioMs / 3, interval: 1000 },
        )
        .toBe(true);
      const fields = page.getByRole("table", { name: "Fields of the conversion" });
      await sees(fields, "A-7");
      await field(page, "Value from").fill("order.total");
      await sees(fields, "12.50");
      expect(await fields.innerText()).not.toContain("ada@customers.example");
      await press(page, "Discard");

      // Wrong expressions are refused at their field.
      await field(page, "Value from").fill("order..total");
      await press(page, "Save");
      await page.getByRole("combobox", { name: "Value from" }).and(page.locator("[aria-invalid=true]")).waitFor();
      await press(page, "Discard");

      await page.getByRole("tab", { name: "Requests" }).click();
      await sees(page, "accepted");
      await sees(page, "Names no person");

      // Both addresses are valid for a day.
      await press(page, "Rotate address");
      await checkLayer(page, "scenes/sources/SourceActions.tsx");
      await press(dialog(page, "Make a new address?"), "Rotate address");
      await sees(page, /The address before ends/);
      await expect.poll(() => addressOn(page)).not.toBe(address);
      for (const one of [address, await addressOn(page)])
        expect((await post(relay, one, { buyer: {}, order: {} })).status).toBe(200);
      await press(page, "Pause");
      await checkLayer(page, "scenes/sources/SourceActions.tsx");
      await sees(dialog(page, "Pause Custom?"), /try again later/);
      await press(dialog(page, "Pause Custom?"), "Pause");
      await page.getByRole("heading", { name: "Paused", exact: true }).waitFor();

      await page.setViewportSize({ width: 390, height: 844 });
      await press(page, "More actions");
      await checkLayer(page, "scenes/sources/SourcePage.tsx");
      await press(page, "Remove");
      await dialog(page, "Remove Custom?").waitFor();
      await checkLayer(page, "scenes/sources/SourceActions.tsx");
      await press(dialog(page, "Remove Custom?"), "Remove");
      await sees(page, "Choose the system that knows about your conversions");
      expect(errors.scriptErrors).toEqual([]);
      await context.close();
    },
    scenarioMs,
  );
});
