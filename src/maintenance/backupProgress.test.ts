// Backup and restore report how far they are.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { newEvent, newSite } from "../../test/support/events.ts";
import { encryptionKey, newLocation, createAt } from "../../test/support/nodes.ts";
import { engines } from "../../test/support/relay.ts";
import { createSnapshot } from "../store/maintenance/snapshot.ts";
import { takeBackup } from "./backup.ts";
import { restoreBackup } from "./restore.ts";

test.each(engines)("a backup and a restore on %s report every step up to the end", async (engine) => {
  const location = await newLocation(engine);
  const store = await createAt(location);
  const siteId = await newSite(store);
  for (let n = 0; n < 1200; n += 100) await Promise.all(Array.from({ length: 100 }, () => store.events.accept(newEvent(siteId))));
  await store.close();
  const snapshot = await createSnapshot(location);
  if (!snapshot) return expect.unreachable("there is a database");
  onTestFinished(() => snapshot.close());
  const file = join(freshFolder(), "cleancast.backup");
  const written: [rows: number, total: number, table: string][] = [];
  const { rows } = await takeBackup(snapshot, file, {
    version: "test",
    now: 0,
    replace: false,
    onProgress: (...progress) => written.push(progress),
  });
  expect(written.at(-1)?.slice(0, 2)).toEqual([rows, rows]);
  expect(new Set(written.map(([, total]) => total))).toEqual(new Set([rows]));
  expect(written.map(([count]) => count)).toEqual(written.map(([count]) => count).toSorted((a, b) => a - b));
  // Several steps of one table, so that a large one shows progress too.
  expect(written.filter(([, , table]) => table === "events").length).toBeGreaterThan(2);

  const read: Record<string, number[]> = { verifying: [], writing: [] };
  await restoreBackup(file, await newLocation("sqlite"), () => [encryptionKey], {
    force: false,
    now: 0,
    onProgress: (fraction, step) => read[step]?.push(fraction),
  });
  for (const fractions of Object.values(read)) {
    expect(fractions.length).toBeGreaterThan(0);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    // The last bytes of the file are its hash.
    expect(fractions.at(-1)).toBeGreaterThan(0.99);
  }
});
