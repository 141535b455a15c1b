// A platform from its registration to a broken token and back, against the stand-in's own sign-in pages.

import { afterAll, beforeAll, expect, test } from "vitest";
import { knownAt, revokedTokens, standinConnections } from "../../scripts/standinConnections.ts";
import { startStandins, type StandinHandle, type Standins } from "../../standins/shared/start.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { freePort } from "../support/servers/freePort.ts";
import { eventually, newInstallation, type Relay } from "../support/relay.ts";
import { checkLayer } from "./access.ts";
import { dialog, field, press, row, sees, scenarioMs, user, type User } from "./users.ts";

inChromium("a platform in the dashboard", () => {
  let standins: Standins;
  let meta: StandinHandle;
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;

  beforeAll(async () => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    standins = await startStandins({
      only: ["meta", "reddit", "pinterest"],
      rateLimits: false,
      redirectUris: [`${origin}/oauth/callback`],
    });
    meta = standins.of("meta");
    relay = await (
      await newInstallation("sqlite", {
        PORT: String(port),
        CLEANCAST_URL: origin,
        CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
        CLEANCAST_RETRY_SECONDS: "1",
        // The first check for alerts is then at a random moment within the hour, most likely after the test.
        CLEANCAST_ALERT_SECONDS: "3600",
      })
    ).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    browser = await user(relay, owner);
  });
  afterAll(() => standins.close());

  let orders = 0;
  async function convert(more: Record<string, unknown> = {}): Promise<string> {
    const orderId = `M-${(orders += 1)}`;
    const purchase = { email: "ada@customers.example", event: "purchase", value: 12, currency: "EUR" };
    const event = { ...purchase, orderId, ...more };
    expect((await relay.post(relay.key, event)).status).toBe(200);
    return orderId;
  }

  /** Agrees on the platform's own page. */
  async function agree(): Promise<void> {
    await browser.page.getByRole("heading", { name: "Sign in to the stand-in" }).waitFor();
    expect(browser.page.url()).toContain(meta.origin);
    await press(browser.page, "Allow");
    await sees(browser.page, "You are signed in");
  }

  async function pick(what: string, label: string, value: string): Promise<void> {
    await press(browser.page, `Choose ${what} from a list`);
    await checkLayer(browser.page, "scenes/integrations/platforms/ChoiceList.tsx");
    await browser.page.getByRole("option", { name: label }).click();
    await eventually(`${what} is chosen`, async () => (await field(browser.page, what).inputValue()) === value);
  }

  test(
    "a platform is connected by signing in, mapped and tested; after its token was revoked, reconnecting sends the parked deliveries",
    async () => {
      const { page, open } = browser;

      // The OAuth app makes the sign-in possible.
      await open(`/sites/${site}/settings/oauth-apps`);
      await press(page, "Register the OAuth app for Meta");
      const form = dialog(page, "OAuth app for Meta");
      await field(form, "Client ID").fill(knownAt("meta", "appId"));
      await field(form, "Client secret").fill(knownAt("meta", "appSecret"));
      await checkLayer(page, "scenes/settings/OAuthAppForm.tsx");
      await press(form, "Save");
      await sees(row(page, /^Meta/), /^registered$/);
      await press(row(page, /^Meta/), "Remove");
      await checkLayer(page, "scenes/settings/OAuthApps.tsx");
      await press(dialog(page, /^Remove/), "Cancel");
      await page.setViewportSize({ width: 390, height: 844 });
      await press(row(page, /^Meta/), "More actions");
      await checkLayer(page, "scenes/settings/OAuthApps.tsx");
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.reload();
      await sees(row(page, /^Meta/), knownAt("meta", "appId"));
      expect(await page.content()).not.toContain(knownAt("meta", "appSecret"));

      // The search has the platform with its mark.
      await page.keyboard.press("Control+k");
      await page.keyboard.type("connect meta");
      await page.getByRole("option", { name: "Connect Meta" }).locator("svg.cc-mark").waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/integrations\/meta$/);

      // Sign in at the platform, come back, and choose from the platform's own lists.
      await press(page, "Sign in with Meta");
      await agree();
      await pick("Ad account", "Example Shop", knownAt("meta", "adAccountId"));
      await pick("Dataset (pixel) ID", "Shop dataset", knownAt("meta", "pixelId"));

      // The events show which name leads to which, and the preview says so too.
      await page.getByRole("tab", { name: "Events" }).click();
      await page.getByLabel("Another event").fill("generate_lead");
      await press(page, "Add");
      await sees(page, "treated as lead");
      const nameField = page.getByLabel("Meta name for generate_lead");
      expect(await nameField.getAttribute("placeholder")).toBe("Lead");
      await sees(page, "purchase is sent as Purchase: Meta's name for it.");

      // A mapped field appears in the preview before it is saved.
      await page.getByRole("tab", { name: "Field mapping" }).click();
      const body = page.getByLabel("Body", { exact: true });
      await body.waitFor();
      expect(await body.textContent()).not.toContain("content_name");
      await page.getByLabel("Your field for custom_data.content_name").selectOption({ label: "Fixed text…" });
      await page.getByLabel("Fixed text for custom_data.content_name").fill("Winter sale");
      await eventually("the preview shows the mapped field", async () =>
        /"content_name": "Winter sale"/.test((await body.textContent()) ?? ""),
      );
      await press(page, "Connect Meta");
      await sees(page, "Meta connected and verified.");

      // A test event is sent in the platform's test mode, and the response is shown.
      await page.getByRole("tab", { name: "Test event" }).click();
      await press(page, "Send test event");
      await sees(page, "Not sent: it would be skipped");
      // The code that is missing is asked for here, saved, and used at once.
      await field(page, "Test event code").fill(knownAt("meta", "testEventCode"));
      await press(page, "Save the code and send");
      await sees(page, "Meta accepted it");
      expect(await page.getByLabel("Response", { exact: true }).textContent()).toContain('"events_received": 1');
      const sent = await page.getByLabel("Request", { exact: true }).textContent();
      expect(sent).toContain("Winter sale");
      expect(sent).not.toContain("EAA");

      await convert();
      await eventually("the platform has received the conversion", () =>
        meta.accepted.some(({ event }) => JSON.stringify(event).includes("Winter sale")),
      );

      // The customer revokes the permission: new conversions wait, and the dashboard shows why.
      meta.revokeTokens();
      const waiting = [await convert(), await convert()] as const;
      await open(`/sites/${site}/integrations`);
      const card = page.getByRole("article").filter({ has: page.getByRole("heading", { name: "Meta" }) });
      await eventually("the card shows that Meta needs reconnection", async () => {
        await page.reload();
        await card.waitFor();
        return (await card.getByText("needs reconnection").count()) > 0;
      });
      // The card has the button that mends it.
      await card.getByRole("link", { name: "Reconnect Meta" }).click();
      await sees(page, "Meta needs reconnection");
      await sees(page, /2 deliveries wait and will be sent after reconnection/);
      await sees(page, "Meta refused the token that is configured.");
      await page.getByRole("tab", { name: "Sync log" }).click();
      const table = page.getByRole("region", { name: "Deliveries" });
      for (const order of waiting) await sees(row(table, order), "parked");

      // So have the lists of events and of deliveries, once for all rows, also on a phone.
      const reconnect = { name: "Reconnect Meta" };
      await open(`/sites/${site}/events`);
      const repairs = page.getByRole("list", { name: "What can be repaired" });
      await sees(repairs, "2 deliveries to Meta below:");
      await repairs.getByRole("link", reconnect).waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      await open(`/sites/${site}/integrations/log`);
      await repairs.getByRole("link", reconnect).waitFor();
      await page.setViewportSize({ width: 1280, height: 900 });
      await repairs.getByRole("link", reconnect).click();
      await sees(page, "Meta needs reconnection");

      // Signing in again fixes it, and parked deliveries are sent.
      const before = meta.accepted.length;
      await press(page, "Reconnect");
      await agree();
      await press(page.locator("form"), "Reconnect");
      await sees(page, /2 parked deliveries are sent now/);
      await page.getByText("Meta needs reconnection").waitFor({ state: "detached" });
      await eventually("the platform has received the parked deliveries", () => meta.accepted.length === before + 2);
      await open(`/sites/${site}/integrations/log?platform=meta`);
      await eventually("the sync log shows both as sent", async () => {
        await page.reload();
        await row(table, /M-\d/).first().waitFor();
        const states = await Promise.all(waiting.map((order) => row(table, order).getByText("sent", { exact: true }).count()));
        return states.every((n) => n > 0);
      });

      // The attempts of the platform are charted, and the refused ones are counted by their reason.
      await open(`/sites/${site}/integrations/meta?tab=performance`);
      await sees(page, "Median response time");
      await page.getByRole("slider", { name: "Response time" }).waitFor();
      await page.getByRole("list", { name: "Why attempts failed" }).getByRole("button").first().waitFor();

      // The audit log says what was changed, with the value before, and of the token only that it was replaced.
      await open(`/sites/${site}/settings/audit`);
      const changes = row(page, "Connection changed");
      await sees(changes.filter({ hasText: "Test event code" }), knownAt("meta", "testEventCode"));
      await sees(changes.filter({ hasText: "Access token" }).first(), /replaced|set/);

      await open(`/sites/${site}/integrations/log?platform=meta`);
      await row(table, waiting[0]).waitFor();

      // A trace opens over the log and keeps the log's filter when it closes, also on the platform's own page.
      const trace = page.getByRole("dialog");
      await row(table, waiting[0]).getByRole("link", { name: "purchase" }).click();
      await trace.getByRole("heading", { name: "Meta" }).waitFor();
      await page.keyboard.press("Escape");
      await trace.waitFor({ state: "detached" });
      expect(page.url()).toMatch(/\/integrations\/log\?platform=meta$/);
      await open(`/sites/${site}/integrations/meta?tab=log`);
      await row(table, waiting[0]).click();
      await trace.getByRole("heading", { name: "Meta" }).waitFor();
      await page.reload();
      await trace.getByRole("heading", { name: "Meta" }).waitFor();
      await press(trace, "Close");
      await trace.waitFor({ state: "detached" });
      expect(page.url()).toMatch(/\/integrations\/meta\?tab=log$/);
      expect(browser.errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "a platform is connected with a pasted token, without any error on the page",
    async () => {
      const { page, open } = browser;
      const settings = standinConnections.reddit;
      const before = browser.errors.failedRequests.length;
      await open(`/sites/${site}/integrations/reddit`);
      await page.locator("[name=pixel_id]").fill(settings["pixel_id"] ?? "");
      await page.locator("[name=access_token]").fill(settings["access_token"] ?? "");
      await press(page, "Connect Reddit");
      await sees(page, /Reddit saved, not verified: Reddit can only be asked with test_id/);
      await page.waitForURL(/connection=/);
      await page.getByRole("button", { name: "Disconnect", exact: true }).waitFor();
      // Past conversions are offered only to an account that the platform has confirmed.
      expect(await dialog(page, "Also send past conversions?").count()).toBe(0);
      const others = page.getByRole("alert").filter({ hasNotText: /not verified/ });
      expect(await others.allTextContents()).toEqual([]);
      expect(page.url()).not.toContain("undefined");
      expect([...browser.errors.scriptErrors, ...browser.errors.failedRequests.slice(before)]).toEqual([]);

      // A test event is skipped for want of a setting, and the line above the list leads there.
      const { key } = (await owner.ask(`POST /sites/${site}/keys`, { name: "tests", mode: "test" })).json;
      const testEvent = { email: "ada@customers.example", event: "purchase", orderId: "T-1" };
      expect((await relay.post(key, testEvent)).status).toBe(200);
      await open(`/sites/${site}/events?mode=test`);
      await page.getByRole("link", { name: "Add a test event code" }).click();
      await page.waitForURL(/\/integrations\/reddit\?.*tab=test/);
    },
    scenarioMs,
  );

  test(
    "a connection that is not verified is asked again after its setting was added, and gets past conversions by a backfill",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/integrations/reddit`);
      await press(page, /^More settings/);
      await page.locator("[name=test_id]").fill(standinConnections.reddit["test_id"] ?? "");
      await press(page, "Save");
      await sees(page, "Saved and verified.");

      // What was skipped before keeps its reason, but there is nothing left to repair: it can be replayed.
      await open(`/sites/${site}/integrations/log?mode=test&platform=reddit`);
      await row(page, "T-1")
        .getByRole("button", { name: /^Replay/ })
        .waitFor();
      expect(await page.getByRole("link", { name: "Add a test event code" }).count()).toBe(0);
      await open(`/sites/${site}/events?mode=test`);
      await row(page, "T-1").waitFor();
      expect(await page.getByRole("link", { name: "Add a test event code" }).count()).toBe(0);
      await open(`/sites/${site}/integrations/reddit`);

      // A wrong token does not replace the one that works.
      await page.locator("[name=access_token]").fill(revokedTokens.reddit["access_token"] ?? "");
      await press(page, "Save");
      await sees(page, /^Reddit refuses the new credentials: .+ The connection keeps its present ones\.$/);
      await page.getByRole("button", { name: "Save anyway" }).waitFor();
      await press(page, "Discard");
      await page.getByRole("button", { name: "Save anyway" }).waitFor({ state: "detached" });

      await page.getByRole("tab", { name: "Backfill" }).click();
      await press(page, "Count conversions");
      await sees(page, /conversions? can be sent/);
      // A backfill of a paused connection waits, and can be cancelled.
      const { items } = (await owner.ask(`GET /sites/${site}/connections`)).json;
      const { id } = items.find((one: { platform: string }) => one.platform === "reddit");
      await owner.ask(`POST /sites/${site}/connections/${id}/pause`);
      await press(page, /^Send \d+ conversions?$/);
      await press(page.getByRole("group", { name: "Progress" }), "Cancel");
      await checkLayer(page, "scenes/integrations/platforms/Backfill.tsx");
      await press(dialog(page, "Cancel the backfill?"), "Cancel");
      await owner.ask(`POST /sites/${site}/connections/${id}/resume`);
      await sees(page, "The last backfill is done");
      expect(standins.of("reddit").accepted.length).toBeGreaterThan(0);
      await press(page, "Count conversions");
      await sees(page, "0 conversions can be sent");
      await sees(page, /already delivered/);
    },
    scenarioMs,
  );

  test(
    "connecting a platform offers the conversions of the last days, counted first, and sends them",
    async () => {
      const { page, open } = browser;
      const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
      const old = await convert({ eventTime: daysAgo(20) });
      const recent = await convert({ eventTime: daysAgo(3) });
      const settings = standinConnections.pinterest;
      const pinterest = standins.of("pinterest");
      await open(`/sites/${site}/integrations/pinterest`);
      await page.locator("[name=ad_account_id]").fill(settings["ad_account_id"] ?? "");
      await page.locator("[name=access_token]").fill(settings["access_token"] ?? "");
      await press(page, "Connect Pinterest");
      const offer = dialog(page, "Also send past conversions?");
      await sees(offer, `${orders - 1} conversions can be sent`);
      await sees(offer, "1: too old for Pinterest");
      await checkLayer(page, "scenes/integrations/platforms/BackfillOffer.tsx");
      expect(pinterest.accepted).toEqual([]);

      // Another period is counted again before anything can be sent.
      await field(offer, "Days back").fill("5");
      await press(offer, "Count conversions");
      await press(offer, `Send ${orders - 1} conversions`);
      await offer.waitFor({ state: "detached" });
      await page.getByRole("tab", { name: "Backfill" }).click();
      await sees(page, "The last backfill is done");
      await sees(page, /^Last 5 days/);
      const received = JSON.stringify(pinterest.accepted);
      expect(received).toContain(recent);
      expect(received).not.toContain(old);
      expect(browser.errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the trace offers neither repair nor replay for a connection that was removed",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/events?mode=test`);
      await row(page, "T-1").click();
      const step = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Reddit" }) });
      await step.getByRole("button", { name: /^Replay/ }).waitFor();
      const { items } = (await owner.ask(`GET /sites/${site}/connections`)).json;
      const reddit = items.find(({ platform }: { platform: string }) => platform === "reddit").id;
      expect((await owner.ask(`DELETE /sites/${site}/connections/${reddit}`)).status).toBe(200);
      await page.reload();
      await sees(step, "disconnected");
      expect(await step.getByRole("button", { name: /^Replay/ }).count()).toBe(0);
      expect(await step.getByRole("link").count()).toBe(0);
    },
    scenarioMs,
  );

  test(
    "only settings of several lines have a larger field",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/integrations/webhook`);
      const form = page.locator("form").first();
      await form.waitFor();
      const more = page.getByRole("button", { name: /^More settings/ });
      if (await more.count()) await more.click();
      await page.locator("textarea[name=template]").waitFor();
      // Its help text mentions JSON too.
      await page.locator("input[name=success]").waitFor();
    },
    scenarioMs,
  );

  test(
    "a connection names first the events that the site sends, and previews one that it sends itself",
    async () => {
      const { page, open } = browser;
      await convert({ event: "trial_started", orderId: "P-1" });
      const limited = await owner.ask(`POST /sites/${site}/connections`, {
        platform: "reddit",
        settings: standinConnections.reddit,
        events: ["trial_started"],
        verify: "never",
      });
      expect(limited.status, limited.answer.text).toBe(200);
      await eventually("the event is counted", async () => {
        await open(`/sites/${site}/integrations/reddit?tab=events`);
        const names = page.locator("main tbody tr td:first-child .cc-mono");
        await names.first().waitFor();
        return (await names.allTextContents()).includes("trial_started");
      });
      await expect
        .poll(() => page.getByRole("combobox", { name: "Event", exact: true }).inputValue())
        .toBe("Sample trial_started");
    },
    scenarioMs,
  );
});
