// Changes of the encryption key, and an installation that has lost its key.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { freshFolder, migratedDatabase } from "../../test/support/databases.ts";
import { engines } from "../../test/support/relay.ts";
import { eventId, representativeRows, rowsKey } from "../../test/support/schema/rows.ts";
import { ulid } from "../kernel/ids.ts";
import type { Row } from "../store/engine/database.ts";
import { discardSealedValues, isKeyLost } from "../store/maintenance/lostKey.ts";
import { migrate } from "../store/schema/migrate.ts";
import { WrongEncryptionKey } from "../store/maintenance/encryptionKeyCheck.ts";
import { sealedColumns } from "../store/maintenance/sealedColumns.ts";
import { connectDatabase, type StoreLocation } from "../store/connect.ts";
import { sealWith } from "../store/engine/seal.ts";
import { createStore, type Store } from "../store/store.ts";
import { fillTable } from "../store/copy/rows.ts";
import { resealAll, endKeyChange } from "./changeEncryptionKey.ts";
import { followKeyFile, readKeyFile, writeKeyFile } from "./encryptionKeys.ts";
import { checkLocation } from "./check.ts";

const oldKey = rowsKey;
const newKey = Buffer.alloc(32, 9);
/** The sealed values in the rows: one of each column, one setting of the site, and two of the installation. */
const sealedValues = sealedColumns.length - 1 + 1 + 2;

describe.each(engines)("on %s", (engine) => {
  let location: StoreLocation;

  beforeEach(async () => {
    location =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await migratedDatabase(), connections: 4 };
    const db = connectDatabase(location);
    await migrate(db);
    for (const [table, rows] of Object.entries(representativeRows())) {
      const columns = Object.keys(rows[0] as Row);
      const values = rows.map((row) => columns.map((column) => row[column] ?? null));
      await fillTable(db, table, columns, values);
    }
    await db.close();
    await (await createStore(location, oldKey, ulid)).close();
  });

  async function withStore<T>(keys: Buffer[], work: (store: Store) => Promise<T>): Promise<T> {
    const store = await createStore(location, () => keys, ulid);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  const everything = async (store: Store) => ({
    sites: await store.configuration.listSitesSince(-1),
    event: await store.events.get("s1", eventId),
    bots: await store.traffic.listBotVisits("s1", 9),
    app: await store.platformSignIns.findApp("google_ads"),
    signIn: await store.platformSignIns.find("s1", "i1"),
    webhooks: await store.webhooks.listWithSecrets("s1"),
    feed: await store.orderFeeds.find("s1"),
    export: await store.dataExports.find("s1"),
    access: store.accessSecret,
  });

  test("a key change reseals all values, which read as before, and the old key opens none of them", async () => {
    const before = await withStore([oldKey], everything);
    const keys = [newKey, oldKey];
    expect(await withStore(keys, (store) => resealAll(store, () => keys))).toBe(sealedValues);
    expect(await withStore([newKey], everything)).toEqual(before);
    expect(await checkLocation(location, () => [newKey])).toEqual([]);
    await expect(withStore([oldKey], everything)).rejects.toThrow(WrongEncryptionKey);
    const unreadable = await checkLocation(location, () => [oldKey]);
    expect(unreadable.reduce((sum, { count }) => sum + count, 0)).toBe(sealedValues);
  });

  test("an interrupted key change is continued, and nodes read all values meanwhile", async () => {
    const before = await withStore([oldKey], everything);
    const keys = [newKey, oldKey];
    let steps = 0;
    await withStore(keys, async ({ seals }) => {
      const cut = seals.reseal(async () => {
        if ((steps += 1) === 3) throw new Error("killed");
      });
      await expect(cut).rejects.toThrow("killed");
    });
    // One node seals with the new key, and one still seals with the old.
    expect(await withStore([newKey, oldKey], everything)).toEqual(before);
    expect(await withStore([oldKey, newKey], everything)).toEqual(before);
    const rest = await withStore(keys, (store) => resealAll(store, () => keys));
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(sealedValues);
    expect(await withStore([newKey], everything)).toEqual(before);
  });

  test("a value that a node seals during a key change is neither lost nor skipped", async () => {
    const keys = [newKey, oldKey];
    const late = { platform: "google_ads", clientId: "client", clientSecret: "written meanwhile" };
    await withStore([oldKey, newKey], (behind) =>
      withStore(keys, async (store) => {
        let isFirst = true;
        const seals = {
          reseal: async () =>
            store.seals.reseal(async () => {
              if (isFirst) await behind.platformSignIns.saveApp(late, 1);
              isFirst = false;
            }),
        };
        await resealAll({ seals }, () => keys);
      }),
    );
    expect(await withStore([newKey], (store) => store.platformSignIns.findApp("google_ads"))).toEqual(late);
  });

  test("a value that neither key opens stops the key change, and both keys stay valid", async () => {
    const db = connectDatabase(location);
    await db.write((tx) => tx.all(`UPDATE bot_visits SET record = 'v1.AAAA'`));
    await db.close();
    const keys = [newKey, oldKey];
    const change = withStore(keys, (store) => resealAll(store, () => keys));
    await expect(change).rejects.toThrow(/cannot be decrypted with either key \(the first: bot visit s1/);
  });

  test("an installation with a lost key works again, and shows what must be entered again", async () => {
    const db = connectDatabase(location);
    try {
      expect(await isKeyLost(db, () => [oldKey])).toBe(false);
      expect(await isKeyLost(db, () => [newKey])).toBe(true);
      const pushKey = sealWith(oldKey).seal("{}", "push key");
      await db.write((tx) => tx.all(`INSERT INTO settings (name, value) VALUES ('push key', $1)`, [pushKey]));
      const gone = await discardSealedValues(db, () => [newKey], 5);
      expect(gone).toEqual({
        sites: 1,
        connections: 1,
        oauth_apps: 1,
        platform_sign_ins: 1,
        sources: 1,
        source_shapes: 1,
        source_requests: 1,
        webhooks: 2,
        data_exports: 1,
        push_devices: 1,
        order_feeds: 1,
        bot_visits: 1,
        events: 1,
        settings: 3,
      });
      expect(await isKeyLost(db, () => [newKey])).toBe(false);
      expect(await db.all(`SELECT id FROM sessions`)).toEqual([]);
      // The next device makes another one.
      expect(await db.all(`SELECT name FROM settings WHERE name = 'push key'`)).toEqual([]);
      expect(await db.all(`SELECT two_factor FROM users`)).toEqual([{ two_factor: 0 }]);
      expect(await discardSealedValues(db, () => [newKey], 6)).toEqual({});
    } finally {
      await db.close();
    }
    const found = await withStore([newKey], everything);
    expect(found.sites[0]?.connections[0]).toMatchObject({
      state: "needs reconnection",
      stateReason: "the encryption key was lost",
      settings: { source: "acme" },
    });
    expect(found.sites[0]?.settings).toEqual({ inbound: true });
    expect(found.webhooks[0]).toMatchObject({ state: "disabled", origin: "https://lost.invalid" });
    expect(found.event).toMatchObject({ orderId: "A-1", extra: null });
    expect([found.app, found.signIn, found.feed, found.export, found.bots]).toEqual([null, null, null, null, []]);
    expect(await checkLocation(location, () => [newKey])).toEqual([]);
  });
});

describe("the file of the key", () => {
  test("a running process seals with a new key in the file within a second", () => {
    const file = join(freshFolder(), "encryption.key");
    writeKeyFile(file, [oldKey]);
    let clock = 0;
    const keys = followKeyFile(file, [oldKey], () => clock);
    writeKeyFile(file, [newKey, oldKey]);
    expect(keys()).toEqual([oldKey]);
    clock = 1000;
    expect(keys()).toEqual([newKey, oldKey]);
    // A file that cannot be read changes nothing.
    writeFileSync(file, "nonsense");
    clock = 2000;
    expect(keys()).toEqual([newKey, oldKey]);
  });

  test("a finished key change leaves the new key in the file, and the old one in another", () => {
    const file = join(freshFolder(), "encryption.key");
    writeKeyFile(file, [newKey, oldKey]);
    const kept = endKeyChange(file, Date.UTC(2026, 10, 15, 11, 30));
    expect(kept).toBe(`${file}.until-20261115T113000Z`);
    expect([readKeyFile(file), readKeyFile(kept)]).toEqual([[newKey], [oldKey]]);
    expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    for (const one of [file, kept]) expect(statSync(one).mode & 0o777).toBe(0o600);
  });
});
