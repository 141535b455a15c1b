// What unsaved settings would have done, asked where they are changed and in a trace. What the answer says is in test/api/whatIf.test.ts.

import { beforeAll, expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { freePort } from "../support/servers/freePort.ts";
import { checkLayer } from "./access.ts";
import { press, scenarioMs, sees, user, type User } from "./users.ts";

inChromium("what if", () => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  let owner: Person;
  let browser: User;
  let eventId: string;

  beforeAll(async () => {
    home = await newInstallation("sqlite", { PORT: String(await freePort()) });
    site = await home.addSite("shop.example");
    await home.run("connection", "add", site.host, "sandbox");
    relay = await home.start();
    for (const orderId of ["W-1", "W-2"]) {
      const order = { email: `${orderId}@example.com`, event: "purchase", orderId, value: 10, currency: "EUR" };
      expect((await relay.post(site.key, order)).status).toBe(200);
    }
    owner = await becomeOwner(relay);
    browser = await user(relay, owner);
    eventId = (await owner.ask(`GET /sites/${site.id}/events`)).json.items[0].id;
  }, scenarioMs);

  const settings = async () => (await owner.ask(`GET /sites/${site.id}/settings`)).json;

  test(
    "changed settings are tried before they are saved, and the dialog is accessible with its result",
    async () => {
      const { page, open, errors } = browser;
      const before = await settings();
      await open(`/sites/${site.id}/configuration/consent`);
      expect(await page.getByRole("button", { name: "What if?" }).count()).toBe(0);
      await page.getByRole("radio", { name: /^Opt-in/ }).check();
      await press(page, "What if?");
      const dialog = page.getByRole("dialog");
      await press(dialog, "Run");
      await sees(dialog, "Consent would withhold the identifiers of 2 events more.");
      await checkLayer(page, "common/settings/WhatIf.tsx");
      expect(await settings()).toEqual(before);
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the page of evidence asks what would be filtered if all evidence in shadow counted",
    async () => {
      const { page, open, errors } = browser;
      await open(`/sites/${site.id}/bots/evidence`);
      await press(page, "What if?");
      const dialog = page.getByRole("dialog", { name: "What if?" });
      await sees(dialog, "as if all evidence in shadow counted");
      const [asked] = await Promise.all([
        page.waitForRequest((request) => request.url().endsWith("/what-if")),
        press(dialog, "Run"),
      ]);
      expect(asked.postDataJSON()).toMatchObject({ settings: { evidence: "all=on" } });
      await sees(dialog, "Every event would become what it becomes now.");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "in a trace the settings are changed in the dialog, for this event or a period",
    async () => {
      const { page, open, errors } = browser;
      await page.reload();
      await open(`/sites/${site.id}/events/${eventId}`);
      await press(page, "What if?");
      const dialog = page.getByRole("dialog", { name: "What if?" });
      expect(await dialog.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
      await dialog.getByRole("combobox", { name: "Consent mode" }).click();
      await page.getByRole("option", { name: /opt-in/i }).click();
      await press(dialog, "Run");
      await sees(dialog, "Consent would withhold the identifiers of 1 event more.");
      await dialog.getByRole("combobox", { name: "Events" }).click();
      await page.getByRole("listbox").getByRole("option", { name: "Last 7 days" }).click();
      await press(dialog, "Run");
      await sees(dialog, "Consent would withhold the identifiers of 2 events more.");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );
});
