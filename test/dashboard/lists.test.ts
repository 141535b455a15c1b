// Long lists: only the rows on the screen are rendered, filters are checked, and chosen rows are replayed after a count. Then
// what the first load costs, and what a page says while the relay does not answer.

import { beforeAll, expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { call, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { freePort } from "../support/servers/freePort.ts";
import { startReceiver } from "../support/receiver.ts";
import { report } from "../support/visits.ts";
import { hasFocus } from "./access.ts";
import { countLoad } from "./firstLoad.ts";
import { findOverflow, rowHeights, settled } from "./pages.ts";
import { dialog, press, scenarioMs, sees, turnOn, user, type User } from "./users.ts";

const events = 60;

inChromium("lists", () => {
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
    for (let n = 1; n <= events; n++) {
      const event = { email: `p${n}@example.com`, event: "purchase", orderId: `L-${n}`, value: n };
      expect((await relay.post(site.key, event)).status).toBe(200);
    }
    await report(relay, site.host, "visit", { page: `https://${site.host}/` });
    owner = await becomeOwner(relay);
    browser = await user(relay, owner);
  }, scenarioMs);

  test(
    "events have one row each, are filtered by value, and chosen ones are counted before a replay",
    async () => {
      const { page, open, errors } = browser;
      await open(`/sites/${site.id}/events`);
      const table = page.getByRole("table", { name: "Events" });
      await table.getByText("L-60", { exact: true }).waitFor();
      expect(await table.getAttribute("aria-rowcount")).toBe("51");
      expect(await table.locator("tbody tr[aria-rowindex]").count()).toBeLessThan(50);
      const row = table.locator("tr", { hasText: "L-60" });
      await row.getByRole("link", { name: /^Trace of purchase L-60\. Sandbox: sent/ }).waitFor();
      expect(await rowHeights(page)).toHaveLength(1);

      // The oldest event is found by scrolling alone.
      await table.locator("tbody tr[aria-rowindex]").last().scrollIntoViewIfNeeded();
      while ((await table.getByText("L-1", { exact: true }).count()) === 0) await page.mouse.wheel(0, 600);

      await page.evaluate(() => scrollTo(0, 0));
      await page.getByRole("checkbox", { name: "Select purchase L-60" }).check();
      await page.getByRole("checkbox", { name: "Select purchase L-59" }).check();
      await sees(page, "2 selected");
      await page.getByRole("button", { name: "Replay…" }).click();
      await sees(page.getByRole("dialog"), "No delivery can be replayed.");
      await page.keyboard.press("Escape");

      await open(`/sites/${site.id}/events?minValue=58`);
      await table.getByText("L-58", { exact: true }).waitFor();
      expect(await table.locator("tbody tr[aria-rowindex]").count()).toBe(3);
      expect(errors.scriptErrors).toEqual([]);
      expect(errors.failedRequests).toEqual([]);

      // An unknown filter is refused.
      await open(`/sites/${site.id}/events?stat=sent`);
      await sees(page, "There is no field stat here. Check its spelling.");
      await page.getByRole("button", { name: "Clear filters" }).click();
      await table.getByText("L-60", { exact: true }).waitFor();
      await open(`/sites/${site.id}/integrations/log?stat=sent`);
      await sees(page, "There is no field stat here. Check its spelling.");
      await page.getByRole("button", { name: "Clear", exact: true }).click();
      await page.getByRole("table", { name: "Deliveries" }).getByText("L-60", { exact: true }).waitFor();
      expect(page.url()).toMatch(/\/integrations\/log$/);
      errors.failedRequests.length = 0;
    },
    scenarioMs,
  );

  test(
    "a trace gives the focus back to its row, and the lists fit on a phone, with their filters behind one button",
    async () => {
      const { page, open, errors } = browser;
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of ["events", "integrations/log"]) {
        await open(`/sites/${site.id}/${path}`);
        await settled(page);
        expect(await findOverflow(page)).toEqual([]);
        // Rows are on the first screen, and the header names the site.
        const link = page.locator("tbody a[data-row-link]").first();
        expect((await link.boundingBox())?.y).toBeLessThan(700);
        await page.getByRole("banner").getByRole("button", { name: "Site: shop.example. Switch" }).waitFor();
        await link.focus();
        await page.keyboard.press("Enter");
        await page.getByRole("dialog").getByText("Duplicate check").waitFor();
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await page.waitForFunction(() => document.activeElement?.hasAttribute("data-row-link") === true);
        await press(page, "Filters");
        await page.getByLabel("Platform", { exact: true }).selectOption({ label: "Sandbox" });
        await page.getByLabel("Time", { exact: true }).selectOption("7d");
        await page.getByRole("button", { name: "Filters (2)", expanded: true }).waitFor();
        await press(page, "Filters (2)");
        await page.getByLabel("Platform", { exact: true }).waitFor({ state: "detached" });
        await page.getByRole("button", { name: /^Clear/ }).waitFor();
      }
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "an event with many deliveries shows those that fit and the number of the others, at every width",
    async () => {
      const { id } = (await owner.ask("POST /sites", { host: "many.example" })).json;
      const { key } = (await owner.ask(`POST /sites/${id}/keys`, { name: "shop" })).json;
      const receiver = await startReceiver();
      const platforms = Array.from({ length: 9 }, (_, i) => `/${i + 1}`);
      for (const path of platforms) {
        const settings = { url: `${receiver.url}${path}` };
        const connected = await owner.ask(`POST /sites/${id}/connections`, { platform: "webhook", settings });
        expect(connected.status, connected.answer.text).toBe(200);
      }
      const refuse = (refused: string, status: number) => {
        receiver.behave = ({ path }, response) => response.writeHead(path === refused ? status : 200).end("{}");
      };
      const statesOf = async (orderId: string) => {
        const { items } = (await owner.ask(`GET /sites/${id}/events?search=${orderId}`)).json;
        return (items[0]?.deliveries ?? []).map((one: { state: string }) => one.state) as string[];
      };
      for (const [orderId, path, status] of [
        ["W-1", "none", 200],
        ["W-2", "/1", 400],
        ["W-3", "/2", 401],
      ] as const) {
        refuse(path, status);
        expect((await relay.post(key, { email: "a@example.com", event: "lead", orderId })).status).toBe(200);
        await eventually("all deliveries have ended", async () => {
          const states = await statesOf(orderId);
          return states.length === 9 && !states.includes("queued");
        });
      }

      const { page, open, errors } = browser;
      for (const width of [1600, 1280, 1024, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await open(`/sites/${id}/events`);
        await page.locator("tr.cc-row").nth(2).waitFor();
        await settled(page);
        const rows = await page.locator("tr.cc-row").evaluateAll((all) =>
          all.map((row) => {
            const cell = row.querySelector("td:last-child") as HTMLElement;
            const space = cell.getBoundingClientRect();
            const marks = [...cell.querySelectorAll(".cc-delivery")];
            const isSeen = (one: Element) => {
              const { top, right, bottom } = one.getBoundingClientRect();
              return top >= space.top && right <= space.right && bottom <= space.bottom;
            };
            const problem = cell.querySelector(".cc-deliveries > .cc-strong");
            const more = /^\+(\d+)$/.exec(marks.at(-1)?.textContent ?? "")?.[1];
            return {
              isCut: ![...marks, ...(problem ? [problem] : [])].every(isSeen),
              deliveries: more === undefined ? marks.length : marks.length - 1 + Number(more),
              problem: problem?.textContent ?? null,
            };
          }),
        );
        const shown = { isCut: false, deliveries: 9 };
        expect([width, rows]).toEqual([
          width,
          [
            { ...shown, problem: "1 parked" },
            { ...shown, problem: "1 rejected" },
            { ...shown, problem: null },
          ],
        ]);
        // What can be mended is said once above the rows.
        const repairs = page.getByRole("list", { name: "What can be repaired" }).getByRole("listitem");
        expect(await repairs.allInnerTexts()).toEqual([
          expect.stringMatching(/^1 delivery to Webhook below:\s+Reconnect Webhook$/),
        ]);
      }
      // In the sync log, the deliveries of an event are a group: its order is said once.
      await page.setViewportSize({ width: 1280, height: 1600 });
      await open(`/sites/${id}/integrations/log`);
      await page.locator("tr.cc-row").nth(26).waitFor();
      const orders = await page.locator("tr.cc-row td:nth-child(3)").allInnerTexts();
      expect(orders.filter(Boolean)).toHaveLength(3);
      expect(orders.map((order, i) => (order ? i : null)).filter((i) => i !== null)).toEqual([0, 9, 18]);
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "test data is shown by one switch, which is kept from page to page, with a sign on each, and never among live data",
    async () => {
      const { page, open, errors } = browser;
      await page.setViewportSize({ width: 1280, height: 900 });
      const { key } = (await owner.ask(`POST /sites/${site.id}/keys`, { name: "staging", mode: "test" })).json;
      await open(`/sites/${site.id}/events?mode=test`);
      await sees(page, "No test events yet");
      expect(await page.getByRole("link", { name: "Import past conversions" }).count()).toBe(0);
      const tried = { email: "ada@example.com", event: "lead", orderId: "T-1" };
      await eventually("the test key works", async () => (await relay.post(key, tried)).status === 200);
      const sign = page.getByRole("status").filter({ hasText: /never counted and never sent as live/ });
      const testRow = page.getByText("T-1", { exact: true });
      const live = page.getByText("L-60", { exact: true });
      const inNavigation = (name: string) => page.getByRole("navigation").getByRole("link", { name });

      await open(`/sites/${site.id}/events?mode=unknown`);
      await live.waitFor();
      expect([await testRow.count(), await sign.count()]).toEqual([0, 0]);
      await turnOn(page, "Test data");
      await testRow.waitFor();
      await sign.waitFor();
      expect(await live.count()).toBe(0);
      expect(page.url()).toMatch(/\/events\?mode=test$/);

      await inNavigation("Overview").click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await sign.waitFor();
      await page.getByRole("heading", { name: "Newest events" }).waitFor();
      const feed = page.locator("section", { has: page.getByRole("heading", { name: "Newest events" }) }).locator("li");
      await feed.first().waitFor();
      expect(await feed.allInnerTexts()).toEqual([expect.stringContaining("lead")]);
      expect(await page.locator(".cc-tile").count()).toBe(0);
      await feed.getByRole("link").click();
      await sees(page.getByRole("dialog"), "Duplicate check");
      await sees(page.getByRole("dialog"), /is a test event/);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      await inNavigation("Integrations").click();
      await page.getByRole("tab", { name: "Sync log" }).click();
      await testRow.waitFor();
      await sign.waitFor();
      expect(page.url()).toMatch(/\/integrations\/log\?mode=test$/);
      await press(page, "Replay…");
      await sees(page.getByRole("dialog"), /^Choose which deliveries/);
      await press(page.getByRole("dialog"), "All rejected");
      await sees(page.getByRole("dialog"), "No delivery can be replayed.");
      await page.keyboard.press("Escape");
      // Clearing the filters does not leave the test data.
      await page.getByLabel("State", { exact: true }).selectOption("sent");
      await page.waitForURL(/state=sent/);
      await press(page, "Clear");
      await page.waitForURL(/\/integrations\/log\?mode=test$/);
      await page.getByRole("switch", { name: "Test data" }).press("Space");
      await live.waitFor();
      await sign.waitFor({ state: "detached" });
      expect(await testRow.count()).toBe(0);
      expect(page.url()).toMatch(/\/integrations\/log$/);

      // What is not found among live events may be a test.
      await open(`/sites/${site.id}/events?search=T-1`);
      await press(page, "Show test data");
      await testRow.waitFor();

      // A link has the mode of what it leads to: live figures, a found event and the others of its order, and a saved view.
      await open(`/sites/${site.id}/configuration/traffic?mode=test`);
      await page.getByRole("link", { name: "Filtered events" }).click();
      await page.waitForURL(/\/events\?status=filtered$/);
      await press(page, "Views");
      await page.getByRole("menuitem", { name: "Save this view…" }).click();
      await page.getByLabel("Name of this view").fill("Filtered");
      await press(page.getByRole("dialog"), "Save");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("T-1");
      await page.getByRole("option", { name: /T-1.*test event/ }).click();
      await page.waitForURL(/\/events\/[^/]+\?mode=test$/);
      await page.getByRole("link", { name: "All events of this order" }).click();
      await page.waitForURL(/\/events\?search=T-1&mode=test$/);
      await press(page, "Views");
      await page.getByRole("menuitem", { name: "Filtered" }).click();
      await page.waitForURL(/\/events\?status=filtered$/);
      // The last view that is deleted leaves the focus to the title of the dialog.
      await press(page, "Views");
      await page.getByRole("menuitem", { name: "Manage views…" }).click();
      await press(dialog(page, "Saved views"), "Delete the view Filtered");
      await hasFocus(dialog(page, "Saved views").getByRole("heading"));
      await page.keyboard.press("Escape");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the count of waiting deliveries leads to all of them, live and test",
    async () => {
      const { page, open, errors } = browser;
      const { id } = (await owner.ask("POST /sites", { host: "waiting.example" })).json;
      const connected = await owner.ask(`POST /sites/${id}/connections`, {
        platform: "sandbox",
        settings: {},
      });
      expect(connected.status, connected.answer.text).toBe(200);
      const { items } = (await owner.ask(`GET /sites/${id}/connections`)).json;
      expect((await owner.ask(`POST /sites/${id}/connections/${items[0].id}/pause`)).status).toBe(200);
      for (const mode of ["live", "test"]) {
        const { key } = (await owner.ask(`POST /sites/${id}/keys`, { name: mode, mode })).json;
        const event = { email: "ada@example.com", event: "lead", orderId: `${mode}-1` };
        await eventually(`the ${mode} key works`, async () => (await relay.post(key, event)).status === 200);
      }
      await open("/sites");
      const row = page.getByRole("row").filter({ hasText: "waiting.example" });
      await row.getByRole("link", { name: "2", exact: true }).click();
      const table = page.getByRole("table", { name: "Deliveries" });
      await table.getByText("live-1", { exact: true }).waitFor();
      await table.getByText("test-1", { exact: true }).waitFor();
      expect(await table.locator("tbody tr[aria-rowindex]").count()).toBe(2);
      await sees(page, "Live and test deliveries.");
      await press(page, "Show live data");
      await table.getByText("test-1", { exact: true }).waitFor({ state: "detached" });
      await table.getByText("live-1", { exact: true }).waitFor();
      expect(page.url()).toMatch(/\/integrations\/log\?state=waiting$/);
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "new events wait for a click, which puts them above the rows without reading the list again",
    async () => {
      const { page, open, errors } = browser;
      const fresh = await home.addSite("fresh.example");
      const send = async (orderId: string, value: number) => {
        const event = { email: "ada@example.com", event: "lead", orderId, value };
        await eventually(`${orderId} is taken`, async () => (await relay.post(fresh.key, event)).status === 200);
      };
      await send("N-1", 1);
      await open(`/sites/${fresh.id}/events`);
      const table = page.getByRole("table", { name: "Events" });
      await table.getByText("N-1", { exact: true }).waitFor();
      let reads = 0;
      page.on("request", (request) => {
        if (/\/events(\?|$)/.test(new URL(request.url()).pathname)) reads += 1;
      });
      await send("N-2", 2);
      await send("N-3", 3);
      await press(page, "Show 2 new events");
      await table.getByText("N-3", { exact: true }).waitFor();
      await send("N-4", 4);
      await press(page, "Show 1 new event");
      await table.getByText("N-4", { exact: true }).waitFor();
      const orders = await table.locator("tbody tr[aria-rowindex]").allInnerTexts();
      expect(orders.map((text) => /N-\d/.exec(text)?.[0])).toEqual(["N-4", "N-3", "N-2", "N-1"]);
      expect(reads).toBe(0);
      // With a filter only the relay knows which ones belong to the list.
      await open(`/sites/${fresh.id}/events?minValue=3`);
      await table.getByText("N-3", { exact: true }).waitFor();
      expect(await table.locator("tbody tr[aria-rowindex]").count()).toBe(2);
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the first load of the sign-in page, the overview and the events stays within its budget",
    async () => {
      const { page, open } = browser;
      await page.setViewportSize({ width: 1280, height: 900 });
      // The first steps of a new site are loaded besides.
      const { id } = (await owner.ask("POST /sites", { host: "new.example" })).json;
      const fresh = await countLoad(
        page,
        () => open(`/sites/${id}/overview`),
        () => page.getByRole("heading", { name: /^First conversion/ }).waitFor(),
      );
      expect(fresh.requests, fresh.paths.join("\n")).toBeLessThanOrEqual(14);
      // The browser takes Brotli from this machine, as over HTTPS. The build checks what gzip makes of it: at most 250 KB.
      expect(fresh.bytes).toBeLessThanOrEqual(222_000);
      const stranger = await user(relay, null);
      const before = await countLoad(
        stranger.page,
        () => stranger.open("/sign-in"),
        () => stranger.page.getByRole("button", { name: "Sign in" }).waitFor(),
      );
      expect(before.requests, before.paths.join("\n")).toBeLessThanOrEqual(4);
      expect(before.bytes).toBeLessThanOrEqual(150_000);
      const receiver = await startReceiver();
      await owner.ask(`POST /sites/${site.id}/connections`, {
        platform: "webhook",
        settings: { url: receiver.url },
      });
      // All but the domain: localhost cannot be verified.
      await eventually("the first steps are done", async () => {
        const { steps } = (await owner.ask(`GET /sites/${site.id}/checklist`)).json;
        return steps.every((one: { step: string; done: boolean }) => one.done || one.step === "domain");
      });
      const overview = await countLoad(
        page,
        () => open(`/sites/${site.id}/overview`),
        () => page.getByRole("slider", { name: "Conversions per day" }).waitFor(),
      );
      expect(overview.paths).toContain(`/api/v1/sites/${site.id}/statistics`);
      expect(overview.requests, overview.paths.join("\n")).toBeLessThanOrEqual(15);
      expect(overview.bytes).toBeLessThanOrEqual(222_000);
      const list = await countLoad(
        page,
        () => open(`/sites/${site.id}/events`),
        () => page.getByText("L-60", { exact: true }).waitFor(),
      );
      expect(list.requests, list.paths.join("\n")).toBeLessThanOrEqual(15);
      expect(list.bytes).toBeLessThanOrEqual(262_000);
    },
    scenarioMs,
  );

  test(
    "a long list loads as it is scrolled, keeps few rows in the document, and shows each in its place",
    async () => {
      const long = await home.addSite("long.example");
      const all = Array.from({ length: 2_000 }, (_, i) => ({
        email: "ada@example.com",
        event: "purchase",
        orderId: `N-${i + 1}`,
      }));
      for (let sent = 0; sent < all.length; sent += 500) {
        const body = JSON.stringify({ events: all.slice(sent, sent + 500) });
        const headers = { "X-CC-Api-Key": long.key, "Content-Type": "application/json" };
        const answer = await call(relay.url, { path: "/__cc/inbound/batch", headers, body });
        expect(answer.status, answer.text).toBe(200);
      }
      const { page, open, errors } = browser;
      await open(`/sites/${long.id}/events`);
      await page.getByText("N-2000", { exact: true }).waitFor();
      const { most, wrong, blank } = await page.evaluate(async (count) => {
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        const rows = () => [...document.querySelectorAll("tbody tr[aria-rowindex]")];
        const loaded = () => Number(document.querySelector("table")?.getAttribute("aria-rowcount")) - 1;
        const found = { most: 0, wrong: [] as string[], blank: 0 };
        const look = () => {
          found.most = Math.max(found.most, rows().length);
          for (const row of rows()) {
            const order = `N-${count + 2 - Number(row.getAttribute("aria-rowindex"))}`;
            if (![...row.querySelectorAll("td")].some((cell) => cell.textContent === order))
              found.wrong.push(`${order} is not in ${row.textContent}`);
          }
        };
        while (loaded() < count) {
          scrollTo(0, document.documentElement.scrollHeight);
          await frame();
          look();
        }
        for (const part of [1, 0.5, 0.123, 0.777, 0]) {
          scrollTo(0, part * (document.documentElement.scrollHeight - innerHeight));
          const isBlank = () => !document.elementFromPoint(innerWidth / 2, innerHeight * 0.6)?.closest("tr[aria-rowindex]");
          await frame();
          // A busy browser takes some frames to render the rows.
          for (let frames = 0; frames < 600 && isBlank(); frames++) await frame();
          look();
          if (isBlank()) found.blank += 1;
        }
        return found;
      }, all.length);
      expect(wrong).toEqual([]);
      expect(blank).toBe(0);
      expect(most).toBeLessThan(60);
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "while the relay does not answer, the page says from when its numbers are",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site.id}/events`);
      await page.getByText("L-60", { exact: true }).waitFor();
      const notice = page.getByText(/^This page shows the state of .*\d+:\d\d/);
      expect(await notice.count()).toBe(0);
      await relay.stop();
      await notice.waitFor();
      await page.getByText("L-60", { exact: true }).waitFor();
      relay = await home.start();
      await notice.waitFor({ state: "detached" });
    },
    scenarioMs,
  );
});
