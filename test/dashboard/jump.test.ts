// ⌘K does things, with undo and as a command, and many sites are searched and sorted.

import { afterAll, beforeAll, expect, test } from "vitest";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { eventually, newInstallation, type Relay } from "../support/relay.ts";
import { checkLayer } from "./access.ts";
import { press, row, sees, scenarioMs, user, type User } from "./users.ts";

const sites = 12;

inChromium("the search, and many sites", () => {
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;

  beforeAll(async () => {
    relay = await (await newInstallation("sqlite")).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    for (let i = 1; i < sites; i++) await owner.ask("POST /sites", { host: `shop-${String.fromCharCode(96 + i)}.example` });
    browser = await user(relay, owner, { permissions: ["clipboard-read", "clipboard-write"] });
  });
  afterAll(() => expect(browser.errors.scriptErrors).toEqual([]));

  async function jump(text: string) {
    const { page } = browser;
    await page.keyboard.press("ControlOrMeta+K");
    await page.getByLabel("Jump to", { exact: true }).fill(text);
  }
  const option = (name: string | RegExp) => browser.page.getByRole("option", { name });

  test(
    "a verb with its platform is done at once, can be undone, and is a command",
    async () => {
      const { page, open } = browser;
      const stateOf = async () => (await owner.ask(`GET /sites/${site}/connections`)).json.items[0];
      await open(`/sites/${site}/events`);
      await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
      await jump("sandbox pause");
      await option("Pause Sandbox").waitFor();
      await checkLayer(page, "scenes/frame/Jump.tsx");
      await page.keyboard.press("ControlOrMeta+Enter");
      await sees(page, /^Copied: cleancast connection pause /);
      const { id } = await stateOf();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`cleancast connection pause ${id}`);
      await page.keyboard.press("Enter");
      await sees(page, "Sandbox is paused. Its deliveries wait.");
      expect((await stateOf()).state).toBe("paused");
      await press(page, "Undo");
      await eventually("it is resumed", async () => (await stateOf()).state === "active");

      // What was used is first the next time.
      await jump("");
      await page.getByRole("group", { name: "Recent" }).getByRole("option", { name: "Pause Sandbox" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByLabel("Jump to", { exact: true }).waitFor({ state: "detached" });
      await jump("dark");
      await option("Theme: Dark").click();
      expect(await page.locator("html").getAttribute("data-mantine-color-scheme")).toBe("dark");
      await jump("theme light");
      await page.keyboard.press("Enter");
      expect(await page.locator("html").getAttribute("data-mantine-color-scheme")).toBe("light");
    },
    scenarioMs,
  );

  test(
    "the beginning of an order id finds the order, and why leads to its answer",
    async () => {
      const { page, open } = browser;
      const key = (await owner.ask(`POST /sites/${site}/keys`, { name: "shop" })).json.key;
      for (const orderId of ["AO-1115", "AO-1116", "BO-1"])
        expect((await relay.post(key, { email: "ada@customers.example", event: "purchase", orderId })).status).toBe(200);
      await open(`/sites/${site}/overview`);
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
      await jump("ao-11");
      await option(/purchase · AO-1116/).waitFor();
      await option(/purchase · AO-1115/).waitFor();
      expect(await option(/BO-1/).count()).toBe(0);
      await page.keyboard.press("Escape");
      await jump("why AO-1115");
      await option("Why: what became of AO-1115?").waitFor();
      await option(/purchase · AO-1115/).click();
      await page.getByRole("dialog").getByRole("heading", { name: "Sandbox" }).waitFor();
      await open(`/sites/${site}/events?search=AO-111`);
      await row(page, "AO-1115").waitFor();
      await row(page, "AO-1116").waitFor();
      expect(await row(page, "BO-1").count()).toBe(0);

      // The documentation is searched for the same text.
      await jump("duplicate orders");
      await option(/^Search the documentation for/).click();
      await page.waitForURL(/\/docs\/\?q=duplicate%20orders$/);
      await page.locator("#found a").first().waitFor();
    },
    scenarioMs,
  );

  test(
    "an agency finds its site among many, in the list, in the menu and by a key",
    async () => {
      const { page, open } = browser;
      await open("/sites");
      const names = () => page.locator("tbody tr td:first-child a").allTextContents();
      await row(page, "shop-k.example").waitFor();
      expect((await names())[0]).toBe("localhost");
      await page.getByLabel("Sort by").selectOption("name");
      await eventually("it is sorted by name", async () => (await names()).join() === (await names()).toSorted().join());
      await page.getByLabel("Search sites").fill("shop-c");
      await eventually("one site is left", async () => (await names()).join() === "shop-c.example");
      await page.reload();
      await row(page, "shop-c.example").waitFor();
      expect(await names()).toEqual(["shop-c.example"]);
      await page.getByLabel("Search sites").fill("nowhere");
      await press(page, "Show all sites");
      await row(page, "shop-k.example").waitFor();

      await page.getByRole("button", { name: /^Site: .*Switch$/ }).click();
      expect(await page.getByRole("menuitem").count()).toBeLessThan(sites + 2);
      await page.getByRole("menuitem", { name: `Find one of ${sites} sites…` }).click();
      await page.getByLabel("Jump to", { exact: true }).fill("shop-k");
      await option("Switch to shop-k.example").click();
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
      await page.getByRole("button", { name: "Site: shop-k.example. Switch" }).waitFor();
    },
    scenarioMs,
  );
});
