// The overview's charts compare with the earlier period, and its key figures lead to the rows that they count.

import { beforeAll, expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { scenarioMs, user, type User } from "./users.ts";

inChromium("charts", () => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let owner: Person;
  let browser: User;

  beforeAll(async () => {
    home = await newInstallation("sqlite");
    relay = await home.start();
    owner = await becomeOwner(relay);
    receiver = await startReceiver();
    receiver.behave = ({ text }, response) => response.writeHead(text.includes("refused") ? 400 : 200).end("{}");
    browser = await user(relay, owner);
  }, scenarioMs);

  /** Adds a site with a webhook that refuses some events. */
  async function addSite(host: string) {
    const site = await home.addSite(host, "block_domains=spam.test");
    const settings = { url: receiver.url };
    await eventually("the relay knows the site", async () => (await owner.ask(`GET /sites/${site.id}`)).status === 200);
    expect((await owner.ask(`POST /sites/${site.id}/connections`, { platform: "webhook", settings })).status).toBe(200);
    const send = (orderId: string, more: Record<string, unknown> = {}) => {
      const event = { email: "ada@example.com", event: "purchase", orderId, value: 10, currency: "EUR", ...more };
      return eventually(`${orderId} is taken`, async () => (await relay.post(site.key, event)).status === 200);
    };
    return { site, send };
  }

  const chart = (name: string) => browser.page.getByRole("slider", { name });
  const legend = (name: string) => browser.page.locator(".cc-chart", { has: chart(name) }).locator("ul");

  test(
    "the earlier period is a pale line with a legend, in the tooltip, for screen readers and in the table; without data there is none",
    async () => {
      const { page, open, errors } = browser;
      const { site, send } = await addSite("charts.example");
      await send("A-1");
      await open(`/sites/${site.id}/overview?range=7d`);
      await chart("Conversions per day").waitFor();
      expect(await page.locator(".cc-chart-earlier").count()).toBe(0);
      // Before today there was no site.
      expect(await page.locator(".cc-chart-mark").count()).toBe(2);
      expect(await legend("Conversions per day").innerText()).toBe("Conversions\nSite added");
      expect(await chart("Conversions per day").getAttribute("aria-valuetext")).toMatch(/, Conversions: 1$/);
      // On a laptop the overview has two columns.
      await page.setViewportSize({ width: 1024, height: 900 });
      const card = (name: string) => page.locator("section", { has: chart(name) });
      const boxes = await Promise.all(["Conversions per day", "Value in EUR"].map((name) => card(name).boundingBox()));
      expect(boxes[0]?.y).toBe(boxes[1]?.y);
      expect((boxes[0]?.x ?? 0) + (boxes[0]?.width ?? 0)).toBeLessThan(boxes[1]?.x ?? 0);
      await page.setViewportSize({ width: 1280, height: 900 });
      // No card is stretched to the height of another one.
      const empty = await page.locator("main section.cc-card").evaluateAll((cards) =>
        cards.flatMap((one) => {
          const rest = one.getBoundingClientRect().bottom - (one.lastElementChild?.getBoundingClientRect().bottom ?? 0);
          return rest > 2 ? [`${one.querySelector("h2")?.textContent}: ${Math.round(rest)} px`] : [];
        }),
      );
      expect(empty).toEqual([]);

      const eventTime = new Date(Date.now() - 8 * dayMs);
      for (const [orderId, value] of [
        ["B-1", 20],
        ["B-2", 30],
      ] as const)
        await send(orderId, { value, eventTime: eventTime.toISOString() });
      const day = eventTime.toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
      const read = async (name: string) => {
        await chart(name).focus();
        const texts: (string | null)[] = [];
        for (let i = 0; i < 7; i++) {
          texts.push(await chart(name).getAttribute("aria-valuetext"));
          await page.keyboard.press("ArrowLeft");
        }
        return texts;
      };
      await eventually("the running hour is counted again", async () => {
        await open(`/sites/${site.id}/overview?range=7d`);
        await chart("Conversions per day").waitFor();
        return (await legend("Conversions per day").innerText()).includes("Earlier period");
      });
      expect(await legend("Conversions per day").innerText()).toMatch(/^Conversions\s+Earlier period\s+Site added$/);
      expect(await read("Conversions per day")).toContainEqual(
        expect.stringMatching(new RegExp(`, Conversions: 0, Earlier period, ${day}: 2$`)),
      );
      expect(await read("Value in EUR")).toContainEqual(
        expect.stringMatching(new RegExp(`, Value in EUR: €0\\.00, Earlier period, ${day}: €50\\.00$`)),
      );
      // Two charts have something to compare with; duplicates and bots have not.
      expect(await page.locator(".cc-chart-earlier").count()).toBe(2);
      const table = page.getByRole("table", { name: /^Conversions per day\. Site added: / });
      expect(await table.getByRole("columnheader").allInnerTexts()).toEqual(["Day", "Conversions", "Earlier period"]);
      expect(await table.getByRole("cell", { name: `Earlier period, ${day}: 2` }).count()).toBe(1);

      await chart("Conversions per day").focus();
      for (let i = 0; i < 7 && (await page.locator(".cc-chart-tip", { hasText: day }).count()) === 0; i++)
        await page.keyboard.press("ArrowLeft");
      expect(await page.locator(".cc-chart-tip").innerText()).toMatch(
        new RegExp(`Conversions\\s+0\\s+Earlier period, ${day}\\s+2`),
      );
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a small number is seen beside a large one, amounts of two currencies are named, and the account keeps the site",
    async () => {
      const { page, open, errors } = browser;
      const { site, send } = await addSite("small.example");
      await send("S-1", { value: 1_000_000 });
      await send("S-2", { value: 1, eventTime: new Date(Date.now() - 2 * dayMs).toISOString() });
      await send("S-3", { value: 5, currency: "USD" });
      await eventually("both days are charted", async () => {
        await open(`/sites/${site.id}/overview?range=7d`);
        await chart("Value in EUR").waitFor();
        return (await page.getByRole("button", { name: /^purchase.*€1,000,001\.00 \+ \$5\.00$/ }).count()) === 1;
      });
      const heights = await chart("Value in EUR")
        .locator("rect[data-tone=accent]")
        .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))).filter((height) => height > 0));
      expect(Math.min(...heights)).toBe(3);

      await page.getByRole("button", { name: /account and appearance/ }).click();
      await page.getByRole("menuitem", { name: "Account", exact: true }).click();
      await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
      const frame = page.getByRole("navigation", { name: "Sections" });
      await frame.getByRole("button", { name: "Site: small.example. Switch" }).waitFor();
      await frame.getByRole("link", { name: "Integrations" }).click();
      const titles = page.locator("main article h3");
      await titles.first().waitFor();
      // Connected ones come first, and then the one to begin with.
      expect((await titles.allInnerTexts()).slice(0, 2)).toEqual(["Webhook", "Sandbox"]);
      await page.getByRole("searchbox", { name: "Find a platform" }).fill("goo ads");
      await expect.poll(() => titles.allInnerTexts()).toEqual(["Google Ads"]);
      await page.getByRole("searchbox", { name: "Find a platform" }).fill("no such platform");
      await page.getByRole("status").getByText("Nothing found").waitFor();
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a key figure leads to exactly the rows that it counts or that it lacks",
    async () => {
      const { page, open, errors } = browser;
      const { site, send } = await addSite("tiles.example");
      await send("C-1", { clickIds: { gclid: "abc" } });
      await send("C-2", { event: "refused" });
      await send("C-3", { email: "bot@spam.test" });
      await send("C-4");
      const figures = async () =>
        (await owner.ask(`GET /sites/${site.id}/statistics?from=${Date.now() - 7 * dayMs}&to=${Date.now()}`)).json.totals;
      await eventually("all deliveries have ended and are counted", async () => {
        const { conversions, due, sent } = await figures();
        return conversions === 3 && due === 3 && sent === 2;
      });
      const tile = (name: RegExp) => page.locator("a.cc-tile").filter({ hasText: name });
      const rowsOf = async (name: RegExp) => {
        await open(`/sites/${site.id}/overview?range=7d`);
        await tile(name).click();
        const rows = page.locator("tbody tr[aria-rowindex]");
        await rows.first().waitFor();
        return (await rows.allInnerTexts()).map((text) => /C-\d/.exec(text)?.[0]).toSorted();
      };
      expect(await rowsOf(/^Conversions/)).toEqual(["C-1", "C-2", "C-4"]);
      expect(await rowsOf(/^Match rate/)).toEqual(["C-2", "C-4"]);
      expect(await rowsOf(/^Delivered/)).toEqual(["C-2"]);
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );
});
