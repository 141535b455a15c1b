// The way of a person to a conversion, as a marketer sees it: by model in the overview, and as a path in the trace. Also the domains
// between which links carry it.

import { beforeAll, expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { hashEmail } from "../support/person.ts";
import { eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { freePort } from "../support/servers/freePort.ts";
import { cookieOf, report } from "../support/visits.ts";
import { scenarioMs, sees, user, type User } from "./users.ts";

inChromium("attribution models", () => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  let owner: Person;
  let browser: User;

  beforeAll(async () => {
    home = await newInstallation("sqlite", { PORT: String(await freePort()) });
    site = await home.addSite("shop.example");
    await home.run("connection", "add", site.host, "sandbox");
    relay = await home.start();
    const first = await report(relay, site.host, "visit", { params: { fbclid: "F" } });
    const last = { params: { gclid: "G" }, emails: [hashEmail("ada@example.com")], submit: [5000, 3, 0] };
    await report(relay, site.host, "visit", { params: { gclid: "G" } }, cookieOf(first));
    await report(relay, site.host, "identify", last, cookieOf(first));
    const order = { email: "ada@example.com", event: "purchase", orderId: "M-1", value: 9.99, currency: "EUR" };
    expect((await relay.post(site.key, order)).status).toBe(200);
    owner = await becomeOwner(relay);
    browser = await user(relay, owner);
  }, scenarioMs);

  test(
    "the switch of the overview changes the sources, and stays in the address",
    async () => {
      const { page, open, errors } = browser;
      await open(`/sites/${site.id}/overview`);
      const bars = page.getByLabel("Conversions by source");
      await sees(bars, "google");
      expect(await bars.getByText("facebook").count()).toBe(0);
      await page.getByText("First", { exact: true }).click();
      await sees(bars, "facebook");
      await bars.getByText("google").waitFor({ state: "detached" });
      expect(page.url()).toContain("model=first");
      await page.getByText("Linear", { exact: true }).click();
      await sees(bars, "0.5 · €5.00");
      await sees(bars, "0.5 · €4.99");
      await page.reload();
      await sees(bars, "0.5 · €5.00");
      expect(page.url()).toContain("model=linear");
      await page.getByText("Last", { exact: true }).click();
      await bars.getByText("facebook").waitFor({ state: "detached" });
      expect(page.url()).not.toContain("model=");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the trace shows the visits before the order",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site.id}/events`);
      await page.getByText("M-1", { exact: true }).click();
      const stops = page.locator(".cc-path li");
      await stops.first().waitFor();
      const texts = await stops.allInnerTexts();
      expect(texts.map((text) => text.replace(/ ·? ?(just now|\d+ sec ago).*/s, ""))).toEqual([
        "Ad click from facebook",
        "less than a minute later",
        "Ad click from google email entered in a form",
        "less than a minute later",
        "purchase M-1",
      ]);
    },
    scenarioMs,
  );

  test(
    "link domains are saved",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site.id}/configuration/tag`);
      const field = page.getByRole("combobox", { name: "Domains" });
      await field.fill("checkout.example");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Save" }).click();
      const saved = async () => JSON.stringify((await owner.ask(`GET /sites/${site.id}/settings`)).json);
      await eventually("the domain is saved", async () => (await saved()).includes('"checkout.example"'));
    },
    scenarioMs,
  );
});
