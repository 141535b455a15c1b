// A new site to which nothing has come: its pages name the next step, and lead there.

import { expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner } from "../support/apiClient.ts";
import { newInstallation } from "../support/relay.ts";
import { scenarioMs, sees, user } from "./users.ts";

const linkOf: Readonly<Record<string, { name: string; to: string }>> = {
  "bots/evidence": { name: "Get the tag", to: "configuration/tag" },
  "bots/visits": { name: "Get the tag", to: "configuration/tag" },
  "bots/clicks": { name: "Get the tag", to: "configuration/tag" },
  "integrations/log": { name: "Connect a platform", to: "integrations" },
  "integrations/quality": { name: "Connect a platform", to: "integrations" },
  events: { name: "See one arrive", to: "first-conversion" },
  "reconciliation/funnel": { name: "Add orders", to: "reconciliation" },
};

inChromium("a new site", () => {
  test(
    "names the next step on every page, once",
    async () => {
      const home = await newInstallation("sqlite");
      const relay = await home.start();
      const owner = await becomeOwner(relay);
      const site = (await owner.ask("POST /sites", { host: "new.example.com" })).json.id;
      const { page, open, go, errors } = await user(relay, owner);
      await open(`/sites/${site}/overview`);
      await sees(page, "new.example.com: not verified");
      for (const [path, { name, to }] of Object.entries(linkOf)) {
        await go(`/sites/${site}/${path}`);
        const link = page.getByRole("main").getByRole("link", { name, exact: true });
        await link.waitFor();
        expect(await link.getAttribute("href"), path).toBe(`/dashboard/sites/${site}/${to}`);
      }
      for (const [path, name] of [
        ["configuration/keys", "Create key"],
        ["settings/api-keys", "Create API key"],
      ]) {
        await go(`/sites/${site}/${path}`);
        const button = page.getByRole("button", { name: name ?? "", exact: true });
        await button.waitFor();
        expect(await button.count(), path).toBe(1);
      }

      // The first key comes from there; the next one from above the list.
      await go(`/sites/${site}/configuration/keys`);
      const create = page.getByRole("button", { name: "Create key", exact: true });
      await create.click();
      await page.getByRole("dialog").getByLabel("Name").fill("shop");
      await page.getByRole("dialog").getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("dialog").getByText(/cc_/).first().waitFor();
      await page.keyboard.press("Escape");
      await sees(page, "shop");
      expect(await create.count()).toBe(1);
      expect(errors.scriptErrors).toEqual([]);
      await relay.stop();
    },
    scenarioMs,
  );
});
