// The page "First hour: the dashboard for marketers": a viewer finds every place that it names, and an admin can do what it says.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameText } from "../../dashboard/messages/frame.ts";
import { becomeOwner, invite, type Person } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { root } from "../support/documents/documents.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { field, press, scenarioMs, sees, user } from "./users.ts";

const page = readFileSync(join(root, "docs/tutorials/first-hour-marketer.md"), "utf8");
/** What the page names in bold: `Bots > Visits` is a tab of a section. */
const named = [...page.matchAll(/\*\*(.+?)\*\*/g)].map(([, label = ""]) => label.split(" > "));
const sections: readonly string[] = Object.values(frameText.sections);
const places = named.filter(([section = ""]) => sections.includes(section));
const buttons = named.flatMap(([label = ""]) => (sections.includes(label) ? [] : [label]));

inChromium("a marketer's first hour", () => {
  let relay: Relay;
  let site: string;
  let people: { viewer: Person; admin: Person };
  const errors: string[] = [];

  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    relay = await home.start();
    const owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    people = {
      viewer: await invite(relay, owner, "vera@example.com", "viewer", site),
      admin: await invite(relay, owner, "adam@example.com", "admin", site),
    };
    await relay.post(relay.key, { email: "ada@example.com", event: "purchase", orderId: "HOUR-1", value: 5, currency: "EUR" });
    const time = new Date(Date.now() - 4 * 24 * 3_600_000).toISOString();
    const listed = await owner.ask(`POST /sites/${site}/orders`, {
      orders: [{ orderId: "HOUR-2", time, value: 5, currency: "EUR" }],
    });
    expect(listed.status, listed.answer.text).toBe(200);
  });
  afterAll(() => expect(errors).toEqual([]));

  test(
    "a viewer finds every section and tab that the page names, and the order of an event",
    async () => {
      expect(places.length).toBeGreaterThan(8);
      const viewer = await user(relay, people.viewer);
      await viewer.open(`/sites/${site}`);
      for (const [section = "", tab] of places) {
        await viewer.page.getByRole("link", { name: section, exact: true }).first().click();
        await viewer.page.getByRole("heading", { level: 1, name: section }).waitFor();
        if (tab === undefined) continue;
        const link = viewer.page.getByRole("tab", { name: tab }).or(viewer.page.getByRole("link", { name: tab, exact: true }));
        await link.first().click();
        await expect
          .poll(() => link.first().evaluate((one) => one.matches('[aria-selected="true"], [aria-current="page"]')))
          .toBe(true);
      }
      await viewer.page.getByRole("link", { name: "Events", exact: true }).first().click();
      await field(viewer.page, "Search events").fill("HOUR-1");
      await viewer.page.getByRole("link", { name: "purchase" }).first().click();
      await viewer.page.getByRole("dialog").getByText("HOUR-1").first().waitFor();
      errors.push(...viewer.errors.scriptErrors);
      await viewer.context.close();
    },
    scenarioMs,
  );

  test(
    "an admin compares a list of orders, as the page says",
    async () => {
      expect(buttons).toEqual(["Compare"]);
      const admin = await user(relay, people.admin);
      await admin.open(`/sites/${site}/reconciliation`);
      await press(admin.page, "Compare");
      await sees(admin.page, "1 never received");
      errors.push(...admin.errors.scriptErrors);
      await admin.context.close();
    },
    scenarioMs,
  );
});
