// Shared links in browsers: an admin shares a view, a visitor without an account opens it, and a wall goes on by itself.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { inChromium, newVisitor } from "../browser/chromium.ts";
import { eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { checkLayer, findViolations } from "./access.ts";
import { dialog, field, press, row, scenarioMs, sees, takeSecret, user, type User } from "./users.ts";

inChromium("shared links", () => {
  let home: Installation;
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;

  beforeAll(async () => {
    home = await newInstallation("sqlite");
    relay = await home.start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    browser = await user(relay, owner);
    await relay.post(relay.key, {
      email: "jane.buyer@example.com",
      event: "purchase",
      orderId: "D-1",
      value: 40,
      currency: "EUR",
    });
  });
  afterAll(() => expect(browser.errors.scriptErrors).toEqual([]));

  /** The link names the public address; the test's browser knows the relay by its number. */
  const here = (url: string) => `${relay.url}${new URL(url).pathname}${new URL(url).hash}`;
  const share = async (scope: "report" | "wall") =>
    here((await owner.ask(`POST /sites/${site}/shared-links`, { scope, name: "Screen" })).json.url);
  async function visit(url: string): Promise<Page> {
    const page = await (await newVisitor()).newPage();
    await page.goto(url);
    return page;
  }

  test(
    "an admin shares the report with a password, a visitor opens it with both, and it ends when it is revoked",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/settings/sharing`);
      await press(page, "Create link");
      const form = dialog(page, "Share a view of this site");
      await checkLayer(page, "scenes/sharing/ShareButton.tsx");
      await field(form, "For whom").fill("Agency");
      await field(form, "Password").fill("correct horse battery");
      await press(form, "Create link");
      const url = here(await takeSecret(page, "scenes/sharing/ShareButton.tsx"));
      await sees(row(page, "Agency"), "with password");
      expect(await findViolations(page)).toEqual([]);

      const visitor = await visit(url);
      await visitor.getByLabel("Password").fill("wrong");
      await visitor.getByRole("button", { name: "Open" }).click();
      await visitor.getByText("The password is wrong.").waitFor();
      expect(await findViolations(visitor)).toEqual([]);
      await visitor.getByLabel("Password").fill("correct horse battery");
      await visitor.getByRole("button", { name: "Open" }).click();
      await visitor.getByRole("heading", { level: 1, name: "Where the conversions went" }).waitFor();
      expect(await findViolations(visitor)).toEqual([]);
      const [download] = await Promise.all([visitor.waitForEvent("download"), visitor.getByText("Download PDF").click()]);
      expect(download.suggestedFilename()).toMatch(/\.pdf$/);
      // A visitor with the link and no password, and one with neither.
      await (await visit(url)).getByText("This link is protected.").waitFor();
      await (await visit(url.replace(/#.*/, ""))).getByText("This link is not valid, or no longer.").waitFor();

      await press(row(page, "Agency"), "Revoke");
      await checkLayer(page, "scenes/sharing/SharedLinks.tsx");
      await press(dialog(page, "Revoke the link “Agency”?"), "Revoke");
      await row(page, "Agency").waitFor({ state: "detached" });
      await eventually("the visitor is shown that it has ended", async () => {
        await visitor.reload();
        return visitor.getByText("This link is not valid, or no longer.").isVisible();
      });
    },
    scenarioMs,
  );

  test(
    "a wall shows conversions as they arrive, goes on after a restart, and loads itself again with a new version",
    async () => {
      const wall = await visit(await share("wall"));
      const conversions = wall.locator("#conversions");
      await wall.locator("#ticker li").first().waitFor();
      expect(await findViolations(wall)).toEqual([]);
      const before = Number(await conversions.textContent());
      await relay.post(relay.key, { email: "jane.buyer@example.com", event: "lead", orderId: "D-2", value: 1, currency: "EUR" });
      await wall.locator("#ticker li", { hasText: "lead" }).first().waitFor();
      expect(await wall.locator("body").textContent()).not.toMatch(/jane|D-2/);

      await relay.kill();
      await wall.locator("#away").waitFor({ state: "visible" });
      // The last numbers stay: no error is burnt into the screen.
      expect(Number(await conversions.textContent())).toBeGreaterThanOrEqual(before);
      relay = await home.start({ PORT: new URL(relay.url).port });
      await wall.locator("#away").waitFor({ state: "hidden" });
      await eventually(
        "the wall counts what came while it was away",
        async () => Number(await conversions.textContent()) > before,
      );

      await wall.evaluate(() => document.body.setAttribute("data-old", ""));
      await wall.route(
        "**/data",
        async (route) => {
          const answer = await route.fetch();
          await route.fulfill({ response: answer, json: { ...(await answer.json()), version: "another" } });
        },
        { times: 1 },
      );
      await wall.locator("body:not([data-old])").waitFor();
      await wall.locator("#ticker li").first().waitFor();
    },
    scenarioMs,
  );

  test(
    "an installed wall opens from its own copy while the relay is away, and keeps no numbers",
    async () => {
      const wall = await visit(await share("wall"));
      await wall.locator("#ticker li").first().waitFor();
      const manifest = await wall.evaluate(async () => {
        const { href } = document.querySelector('link[rel="manifest"]') as HTMLLinkElement;
        return (await fetch(href)).json() as Promise<{ start_url: string; icons: { src: string }[] }>;
      });
      expect(manifest.start_url).toBe(new URL(wall.url()).pathname);
      for (const { src } of manifest.icons) expect((await wall.request.get(`${relay.url}${src}`)).status()).toBe(200);
      await wall.evaluate(() => navigator.serviceWorker.ready);
      await wall.reload();
      await wall.locator("#ticker li").first().waitFor();
      const stored = await wall.evaluate(async () => {
        const cache = await caches.open("wall");
        return Promise.all(
          (await cache.keys()).map(async (one) => [new URL(one.url).pathname, await (await cache.match(one))?.text()]),
        );
      });
      expect(stored.map(([path]) => path).filter((path) => path?.endsWith("/data"))).toEqual([]);
      expect(stored.length).toBeGreaterThan(0);
      await relay.kill();
      await wall.reload();
      await wall.locator("#away").waitFor({ state: "visible" });
      relay = await home.start({ PORT: new URL(relay.url).port });
      await wall.locator("#ticker li").first().waitFor();
    },
    scenarioMs,
  );
});
