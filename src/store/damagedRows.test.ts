// Rows of every kind that hold sealed values or JSON, damaged by SQL: a reader leaves out or marks the damaged one, and returns
// the others.

import { afterAll, describe, expect, test } from "vitest";
import { auditLine, newEvent, newSite } from "../../test/support/events.ts";
import { openAt, openNodes, sql } from "../../test/support/nodes.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import type { ConnectionRow, SiteRow } from "./sites/configuration.ts";
import { openStore } from "./store.ts";

const now = Date.UTC(2026, 10, 15);
const damaged = (column: string) => `${column} = 'v1.AAAA' || SUBSTR(${column}, 8)`;

describe.each(["sqlite", "postgres"] as const)("damaged rows on %s", async (engine) => {
  const { store, location, close } = await openNodes(engine);
  afterAll(close);

  const connection = (siteId: string, changes: Partial<ConnectionRow> = {}): ConnectionRow => ({
    siteId,
    id: shortId(),
    platform: "webhook",
    account: shortId(),
    settings: { url: "https://example.com", method: "POST" },
    events: ["purchase"],
    state: "active",
    stateReason: null,
    createdAt: now,
    ...changes,
  });
  const save = (row: ConnectionRow) =>
    store.configuration.saveConnection(auditLine(row.siteId), row, new Set(["url"]));
  async function siteOf(siteId: string): Promise<SiteRow> {
    const sites = await store.configuration.listSitesSince(-1);
    return sites.find(({ id }) => id === siteId) ?? expect.unreachable("the site is there");
  }

  test.each([
    ["credentials that cannot be decrypted", damaged("credentials"), ["credentials"]],
    ["credentials that are not sealed", "credentials = '{}'", ["credentials"]],
    ["settings that are not JSON", "settings = '{\"a\"'", ["settings"]],
    ["settings that are not an object", "settings = '[]'", ["settings"]],
    ["an event selection that is not JSON", "events = ''", ["events"]],
    ["an event selection that is not a list", "events = '{}'", ["events"]],
    ["an unknown state", "state = 'activ'", ["state"]],
  ])(
    "a connection with %s needs reconnection, and its neighbours stay active",
    async (_what, set, unreadable) => {
      const siteId = await newSite(store);
      const [one, whole] = [connection(siteId), connection(siteId)];
      await save(one);
      await save(whole);
      await sql(location, `UPDATE connections SET ${set} WHERE id = '${one.id}'`);
      const found = (await siteOf(siteId)).connections;
      expect(found.find(({ id }) => id === one.id)).toMatchObject({
        state: "needs reconnection",
        stateReason: "cannot be read",
        unreadable,
      });
      expect(found.find(({ id }) => id === whole.id)).toEqual(whole);
    },
  );

  test("a damaged connection that is paused stays paused", async () => {
    const siteId = await newSite(store);
    const one = connection(siteId, { state: "paused" });
    await save(one);
    await sql(location, `UPDATE connections SET ${damaged("credentials")} WHERE id = '${one.id}'`);
    expect((await siteOf(siteId)).connections).toMatchObject([
      { state: "paused", stateReason: "cannot be read", unreadable: ["credentials"] },
    ]);
  });

  test("settings of a site that cannot be read become opt-in consent, and a change replaces them", async () => {
    const siteId = await newSite(store);
    await sql(location, `UPDATE sites SET settings = 'x' WHERE site_id = '${siteId}'`);
    expect(await siteOf(siteId)).toMatchObject({
      settings: { consentMode: "opt-in" },
      unreadable: ["settings"],
    });
    await store.configuration.changeSettings(auditLine(siteId), (stored) => ({ ...stored, inbound: true }));
    const { settings, unreadable } = await siteOf(siteId);
    expect([settings, unreadable]).toEqual([{ consentMode: "opt-in", inbound: true }, undefined]);
  });

  test("a sealed setting that cannot be read is left out, and kept until it is set again", async () => {
    const siteId = await newSite(store);
    const set = (changes: Record<string, unknown>) =>
      store.configuration.changeSettings(auditLine(siteId), (stored) => ({ ...stored, ...changes }));
    await set({ alertWebhook: "https://alerts.example/T0K3N", inbound: true });
    const [row] = await sql(location, `SELECT settings FROM sites WHERE site_id = '${siteId}'`);
    const text = String(row?.settings).replace(/"v1\.[^"]{4}/, '"v1.AAAA');
    await sql(location, `UPDATE sites SET settings = '${text}' WHERE site_id = '${siteId}'`);
    await set({ rateLimit: 5 });
    expect(await siteOf(siteId)).toMatchObject({
      settings: { inbound: true, rateLimit: 5 },
      unreadable: ["alertWebhook"],
    });
    await set({ alertWebhook: null });
    expect((await siteOf(siteId)).unreadable).toBeUndefined();
  });

  test("a wrong encryption key is never taken for damaged rows", async () => {
    const siteId = await newSite(store);
    await save(connection(siteId));
    const open = () => openStore(location, Buffer.alloc(32, 9), ulid);
    await expect(open()).rejects.toThrow("is not the key that this database was sealed with");
    let key = Buffer.alloc(32, 7);
    const replaced = await openStore(location, () => [key], ulid);
    try {
      // The key of a running process is replaced by a wrong one.
      key = Buffer.alloc(32, 9);
      await expect(replaced.configuration.listSitesSince(-1)).rejects.toThrow("is not the key");
      key = Buffer.alloc(32, 7);
      const sites = await replaced.configuration.listSitesSince(-1);
      expect(sites.find(({ id }) => id === siteId)?.connections).toMatchObject([{ state: "active" }]);
    } finally {
      await replaced.close();
    }
  });

  test("a webhook that cannot be read is disabled, keeps its periods, and is repaired", async () => {
    const siteId = await newSite(store);
    const [id, whole] = [shortId(), shortId()];
    const address = { url: "https://totals.example/in", secrets: { current: "s", previous: null } };
    for (const one of [id, whole])
      await store.webhooks.add(auditLine(siteId), { siteId, id: one, sendEmpty: true }, address);
    await store.periods.close({ siteId, number: 0, startsAt: 0, endsAt: now, now, dueAt: now });
    await sql(location, `UPDATE webhooks SET ${damaged("url")} WHERE id = '${id}'`);
    const listed = await store.webhooks.list(siteId);
    expect(listed.find((one) => one.id === id)).toMatchObject({
      origin: null,
      state: "disabled",
      stateReason: "cannot be read",
    });
    expect((await store.webhooks.listWithSecrets(siteId)).map((one) => one.id)).toEqual([whole]);
    const claim = (webhookId: string) =>
      store.pushes.claim({ siteId, webhookId }, { owner: "a", now, until: now + 1000 });
    expect(await claim(id)).toBeNull();
    expect((await claim(whole))?.period.number).toBe(1);
    const ofSite = async () =>
      (await store.pushes.findDue(now + 5000)).filter((one) => one.siteId === siteId);
    expect(await ofSite()).toEqual([{ siteId, webhookId: whole }]);
    expect((await store.audit.list(siteId, 1))[0]).toMatchObject({
      action: "webhook disabled",
      detail: { id, reason: "cannot be read" },
    });
    await store.webhooks.repair(auditLine(siteId), id, address);
    expect((await claim(id))?.period.number).toBe(1);
  });

  test("an OAuth app or a sign-in that cannot be read says so, and does not throw", async () => {
    const app = { platform: shortId(), clientId: "c", clientSecret: "s" };
    await store.platformSignIns.saveApp(app, now);
    await store.platformSignIns.saveApp({ ...app, platform: `${app.platform}x` }, now);
    await sql(location, `UPDATE oauth_apps SET ${damaged("credentials")} WHERE platform = '${app.platform}'`);
    expect(await store.platformSignIns.findApp(app.platform)).toBe("unreadable");
    expect((await store.platformSignIns.listApps()).map(({ isReadable }) => isReadable)).toEqual([
      false,
      true,
    ]);
    const siteId = await newSite(store);
    const signIn = {
      siteId,
      id: "i",
      platform: "meta",
      expiresAt: now + 1000,
      record: { step: "requested" },
    };
    await store.platformSignIns.begin(signIn);
    await sql(location, `UPDATE platform_sign_ins SET ${damaged("record")} WHERE site_id = '${siteId}'`);
    expect(await store.platformSignIns.find(siteId, "i")).toBeNull();
    expect(await store.platformSignIns.step(siteId, "i", () => ({ record: {}, expiresAt: 1 }))).toBeNull();
  });

  test("damaged bot visits are left out of a page, which stays full, and raise an alert", async () => {
    const siteId = await newSite(store);
    const verdict = { bot: true, score: 100, reasons: ["a bot"], rules: 1 };
    const ids = Array.from({ length: 6 }, (_, i) => ulid(now + i));
    for (const id of ids)
      await store.traffic.addBotVisit({ siteId, id, seenAt: now, reason: "r", verdict, page: "/", seen: {} });
    await sql(location, `UPDATE bot_visits SET ${damaged("record")} WHERE id IN ('${ids[4]}', '${ids[3]}')`);
    const page = await store.traffic.listBotVisits(siteId, 3);
    expect(page.map(({ id }) => id)).toEqual([ids[5], ids[2], ids[1]]);
    expect((await store.traffic.listBotVisits(siteId, 3, ids[1])).map(({ id }) => id)).toEqual([ids[0]]);
    expect(await store.traffic.findBotVisit(siteId, ids[4] ?? "")).toBeNull();
    expect(await store.alerts.listSince(siteId, 0)).toMatchObject([
      { kind: "damaged data", subject: "bot visits" },
    ]);
  });

  test("an event whose extra fields cannot be decrypted is damaged, and its neighbours are read", async () => {
    const siteId = await newSite(store);
    const [one, whole] = [newEvent(siteId, { extra: { plan: "gold" } }), newEvent(siteId)];
    await store.events.accept(one);
    await store.events.accept(whole);
    await sql(location, `UPDATE events SET ${damaged("extra")} WHERE id = '${one.event.id}'`);
    expect(await store.events.get(siteId, one.event.id)).toBe("damaged");
    expect(await store.events.get(siteId, whole.event.id)).toMatchObject({ id: whole.event.id });
  });

  test("damaged outcomes of an event stop neither a takeover nor lists, and the event is not sent again", async () => {
    const siteId = await newSite(store);
    const owner = shortId();
    const items = Array.from({ length: 3 }, () =>
      newEvent(siteId, { orderId: null }, { leaseUntil: null, owner }),
    );
    const [one, open, planless] = items;
    if (!one || !open || !planless) expect.unreachable();
    for (const item of items) await store.events.accept(item);
    await sql(
      location,
      `INSERT INTO outcomes (site_id, event_id, number, results) VALUES ('${siteId}', '${one.event.id}', 0, '[[0,1')`,
    );
    await sql(location, `UPDATE events SET plan = '[[' WHERE id = '${planless.event.id}'`);
    expect(await store.nodes.takeOver(siteId, { owner, lowWater: "" }, now)).toBe(1);
    expect(await store.deliveries.listByEvent(siteId, open.event.id)).toMatchObject([{ state: "queued" }]);
    expect(await store.deliveries.listByEvent(siteId, one.event.id)).toHaveLength(1);
    expect(await store.deliveries.listAttempts(siteId, one.event.id)).toEqual([]);
    expect(await store.alerts.countAttempts(siteId, "c1", 0)).toEqual({});
    expect(await store.alerts.listSince(siteId, 0)).toMatchObject([
      { kind: "damaged data", subject: "events" },
    ]);
    const { emailSha256 } = one.event.person;
    expect(await store.erase.events(siteId, emailSha256, now)).toBe(3);
    const [left] = await sql(location, `SELECT results FROM outcomes WHERE event_id = '${one.event.id}'`);
    expect(left?.results).toBe("(removed)");
    expect(await store.nodes.takeOver(siteId, { owner, lowWater: "" }, now)).toBe(0);
  });

  test("a damaged line of the audit log, import or notification does not hide the others", async () => {
    const siteId = await newSite(store);
    await store.audit.add(auditLine(siteId, "first"));
    await store.audit.add(auditLine(siteId, "second"));
    await sql(location, `UPDATE audit SET detail = '{' WHERE site_id = '${siteId}' AND action = 'first'`);
    const lines = await store.audit.list(siteId, 2);
    expect(lines.map(({ action, detail }) => [action, detail])).toEqual([
      ["second", {}],
      ["first", { unreadable: true }],
    ]);

    const wanted = { siteId, id: "i", kind: "conversions", file: "a.csv", options: {}, tally: {} } as const;
    await store.imports.claim(wanted, null, { owner: "a", now, until: now }, auditLine(siteId));
    await sql(location, `UPDATE imports SET tally = '' WHERE site_id = '${siteId}'`);
    expect(await store.imports.list(siteId)).toMatchObject([{ id: "i", tally: {}, isReadable: false }]);

    const finding = { kind: "silence", subject: "", text: "quiet" } as const;
    await store.alerts.begin(siteId, finding, now);
    await sql(location, `UPDATE alerts SET notifications = 'x' WHERE site_id = '${siteId}'`);
    const [alert] = await store.alerts.listSince(siteId, 0);
    if (!alert) expect.unreachable("it was begun");
    expect(alert.notifications).toEqual({});
    const sent = {
      notified: "began",
      notifiedAt: now,
      triedAt: now,
      isTrying: false,
      by: "a",
      error: null,
    } as const;
    expect(await store.alerts.saveNotification(alert, "mail", sent)).toMatchObject({
      notifications: { mail: sent },
    });
    expect((await store.alerts.listSince(siteId, 0))[0]?.notifications).toEqual({ mail: sent });
  });

  test("sealed values of the installation that are damaged are written anew with the right key only", async () => {
    await sql(
      location,
      `UPDATE settings SET ${damaged("value")} WHERE name IN ('seal check', 'access secret')`,
    );
    await expect(openStore(location, Buffer.alloc(32, 9), ulid)).rejects.toThrow("is not the key");
    const again = await openAt(location);
    expect(again.accessSecret).toBe(store.accessSecret);
    await again.close();
  });
});
