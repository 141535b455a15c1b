// What became of sent conversions, in a real browser: match quality, confirmations and corrections, from the table to the trace.

import { beforeAll, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { snapshotDay } from "../../src/store/confirmations/snapshots.ts";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner } from "../support/apiClient.ts";
import { setUpSite, withStore, type SiteSetup } from "../support/installation.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { storeSent } from "../support/sentEvents.ts";
import { checkLayer } from "./access.ts";
import { rowHeights, settled } from "./pages.ts";
import { press, scenarioMs, sees, turnOn, user, type User } from "./users.ts";

inChromium("results of deliveries", () => {
  let relay: Relay;
  let setup: SiteSetup;
  let browser: User;

  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    setup = await setUpSite(home, [
      ["google_ads", { ...standinConnections.google_ads }],
      ["meta", { ...standinConnections.meta }],
    ]);
    const { siteId } = setup;
    await withStore(home, async (store, directory) => {
      const [google, meta] = setup.connections.map((id) => directory.connection(siteId, id));
      if (!google || !meta) return expect.unreachable("the connections");
      const at = Date.now() - hourMs;
      const key = { siteId, connectionId: google.id };
      const send = (orderId: string) => storeSent(store, google, '{"requestId":"t-1"}', at, { orderId, value: 100, time: at });
      const lost = await send("A-LOST");
      const counted = await send("A-COUNTED");
      await send("A-OPEN");
      // For comparison: two in the 30 days before the last 30.
      for (const orderId of ["A-OLD-1", "A-OLD-2"])
        await storeSent(store, meta, "{}", at - 40 * dayMs, { orderId, value: 10, time: at - 40 * dayMs });
      const question = { ...key, subject: "t-1", eventIds: [], acceptedAt: at, asked: 1, dueAt: at };
      const because = {
        state: "not counted",
        reason: "no ad click",
        detail: "1 of 1: CLICK_NOT_FOUND",
      } as const;
      const confirmed = { state: "confirmed", reason: null, detail: null } as const;
      await store.confirmations.answer(
        question,
        "google_ads",
        [
          { eventId: lost.event.id, confirmation: because, countedAs: because },
          { eventId: counted.event.id, confirmation: confirmed, countedAs: confirmed },
        ],
        0,
        at,
      );
      const { id } = counted.event;
      await store.corrections.addFound(siteId, null, { eventId: id, highestId: id, sinceId: id }, [
        {
          ...key,
          eventId: counted.event.id,
          state: "corrected",
          value: 70,
          source: "order list",
          reason: null,
          dueAt: at,
          updatedAt: at,
        },
      ]);
      await storeSent(store, meta, "{}", at, { orderId: "A-META" });
      const report = {
        event: "Purchase",
        score: 6.8,
        maxScore: 10,
        rating: null,
        keys: [],
        notes: ["freshness: real_time"],
      };
      await store.snapshots.add({ siteId, connectionId: meta.id }, { day: snapshotDay(at), reports: [report] });
    });
    relay = await home.start();
    browser = await user(relay, await becomeOwner(relay));
  }, scenarioMs);

  test(
    "the table shows all connections, and leads from what was not counted to its row and its trace",
    async () => {
      const { page, open, go, errors } = browser;
      await open(`/sites/${setup.siteId}/integrations/quality`);
      await settled(page);
      const table = page.getByRole("table", { name: "Match quality of the last 7 days" });
      const google = table.getByRole("row").filter({ hasText: "Google Ads" });
      await sees(google, "3 conversions");
      const cells = await google.getByRole("cell").allTextContents();
      // Confirmed and not counted.
      expect(cells.slice(-2)).toEqual(["1", "1"]);
      const meta = await table.getByRole("row").filter({ hasText: "Meta" }).getByRole("cell").allTextContents();
      expect(meta).toContain("Purchase 6.8 of 10");
      // Meta says nothing of single conversions: that is unknown, and not zero.
      expect(meta.slice(-2)).toEqual(["–", "–"]);

      await google.getByRole("link", { name: "1", exact: true }).click();
      await settled(page);
      const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
      await sees(page, "no ad click (1 of 1: CLICK_NOT_FOUND)");
      expect(await rows.count()).toBe(2);
      expect(await page.getByLabel("Confirmation", { exact: true }).inputValue()).toBe("not counted");
      await page.getByLabel("Confirmation", { exact: true }).selectOption("unknown");
      await sees(page, "the platform has not answered yet");
      await sees(page, "A-OPEN");
      expect(await rows.count()).toBe(2);
      await page.getByLabel("Confirmation", { exact: true }).selectOption("confirmed");
      await sees(page, "A-COUNTED");
      await rows.nth(1).getByRole("link").first().click();
      await sees(page.getByRole("dialog"), /€70\.00 left after a refund/);

      // A row with a confirmation is as tall as any other, or a long list would jump while it is scrolled.
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await go(`/sites/${setup.siteId}/integrations/log`);
        await rows.filter({ hasText: "not counted" }).first().waitFor();
        expect(await rowHeights(page), `${width} pixels`).toHaveLength(1);
      }
      await page.setViewportSize({ width: 1280, height: 900 });
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the overview compares with the period before, is filtered by a click, and its charts are read with the keyboard",
    async () => {
      const { page, go, errors } = browser;
      const at = `/sites/${setup.siteId}/overview`;
      await go(at);
      await settled(page);
      const tile = page.locator(".cc-tile").filter({ hasText: /^Conversions/ });
      await sees(tile, /^4$/);
      await sees(tile, "100% from 2");

      // A platform, and back.
      const filter = page.getByRole("button", { name: "Meta", exact: true });
      await filter.click();
      await page.waitForURL(/platform=meta/);
      await sees(tile, /^1$/);
      expect(await filter.getAttribute("aria-pressed")).toBe("true");
      await press(page, "Clear the filter");
      await page.waitForURL((url) => url.search === "");
      await sees(tile, /^4$/);

      // Another period, and days of one's own.
      await page.getByLabel("Time range").selectOption("7d");
      await page.waitForURL(/range=7d/);
      await sees(tile, "no earlier data");
      await page.getByLabel("Time range").selectOption("custom");
      const days = page.getByRole("dialog", { name: "Choose days" });
      const ago = (count: number) => new Date(Date.now() - count * dayMs).toISOString().slice(0, 10);
      await days.getByLabel("From").fill(ago(45));
      await days.getByLabel("Until (inclusive)").fill(ago(35));
      await checkLayer(page, "common/lists/PeriodSelect.tsx");
      await press(days, "Show");
      await page.waitForURL(/from=\d+&to=\d+/);
      await sees(tile, /^2$/);

      const chart = page.getByRole("slider", { name: "Conversions per day" });
      await chart.focus();
      const tip = page.locator(".cc-chart-tip");
      await page.keyboard.press("Home");
      await sees(tip, /^0$/);
      const first = await chart.getAttribute("aria-valuetext");
      const isFound = async () => (await chart.getAttribute("aria-valuetext"))?.endsWith("Conversions: 2") === true;
      for (let bars = 1; bars < 11 && !(await isFound()); bars++) await page.keyboard.press("ArrowRight");
      expect(await isFound()).toBe(true);
      expect(await chart.getAttribute("aria-valuetext")).not.toBe(first);
      await sees(tip, /^2$/);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/events\?/);
      await sees(page, "A-OLD-1");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a connection has a page with its keys, its confirmations by reason, and the platform's own words",
    async () => {
      const { page, go, errors } = browser;
      await go(`/sites/${setup.siteId}/integrations/quality/${setup.connections[0]}`);
      await settled(page);
      await sees(page, "1 not counted: no ad click");
      await sees(page, "The platform gives no report, or the token may not read it.");
      await go(`/sites/${setup.siteId}/integrations/quality/${setup.connections[1]}`);
      await settled(page);
      await sees(page, "This platform says nothing of a conversion after it accepted it.");
      await sees(page, "freshness: real_time");
      await go(`/sites/${setup.siteId}/integrations/quality/nothing`);
      await sees(page, "Connection not found");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the switch of corrections is saved",
    async () => {
      const { page, go } = browser;
      await go(`/sites/${setup.siteId}/integrations/quality`);
      await settled(page);
      await turnOn(page, "Correct refunded conversions");
      await press(page, "Save");
      await sees(page, "Saved.");
    },
    scenarioMs,
  );
});
