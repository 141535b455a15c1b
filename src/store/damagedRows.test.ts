// Rows of every kind that hold sealed values or JSON, damaged by SQL: a reader leaves out or marks the damaged one, and returns
// the others.

import { afterAll, describe, expect, test } from "vitest";
import type { Sha256 } from "../kernel/event.ts";
import { byNode, auditLine, newEvent, newSite } from "../../test/support/events.ts";
import { encryptionKey, createAt, createNodes, sql } from "../../test/support/nodes.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import { sealWith } from "./engine/seal.ts";
import { sealedColumns } from "./maintenance/sealedColumns.ts";
import { connectionPlace, type ConnectionRow, type SiteRow } from "./sites/configuration.ts";
import { createStore, type Store } from "./store.ts";

const now = Date.UTC(2026, 10, 15);
const wrongKey = Buffer.alloc(32, 9);
const damaged = (column: string) => `${column} = 'v1.AAAA' || SUBSTR(${column}, 8)`;

describe.each(["sqlite", "postgres"] as const)("damaged rows on %s", async (engine) => {
  const { store, location, close } = await createNodes(engine);
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
  const save = (row: ConnectionRow) => store.configuration.saveConnection(auditLine(row.siteId), row, new Set(["url"]));
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
  ])("a connection with %s needs reconnection, and its neighbours stay active", async (_what, set, unreadable) => {
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
  });

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
    const item = newEvent(siteId, { extra: { plan: "gold" } });
    await store.events.accept(item);
    await expect(createStore(location, wrongKey, ulid)).rejects.toThrow("is not the key that this database was sealed with");
    let key = Buffer.alloc(32, 7);
    const replaced = await createStore(location, () => [key], ulid);
    try {
      // The key of a running process is replaced by a wrong one.
      key = wrongKey;
      await expect(replaced.configuration.listSitesSince(-1)).rejects.toThrow("is not the key");
      await expect(replaced.events.get(siteId, item.event.id)).rejects.toThrow("is not the key");
      key = Buffer.alloc(32, 7);
      const sites = await replaced.configuration.listSitesSince(-1);
      expect(sites.find(({ id }) => id === siteId)?.connections).toMatchObject([{ state: "active" }]);
    } finally {
      await replaced.close();
    }
  });

  test.each(["url", "secrets"])(
    "a webhook whose %s cannot be read keeps its periods, and goes on when it is repaired or restored",
    async (column) => {
      const siteId = await newSite(store);
      const [id, whole] = [shortId(), shortId()];
      const address = { url: "https://totals.example/in", secrets: { current: "s", previous: null } };
      for (const one of [id, whole]) await store.webhooks.add(auditLine(siteId), { siteId, id: one, sendEmpty: true }, address);
      await store.periods.close({ siteId, number: 0, startsAt: 0, endsAt: now, now, dueAt: now });
      const [row] = await sql(location, `SELECT ${column} AS value FROM webhooks WHERE id = '${id}'`);
      await sql(location, `UPDATE webhooks SET ${damaged(column)} WHERE id = '${id}'`);
      const listed = await store.webhooks.list(siteId);
      expect(listed.find((one) => one.id === id)).toMatchObject({
        origin: null,
        state: "disabled",
        stateReason: "cannot be read",
      });
      expect((await store.webhooks.listWithSecrets(siteId)).map((one) => one.id)).toEqual([whole]);
      const claim = (webhookId: string, at = now) =>
        store.pushes.claim({ siteId, webhookId }, { owner: "a", now: at, until: at + 1000 });
      expect(await claim(id)).toBeNull();
      expect((await claim(whole))?.period.number).toBe(1);
      const ofSite = async () => (await store.pushes.findDue(now + 5000)).filter((one) => one.siteId === siteId);
      expect(await ofSite()).toEqual([{ siteId, webhookId: whole }]);

      await sql(location, `UPDATE webhooks SET ${column} = '${String(row?.value)}' WHERE id = '${id}'`);
      const later = now + 3_600_000;
      expect((await claim(id, later))?.period.number).toBe(1);
      await sql(location, `UPDATE webhooks SET ${damaged(column)} WHERE id = '${id}'`);
      await store.webhooks.repair(auditLine(siteId), id, address);
      expect((await claim(id))?.period.number).toBe(1);
    },
  );

  test("an OAuth app or a sign-in that cannot be read says so, and does not throw", async () => {
    const app = { platform: shortId(), clientId: "c", clientSecret: "s" };
    await store.platformSignIns.saveApp(app, now);
    await store.platformSignIns.saveApp({ ...app, platform: `${app.platform}x` }, now);
    await sql(location, `UPDATE oauth_apps SET ${damaged("credentials")} WHERE platform = '${app.platform}'`);
    expect(await store.platformSignIns.findApp(app.platform)).toBe("unreadable");
    expect((await store.platformSignIns.listApps()).map(({ isReadable }) => isReadable)).toEqual([false, true]);
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
      await store.traffic.addBotVisit({ siteId, id, seenAt: now, reason: "r", verdict, page: "/", seen: {}, click: null });
    await sql(location, `UPDATE bot_visits SET ${damaged("record")} WHERE id IN ('${ids[4]}', '${ids[3]}')`);
    const page = await store.traffic.listBotVisits(siteId, 3);
    expect(page.map(({ id }) => id)).toEqual([ids[5], ids[2], ids[1]]);
    expect((await store.traffic.listBotVisits(siteId, 3, ids[1])).map(({ id }) => id)).toEqual([ids[0]]);
    expect(await store.traffic.findBotVisit(siteId, ids[4] ?? "")).toBeNull();
    expect(await store.alerts.listSince(siteId, 0)).toMatchObject([{ kind: "damaged data", subject: "bot visits" }]);
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

  test("an event whose reasons for being filtered are damaged is listed with the others", async () => {
    const siteId = await newSite(store);
    const filterReasons = [{ code: "blocked domain", detail: "spam.example" }] as never;
    for (const id of ["01", "02"])
      await store.events.accept(newEvent(siteId, { id, orderId: id }, { filterReasons, deliveries: [] }));
    await sql(location, `UPDATE events SET reasons = '[{' WHERE site_id = '${siteId}' AND id = '01'`);
    const { events } = await store.events.listPage(siteId, {}, { before: null, limit: 5 });
    expect(events.map((one) => [one.id, one.filterReasons])).toEqual([
      ["02", filterReasons],
      ["01", []],
    ]);
  });

  test("damaged outcomes of an event stop neither a takeover nor lists, and the event is not sent again", async () => {
    const siteId = await newSite(store);
    const owner = shortId();
    const items = Array.from({ length: 3 }, () => newEvent(siteId, { orderId: null }, { ownership: byNode(owner) }));
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
    expect(await store.deliveries.listByEvent(siteId, one.event.id)).toMatchObject([
      { state: "rejected", reason: "the stored outcome is damaged; it may have been sent" },
    ]);
    expect(await store.deliveries.listAttempts(siteId, one.event.id)).toEqual([]);
    const key = { eventId: one.event.id, connectionId: "c1" };
    expect(await store.syncLog.requeue(siteId, [key], ["rejected"], now)).toBe(1);
    expect(await store.deliveries.listByEvent(siteId, one.event.id)).toMatchObject([{ state: "queued" }]);
    expect(await store.alerts.countAttempts(siteId, "c1", 0)).toEqual({});
    expect(await store.alerts.listSince(siteId, 0)).toMatchObject([{ kind: "damaged data", subject: "events" }]);
    expect(await store.erase.events(siteId, one.event.person.emailSha256 as Sha256, now)).toBe(3);
    const [left] = await sql(location, `SELECT results FROM outcomes WHERE event_id = '${one.event.id}'`);
    expect(left?.results).toBe("(removed)");
    expect(await store.nodes.takeOver(siteId, { owner, lowWater: "" }, now)).toBe(0);
  });

  test("damaged identities and visitors stop no purge, and are removed when a part of them is too old", async () => {
    const siteId = await newSite(store);
    const dayMs = 86_400_000;
    for (const [table, key] of [
      ["identities", "email_sha256"],
      ["visitors", "visitor_id"],
    ])
      for (const [id, age] of [
        ["a", 100],
        ["b", 1],
      ] as const)
        await sql(
          location,
          `INSERT INTO ${table} (site_id, ${key}, record, oldest_at)
           VALUES ('${siteId}', '${id}', 'x{', ${now - age * dayMs})`,
        );
    const before = now - 90 * dayMs;
    expect(await store.people.purgeVisitors(siteId, before, 10)).toBe(1);
    expect(await store.people.purgeVisitors(siteId, before, 10)).toBe(0);
    expect(await store.people.purgePeople(siteId, before, "", 10)).toEqual({ removed: 1, next: null });
    for (const table of ["identities", "visitors"])
      expect(await sql(location, `SELECT record FROM ${table} WHERE site_id = '${siteId}'`)).toHaveLength(1);
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

  const settingsOf = async () =>
    new Map((await sql(location, "SELECT name, value FROM settings")).map((row) => [row.name, row.value]));

  test.each([["seal check"], ["access secret"], ["seal check", "access secret"]])(
    "sealed values of the installation that are damaged (%s) are written again, with the right key only",
    async (...names) => {
      await save(connection(await newSite(store)));
      // Values that other tests of this file have damaged.
      await sql(location, `DELETE FROM connections WHERE credentials LIKE 'v1.AAAA%' OR credentials = '{}'`);
      for (const table of ["webhooks", "oauth_apps", "platform_sign_ins", "bot_visits", "events"])
        await sql(location, `DELETE FROM ${table}`);
      for (const name of names) await sql(location, `UPDATE settings SET ${damaged("value")} WHERE name = '${name}'`);
      const before = await settingsOf();
      await expect(createStore(location, wrongKey, ulid)).rejects.toThrow("is not the key");
      expect(await settingsOf()).toEqual(before);
      const again = await createAt(location);
      expect(again.accessSecret).toBe(store.accessSecret);
      await again.close();
    },
  );

  test("a change of the key that was interrupted is not taken for damage by a start with the new key alone", async () => {
    const [one, other] = [connection(await newSite(store)), connection(await newSite(store))];
    await save(one);
    await save(other);
    const newKey = Buffer.alloc(32, 11);
    // The change has resealed one of two connections when it is killed.
    const [row] = await sql(location, `SELECT credentials FROM connections WHERE id = '${one.id}'`);
    const place = connectionPlace(one.siteId, one.id);
    const plain = sealWith(encryptionKey).unseal(String(row?.credentials), place);
    const resealed = sealWith(newKey).seal(plain, place);
    await sql(location, `UPDATE connections SET credentials = '${resealed}' WHERE id = '${one.id}'`);
    const before = await settingsOf();
    await expect(createStore(location, newKey, ulid)).rejects.toThrow("is not the key");
    expect(await settingsOf()).toEqual(before);
    const both = await createStore(location, () => [newKey, encryptionKey], ulid);
    await both.close();
  });

  test.each(sealedColumns.map((column) => [`${column.table}.${column.column}`, column] as const))(
    "a damaged value in %s keeps no other row from being read",
    async (_name, { table, column, where = "1 = 1" }) => {
      const home = await createNodes(engine);
      try {
        const platform = "google_ads";
        const { store: its } = home;
        const siteId = await newSite(its);
        const fill = async (id: string) => {
          const row = { ...connection(siteId), id };
          await its.configuration.saveConnection(auditLine(siteId), row, new Set(["url"]));
          await its.webhooks.add(auditLine(siteId), { siteId, id, sendEmpty: true }, someAddress);
          await its.platformSignIns.saveApp({ platform: id, clientId: "c", clientSecret: "s" }, now);
          await its.orderFeeds.set(auditLine(id), someFeed, {});
          await its.dataExports.set(auditLine(id), someExport);
          await its.configuration.saveSource(auditLine(siteId), { ...someSource, siteId, id });
          const shape = { siteId, sourceId: "src1", id, at: now, type: "", shape: "[]", request: "{}" };
          await its.sourceRequests.addShape(shape);
          await its.sourceRequests.addWaiting([{ ...someRequest, siteId, id }]);
          const signIn = { siteId, id, platform, expiresAt: now + 1000, record: { step: "requested" } };
          await its.platformSignIns.begin(signIn);
          const visit = { siteId, id, seenAt: now, reason: "r", verdict: botVerdict, page: "/", seen: {}, click: null };
          await its.traffic.addBotVisit(visit);
          await sql(
            home.location,
            `INSERT INTO users (id, email, name, email_verified, created_at, updated_at) VALUES ('${id}', '${id}', '', 1, 0, 0)`,
          );
          await its.pushDevices.add({ id, userId: id, name: "Firefox", createdAt: now }, someSubscription);
          await its.events.accept(newEvent(siteId, { id, orderId: id, extra: { plan: "gold" } }));
        };
        const [bad, good] = ["01", "02"] as const;
        await fill(bad);
        await fill(good);
        await its.periods.close({ siteId, number: 0, startsAt: 0, endsAt: now, now, dueAt: now });
        const keys: Record<string, string> = {
          oauth_apps: "platform",
          settings: "name",
          order_feeds: "site_id",
          data_exports: "site_id",
        };
        const id = keys[table] ?? "id";
        const which = table === "settings" ? where : `${id} = '${bad}'`;
        const changed = `UPDATE ${table} SET ${damaged(column)} WHERE ${which} RETURNING ${id}`;
        expect((await sql(home.location, changed)).length).toBeGreaterThan(0);

        const again = await createAt(home.location);
        try {
          for (const node of [its, again]) expect(await readAll(node, siteId, good)).toEqual(allWhole);
        } finally {
          await again.close();
        }
      } finally {
        await home.close();
      }
    },
  );
});

const someAddress = { url: "https://totals.example/in", secrets: { current: "s", previous: null } };
const someSubscription = { endpoint: "https://push.example/1", keys: { p256dh: "p", auth: "a" } };
const someFeed = { url: "https://shop.example/orders.csv", header: { name: "x-key", value: "s" } };
const someExport = {
  target: { kind: "folder" },
  options: { format: "parquet", people: false },
  fromHour: 0,
  liveHour: 0,
  nextHour: 0,
} as const;
const someSource = {
  kind: "stripe",
  name: "Stripe",
  settings: {},
  tokenHashes: [{ value: "d".repeat(64), until: null }],
  tokens: [{ value: "t".repeat(26), until: null }],
  secrets: {},
  state: "active",
  createdAt: now,
  updatedAt: now,
} as const;
const someRequest = {
  sourceId: "src1",
  at: now,
  outcome: "waiting",
  reason: "look-up",
  detail: null,
  type: "",
  deliveryId: null,
  eventId: null,
  dueAt: now,
  attempts: 0,
  waiting: "{}",
} as const;
const botVerdict = { bot: true, score: 100, reasons: ["a bot"], rules: 1 };

/** Reads what every part of the relay reads, and returns what was found of the whole rows. */
async function readAll(node: Store, siteId: string, id: string) {
  const [site] = await node.configuration.listSitesSince(-1);
  const hasId = (one: { id: string }) => one.id === id;
  const webhook = { siteId, webhookId: id };
  const push = await node.pushes.claim(webhook, { owner: shortId(), now, until: now });
  const app = await node.platformSignIns.findApp(id);
  return {
    connection: site?.connections.find(hasId)?.state,
    webhook: (await node.webhooks.list(siteId)).find(hasId)?.state,
    withSecrets: (await node.webhooks.listWithSecrets(siteId)).some(hasId),
    push: push?.address,
    feed: (await node.orderFeeds.find(id))?.address,
    export: (await node.dataExports.find(id))?.target,
    feeds: (await node.orderFeeds.listDue(now)).some((one) => one.siteId === id),
    app: app !== null && app !== "unreadable" && app.clientSecret,
    apps: (await node.platformSignIns.listApps()).find(({ platform }) => platform === id)?.isReadable,
    signIn: (await node.platformSignIns.find(siteId, id))?.record,
    request: (await node.sourceRequests.listShapes(siteId, "src1", now)).find(hasId)?.request,
    waiting: (await node.sourceRequests.listDue(siteId, "src1", { isLookUp: true, now, limit: 10 })).find(hasId)?.waiting,
    botVisits: (await node.traffic.listBotVisits(siteId, 10)).some(hasId),
    device: (await node.pushDevices.listOf(id)).some(hasId),
    event: await node.events.get(siteId, id).then((event) => event !== "damaged" && event?.extra),
    events: (await node.events.list(siteId, { limit: 10 })).some(hasId),
  };
}

const allWhole: Awaited<ReturnType<typeof readAll>> = {
  connection: "active",
  webhook: "active",
  withSecrets: true,
  push: someAddress,
  feed: someFeed,
  export: someExport.target,
  feeds: true,
  app: "s",
  apps: true,
  signIn: { step: "requested" },
  request: "{}",
  waiting: "{}",
  botVisits: true,
  device: true,
  event: { plan: "gold" },
  events: true,
};
