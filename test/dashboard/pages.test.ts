// Opens every page with hostile and broken texts: no script of theirs runs, no page breaks, and all pages stay accessible.

import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { becomeOwner, invite, password, type Person } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report } from "../support/visits.ts";
import { checkLayer, coloursOnly, findViolations, hasFocus, layersOf } from "./access.ts";
import { findBrokenWords, findCutOff, findOverflow, pagesOf, rowHeights, settled } from "./pages.ts";
import { choose, dialog, press, sees, scenarioMs, takeSecret, user, type User } from "./users.ts";

const image = `<img src=x onerror=hacked=1>`;
const script = `"><script>hacked=1</script>`;
const rightToLeft = "\u202Emoc.live\u2066\u200F";
const family = "👩‍👩‍👧‍👦🏳️‍🌈";
const longWord = "W".repeat(10_000);
const name = `${image}${script}${rightToLeft}${family}`;
const wideName = "M".repeat(100);

async function emulate(page: Page, colorScheme: "light" | "dark", width: number): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  await page.waitForFunction(
    (wanted) => location.protocol === "about:" || document.documentElement.dataset["mantineColorScheme"] === wanted,
    colorScheme,
  );
}

inChromium("every page", () => {
  let relay: Relay;
  let owner: Person;
  let site: string;
  let paths: string[];
  let browser: User;

  beforeAll(async () => {
    relay = await (await newInstallation("sqlite", { CLEANCAST_RETRY_SECONDS: "1" })).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    const change = async (route: string, body: unknown) => {
      const { status, json, answer } = await owner.ask(route, body);
      expect(status, `${route}: ${answer.text}`).toBe(200);
      return json;
    };
    await change(`PATCH /sites/${site}`, { name: name.slice(0, 100) });
    const { key } = await change(`POST /sites/${site}/keys`, {
      name: name.slice(0, 100),
      mode: "live",
      expiresAt: null,
    });
    await change(`POST /sites/${site}/keys`, { name: wideName, mode: "test", expiresAt: null });
    await change("POST /api-keys", { name: name.slice(0, 100), site, scopes: ["read"], expiresAt: null });
    await change("POST /api-keys", { name: wideName, site, scopes: ["read"], expiresAt: null });
    await change("PATCH /me", { name: name.slice(0, 100) });

    // A site whose first steps are still shown.
    const fresh = await change("POST /sites", { host: "new.example" });
    await change(`POST /sites/${fresh.id}/keys`, { name: wideName, mode: "live", expiresAt: null });

    // A platform and a webhook with hostile responses.
    const receiver = await startReceiver();
    receiver.behave = ({ text }, response) =>
      response
        .writeHead(text.includes("refused") ? 400 : 200, { "content-type": "text/html" })
        .end(`</pre></textarea><svg onload=hacked=1>${name}${longWord}`);
    await change(`POST /sites/${site}/connections`, {
      platform: "webhook",
      settings: { url: `${receiver.url}/?q=${encodeURIComponent(name)}${"x".repeat(500)}` },
    });
    const webhook = await change(`POST /sites/${site}/webhooks`, {
      url: `${receiver.url}/${"y".repeat(300)}?${encodeURIComponent(name)}`,
      sendEmpty: true,
    });
    await change(`POST /sites/${site}/webhooks/${webhook.webhook.id}/test`, undefined);
    await change(`PUT /sites/${site}/data-export`, {
      to: `s3://hostile-bucket/${name.replaceAll(/[?#\p{Cc}]/gu, "")}`,
      endpoint: receiver.url,
      keyId: "AKEXAMPLE",
      secret: "s3cret",
    });
    await change(`PATCH /sites/${site}/settings`, {
      settings: { deny_user_agents: image, alert_success_rate: "99" },
    });
    await change("POST /members/invitations", {
      email: `${"i".repeat(60)}@example.com`,
      role: "viewer",
      site,
    });
    await invite(relay, owner, "mallory@example.com", "viewer", site);

    // A source with a hostile name and hostile requests.
    const added = await change(`POST /sites/${site}/sources`, {
      kind: "custom",
      name: name.slice(0, 100),
      settings: { email: "email", type: "type", keep_requests: "on" },
    });
    const hostile = {
      email: "mallory@customers.example",
      type: image,
      [image]: script,
      long: { [longWord.slice(0, 200)]: name },
    };
    const taken = await call(relay.url, {
      path: new URL(added.address).pathname,
      headers: { "Content-Type": "application/json", Host: "localhost" },
      body: JSON.stringify(hostile),
    });
    expect(taken.status, taken.text).toBe(200);

    // Visits, of a person and of bots.
    const agent = `Mozilla/5.0 (compatible; AhrefsBot/7.0) ${image}${script}`;
    const params = { gclid: name, utm_campaign: name, utm_source: longWord.slice(0, 300), fbclid: "f" };
    const page = `https://localhost/${encodeURIComponent(image)}`;
    const seen = [
      await report(relay, "localhost", "visit", { page, params }, { "User-Agent": agent }),
      await report(relay, "localhost", "identify", {
        emails: [sha256Of("mallory@customers.example")],
        page,
        params,
      }),
    ];
    const robot = { emails: [sha256Of("robot@customers.example")], page, params };
    seen.push(await report(relay, "localhost", "identify", robot, { "User-Agent": agent }));
    expect(seen.map(({ status }) => status)).toEqual([204, 204, 204]);

    // Accepted and refused events.
    const sent = [
      {
        event: image,
        orderId: name,
        items: [
          {
            id: image.slice(0, 128),
            name: script,
            category: longWord.slice(0, 512),
            brand: name,
            price: 1e12,
            quantity: 1e6,
          },
          { id: longWord.slice(0, 128) },
        ],
      },
      { event: script, orderId: `refused ${image}` },
      { event: `${rightToLeft}${family}`, orderId: longWord.slice(0, 200) },
      { event: longWord.slice(0, 100), orderId: "Order 4711" },
      { event: "purchase", orderId: "Order 4712", [image]: script, plan: longWord, first_name: name },
    ];
    for (const more of sent) {
      const answer = await relay.post(key, {
        email: "mallory@customers.example",
        value: 1e12,
        currency: "EUR",
        ...more,
      });
      expect(answer.status, answer.text).toBe(200);
    }
    await relay.post(key, { email: "robot@customers.example", event: "robot" });
    await relay.post(key, { email: "nobody", event: image });
    await relay.post("cc_wrong", { email: "a@b.example", event: image });
    await call(relay.url, {
      headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      body: image,
    });

    const events = await owner.ask(`GET /sites/${site}/events`);
    const visits = async () => (await owner.ask(`GET /sites/${site}/bots`)).json.items;
    await eventually("the bot visit is stored", async () => (await visits()).length > 0);
    const [bot] = await visits();
    const traced = events.json.items.find((one: { event: string }) => one.event === image) ?? events.json.items[0];
    paths = pagesOf(site, {
      event: traced.id,
      webhook: webhook.webhook.id,
      visit: bot.id,
      source: added.source.id,
    });
    paths.push(`/sites/${fresh.id}/overview?range=24h`);
    browser = await user(relay, owner, { userAgent: `Mozilla/5.0 ${image}` });
    // Another session, of a browser with a hostile name.
    await call(relay.url, {
      path: "/api/v1/session",
      headers: { "Content-Type": "application/json", "User-Agent": `${image}${script}` },
      body: JSON.stringify({ email: owner.email, password }),
    });
  }, scenarioMs);

  /** Texts that must be readable, unchanged, on these pages. */
  const expectedTexts: [path: RegExp, text: string][] = [
    [/^\/sites$/, image],
    [/overview$/, script],
    [/\/events$/, family],
    [/\/events\/[\w-]+$/, image],
    [/integrations\/log$/, script],
    [/sources$/, image],
    [/sources\/\w+\?tab=requests$/, image],
    [/configuration\/keys$/, image],
    [/visits\?visit/, script],
    [/settings\/api-keys$/, image],
    [/settings\/members$/, image],
    [/settings\/audit$/, image],
  ];

  test(
    "every page shows hostile text as text and is accessible, in light and dark, wide and narrow",
    async () => {
      const { page, open, go, errors } = browser;
      const wrong: string[] = [];
      await open("/sites");
      const onPhone = async (path: string) => {
        await emulate(page, "dark", 390);
        for (const fault of await findViolations(page)) wrong.push(`${path}, dark on a phone: ${fault}`);
        for (const one of await findOverflow(page)) wrong.push(`${path}, too wide for a phone: ${one}`);
        for (const one of await findCutOff(page)) wrong.push(`${path}, cut off on a phone: ${one}`);
        for (const one of await findBrokenWords(page)) wrong.push(`${path}, broken on a phone: ${one}`);
      };
      const onDesktop = async (path: string) => {
        await emulate(page, "light", 1024);
        for (const one of await findCutOff(page)) wrong.push(`${path}, cut off at 1024: ${one}`);
        for (const one of await findBrokenWords(page)) wrong.push(`${path}, broken at 1024: ${one}`);
        await page.setViewportSize({ width: 1440, height: 900 });
        for (const fault of await findViolations(page)) wrong.push(`${path}, light: ${fault}`);
        const heights = await rowHeights(page);
        if (heights.length > 1) wrong.push(`${path}: the rows of a virtual list are ${heights.join(" and ")} pixels tall`);
        const text = await page.locator("body").innerText();
        if (/could not load|(page|event|platform) not found|no such (page|event|platform)/i.test(text))
          wrong.push(`${path}: ${text.slice(0, 300)}`);
        for (const [where, what] of expectedTexts)
          if (where.test(path) && !text.includes(what)) wrong.push(`${path}: ${what} cannot be read`);
        const injected = await page.evaluate(() =>
          [...document.querySelectorAll("img[src=x], [onerror], [onload], script:not([src])")].map((one) => one.outerHTML),
        );
        if (injected.length > 0) wrong.push(`${path}: became markup: ${injected.join(" ")}`);
        if (await page.evaluate(() => "hacked" in window)) wrong.push(`${path}: a hostile script ran`);
      };
      for (const [i, path] of paths.entries()) {
        await go(path);
        await settled(page);
        // Every other page begins in the mode in which the last one ended.
        for (const check of i % 2 ? [onDesktop, onPhone] : [onPhone, onDesktop]) await check(path);
      }
      expect(wrong.join("\n\n")).toBe("");
      expect(expectedTexts.filter(([where]) => !paths.some((path) => where.test(path)))).toEqual([]);
      expect(errors.scriptErrors).toEqual([]);
      expect(errors.failedRequests).toEqual([]);
    },
    scenarioMs * 2,
  );

  test(
    "responses of a platform and of a webhook receiver are shown as text",
    async () => {
      const { page, open } = browser;
      await page.setViewportSize({ width: 1280, height: 900 });
      const panels = paths.filter((path) => /events\/[\w-]+$|webhook=/.test(path));
      expect(panels).toHaveLength(2);
      for (const path of panels) {
        await open(path);
        const panel = page.getByRole("dialog");
        await settled(page);
        for (const one of await panel.getByRole("button", { name: /^(Attempt 1|delivered)/ }).all()) await one.click();
        await sees(panel, "<svg onload=hacked=1>");
      }
      expect(await page.evaluate(() => "hacked" in window)).toBe(false);
      expect(await page.locator("svg[onload], img[src=x]").count()).toBe(0);
      expect(browser.errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the skip link and the search for an order work with the keyboard alone",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/configuration/deduplication`);
      await settled(page);
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.closest("main") !== null)).toBe(true);

      // What is typed while the search is still being loaded is not lost, nor does it press what has the focus.
      await page.keyboard.press("Control+k");
      await page.keyboard.type("Order 4712");
      await page.getByRole("option", { name: /purchase · Order 4712/ }).waitFor();
      expect(await page.getByLabel("Jump to", { exact: true }).inputValue()).toBe("Order 4712");
      await checkLayer(page, "scenes/frame/Jump.tsx");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      await page
        .getByRole("dialog")
        .getByRole("heading", { name: /^purchase/ })
        .first()
        .waitFor();
      expect(page.url()).toMatch(/\/events\/[\w-]+$/);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      // The search does things, too.
      const pick = async (text: string, option: string) => {
        await page.keyboard.press("Control+k");
        await page.keyboard.type(text);
        await page.getByRole("option", { name: option, exact: true }).waitFor();
        await page.keyboard.press("Enter");
      };
      await pick("create inbound", "Create inbound key");
      await dialog(page, "Create an inbound key").waitFor();
      await page.keyboard.press("Escape");
      await pick("replay rej", "Replay rejected deliveries");
      await dialog(page, /^Replay/).waitFor();
      expect(page.url()).toMatch(/\/integrations\/log\?state=rejected#replay$/);
      await page.keyboard.press("Escape");
      await pick("connect meta", "Connect Meta");
      await page.waitForURL(/\/integrations\/meta$/);
      await pick("switch new.ex", "Switch to new.example");
      await page.waitForURL((url) => url.pathname.endsWith("/integrations") && !url.pathname.includes(site));

      await open("/sites/nowhere/events");
      await page.getByRole("heading", { name: "Site not found" }).waitFor();
      expect(browser.errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "dialogs, menus and forms that open over a page are accessible, and give the focus back to what opened them",
    async () => {
      const { page, open, go, errors } = browser;
      const at = `/sites/${site}`;
      await open("/sites");
      await emulate(page, "light", 1280);
      const shows = (path: string) => go(path).then(() => settled(page));
      const button = (label: string | RegExp, where: Page | Locator = page) =>
        where
          .getByRole("button", { name: label, exact: typeof label === "string" })
          .filter({ visible: true })
          .first();
      const rowLink = page.locator("tbody a").filter({ visible: true }).first();
      /** Opens a layer, checks it, goes on in it, and closes it with the keyboard. */
      const visit = async (opener: Locator, source: string, inside: (layer: Locator) => Promise<void> = async () => {}) => {
        const before = await layersOf(page).count();
        await opener.click();
        await expect.poll(() => layersOf(page).count()).toBe(before + 1);
        await checkLayer(page, source);
        await inside(layersOf(page).last());
        await page.keyboard.press("Escape");
        await expect.poll(() => layersOf(page).count()).toBe(before);
        await hasFocus(opener);
      };
      /** Chooses from a menu what opens a dialog. When that closes, the focus is on the button of the menu. */
      const visitByMenu = async (menu: Locator, item: string, source: string) => {
        await menu.click();
        await page.getByRole("menuitem", { name: item }).click();
        await page.getByRole("dialog").waitFor();
        await checkLayer(page, source);
        await page.keyboard.press("Escape");
        await expect.poll(() => layersOf(page).count()).toBe(0);
        await hasFocus(menu);
      };

      await visit(button(/account and appearance/), "scenes/frame/UserMenu.tsx");
      await visit(button(/^Site:/), "scenes/frame/SiteSwitcher.tsx");
      await visit(button("Add a site"), "scenes/sites/AddSite.tsx");
      await shows("/account");
      await visit(button("Sign out everywhere else"), "scenes/account/Sessions.tsx");

      await shows(`${at}/events?status=filtered`);
      await visit(button("Views"), "common/lists/SavedViews.tsx");
      await visitByMenu(button("Views"), "Save this view…", "common/lists/SavedViews.tsx");
      await visit(button("More filters"), "scenes/events/EventFilters.tsx");
      await visit(rowLink, "scenes/events/Trace.tsx", (trace) =>
        visit(button("Release", trace), "scenes/events/ReceivedSteps.tsx"),
      );
      await shows(`${at}/integrations/log?state=rejected`);
      await visit(button("Cancel…"), "scenes/integrations/syncLog/BulkButton.tsx");
      await visit(button("Replay"), "scenes/events/ReplayButton.tsx");
      await page.locator("[data-tip]").filter({ visible: true }).first().hover();
      await checkLayer(page, "common/Tip.tsx");

      await shows(`${at}/integrations/webhook`);
      await visit(button("Disconnect"), "scenes/integrations/platforms/ConnectionActions.tsx");
      await shows(`${at}/integrations/webhooks`);
      await visit(button("Add webhook"), "scenes/integrations/webhooks/AddWebhook.tsx");
      await visit(rowLink, "scenes/integrations/webhooks/WebhookPanel.tsx", async (panel) => {
        await visit(button("Replay…", panel), "scenes/integrations/webhooks/ReplayPeriods.tsx");
        await visit(button("Rotate secret", panel), "scenes/integrations/webhooks/WebhookPanel.tsx");
        await visit(button("Delete", panel), "scenes/integrations/webhooks/WebhookPanel.tsx");
      });
      await shows(`${at}/integrations/export`);
      await visit(button("Change"), "scenes/integrations/export/ExportForm.tsx");
      await visit(button("Stop"), "scenes/integrations/export/DataExport.tsx");

      await shows(`${at}/configuration/keys`);
      await visit(button("Create key"), "scenes/configuration/inbound/CreateKey.tsx");
      await visit(button("Turn off"), "scenes/configuration/inbound/InboundKeys.tsx");
      await visit(button("Rotate"), "scenes/configuration/inbound/KeyList.tsx");
      await visit(button("Revoke"), "scenes/configuration/inbound/KeyList.tsx");
      await shows(`${at}/bots/visits`);
      await visit(rowLink, "scenes/bots/BotVisits.tsx");
      await shows(`${at}/configuration/traffic`);
      await visit(page.getByRole("combobox", { name: /countries/i }).first(), "common/settings/listFields.tsx");
      await shows(`${at}/configuration/general`);
      await visit(button("Delete site"), "scenes/configuration/domains/DeleteSite.tsx");

      await page.getByRole("combobox", { name: "Site to copy from" }).click();
      await checkLayer(page, "scenes/configuration/domains/CopySettings.tsx");
      await page.getByRole("option", { name: "new.example" }).click();
      await visit(button("Copy settings"), "scenes/configuration/domains/CopySettings.tsx");

      await shows(`${at}/settings/api-keys`);
      await visit(button("Create API key"), "scenes/settings/CreateApiKey.tsx");
      await visit(button("Revoke"), "scenes/settings/ApiKeys.tsx");
      await shows(`${at}/settings/assistants`);
      await visit(button("Create key"), "scenes/settings/Assistants.tsx");
      await press(page, "Create key");
      await press(page, "Create");
      await takeSecret(page, "scenes/settings/Assistants.tsx");
      await shows(`${at}/settings/members`);
      await visit(button("Invite"), "scenes/settings/Invite.tsx");
      await visit(button("Revoke"), "scenes/settings/Members.tsx");
      await visit(button(/roles of/i), "scenes/settings/MemberRoles.tsx");
      await visit(button(/^More/), "scenes/settings/MemberActions.tsx");
      await visitByMenu(button(/^More/), "Remove", "scenes/settings/MemberActions.tsx");
      await visitByMenu(button(/^More/), "Password reset link", "scenes/settings/MemberActions.tsx");
      await choose(page, /^More/, "Password reset link");
      await press(page, "Create link");
      await takeSecret(page, "scenes/settings/MemberActions.tsx");
      await hasFocus(button(/^More/));

      // On a phone, actions and drawers are laid out differently.
      await emulate(page, "dark", 375);
      await shows(`${at}/integrations/log?state=rejected`);
      await visit(button(/^Site:/), "scenes/frame/SiteSwitcher.tsx");
      await visit(button("More actions"), "scenes/integrations/syncLog/LogTable.tsx", (menu) =>
        visit(button("Replay…", menu), "scenes/integrations/syncLog/BulkButton.tsx"),
      );
      await shows(`${at}/integrations/webhook`);
      await visit(button("More actions"), "scenes/integrations/platforms/ConnectionEditor.tsx");
      await shows(`${at}/integrations/webhooks`);
      await visit(rowLink, "scenes/integrations/webhooks/WebhookPanel.tsx");
      expect(errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "public pages and the page for an unknown path are accessible on a phone",
    async () => {
      const { page, open, errors, context } = await user(relay, null, {
        viewport: { width: 375, height: 812 },
      });
      const wrong: string[] = [];
      for (const path of ["/sign-in", "/forgotten", "/reset#x", "/invitation#x", "/setup#x", "/nowhere"]) {
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          if (colorScheme === "light") await open(path);
          await settled(page);
          const rules = colorScheme === "light" ? undefined : coloursOnly;
          for (const fault of await findViolations(page, rules)) wrong.push(`${path}, ${colorScheme}: ${fault}`);
        }
        for (const one of await findOverflow(page)) wrong.push(`${path}, too wide for a phone: ${one}`);
      }
      expect(wrong.join("\n\n")).toBe("");
      expect(errors.scriptErrors).toEqual([]);
      await context.close();
    },
    scenarioMs,
  );
});
