// What an operator does with the data of a person, on both engines. test/operations/erasure.test.ts searches all tables afterwards.

import { afterAll, describe, expect, test } from "vitest";
import { newEvent, newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { sha256 } from "../../test/support/sha256.ts";
import type { Sha256 } from "../kernel/event.ts";
import { ulid } from "../kernel/ids.ts";
import { otherBrowsers } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { erasePerson, exportPerson, setConsent } from "./people.ts";
import { storeReport, type Report } from "./visits.ts";

const now = Date.UTC(2026, 10, 14, 12);
const rules = { consentMode: "opt-out", keepMs: 90 * 86_400_000 } as const;

describe.each(["sqlite", "postgres"] as const)("a person on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);

  const report = (siteId: string, visitorId: string | null, changes: Partial<Report>) =>
    storeReport(
      store,
      siteId,
      { visitorId, proposedId: null, remembered: null, signals: {}, visit: null, person: null, at: now, ...changes },
      rules,
      ulid,
    );

  /** A browser opens a page and gives the email. */
  async function visit(siteId: string, visitorId: string, emailSha256: Sha256 | null, changes: Partial<Report> = {}) {
    const landing = { seenAt: now, browser: null, clickIds: {}, browserIds: {}, utm: {} };
    await report(siteId, visitorId, { visit: landing, ...changes });
    if (emailSha256) await report(siteId, visitorId, { visit: landing, person: { emailSha256, forms: {} }, ...changes });
  }
  const requestFor = (siteId: string, emailSha256: Sha256) => ({ siteId, emailSha256, actor: "test", now });

  test("an erasure reads the site's visitors in pages, and covers those who give the email meanwhile", async () => {
    const siteId = await newSite(store);
    const email = sha256("a".repeat(64));
    await Promise.all(Array.from({ length: 130 }, (_, n) => visit(siteId, `visitor ${n}`, n % 50 === 7 ? email : null)));
    let pages = 0;
    const people: Store["people"] = {
      ...store.people,
      async findVisitors(...given) {
        const page = await store.people.findVisitors(...given);
        pages += 1;
        // Those of a page that was read already, and a new one.
        await visit(siteId, "visitor 0", email);
        await visit(siteId, `a visitor of page ${pages}`, email);
        return page;
      },
    };
    const erased = await erasePerson({ ...store, people }, requestFor(siteId, email));
    expect(pages).toBeGreaterThan(1);
    expect(erased.visitors).toBe(3 + 1 + pages);
    expect(await store.people.findIdentity(siteId, email)).toBeNull();
    expect(await store.people.findVisitors(siteId, email)).toMatchObject({ items: [] });
    expect(await store.people.findVisitor(siteId, "visitor 7")).toBeNull();
    expect(await store.people.findVisitor(siteId, "visitor 1")).not.toBeNull();
  });

  test("an export reads the person's events while it is written, the newest first", async () => {
    const siteId = await newSite(store);
    const items = Array.from({ length: 45 }, () => newEvent(siteId));
    for (const item of items) await store.events.accept(item);
    const { emailSha256 } = items[0]?.event.person ?? {};
    let read = 0;
    const events: Store["events"] = {
      ...store.events,
      get(...given) {
        read += 1;
        return store.events.get(...given);
      },
    };
    const exported = await exportPerson({ ...store, events }, requestFor(siteId, emailSha256 ?? sha256("")));
    const ids: string[] = [];
    for await (const event of exported.events) {
      ids.push(event.id);
      expect(event.deliveries).toHaveLength(1);
      expect(read).toBe(ids.length);
    }
    expect(ids).toEqual(items.map((item) => item.event.id).toReversed());
  });

  test("an export names the browsers that decided, and the operator ends a refusal that it shows", async () => {
    const siteId = await newSite(store);
    const email = sha256("b".repeat(64));
    await visit(siteId, "laptop", email, { signals: { own: "granted" } });
    await visit(siteId, "phone", email);
    await report(siteId, "phone", { signals: { tcf: "denied" } });
    const refusing = { signals: { own: "denied" }, person: { emailSha256: email, forms: {} } } as const;
    for (let n = 0; n < 6; n += 1) await report(siteId, null, { proposedId: `stranger ${n}`, ...refusing });
    const read = async () => {
      const { consent, consentHistory, visitors } = await exportPerson(store, requestFor(siteId, email));
      const browsers = [];
      for await (const one of visitors) browsers.push({ ...one, consentHistory: await Array.fromAsync(one.consentHistory) });
      return { consent, history: await Array.fromAsync(consentHistory), browsers };
    };
    const byBrowser = { givenBy: expect.stringMatching(/^[0-9a-f]{22}$/), state: "denied" };
    const { consent, history, browsers } = await read();
    expect(consent).toHaveLength(7);
    expect(consent).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ givenBy: "laptop", state: "granted" }),
        ...Array.from({ length: 5 }, () => expect.objectContaining(byBrowser)),
        expect.objectContaining({ givenBy: otherBrowsers.denied, state: "denied" }),
      ]),
    );
    expect(history.map((one) => one.state)).toEqual(["granted", ...Array(6).fill("denied")]);
    const own = expect.objectContaining({ subject: "laptop", givenBy: "own", state: "granted" });
    expect(browsers).toEqual([{ id: "laptop", consent: [own], consentHistory: [own] }]);

    await setConsent(store, requestFor(siteId, email), "granted");
    expect(await store.people.readConsent(siteId, email)).toBe("granted");
  });
});
