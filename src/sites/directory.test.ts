// Two nodes on one PostgreSQL without a connection to each other: a change on one arrives on the other by itself.

import { expect, onTestFinished, test } from "vitest";
import { migratedDatabase } from "../../test/support/databases.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { eventually } from "../../test/support/relay.ts";
import { ulid } from "../kernel/ids.ts";
import { connectClient } from "../store/engine/postgres/client.ts";
import { createStore } from "../store/store.ts";
import { connect, pause } from "./connect.ts";
import { createDirectory, isUsable } from "./directory.ts";
import { addKey, addSite, revokeKey, changeSiteSettings } from "./manage.ts";

test("a change of keys, sites, settings or connections arrives on another node by itself", async () => {
  const { store, other, close } = await createNodes("postgres");
  const here = createDirectory(store);
  const there = createDirectory(other);
  await Promise.all([here.refresh(), there.refresh()]);
  const failures: unknown[] = [];
  const following = there.follow({ refreshed: () => {}, error: (error) => failures.push(error) });
  onTestFinished(async () => {
    await following.stop();
    await close();
  });
  const context = { store, directory: here };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const site = await addSite(context, "shop.example.com", by);
  const { key } = await addKey(context, site, { name: "CRM", mode: "live", expiresAt: null }, by);
  const siteNow = here.site(site.id) ?? expect.unreachable("it was made here");
  const { connection } = await connect(context, siteNow, "sandbox", {}, by);
  await eventually(
    "a new site, key and connection",
    () =>
      there.siteOfHost("shop.example.com")?.id === site.id &&
      there.key(key)?.siteId === site.id &&
      there.connection(site.id, connection.id)?.state === "active",
  );

  const made = here.key(key) ?? expect.unreachable("it was made here");
  await pause(context, connection, by);
  await changeSiteSettings(context, siteNow, { dedup_order: "30d" }, by);
  await revokeKey(context, made, by);
  const endedThere = () => {
    const known = there.key(key);
    return known === undefined || !isUsable(known, Date.now());
  };
  await eventually(
    "a connection that is paused, a setting, a key that is revoked",
    () =>
      there.connection(site.id, connection.id)?.state === "paused" &&
      there.site(site.id)?.settings.dedupOrderMs === 30 * 86_400_000 &&
      endedThere(),
  );
  expect(failures).toEqual([]);
});

test("a site has at most a hundred connections: each of its events goes to all of them", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const directory = createDirectory(store);
  const context = { store, directory };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const { id } = await addSite(context, "shop.example.com", by);
  const siteNow = () => directory.site(id) ?? expect.unreachable("it was made here");
  const add = (i: number) => connect(context, siteNow(), "webhook", { url: `https://hook${i}.example.com/` }, by);
  for (let i = 0; i < 100; i += 1) await add(i);
  await expect(add(100)).rejects.toThrow("A site has at most 100 connections.");
  // One that is there can still be connected again.
  await add(0);
  const other = await addSite(context, "other.example.com", by);
  await connect(context, directory.site(other.id) ?? other, "sandbox", {}, by);
});

test("a change of a site keeps the lists that it does not change", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const directory = createDirectory(store);
  const context = { store, directory };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const { id } = await addSite(context, "shop.example.com", by);
  const siteNow = () => directory.site(id) ?? expect.unreachable("it was made here");
  await changeSiteSettings(context, siteNow(), { deny_networks: "192.0.2.1,192.0.2.2" }, by);
  const { denyNetworks } = siteNow().settings;
  await changeSiteSettings(context, siteNow(), { allow_networks: "192.0.2.3" }, by);
  expect(siteNow().settings).toMatchObject({ allowNetworks: ["192.0.2.3"] });
  expect(siteNow().settings.denyNetworks).toBe(denyNetworks);
});

test("sites that a restored database does not have are removed from memory", async () => {
  const url = await migratedDatabase();
  const store = await createStore({ engine: "postgres", url, connections: 2 }, Buffer.alloc(32, 7), ulid);
  const client = await connectClient(url, "restore");
  onTestFinished(async () => {
    await client.end();
    await store.close();
  });
  const directory = createDirectory(store);
  const context = { store, directory };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const kept = await addSite(context, "kept.example.com", by);
  const { key } = await addKey(context, kept, { name: "CRM", mode: "live", expiresAt: null }, by);
  const { rows: before } = await client.query(`SELECT value FROM settings WHERE name = 'revision'`);
  const gone = await addSite(context, "gone.example.com", by);
  const { key: late } = await addKey(context, kept, { name: "late", mode: "live", expiresAt: null }, by);
  await directory.refresh();
  expect([directory.key(key)?.name, directory.key(late)?.name]).toEqual(["CRM", "late"]);

  await client.query(`DELETE FROM inbound_keys WHERE name = 'late'`);
  await client.query(`DELETE FROM hosts WHERE site_id = $1`, [gone.id]);
  await client.query(`DELETE FROM sites WHERE site_id = $1`, [gone.id]);
  await client.query(`UPDATE sites SET revision = 1`);
  await client.query(`UPDATE settings SET value = $1 WHERE name = 'revision'`, [before[0]?.value]);
  await directory.refresh();
  expect([directory.key(key)?.name, directory.key(late)]).toEqual(["CRM", undefined]);
  expect(Array.from(directory.sites(), ({ id }) => id)).toEqual([kept.id]);
  expect(directory.siteOfHost("gone.example.com")).toBeUndefined();
});

test("a refresh that begins while another one reads finds what was written in between", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const hasRead = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = {
    ...store,
    configuration: {
      ...store.configuration,
      async listSitesSince(revision: number) {
        const rows = await store.configuration.listSitesSince(revision);
        hasRead.resolve();
        await goOn.promise;
        return rows;
      },
    },
  };
  const directory = createDirectory(slow);
  const first = directory.refresh();
  await hasRead.promise;
  const elsewhere = { store, directory: createDirectory(store) };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const site = await addSite(elsewhere, "shop.example.com", by);
  const second = directory.refresh();
  goOn.resolve();
  await Promise.all([first, second]);
  expect(directory.siteOfHost("shop.example.com")?.id).toBe(site.id);
});

test("a key that was added elsewhere is found at once, and wrong keys share the readings that this takes", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  let readings = 0;
  const counted = {
    ...store,
    configuration: {
      ...store.configuration,
      readRevision() {
        readings += 1;
        return store.configuration.readRevision();
      },
    },
  };
  const directory = createDirectory(counted);
  await directory.refresh();
  const elsewhere = { store, directory: createDirectory(store) };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const site = await addSite(elsewhere, "shop.example.com", by);
  const wanted = { name: "CRM", mode: "live", expiresAt: null } as const;
  const added = await addKey(elsewhere, site, wanted, by);
  expect(directory.key(added.key)).toBeUndefined();
  expect(await directory.keyNow(added.key)).toMatchObject({ id: added.id });
  const before = readings;
  const wrong = await Promise.allSettled(Array.from({ length: 500 }, (_, i) => directory.keyNow(`cc_wrong_${i}`)));
  for (const one of wrong.slice(0, 100)) expect(one).toEqual({ status: "fulfilled", value: undefined });
  // Nothing is known about a key that was not looked up.
  expect(new Set(wrong.slice(100).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(readings).toBe(before + 1);
  const another = await addKey(elsewhere, site, { ...wanted, name: "Shop" }, by);
  expect(await directory.keyNow(another.key)).toMatchObject({ id: another.id });
});
