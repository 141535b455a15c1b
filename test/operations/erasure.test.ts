// After an erasure nothing in the database belongs to the email, except a refusal, which must stay in force.

import { expect, test } from "vitest";
import { ulid } from "../../src/kernel/ids.ts";
import { storeReport, type Report } from "../../src/identity/visits.ts";
import { connectDatabase } from "../../src/store/connect.ts";
import { columnsOf, tablesAt } from "../../src/store/schema/tables.ts";
import { latestVersion } from "../../src/store/schema/migrate.ts";
import { readConfig } from "../../src/installation/config.ts";
import { setUpSite, withStore } from "../support/installation.ts";
import { emailRef } from "../../src/store/events/eventRow.ts";
import { engines, newInstallation, type Installation } from "../support/relay.ts";
import { startReceiver } from "../support/receiver.ts";
import { sha256 } from "../support/sha256.ts";
import { sha256Of } from "../support/sha256.ts";

const email = "ada@example.com";
const hash = sha256Of(email);
/** The form in which events are found by their person. */
const shortHash = String(emailRef(sha256(hash)));

/** Returns every `table.column` that contains the text. */
async function placesOf(home: Installation, text: string): Promise<string[]> {
  const db = connectDatabase(readConfig(home.env).store);
  const places: string[] = [];
  try {
    for (const table of tablesAt(latestVersion))
      for (const column of await columnsOf(db, table)) {
        const found = await db.all(`SELECT 1 AS n FROM ${table} WHERE CAST(${column} AS text) LIKE $1 LIMIT 1`, [`%${text}%`]);
        if (found.length) places.push(`${table}.${column}`);
      }
  } finally {
    await db.close();
  }
  return places;
}

test.each(engines)("person erase on %s leaves no trace of a person but a refusal", async (engine) => {
  const home = await newInstallation(engine);
  const receiver = await startReceiver();
  const { siteId, key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  await home.run("site", "set", "shop.example.com", `allow_persons=${hash}`, `block_persons=${"b".repeat(64)}`);
  const report = (visitorId: string, person: Report["person"]): Report => ({
    visitorId,
    proposedId: null,
    remembered: null,
    signals: { own: "granted" },
    visit: {
      seenAt: Date.now(),
      browser: null,
      clickIds: { gclid: { value: "click-1", seenAt: Date.now() } },
      browserIds: {},
      utm: {},
    },
    person,
    at: Date.now(),
  });
  await withStore(home, async (store) => {
    for (const visitor of ["visitor-one", "visitor-two"])
      for (const person of [null, { emailSha256: sha256(hash), forms: {} }])
        await storeReport(store, siteId, report(visitor, person), { consentMode: "opt-out", keepMs: 1e10 }, ulid);
  });
  const relay = await home.start();
  const event = { email, event: "purchase", orderId: "A-1", value: 5 };
  expect(JSON.parse((await relay.post(key, event)).text).results.webhook).toEqual({ ok: true });
  await relay.post(key, { email, event: `lead ${email}`, orderId: `of ${email}` });
  const mask = `email-${hash.slice(0, 16)}`;
  expect(await placesOf(home, mask)).toEqual(expect.arrayContaining(["events.name", "events.order_id"]));

  const exported = await home.run("person", "export", "shop.example.com", "--email", email);
  expect(exported).toMatchObject({
    filterLists: { allowed: true, blocked: false },
    events: [{ orderId: `of ${mask}` }, { orderId: "A-1", attempts: [{ number: 1 }] }],
  });
  expect(exported.visitors.map((one: { id: string }) => one.id).toSorted()).toEqual(["visitor-one", "visitor-two"]);
  expect(exported.visitors[0].consent).toMatchObject([{ givenBy: "own", state: "granted" }]);
  expect((await placesOf(home, hash)).length).toBeGreaterThan(4);
  expect(await placesOf(home, shortHash)).toEqual(["events.email_ref"]);
  expect((await placesOf(home, "click-1")).length).toBeGreaterThan(2);

  await home.run("person", "erase", "shop.example.com", "--email", email, "--yes");
  for (const trace of [hash, shortHash, mask, "click-1", "visitor-one", "visitor-two"])
    expect([trace, await placesOf(home, trace)]).toEqual([trace, []]);

  // A refusal is all that may remain.
  await home.run("consent", "set", "shop.example.com", "denied", "--email", email);
  await home.run("person", "erase", "shop.example.com", "--email", email, "--yes");
  expect(await placesOf(home, hash)).toEqual(["consents.subject", "consent_history.subject"]);
  await relay.stop();
  expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
});
