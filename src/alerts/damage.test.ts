// Rows that cannot be read raise an alert of their own site, and of no other, until they are repaired.

import { afterAll, describe, expect, test } from "vitest";
import { http } from "../../test/support/lanes.ts";
import { createNodes, sql } from "../../test/support/nodes.ts";
import type { AllowList } from "../delivery/addresses.ts";
import type { Sender } from "../delivery/send.ts";
import { shortId } from "../kernel/ids.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { repairWebhook } from "../outbound/manage.ts";
import { connect } from "../sites/connect.ts";
import { createDirectory, type Site } from "../sites/directory.ts";
import { addSite, changeSiteSettings } from "../sites/manage.ts";
import { createAlertJob } from "./monitor.ts";

const allow: AllowList = { hosts: new Set(), networks: [] };
const damaged = (column: string) => `${column} = 'v1.AAAA' || SUBSTR(${column}, 8)`;

describe.each(["sqlite", "postgres"] as const)("alerts about damaged rows on %s", async (engine) => {
  const { store, location, close } = await createNodes(engine);
  afterAll(close);
  const directory = createDirectory(store);
  const context = { store, directory };
  let now = Date.UTC(2026, 10, 16, 14, 30);
  const by = () => ({ actor: "test", now, checkAddress: () => null });
  const posted: string[] = [];
  const sender: Sender = {
    async send({ url }) {
      posted.push(url);
      return http(200);
    },
    close: () => Promise.resolve(),
  };
  const monitor = createAlertJob({
    store,
    directory,
    channels: { mailer: null, sender, publicUrl: "https://cc.example.com" },
    owner: "a",
    everyMs: minuteMs,
    now: () => now,
    elapsed: () => now,
    onDefect: (error) => {
      throw error;
    },
  });
  const newSite = async (): Promise<Site> => {
    const { id } = await addSite(context, `${shortId()}.example`.toLowerCase(), by());
    const site = directory.site(id) ?? expect.unreachable("it was added");
    await changeSiteSettings(context, site, { alert_webhook: `https://alerts.example/${id}` }, by());
    await connect(context, site, "webhook", { url: `https://hooks.example/${id}` }, by());
    return current(site);
  };
  const current = (site: Site) => directory.site(site.id) ?? site;

  /** Checks all sites, as a process that has started after the rows were damaged. */
  async function check(): Promise<void> {
    now += minuteMs;
    // A change of any kind makes the directory read the site again.
    for (const { id } of directory.sites()) {
      const line = { siteId: id, actor: "test", action: "test", detail: {}, at: now };
      await store.configuration.renameSite(line, id);
    }
    await directory.refresh();
    await monitor.run();
  }
  const openAlerts = async ({ id }: Site) =>
    (await store.alerts.listSince(id, 0)).filter((alert) => alert.endedAt === null).map(({ kind, subject }) => [kind, subject]);

  test("a connection raises the alert of one that needs reconnection, also while it is paused", async () => {
    const [site, other] = [await newSite(), await newSite()];
    const [{ id } = { id: "" }] = site.connections;
    await sql(location, `UPDATE connections SET ${damaged("credentials")}, state = 'paused' WHERE id = '${id}'`);
    await check();
    expect(await openAlerts(site)).toEqual([["needs reconnection", id]]);
    expect(await openAlerts(other)).toEqual([]);
    expect(posted.splice(0)).toEqual([`https://alerts.example/${site.id}`]);
    await connect(context, current(site), "webhook", { url: `https://hooks.example/${site.id}` }, by());
    await check();
    expect(await openAlerts(site)).toEqual([]);
  });

  test.each(["url", "secrets"])(
    "a webhook whose %s cannot be read raises an alert when a push is due, until it is repaired",
    async (column) => {
      const site = await newSite();
      const id = shortId();
      const address = { url: "https://totals.example/in", secrets: { current: "s", previous: null } };
      const line = { siteId: site.id, actor: "test", action: "test", detail: {}, at: now };
      await store.webhooks.add(line, { siteId: site.id, id, sendEmpty: true }, address);
      await sql(location, `UPDATE webhooks SET ${damaged(column)} WHERE id = '${id}'`);
      await store.periods.close({ siteId: site.id, number: 0, startsAt: 0, endsAt: now, now, dueAt: now });
      const lease = { owner: "a", now, until: now + 1000 };
      expect(await store.pushes.claim({ siteId: site.id, webhookId: id }, lease)).toBeNull();
      await check();
      expect(await openAlerts(site)).toEqual([["webhook", id]]);
      const [webhook] = await store.webhooks.list(site.id);
      if (!webhook) expect.unreachable("it was added");
      await repairWebhook(context, webhook, address.url, { ...by(), allow });
      await check();
      expect(await openAlerts(site)).toEqual([]);
    },
  );

  test("an alert webhook raises an alert, which is not sent there, until it is set again", async () => {
    const site = await newSite();
    const [row] = await sql(location, `SELECT settings FROM sites WHERE site_id = '${site.id}'`);
    const text = String(row?.settings).replace(/"v1\.[^"]{4}/, '"v1.AAAA');
    await sql(location, `UPDATE sites SET settings = '${text}' WHERE site_id = '${site.id}'`);
    posted.length = 0;
    await check();
    expect(await openAlerts(site)).toEqual([["damaged data", "alertWebhook"]]);
    expect(posted).toEqual([]);
    await changeSiteSettings(context, current(site), { alert_webhook: "https://alerts.example/next" }, by());
    expect(await openAlerts(site)).toEqual([]);
  });

  test("settings raise an alert until they are set again", async () => {
    const site = await newSite();
    await sql(location, `UPDATE sites SET settings = '{"inbound":tr' WHERE site_id = '${site.id}'`);
    await check();
    expect(await openAlerts(site)).toEqual([["damaged data", "settings"]]);
    await changeSiteSettings(context, current(site), { inbound: "on" }, by());
    expect(await openAlerts(site)).toEqual([]);
  });

  test("an OAuth app raises an alert of the sites whose connections renew their tokens with it", async () => {
    const [site, other] = [await newSite(), await newSite()];
    const platform = "google_ads";
    const app = { platform, clientId: "c", clientSecret: "s" };
    await store.platformSignIns.saveApp(app, now);
    const line = { siteId: site.id, actor: "test", action: "test", detail: {}, at: now };
    const row = {
      siteId: site.id,
      id: shortId(),
      platform,
      account: "1",
      settings: { refresh_token: "r" },
      events: null,
      state: "active",
      stateReason: null,
      createdAt: now,
    } as const;
    await store.configuration.saveConnection(line, row, new Set(["refresh_token"]));
    await sql(location, `UPDATE oauth_apps SET ${damaged("credentials")}`);
    await check();
    expect(await openAlerts(site)).toEqual([["damaged data", `OAuth app ${platform}`]]);
    expect(await openAlerts(other)).toEqual([]);
    await store.platformSignIns.saveApp(app, now);
    now += hourMs;
    await check();
    expect(await openAlerts(site)).toEqual([]);
  });
});
