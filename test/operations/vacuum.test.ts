// Erased and purged rows leave no bytes in the embedded database, and `vacuum` gives their space back on both engines.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ulid } from "../../src/kernel/ids.ts";
import { storeReport } from "../../src/identity/visits.ts";
import { change, databaseFile, rows, setUpSite, withStore } from "../support/installation.ts";
import { emailRef } from "../../src/store/events/eventRow.ts";
import { emptyInstallation, engines, newInstallation, type Installation } from "../support/relay.ts";
import { sha256, sha256Of } from "../support/sha256.ts";

const erased = { email: "erased-person@example.com", mark: "ERASED", visitor: "visitor-ERASED" };

/** Counts the places in the files of the data folder that hold the text. */
function countInFiles(home: Installation, text: string): number {
  const folder = home.env.CLEANCAST_DATA ?? "";
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name)).toString("latin1").split(text).length - 1)
    .reduce((sum, count) => sum + count, 0);
}

/** The bytes of the number by which events are found by their person; SQLite stores it in six or eight bytes. */
function shortHashOf(email: string): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(emailRef(sha256(sha256Of(email)))));
  return bytes.subarray(2).toString("latin1");
}

async function report(home: Installation, siteId: string, email: string, visitor: string, mark: string) {
  const at = Date.now();
  const visit = {
    seenAt: at,
    browser: {
      page: `https://shop.example.com/${mark}-page`,
      referrer: "",
      address: "203.0.113.7",
      userAgent: "x",
    },
    clickIds: {
      gclid: { value: `${mark}-gclid`, seenAt: at },
      fbclid: { value: `${mark}-fbclid`, seenAt: at },
    },
    browserIds: { _fbp: `${mark}-fbp` },
    utm: { utm_source: `${mark}-utm` },
  };
  const person = { emailSha256: sha256(sha256Of(email)), forms: {} };
  const sent = { visitorId: visitor, proposedId: null, remembered: null, signals: {}, visit, person, at };
  await withStore(home, (store) => storeReport(store, siteId, sent, { consentMode: "opt-out", keepMs: 1e10 }, ulid));
}

describe("the bytes of an erased person in the embedded database", () => {
  test("are gone when the relay has stopped, among many others whose rows stay", async () => {
    const home = await newInstallation("sqlite");
    const { siteId, key } = await setUpSite(home, [["sandbox", {}]]);
    const relay = await home.start();
    const send = (email: string, n: number) =>
      relay.post(key, { email, event: "purchase", orderId: `A-${n}`, firstName: "Ada", value: n });
    for (let n = 0; n < 300; n += 1) {
      const isErased = n % 10 === 5;
      const email = isErased ? erased.email : `person-${n}@example.com`;
      if (n % 3 === 0 || isErased)
        await report(home, siteId, email, isErased ? erased.visitor : `visitor-${n}`, isErased ? erased.mark : `M${n}`);
      expect((await send(email, n)).status).toBe(200);
    }
    const traces = [sha256Of(erased.email), shortHashOf(erased.email), erased.visitor, `${erased.mark}-`];
    for (const trace of traces) expect(countInFiles(home, trace), trace).toBeGreaterThan(0);
    await home.run("person", "erase", "shop.example.com", "--email", erased.email, "--yes");
    // Pages are split and filled again after the erasure, too.
    for (let n = 300; n < 400; n += 1) await send(`person-${n}@example.com`, n);
    expect(await relay.stop()).toBe(0);
    for (const trace of traces) expect([trace, countInFiles(home, trace)]).toEqual([trace, 0]);
    expect(countInFiles(home, sha256Of("person-1@example.com"))).toBeGreaterThan(0);
    expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
  });
});

describe.each(engines)("vacuum on %s", (engine) => {
  let home: Installation;
  beforeAll(async () => {
    home = await newInstallation(engine);
    await setUpSite(home, []);
    for (let from = 0; from < 20_000; from += 5000) {
      const values = Array.from({ length: 5000 }, (_, n) => `('s', 'visitor-${from + n}', '${"x".repeat(200)}', 0)`);
      await change(home, `INSERT INTO visitors (site_id, visitor_id, record, oldest_at) VALUES ${values.join(",")}`);
    }
    await change(home, `DELETE FROM visitors`);
  });

  test("gives the space of deleted rows back, and keeps the others", async () => {
    if (engine === "postgres") await home.run("vacuum");
    const { before, after } = await home.run("vacuum", "--full");
    expect(after).toBeLessThan(before / (engine === "sqlite" ? 3 : 1));
    expect(await rows(home, `SELECT host FROM hosts`)).toEqual([{ host: "shop.example.com" }]);
    expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
    if (engine === "sqlite") expect(after).toBe(readFileSync(databaseFile(home)).length);
    expect(await home.print("vacuum")).toMatch(/^The database had [\d.]+ [MK]B and has [\d.]+ [MK]B now\.\n$/);
  });

  test("is refused for the embedded database while a relay runs, and runs next to relays on PostgreSQL", async () => {
    const relay = await home.start();
    if (engine === "sqlite") expect((await home.fails("vacuum")).error).toMatch(/another Cleancast is running on /);
    else expect(await home.run("vacuum")).toMatchObject({ before: expect.any(Number) });
    await relay.stop();
  });

  test("has nothing to do before the first start", async () => {
    const empty = await emptyInstallation(engine);
    expect((await empty.fails("vacuum")).error).toMatch(/^There is no installation in /);
  });
});
