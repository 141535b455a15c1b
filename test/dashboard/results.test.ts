// What became of sent conversions, in a real browser: match quality, confirmations and corrections, from the table to the trace.

import { beforeAll, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { hourMs } from "../../src/kernel/time.ts";
import { snapshotDay } from "../../src/store/confirmations/snapshots.ts";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner } from "../support/apiClient.ts";
import { setUpSite, withStore, type SiteSetup } from "../support/installation.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { storeSent } from "../support/sentEvents.ts";
import { settled } from "./pages.ts";
import { press, scenarioMs, sees, user, type User } from "./users.ts";

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
      const send = (orderId: string) =>
        storeSent(store, google, '{"requestId":"t-1"}', at, { orderId, value: 100, time: at });
      const lost = await send("A-LOST");
      const counted = await send("A-COUNTED");
      await send("A-OPEN");
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
      await store.corrections.addFound(siteId, null, counted.event.id, [
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
      await store.snapshots.add(
        { siteId, connectionId: meta.id },
        { day: snapshotDay(at), reports: [report] },
      );
    });
    relay = await home.start();
    browser = await user(relay, await becomeOwner(relay));
  }, scenarioMs);

  test(
    "the table shows all connections, and leads from what was not counted to its row and its trace",
    async () => {
      const { page, open, errors } = browser;
      await open(`/sites/${setup.siteId}/integrations/quality`);
      await settled(page);
      const table = page.getByRole("table", { name: "Match quality of the last 7 days" });
      const google = table.getByRole("row").filter({ hasText: "Google Ads" });
      await sees(google, "3 conversions");
      const cells = await google.getByRole("cell").allTextContents();
      // Confirmed and not counted.
      expect(cells.slice(-2)).toEqual(["1", "1"]);
      const meta = await table
        .getByRole("row")
        .filter({ hasText: "Meta" })
        .getByRole("cell")
        .allTextContents();
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
      await page.getByRole("switch", { name: "Correct refunded conversions" }).check({ force: true });
      await press(page, "Save");
      await sees(page, "Saved.");
    },
    scenarioMs,
  );
});
