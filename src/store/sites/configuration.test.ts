// Sites, settings and connections, and the revision that nodes follow, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { auditLine, newSite } from "../../../test/support/events.ts";
import { createNodes, encryptionKey, sql } from "../../../test/support/nodes.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import { connectDatabase } from "../connect.ts";
import type { Query } from "../engine/database.ts";
import { sealWith } from "../engine/seal.ts";
import { configurationStore, type ConnectionRow } from "./configuration.ts";

const now = Date.UTC(2026, 10, 15);

describe.each(["sqlite", "postgres"] as const)("configuration on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  test("a change raises the revision, and only the changed site is read again", async () => {
    const [a, b] = [await newSite(store), await newSite(store)];
    const before = await store.configuration.readRevision();
    await other.configuration.changeSettings(auditLine(b), () => ({ inbound: true }));
    expect(await store.configuration.readRevision()).toBe(before + 1);
    const sites = await store.configuration.listSitesSince(before);
    expect(sites.map((site) => site.id)).toEqual([b]);
    expect(sites[0]?.settings).toEqual({ inbound: true });
    expect((await store.configuration.listSitesSince(-1)).map((site) => site.id)).toContain(a);
  });

  test("concurrent changes of settings on two nodes are all kept", async () => {
    const siteId = await newSite(store);
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 ? store : other).configuration.changeSettings(auditLine(siteId), (stored) => ({
          ...stored,
          [`s${i}`]: i,
        })),
      ),
    );
    const site = (await store.configuration.listSitesSince(-1)).find((one) => one.id === siteId);
    expect(Object.keys(site?.settings ?? {})).toHaveLength(10);
  });

  test("a first key that is added while its site is read arrives together with the setting that lets it in", async () => {
    const siteId = await newSite(store);
    const key = {
      siteId,
      id: "first",
      name: "first",
      mode: "live",
      hash: siteId,
      prefix: "cc_",
      createdAt: now,
      expiresAt: null,
      revokedAt: null,
      apiKeyId: null,
    } as const;
    const db = connectDatabase(location);
    let adding: Promise<void> | null = null;
    // The key is added after the row of the site was read, and before its keys are.
    const all: Query["all"] = async (text, params) => {
      const rows = await db.all(text, params);
      if (/FROM sites\b/.test(text)) await (adding ??= other.configuration.addKey(auditLine(siteId), key, { inbound: true }));
      return rows;
    };
    const reading = configurationStore({ ...db, all }, sealWith(encryptionKey), ulid, async () => {});
    try {
      const site = (await reading.listSitesSince(-1)).find(({ id }) => id === siteId);
      expect([site?.keys, site?.settings]).toEqual([[key], { inbound: true }]);
    } finally {
      await db.close();
    }
  });

  test("a host belongs to one site", async () => {
    const siteId = await newSite(store);
    const twice = store.configuration.addSite(auditLine(shortId()), {
      name: "x",
      settings: {},
      hosts: [`${siteId}.example.com`],
    });
    await expect(twice).rejects.toThrow(/unique|duplicate/i);
  });

  test("secret settings of a connection are sealed, and bound to their row", async () => {
    const siteId = await newSite(store);
    const connection = (id: string): ConnectionRow => ({
      siteId,
      id,
      platform: "webhook",
      account: id,
      settings: { url: "https://example.com", token: "TOP-SECRET" },
      events: ["purchase"],
      state: "active",
      stateReason: null,
      createdAt: now,
    });
    for (const id of ["one", "two"]) {
      await store.configuration.saveConnection(auditLine(siteId), connection(id), new Set(["token"]));
    }
    const load = async () => (await store.configuration.listSitesSince(-1)).find((site) => site.id === siteId);
    expect((await load())?.connections).toEqual([connection("one"), connection("two")]);
    const rows = await sql(location, `SELECT * FROM connections WHERE site_id = '${siteId}'`);
    expect(JSON.stringify(rows)).not.toContain("TOP-SECRET");
    await sql(
      location,
      `UPDATE connections SET credentials = (SELECT credentials FROM connections WHERE site_id = '${siteId}' AND id = 'one')
       WHERE site_id = '${siteId}' AND id = 'two'`,
    );
    expect((await load())?.connections).toMatchObject([{ state: "active" }, { unreadable: ["credentials"] }]);
    await store.configuration.removeConnection(auditLine(siteId), "two");
    expect((await load())?.connections.map((one) => one.id)).toEqual(["one"]);
  });

  test("every change of configuration leaves an audit line", async () => {
    const siteId = await newSite(store);
    await store.configuration.changeSettings(auditLine(siteId, "settings changed"), (stored) => stored);
    const rows = await sql(location, `SELECT actor, action FROM audit WHERE site_id = '${siteId}' ORDER BY id`);
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { actor: "test", action: "test" },
      { actor: "test", action: "settings changed" },
    ]);
  });
});
