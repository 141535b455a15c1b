// Invitations, roles, sites of others, two-factor sign-in, sessions and sign-in at an OpenID provider.

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { becomeOwner, invite, password, type Person } from "../support/apiClient.ts";
import { authenticatorCode } from "../support/authenticator.ts";
import { inChromium } from "../browser/chromium.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { freePort } from "../support/servers/freePort.ts";
import { startOpenIdProvider } from "../support/servers/openIdProvider.ts";
import { choose, dialog, field, press, row, sees, signIn, signOut, takeSecret, scenarioMs, user, type User } from "./users.ts";
import { checkLayer, hasFocus } from "./access.ts";
import { pagesOf, settled } from "./pages.ts";

/** Labels of buttons that change something begin with one of these. */
const changing =
  /^(add|create|save|revoke|rotate|remove|delete|erase|record|turn|invite|replay|cancel|connect|disconnect|pause|resume|rename|send|switch|set|register|change|copy settings|release|enable|disable|reset|sign in with|choose|discard|reconnect|select|import past|get the tag)\b/i;

/** Returns the labels of all enabled buttons, and of the links that look like one. */
const controls = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        "button, [role=button], input[type=submit], a.mantine-Button-root, ul[aria-label='What can be repaired'] a",
      ),
    ]
      .filter((one) => !one.matches(":disabled") && one.checkVisibility())
      .map((one) => (one.getAttribute("aria-label") ?? one.textContent ?? "").trim()),
  );

inChromium("roles", () => {
  let home: Installation;
  let relay: Relay;
  let owner: Person;
  let first: string;
  let second: string;
  /** The address that the provider sends people back to. */
  let origin: string;
  let provider: Awaited<ReturnType<typeof startOpenIdProvider>>;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    provider = await startOpenIdProvider(`${origin}/oauth/sign-in/callback`);
    home = await newInstallation("sqlite", {
      PORT: String(port),
      CLEANCAST_OIDC_ISSUER: provider.issuer,
      CLEANCAST_OIDC_CLIENT_ID: "cleancast",
      CLEANCAST_OIDC_CLIENT_SECRET: "s3cret-of-the-client",
      CLEANCAST_OIDC_NAME: "Example ID",
      CLEANCAST_ALERT_SECONDS: "1",
    });
    relay = await home.start();
    owner = await becomeOwner(relay);
    first = (await owner.ask("GET /sites")).json.items[0].id;
    second = (await home.addSite("outlet.example")).id;
    const receiver = await startReceiver();
    await owner.ask(`POST /sites/${first}/webhooks`, { url: receiver.url, sendEmpty: true });
    // A connection that needs repair, on every page that reports it.
    const connected = await owner.ask(`POST /sites/${first}/connections`, {
      platform: "webhook",
      settings: { url: `${receiver.url}/platform` },
    });
    expect(connected.status, connected.answer.text).toBe(200);
    receiver.behave = ({ path }, response) => response.writeHead(path === "/platform" ? 401 : 200).end("{}");
    await relay.post(relay.key, { email: "ada@customers.example", event: "purchase", orderId: "R-1" });
    await eventually("the alert is open", async () => {
      const { json } = await owner.ask(`GET /sites/${first}/alerts`);
      return json.open.some((one: { kind: string }) => one.kind === "needs reconnection");
    });
  });

  test(
    "an invited person accepts in the browser and sees only the site of the invitation",
    async () => {
      const inviter = await user(relay, owner);
      await inviter.open(`/sites/${first}/settings/members`);
      await press(inviter.page, "Invite");
      const form = dialog(inviter.page, "Invite a member");
      await field(form, "Email").fill("vera@example.com");
      await press(form, "Create invitation link");
      const link = await takeSecret(inviter.page, "scenes/settings/Invite.tsx");
      await hasFocus(inviter.page.getByRole("button", { name: "Invite", exact: true }));
      await row(inviter.page.getByRole("region", { name: "Open invitations" }), "vera@example.com").waitFor();

      const guest = await user(relay, null);
      const { page } = guest;
      await page.goto(link.replace("localhost", "127.0.0.1"));
      await sees(page, /invites you to .* as viewer/);
      await field(page, "Your name").fill("Vera Viewer");
      await field(page, "Password").fill(password);
      await press(page, "Accept");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect(page.url()).toContain(first);

      await choose(page, /^Site: localhost/, "All sites");
      await row(page, "localhost").waitFor();
      expect(await row(page, "outlet.example").count()).toBe(0);
      await press(page, /^Site: All sites/);
      await page.getByRole("menuitem", { name: "localhost" }).waitFor();
      expect(await page.getByRole("menuitem").allTextContents()).toEqual(["All sites", "localhost"]);
      await page.keyboard.press("Escape");
      for (const path of ["overview", "events", "configuration/keys", "settings/audit"]) {
        await guest.open(`/sites/${second}/${path}`);
        await sees(page, /could not load|no such|not found/i);
        expect(await page.locator("body").textContent()).not.toContain("outlet.example");
      }
      // The link works once.
      await page.goto(link.replace("localhost", "127.0.0.1"));
      await sees(page, "This invitation cannot be used");
      expect([...inviter.errors.scriptErrors, ...guest.errors.scriptErrors]).toEqual([]);
      await inviter.context.close();
      await guest.context.close();
    },
    scenarioMs,
  );

  test(
    "a viewer can open every page and is offered no button that changes or repairs anything",
    async () => {
      const viewer = await invite(relay, owner, "victor@example.com", "viewer", null);
      const viewerBrowser = await user(relay, viewer);
      const ownerBrowser = await user(relay, owner);
      const { json } = await owner.ask(`GET /sites/${first}/events`);
      const { items } = (await owner.ask(`GET /sites/${first}/webhooks`)).json;
      const offered = async (who: User, paths: string[]) => {
        const found: string[] = [];
        // The alert is loaded here, and shown at once on the other pages.
        await who.open(`/sites/${first}/settings/alerts`);
        await who.page.getByText("needs reconnection").first().waitFor();
        for (const path of paths) {
          await who.go(path);
          await settled(who.page);
          for (const name of await controls(who.page)) if (changing.test(name)) found.push(`${path}: ${name}`);
        }
        return found;
      };
      const paths = pagesOf(first, { event: json.items[0].id, webhook: items[0].id }).filter(
        // Everyone may change their own account.
        (path) => path !== "/account",
      );
      // The first steps of a site without events.
      paths.push(`/sites/${second}/overview`, `/sites/${second}/events`);
      expect(await offered(viewerBrowser, paths)).toEqual([]);
      await viewerBrowser.go(`/sites/${first}/overview`);
      await sees(viewerBrowser.page.getByRole("alert"), /Admins of this site can change this\.$/);
      // An owner sees such buttons on the same pages.
      const some = paths.filter((path) =>
        /\/sites$|keys$|webhook=|tab=events|members$|funnel$|import$|overview$|events$/.test(path),
      );
      const seenByOwner = await offered(ownerBrowser, some);
      expect(some.filter((path) => !seenByOwner.some((one) => one.startsWith(`${path}: `)))).toEqual([]);
      // The repair is offered where the error stands, and behind the bell of every page. The overview has a banner, until it is
      // muted; other pages have none.
      const event = `events/${json.items[0].id}`;
      const { page } = ownerBrowser;
      for (const path of ["events", event, "integrations", "integrations/log", "settings/alerts"]) {
        await ownerBrowser.go(`/sites/${first}/${path}`);
        await page.getByRole("link", { name: "Reconnect Webhook" }).first().waitFor();
        expect(await page.getByRole("button", { name: "Mute for a day" }).count(), path).toBe(0);
      }
      await ownerBrowser.go(`/sites/${first}/configuration/tag`);
      await page.getByRole("button", { name: /needs? attention$/ }).press("Enter");
      await checkLayer(page, "scenes/frame/Frame.tsx");
      await expect.poll(() => page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null)).toBe(true);
      await page.getByRole("dialog").getByRole("link", { name: "Reconnect Webhook" }).click();
      await page.waitForURL(/\/integrations\/webhook/);
      // The page says it once, and offers the repair.
      await page.getByRole("button", { name: "Reconnect", exact: true }).waitFor();
      expect(await page.getByRole("alert").filter({ hasText: "needs reconnection" }).count()).toBe(1);
      await ownerBrowser.go(`/sites/${first}/overview`);
      await page.getByRole("alert").locator(".cc-mark").waitFor();
      await press(page, "Mute for a day");
      await page.getByRole("button", { name: "Mute for a day" }).waitFor({ state: "detached" });
      expect(viewerBrowser.errors).toEqual({ scriptErrors: [], failedRequests: [] });
      expect(ownerBrowser.errors.scriptErrors).toEqual([]);
      // The overview loads fewer translations than other pages, but those of its alerts.
      const german = await user(relay, owner, { locale: "de-DE" });
      await german.open(`/sites/${first}/overview`);
      await sees(german.page.getByRole("alert"), /muss neu verbunden werden/);
      await german.context.close();
      await viewerBrowser.context.close();
      await ownerBrowser.context.close();
    },
    scenarioMs,
  );

  test(
    "a member ends another session, turns two-factor sign-in on with a code, and needs a code to sign in again",
    async () => {
      await invite(relay, owner, "tom@example.com", "admin", first);
      const laptop = await user(relay, null);
      const phone = await user(relay, null);
      for (const { page, open } of [laptop, phone]) {
        await open("/sign-in");
        await signIn(page, "tom@example.com", password);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
      }

      const { page, open } = laptop;
      await open("/account");
      // The other browser is listed, and signed out when its session is ended.
      const sessions = page.getByRole("region", { name: "Sessions" });
      await sees(sessions, "this one");
      const others = sessions.getByRole("button", { name: /^Sign out/ });
      await others.first().waitFor();
      while ((await others.count()) > 0) {
        const before = await others.count();
        await others.first().click();
        await others.nth(before - 1).waitFor({ state: "detached" });
      }
      await phone.page.reload();
      await phone.page.getByRole("heading", { name: "Sign in" }).waitFor();

      await press(page, "Set up");
      const form = dialog(page, "Set up two-factor sign-in");
      await checkLayer(page, "scenes/account/TwoFactor.tsx");
      await field(form, "Password").fill(password);
      await press(form, "Continue");
      const secret = (await form.getByText(/^[A-Z2-7]{16,}$/).textContent()) ?? "";
      await checkLayer(page, "scenes/account/TwoFactorSecret.tsx");
      expect(secret).toMatch(/^[A-Z2-7]{16,}=*$/i);
      await form.getByLabel("Code", { exact: true }).fill("000000");
      await press(form, "Turn on");
      await form.locator("[aria-invalid=true], [role=alert]").first().waitFor();
      await form.getByLabel("Code", { exact: true }).fill(authenticatorCode(secret));
      await press(form, "Turn on");
      await sees(page, "Two-factor sign-in is on.");

      await signOut(page);
      await signIn(page, "tom@example.com", password);
      await page.getByRole("heading", { name: "Enter your code" }).waitFor();
      await field(page, "Code").fill("000000");
      await press(page, "Sign in");
      await page.locator("[aria-invalid=true], [role=alert]").first().waitFor();
      // Each code works once, so this is the app's next one.
      await field(page, "Code").fill(authenticatorCode(secret, 1));
      await press(page, "Sign in");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect([...laptop.errors.scriptErrors, ...phone.errors.scriptErrors]).toEqual([]);
      await laptop.context.close();
      await phone.context.close();
    },
    scenarioMs,
  );

  test(
    "an owner deletes a site after typing its host, and an admin is not offered to",
    async () => {
      const { id } = (await owner.ask("POST /sites", { host: "leaving.example" })).json;
      await owner.ask(`POST /sites/${id}/keys`, { name: "my CRM" });
      const path = `/sites/${id}/configuration/general`;
      const admin = await user(relay, await invite(relay, owner, "alma@example.com", "admin", id));
      await admin.open(path);
      await field(admin.page, "Site name").waitFor();
      expect(await admin.page.getByRole("button", { name: "Delete site" }).count()).toBe(0);
      await admin.context.close();

      const { page, open, context, errors } = await user(relay, owner);
      await open(path);
      await press(page, "Delete site");
      const form = dialog(page, "Delete leaving.example?");
      await sees(form, /^This deletes 1 domain, 1 key, 0 connections, 0 webhooks, 0 events/);
      const confirm = form.getByRole("button", { name: "Delete site" });
      await field(form, "Type leaving.example to confirm").fill("outlet.example");
      expect(await confirm.isDisabled()).toBe(true);
      await field(form, "Type leaving.example to confirm").fill("leaving.example");
      await confirm.click();
      await row(page, "outlet.example").waitFor();
      expect(await row(page, "leaving.example").count()).toBe(0);
      expect((await home.run("site", "list")).items).toHaveLength(2);
      expect(errors.scriptErrors).toEqual([]);
      await context.close();
    },
    scenarioMs,
  );

  test(
    "an invited person signs in with the button of the OpenID provider, and a person without an invitation reads why not",
    async () => {
      provider.people.set("nina", { email: "nina@example.com", email_verified: true, name: "Nina New" });
      provider.people.set("eve", { email: "eve@example.com", email_verified: true });
      const person = { email: "nina@example.com", role: "viewer", site: first };
      expect((await owner.ask("POST /members/invitations", person)).status).toBe(200);
      const overview = (page: Page) => page.getByRole("heading", { name: "Overview" });

      provider.behaviour.subject = "nina";
      const invited = await user({ url: origin }, null);
      await invited.open("/sign-in");
      // The password is offered too.
      await field(invited.page, "Password").waitFor();
      const button = invited.page.getByRole("link", { name: "Sign in with Example ID" });
      await button.click();
      await overview(invited.page).waitFor();
      expect(invited.page.url()).toContain(`${origin}/dashboard/sites/${first}`);
      await signOut(invited.page);

      provider.behaviour.subject = "eve";
      const stranger = await user({ url: origin }, null, { locale: "de-DE" });
      await stranger.open("/sign-in");
      const german = stranger.page.getByRole("link", { name: "Mit Example ID anmelden" });
      await german.click();
      await sees(stranger.page, "eve@example.com is not a member here. Ask an owner for an invitation.");
      await stranger.page.getByRole("link", { name: "Back to sign-in" }).click();
      await german.waitFor();

      expect(await relay.stop()).toBe(0);
      relay = await home.start({ CLEANCAST_PASSWORDS: "off" });
      provider.behaviour.subject = "nina";
      await invited.open("/sign-in");
      await button.waitFor();
      expect(await invited.page.locator("input").count()).toBe(0);
      await button.click();
      await overview(invited.page).waitFor();
      for (const { context, errors } of [invited, stranger]) {
        expect(errors.scriptErrors).toEqual([]);
        await context.close();
      }
    },
    scenarioMs,
  );
});
