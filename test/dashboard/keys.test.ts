// Keys, domains, webhooks, filters and erasure: a change in the dashboard takes effect at the relay.

import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, becomeOwner, type Person } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { startDns } from "../support/servers/dnsServer.ts";
import { startReceiver, type ReceivedRequest } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report } from "../support/visits.ts";
import { checkLayer, hasFocus } from "./access.ts";
import { dialog, field, press, row, sees, takeSecret, scenarioMs, user, type User } from "./users.ts";

inChromium("keys, webhooks, filters and persons", () => {
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;
  let dns: Awaited<ReturnType<typeof startDns>>;

  beforeAll(async () => {
    dns = await startDns({ "www.shop.test": { address: "10.1.2.3" } });
    relay = await (await newInstallation("sqlite", { CLEANCAST_DNS: dns.address })).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    browser = await user(relay, owner);
  });
  afterAll(() => {
    dns.close();
    expect(browser.errors.scriptErrors).toEqual([]);
  });

  let orders = 0;
  const statusWith = async (key: string) =>
    (await relay.post(key, { email: "ada@customers.example", event: "lead", orderId: `K-${(orders += 1)}` })).status;

  test(
    "a rotated inbound key stays valid next to its successor, and a revoked key gets 401",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/configuration/keys`);
      await press(page, "Create key");
      await field(dialog(page, "Create an inbound key"), "Name").fill("CRM");
      await press(dialog(page, "Create an inbound key"), "Create");
      const first = await takeSecret(page, "scenes/configuration/inbound/KeyList.tsx");
      await hasFocus(page.getByRole("button", { name: "Create key" }));
      await eventually("the new key is accepted", async () => (await statusWith(first)) === 200);

      const line = (key: string) => row(page, key.slice(0, 8));
      await press(line(first), "Rotate");
      await press(dialog(page, "Rotate CRM?"), "Rotate");
      const second = await takeSecret(page);
      expect(second).not.toBe(first);
      await line(second).waitFor();
      await eventually("the successor is accepted", async () => (await statusWith(second)) === 200);
      expect(await statusWith(first)).toBe(200);

      await press(line(second), "Revoke");
      await sees(dialog(page, "Revoke CRM?"), /get 401 within two seconds/);
      await press(dialog(page, "Revoke CRM?"), "Revoke");
      await line(second).waitFor({ state: "detached" });
      const keys = page.getByRole("region", { name: "Inbound keys" });
      await hasFocus(keys.locator("tbody tr"));
      await eventually("the revoked key gives 401", async () => (await statusWith(second)) === 401);
      expect(await statusWith(first)).toBe(200);
      await page.getByLabel("Show revoked and expired keys").check();
      await sees(line(second), "revoked");
      // Rejected requests are written once a second, and listed with the key's name.
      await eventually(
        "the rejected request is written",
        async () => (await owner.ask(`GET /sites/${site}/rejected-requests`)).json.items.length > 0,
      );
      await page.reload();
      await row(page.getByRole("region", { name: "Rejected requests" }), "CRM")
        .first()
        .waitFor();
    },
    scenarioMs,
  );

  test(
    "a domain is added, checked, paused, resumed and removed",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/configuration/domains`);
      const line = (host: string) => page.getByRole("listitem").filter({ hasText: host });
      const tag = async (host: string) =>
        (await call(relay.url, { method: "GET", path: "/__cc/tag.js", headers: { Host: host } })).status;
      /** The look-up of a check gives up after two seconds, which a busy machine exceeds: then it is checked again. */
      const isFound = (host: string, finding: RegExp) =>
        eventually(`the check of ${host} says ${finding}`, async () => {
          const isShown = await line(host).getByText(finding).first().isVisible();
          if (!isShown) await press(line(host), `Check now: ${host}`);
          return isShown;
        });
      // The only domain cannot be removed.
      await press(line("localhost"), "Pause");
      await checkLayer(page, "scenes/configuration/domains/HostActions.tsx");
      await press(dialog(page, "Pause localhost?"), "Cancel");
      expect(await line("localhost").getByRole("button", { name: "Remove" }).count()).toBe(0);

      await field(page, "Add a domain").fill("shop.test");
      await press(page, "Add");
      await sees(line("shop.test"), "not verified");
      await isFound("shop.test", /shop\.test is not in the DNS\..*New records can take an hour/);
      expect(await tag("shop.test")).toBe(200);
      await field(page, "Add a domain").fill("www.shop.test");
      await press(page, "Add");
      await isFound("www.shop.test", /leads to a private address, and is not called/);

      await press(line("www.shop.test"), "Pause");
      await press(dialog(page, "Pause www.shop.test?"), "Pause");
      await sees(line("www.shop.test"), "paused");
      expect(await tag("www.shop.test")).toBe(404);
      await press(line("www.shop.test"), "Resume www.shop.test");
      await sees(line("www.shop.test"), "not verified");
      expect(await tag("www.shop.test")).toBe(200);
      await press(line("www.shop.test"), "Remove");
      await checkLayer(page, "scenes/configuration/domains/HostActions.tsx");
      await press(dialog(page, "Remove www.shop.test?"), "Remove");
      await line("www.shop.test").waitFor({ state: "detached" });
      await hasFocus(line("shop.test"));
      expect(await tag("www.shop.test")).toBe(404);
    },
    scenarioMs,
  );

  test(
    "an API key is shown once and works, a read-only key gets 403 for a change, and a revoked key gets 401",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/settings/api-keys`);
      const make = async (name: string, ...scopes: string[]) => {
        await press(page, "Create API key");
        const form = dialog(page, "Create an API key");
        await field(form, "Name").fill(name);
        for (const scope of scopes) await form.getByLabel(scope, { exact: true }).check();
        await press(form, "Create");
        return takeSecret(page, "scenes/settings/ApiKeys.tsx");
      };
      const readKey = await make("Report");
      const changeKey = await make("Terraform", "Write", "Inbound keys");
      expect(await page.content()).not.toContain(readKey);
      const as = (key: string, route: string, body?: unknown) => ask(relay, route, body, { Authorization: `Bearer ${key}` });

      const sites = await as(readKey, "GET /sites");
      expect(sites.json.items.map((one: { id: string }) => one.id)).toEqual([site]);
      const refused = await as(readKey, `PATCH /sites/${site}`, { name: "Renamed" });
      expect(refused).toMatchObject({ status: 403 });
      expect(await as(changeKey, `PATCH /sites/${site}`, { name: "Renamed by a program" })).toMatchObject({
        status: 200,
      });
      expect(await statusWith(readKey)).toBe(401);
      await page.reload();
      await sees(page, "Renamed by a program");

      const made = await as(changeKey, `POST /sites/${site}/keys`, { name: "Made by Terraform" });
      await eventually("the inbound key that a program made works", async () => (await statusWith(made.json.key)) === 200);
      await page.reload();
      await press(row(page, "Terraform"), "Revoke");
      const revoking = dialog(page, "Revoke Terraform?");
      await sees(revoking, "Made by Terraform");
      await press(revoking, "Revoke");
      await row(page, "Terraform").waitFor({ state: "detached" });
      await eventually("the revoked API key gives 401", async () => (await as(changeKey, "GET /sites")).status === 401);
      await eventually("the inbound key that it made gives 401", async () => (await statusWith(made.json.key)) === 401);
      expect((await as(readKey, "GET /sites")).status).toBe(200);
      await hasFocus(row(page, "Report"));
      await press(row(page, "Report"), "Revoke");
      await press(dialog(page, "Revoke Report?"), "Revoke");
      await hasFocus(page.getByRole("heading", { name: "API keys" }));
    },
    scenarioMs,
  );

  test(
    "a webhook's panel shows the response to a test push, rotates the secret, and disables the webhook",
    async () => {
      const { page, open } = browser;
      const receiver = await startReceiver();
      receiver.behave = (_request, response) => response.writeHead(202).end("thank you, totals");
      await open(`/sites/${site}/integrations/webhooks`);
      await press(page, "Add webhook");
      const form = dialog(page, "Add a webhook");
      await field(form, "URL").fill("ftp://example.com");
      await press(form, "Add webhook");
      await form.locator("[aria-invalid=true]").waitFor();
      await field(form, "URL").fill(`${receiver.url}/totals`);
      await press(form, "Add webhook");
      const first = await takeSecret(page, "scenes/integrations/webhooks/Webhooks.tsx");

      await page.getByRole("link", { name: receiver.url }).click();
      const panel = dialog(page, receiver.url);
      await press(panel, "Send test");
      await sees(panel, "Test push delivered");
      await sees(panel, "thank you, totals");
      const bearer = () => receiver.got.at(-1)?.headers.authorization;
      expect(bearer()).toBe(`Bearer ${first}`);

      await press(panel, "Rotate secret");
      await press(dialog(page, "Rotate the secret?"), "Rotate secret");
      const second = await takeSecret(page);
      await hasFocus(panel.getByRole("button", { name: "Rotate secret" }));
      await press(panel, "Send test");
      await eventually("the new secret is used", () => bearer() === `Bearer ${second}`);

      receiver.behave = (_request, response) => response.writeHead(500).end("out of order");
      await press(panel, "Send test");
      await sees(panel, "Test push failed");
      await sees(panel, "out of order");
      await press(panel, "Disable");
      await sees(panel, "This webhook is disabled");
      await press(panel, "Enable");
      await panel.getByText("This webhook is disabled").waitFor({ state: "detached" });
      await press(panel, "Delete");
      await press(dialog(page, "Delete this webhook?"), "Delete");
      await sees(page, "Webhook deleted.");
      await panel.waitFor({ state: "detached" });
      await hasFocus(page.locator("#content, #content h2"));
    },
    scenarioMs,
  );

  test(
    "connecting an endpoint shows its signing secret once, and rotating it shows another that verifies too",
    async () => {
      const { page, open } = browser;
      const receiver = await startReceiver();
      await open(`/sites/${site}/integrations/webhook`);
      await field(page, "URL").fill(`${receiver.url}/orders`);
      await press(page, "Connect Webhook");
      const first = await takeSecret(page, "scenes/integrations/platforms/PlatformPage.tsx");
      await press(page, "Rotate secret");
      await checkLayer(page, "scenes/integrations/platforms/RotateSecret.tsx");
      await press(dialog(page, "Rotate the signing secret?"), "Rotate secret");
      const second = await takeSecret(page, "scenes/integrations/platforms/RotateSecret.tsx");
      await hasFocus(page.getByRole("button", { name: "Rotate secret" }));
      expect(await page.content()).not.toContain(first);

      await page.getByRole("tab", { name: "Test event" }).click();
      await press(page, "Send test event");
      await sees(page, "Webhook accepted it");
      const { text, headers } = receiver.got.at(-1) as ReceivedRequest;
      for (const secret of [first, second])
        expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toBeTruthy();
      await press(page, "Disconnect");
      await press(dialog(page, /^Disconnect Webhook/), "Disconnect");
      await page.waitForURL(/\/integrations$/);
      await hasFocus(page.locator("#content"));
    },
    scenarioMs,
  );

  test(
    "evidence is switched on where it touches no customers, one kind alone or back again",
    async () => {
      const { page, open } = browser;
      const modeOf = async (signal: string) => {
        const { json } = await owner.ask(`GET /sites/${site}/traffic/evidence`);
        return json.signals.find((one: { signal: string }) => one.signal === signal)?.mode;
      };
      await open(`/sites/${site}/bots/evidence`);
      await press(page, /Show all \d+ kinds/);
      const modes = page.getByRole("radiogroup", { name: "Mode of Typing too even" });
      await modes.getByText("On", { exact: true }).click();
      await sees(page, "Saved.");
      await eventually("the mode is saved", async () => (await modeOf("typing:too even")) === "on");
      expect(await modeOf("typing:no pauses")).toBe("shadow");
      await modes.getByText("Off", { exact: true }).click();
      await eventually("the mode is saved", async () => (await modeOf("typing:too even")) === "off");
      await page.reload();
      // What is off stays in sight.
      expect(await modes.getByRole("radio", { name: "Off" }).isChecked()).toBe(true);
      await modes.getByText("Shadow", { exact: true }).click();
      await press(page, "Undo");
      await sees(page, "Undone.");
      await eventually("the mode is off again", async () => (await modeOf("typing:too even")) === "off");
    },
    scenarioMs,
  );

  test(
    "a suspicious visit shows its evidence, and one click allows its network, which can be undone",
    async () => {
      const { page, open } = browser;
      await report(relay, "localhost", "visit", {}, { "Content-Type": "text/plain", "X-Forwarded-For": "192.0.2.44" });
      const suspicious = async () => (await owner.ask(`GET /sites/${site}/bots?suspicious=true`)).json.items as { id: string }[];
      await eventually("the visit is in the sample", async () => (await suspicious()).length === 1);
      const allowed = async () => {
        const { items } = (await owner.ask(`GET /sites/${site}/settings`)).json;
        return items.find((one: { name: string }) => one.name === "allow_networks").value;
      };
      await open(`/sites/${site}/bots/visits?suspicious=true&visit=${(await suspicious())[0]?.id}`);
      await sees(page, /content type or the accepted types are not those/);
      await sees(page, /^Not known of this visit: .*how a form was filled in/);
      await press(page, "This was a person");
      await sees(page, "192.0.2.0/24 is allowed");
      expect(await allowed()).toBe("192.0.2.0/24");
      await press(page, "Undo");
      await eventually("the network is no longer allowed", async () => (await allowed()) === "");
    },
    scenarioMs,
  );

  test(
    "a saved traffic filter survives a reload, and an invalid entry is reported at its field",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/configuration/traffic`);
      const networks = page.getByRole("combobox", { name: "Denied networks" });
      const card = page.locator("form").filter({ has: networks });
      await networks.fill("198.51.100.0/24");
      await networks.press("Enter");
      await press(card, "Save");
      await sees(page, "Saved.");
      await page.reload();
      await sees(card, "198.51.100.0/24");
      expect((await report(relay, "localhost", "visit", {}, { "X-Forwarded-For": "198.51.100.9" })).status).toBe(204);

      await networks.fill("not a network");
      await networks.press("Enter");
      await press(card, "Save");
      const wrong = card.locator("[aria-invalid=true]");
      await wrong.first().waitFor();
      await sees(card, /not a network/);
      await press(card, "Discard");
      await card.getByText("not a network").waitFor({ state: "detached" });
      const { json } = await owner.ask(`GET /sites/${site}/settings`);
      expect(json.items.find((one: { name: string }) => one.name === "deny_networks").value).toBe("198.51.100.0/24");
    },
    scenarioMs,
  );

  test(
    "a person is found by email and erased, and the audit log records the erasure without the email",
    async () => {
      const { page, open } = browser;
      const email = "grace@customers.example";
      await report(relay, "localhost", "identify", {
        emails: [sha256Of(email)],
        params: { gclid: "Grace-1" },
      });
      await relay.post(relay.key, { email, event: "purchase", orderId: "G-1", value: 5, currency: "EUR" });
      await open(`/sites/${site}/configuration/consent`);
      const card = page.locator(".cc-card").filter({ hasText: "Find a person" });
      await field(card, "Email").fill(email);
      await press(card, "Find");
      await sees(card, "purchase G-1");
      // The form is at the end of the page.
      const { y = 0 } = (await card.getByText("Hashed email").boundingBox()) ?? {};
      expect(y).toBeLessThan(page.viewportSize()?.height ?? 0);
      await sees(card, /click IDs: gclid/);
      await press(card, "Record opt-out");
      await checkLayer(page, "scenes/configuration/consent/PersonActions.tsx");
      await press(dialog(page, "Record an opt-out?"), "Cancel");
      await hasFocus(card.getByRole("button", { name: "Record opt-out" }));
      await press(card, "Record consent");
      await checkLayer(page, "scenes/configuration/consent/PersonActions.tsx");
      await press(dialog(page, "Record consent?"), "Cancel");
      await press(card, "Erase");
      await checkLayer(page, "scenes/configuration/consent/PersonActions.tsx");
      await press(dialog(page, "Erase this person?"), "Erase");
      await sees(card, "Nothing is stored about this person on this site.");
      await press(card, "Find");
      await sees(card, "Nothing is stored about this person on this site.");

      await open(`/sites/${site}/settings/audit`);
      const line = row(page, /eras/i).first();
      await line.waitFor();
      await sees(line, "owner@example.com");
      expect(await page.locator("main").textContent()).not.toContain(email);
    },
    scenarioMs,
  );
});
