// Consent is read from a real SQLite file; tests of failures use a store that fails.

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import type { ConsentState, Identity, Visit } from "../kernel/event.ts";
import { ulid } from "../kernel/ids.ts";
import type { FoundPerson } from "../store/people/people.ts";
import { createStore, type Store } from "../store/store.ts";
import {
  addClickIds,
  attribute,
  lookUpPerson,
  lookUpTimeoutMs,
  readConsent,
  withCurrentConsent,
  type KnownPerson,
} from "./attribution.ts";
import { sha256 } from "../../test/support/sha256.ts";
import { dayMs as day } from "../kernel/time.ts";

const siteWith = (consentMode: "opt-in" | "opt-out") => ({ id: "site", settings: { consentMode } });

const now = Date.UTC(2026, 10, 14, 12);
const rules = { keepMs: 400 * day, isTrusted: false };
const nothing = { clickIds: {}, browserIds: {}, utm: {}, browser: null };

const aBot = { bot: true, score: 100, reasons: ["user agent:named bot (Testbot)"], rules: 1 };
const visit = (changes: Partial<Visit> = {}): Visit => ({
  visitorId: "v",
  seenAt: now - day,
  browser: null,
  clickIds: {},
  browserIds: {},
  utm: {},
  ...changes,
});
const identityOf = (...visits: Visit[]): Identity => ({ visits, firstUtm: {}, forms: {} });
const gclid = (value: string, daysAgo: number) => ({ gclid: { value, seenAt: now - daysAgo * day } });
const known = (identity: KnownPerson["identity"], changes: Partial<KnownPerson> = {}): KnownPerson => ({
  consent: "granted",
  withheld: null,
  identity,
  ...changes,
});
const chosen = (...visits: Visit[]) => {
  const { clickIds, browserIds, utm } = attribute(known(identityOf(...visits)), now, rules);
  return {
    clickIds: Object.fromEntries(Object.entries(clickIds).map(([name, id]) => [name, id.value])),
    browserIds,
    utm,
  };
};

describe("the ids that are sent", () => {
  test("ids are sent byte for byte with the time they were first seen", () => {
    const value = "EAIaIQ_+/=%20 Ünïcode";
    expect(attribute(known(identityOf(visit({ clickIds: gclid(value, 3) }))), now, rules)).toEqual({
      consent: "granted",
      withheld: null,
      identity: "found",
      clickIds: { gclid: { value, seenAt: now - 3 * day } },
      browserIds: {},
      utm: {},
      browser: null,
    });
  });

  test("the newest id of each kind is sent, whichever visit it is from", () => {
    const newest = visit({ clickIds: { fbclid: { value: "F-new", seenAt: now - day } } });
    const older = visit({
      seenAt: now - 5 * day,
      clickIds: { ...gclid("G-old", 5), fbclid: { value: "F-old", seenAt: now - 5 * day } },
    });
    expect(chosen(newest, older).clickIds).toEqual({ fbclid: "F-new", gclid: "G-old" });
  });

  test("the browser of the newest human visit is sent", () => {
    const browser = (page: string) => ({ page, referrer: "", address: "192.0.2.1", userAgent: "UA" });
    const bot = visit({ visitorId: "bot", verdict: aBot, browser: browser("bot") });
    const found = attribute(
      known(identityOf(bot, visit({ browser: browser("new") }), visit({ browser: browser("old") }))),
      now,
      rules,
    );
    expect(found.browser?.page).toBe("new");
  });

  test("a click after the conversion is not sent, except within the clock skew", () => {
    const clicked = (minutesLater: number) => visit({ clickIds: { gclid: { value: "G", seenAt: now + minutesLater * 60_000 } } });
    expect(chosen(clicked(4)).clickIds).toEqual({ gclid: "G" });
    expect(chosen(clicked(6)).clickIds).toEqual({});
  });

  test("ids older than the site's retention are not sent, even if they are still stored", () => {
    const old = visit({
      clickIds: { epik: { value: "E", seenAt: now - 91 * day } },
      utm: { utm_source: "x" },
    });
    const identity = known(identityOf({ ...old, seenAt: now - 91 * day }));
    expect(attribute(identity, now, { keepMs: 90 * day, isTrusted: false })).toMatchObject({
      clickIds: {},
      utm: {},
    });
    expect(attribute(identity, now, { keepMs: 120 * day, isTrusted: false })).toMatchObject({
      clickIds: { epik: { value: "E" } },
    });
  });

  test("the newest id is the one that was seen last, not the one of the newest visit", () => {
    const newest = visit({ clickIds: gclid("carried along", 40) });
    const older = visit({ seenAt: now - 2 * day, clickIds: gclid("clicked later", 2) });
    expect(chosen(newest, older).clickIds).toEqual({ gclid: "clicked later" });
  });

  test.each([
    ["gclid", 90],
    ["wbraid", 90],
    ["gbraid", 90],
    ["fbclid", 90],
    ["msclkid", 90],
    ["ttclid", 28],
    ["rdt_cid", 28],
    ["twclid", 30],
    ["li_fat_id", 30],
    ["ScCid", 37],
  ])("%s is sent for %d days and not longer", (name, days) => {
    const seen = (ageMs: number) => chosen(visit({ clickIds: { [name]: { value: "id", seenAt: now - ageMs } } })).clickIds;
    expect(seen(days * day)).toEqual({ [name]: "id" });
    expect(seen(days * day + 1)).toEqual({});
  });

  test("an expired id is not replaced by an older one", () => {
    const visits = [visit({ clickIds: gclid("91 days", 91) }), visit({ clickIds: gclid("95 days", 95) })];
    expect(chosen(...visits).clickIds).toEqual({});
  });

  test("an id of an unknown kind is not sent", () => {
    expect(chosen(visit({ clickIds: { evilid: { value: "x", seenAt: now - 1000 } } })).clickIds).toEqual({});
  });

  test("ids of bot visits are sent when the site trusts the person", () => {
    const bot = visit({ verdict: aBot, clickIds: gclid("judged", 0) });
    const trusted = attribute(known(identityOf(bot)), now, { ...rules, isTrusted: true });
    expect(trusted.clickIds).toMatchObject({ gclid: { value: "judged" } });
  });

  test("ids of bot visits are not sent, even from the newest visit", () => {
    const bot = visit({
      visitorId: "bot",
      verdict: aBot,
      seenAt: now,
      clickIds: gclid("bot's", 0),
      browserIds: { _fbp: "bot's" },
      utm: { utm_source: "bot's" },
    });
    const human = visit({
      clickIds: gclid("human's", 9),
      browserIds: { _fbp: "f" },
      utm: { utm_source: "u" },
    });
    expect(chosen(bot)).toEqual({ clickIds: {}, browserIds: {}, utm: {} });
    expect(chosen(bot, human)).toEqual({
      clickIds: { gclid: "human's" },
      browserIds: { _fbp: "f" },
      utm: { utm_source: "u" },
    });
  });

  test("the newest browser id of each kind is sent", () => {
    const visits = [visit({ browserIds: { _ga: "new" } }), visit({ browserIds: { _ga: "old", _fbp: "f" } })];
    expect(chosen(...visits).browserIds).toEqual({ _ga: "new", _fbp: "f" });
  });

  test("UTM fields are those of the newest visit that has any, never a mix of two campaigns", () => {
    const visits = [visit(), visit({ utm: { utm_source: "new" } }), visit({ utm: { utm_source: "old", utm_medium: "cpc" } })];
    expect(chosen(...visits).utm).toEqual({ utm_source: "new" });
  });

  describe("of a visit after the conversion", () => {
    const browser = (page: string) => ({ page, referrer: "", address: "192.0.2.1", userAgent: "UA" });
    const later = visit({
      seenAt: now + 6 * 60_000,
      clickIds: { ...gclid("Earlier", 2), fbclid: { value: "Later", seenAt: now + 6 * 60_000 } },
      browserIds: { _fbp: "later", _ga: "later", _epik: "later" },
      utm: { utm_source: "later" },
      browser: browser("later"),
    });
    const attributed = (visits: Visit[], at = now) => {
      const { clickIds, browserIds, utm, browser: from } = attribute(known(identityOf(...visits)), at, rules);
      return { clickIds, browserIds, utm, browser: from };
    };

    test("only the earlier clicks are sent, and cookies and the browser if no earlier ones are known", () => {
      expect(attributed([later])).toEqual({
        clickIds: gclid("Earlier", 2),
        browserIds: { _fbp: "later", _ga: "later" },
        utm: {},
        browser: browser("later"),
      });
    });

    test("a cookie that keeps a click is sent if it says that the click was before", () => {
      const [before, after] = [now - 2 * day, now + 6 * 60_000];
      const earlier = { _gcl_aw: `GCL.${before / 1000}.E`, _fbc: `fb.1.${before}.E` };
      expect(attributed([{ ...later, browserIds: earlier }]).browserIds).toEqual(earlier);
      const own = { _gcl_aw: `GCL.${after / 1000}.L`, _fbc: `fb.1.${after}.L` };
      expect(attributed([{ ...later, browserIds: own }]).browserIds).toEqual({});
    });

    test("nothing replaces what is known of visits before", () => {
      const before = { browserIds: { _fbp: "own" }, utm: { utm_source: "own" }, browser: browser("own") };
      const withForm: Visit = { ...later, visitorId: "form", isSeen: true, hasForm: true };
      for (const after of [later, withForm])
        expect(attributed([after, visit(before)])).toEqual({
          clickIds: gclid("Earlier", 2),
          ...before,
          browserIds: { _fbp: "own", _ga: "later" },
        });
    });

    test("all is sent within the clock skew", () => {
      const skewed = { ...later, seenAt: now + 4 * 60_000 };
      expect(attributed([skewed])).toMatchObject({ browserIds: later.browserIds, utm: later.utm });
    });

    test("the visits of its day are none of them where the event has a date without a time", () => {
      const midnight = Date.UTC(2026, 10, 14);
      const path = (at: number) => attribute(known(identityOf(later, visit())), at, rules).path?.map((step) => step.at);
      // Google refuses a conversion before its click, so clicks count by their own time.
      const ofDay = { clickIds: gclid("Earlier", 2), browserIds: later.browserIds, utm: later.utm, browser: later.browser };
      expect(attributed([later], midnight)).toEqual(ofDay);
      expect(path(midnight)).toEqual([now - day, later.seenAt]);
      expect(attributed([later], midnight + 1000)).toMatchObject({ utm: {} });
      expect(path(midnight + 1000)).toBeUndefined();
      const nextDay = { ...later, seenAt: midnight + day + 1000 };
      expect(attributed([nextDay], midnight)).toMatchObject({ browserIds: { _ga: "later" }, utm: {} });
      expect(attributed([nextDay], midnight).browserIds).not.toHaveProperty("_epik");
    });
  });

  describe("of browsers with different evidence", () => {
    const browser = (page: string) => ({ page, referrer: "", address: "192.0.2.1", userAgent: "UA" });
    const own = (changes: Partial<Visit>) => visit({ seenAt: now - 5 * day, isSeen: true, hasForm: true, ...changes });
    const strange = (changes: Partial<Visit>) => visit({ visitorId: "stranger", ...changes });

    test("cookies and the browser are those of the one with most evidence, and of the newest of its visits", () => {
      const ids = { browserIds: { _fbp: "own", _ga: "own", _fbc: "own" }, browser: browser("own") };
      const forged = { browserIds: { _fbp: "f", _ga: "f", _fbc: "f", _ttp: "f" }, browser: browser("f") };
      const older = own({ ...forged, browserIds: { _fbp: "older" }, seenAt: now - 6 * day });
      const { browserIds, browser: from } = attribute(known(identityOf(strange(forged), own(ids), older)), now, rules);
      expect({ browserIds, browser: from }).toEqual({ ...ids, browserIds: { ...ids.browserIds, _ttp: "f" } });
    });

    test("a cookie that keeps a click counts as that click", () => {
      const forgedCookies = {
        _fbc: "f",
        _epik: "f",
        _gcl_aw: "f",
        _twclid: "f",
        __oppref: "f",
        li_fat_id: "f",
        quora_qclid: "f",
        axeid: "f",
      };
      const clicks = ["fbclid", "epik", "wbraid", "twclid", "oppref", "li_fat_id", "qclid", "aleid"];
      const ids = (value: string) =>
        Object.fromEntries(clicks.map((name) => [name, { value, seenAt: now - (value === "own" ? 5 : 1) * day }]));
      const forged = strange({ browserIds: forgedCookies, clickIds: ids("f") });
      const values = Object.fromEntries(clicks.map((name) => [name, "own"]));
      expect(chosen(forged, own({ clickIds: ids("own") }))).toEqual({ clickIds: values, browserIds: {}, utm: {} });
      const cookies = Object.fromEntries(Object.keys(forgedCookies).map((name) => [name, "own"]));
      expect(chosen(forged, own({ browserIds: cookies }))).toEqual({ clickIds: {}, browserIds: cookies, utm: {} });
      expect(chosen(forged)).toMatchObject({ clickIds: { epik: "f" }, browserIds: forgedCookies });
    });

    test("a cookie of an older visit than a click is useful for does not outweigh a click", () => {
      const fresh = strange({ clickIds: gclid("fresh", 1) });
      expect(chosen(fresh, own({ seenAt: now - 91 * day, browserIds: { _gcl_aw: "old" } }))).toMatchObject({
        clickIds: { gclid: "fresh" },
      });
    });

    describe("where a cookie says when the click was", () => {
      const google = (value: string, daysAgo: number) => ({ _gcl_aw: `GCL.${(now - daysAgo * day) / 1000}.${value}` });
      const meta = (value: string, daysAgo: number) => ({ _fbc: `fb.1.${now - daysAgo * day}.${value}` });
      const clicks = (daysAgo: number) => ({
        wbraid: { value: "click", seenAt: now - daysAgo * day },
        fbclid: { value: "click", seenAt: now - daysAgo * day },
      });
      const values = { wbraid: "click", fbclid: "click" };

      test.each([
        ["too old to be of use", 91],
        ["after the event", -1],
      ])("one of a click %s is left out, and outweighs nothing", (_, daysAgo) => {
        const unused = { ...google("unused", daysAgo), ...meta("unused", daysAgo) };
        expect(chosen(own({ browserIds: unused }))).toMatchObject({ browserIds: {} });
        expect(chosen(strange({ isSeen: true, clickIds: clicks(1) }), own({ browserIds: unused }))).toEqual({
          clickIds: values,
          browserIds: {},
          utm: {},
        });
      });

      test("of those with the same evidence the newest click is sent, whichever visit it is from", () => {
        const [newer, older] = [
          { ...google("newer", 5), ...meta("newer", 5) },
          { ...google("older", 9), ...meta("older", 9) },
        ];
        const otherBrowser = own({ visitorId: "other", seenAt: now - day, browserIds: older });
        expect(chosen(otherBrowser, own({ browserIds: newer })).browserIds).toEqual(newer);
        expect(chosen(own({ seenAt: now - day, browserIds: newer }), own({ browserIds: older })).browserIds).toEqual(newer);
      });

      /** A link has carried clicks of yesterday to the browser of the form. */
      const carried = (changes: Partial<Visit> = {}) =>
        own({ seenAt: now - day, isCarried: true, clickIds: clicks(1), ...changes });

      test("an older click that the browser kept gives way to one that a link carried", () => {
        const kept = own({ seenAt: now, browserIds: { ...google("kept", 40), ...meta("kept", 40) } });
        expect(chosen(kept, carried())).toEqual({ clickIds: values, browserIds: {}, utm: {} });
      });

      test("a newer click that the browser kept outweighs one that a link carried", () => {
        const browserIds = { ...google("newer", 0.5), ...meta("newer", 0.5) };
        expect(chosen(own({ seenAt: now, browserIds }), carried())).toEqual({ clickIds: {}, browserIds, utm: {} });
      });

      test("a click of its own in the address still counts before one that a link carried", () => {
        const browserIds = meta("own", 40);
        const clicked = { fbclid: { value: "own", seenAt: now - 40 * day } };
        expect(chosen(own({ clickIds: clicked, browserIds }), carried())).toMatchObject({
          clickIds: { fbclid: "own" },
          browserIds,
        });
      });

      test.each<[string, Partial<Visit>]>([
        ["one report", {}],
        ["a played visit", { isSeen: true }],
        ["a report with a link", { isCarried: true }],
        ["a played visit with a link", { isSeen: true, isCarried: true }],
      ])("%s without a form does not replace an older click that a cookie keeps", (_, changes) => {
        const browserIds = { ...google("own", 40), ...meta("own", 40) };
        const forged = strange({ clickIds: clicks(0), browserIds: { ...google("f", 0), ...meta("f", 0) }, ...changes });
        expect(chosen(forged, own({ browserIds }))).toEqual({ clickIds: {}, browserIds, utm: {} });
      });
    });

    test.each(["wbraid", "gbraid"])("another kind of Google's click ids does not replace an own %s", (name) => {
      const forged = strange({ clickIds: { ...gclid("forged", 1), wbraid: { value: "forged", seenAt: now - day } } });
      const click = { [name]: { value: "own", seenAt: now - 5 * day } };
      expect(chosen(forged, own({ clickIds: click })).clickIds).toEqual({ [name]: "own" });
      const both = own({ clickIds: { ...gclid("own", 6), ...click } });
      expect(chosen(forged, both).clickIds).toEqual({ gclid: "own", [name]: "own" });
    });

    test("a click of one platform does not outweigh that of another", () => {
      const other = strange({ clickIds: { fbclid: { value: "F", seenAt: now - day }, gad_source: { value: "1", seenAt: now } } });
      expect(chosen(other, own({ clickIds: gclid("G", 5) })).clickIds).toEqual({ fbclid: "F", gclid: "G", gad_source: "1" });
    });
  });

  test("the event of a person without visits or without a record is sent without ids", () => {
    expect(attribute(known(identityOf()), now, rules)).toMatchObject({ identity: "found", ...nothing });
    expect(attribute(known(null), now, rules)).toMatchObject({
      identity: "none",
      withheld: null,
      ...nothing,
    });
  });

  test("an unreadable identity record sends no ids and is marked unreadable", () => {
    expect(attribute(known("unreadable"), now, rules)).toMatchObject({ identity: "unreadable", ...nothing });
  });

  test.each(["opted out", "consent unreadable", "no consent"] as const)(
    "with ids withheld because of %j nothing of the identity record is sent, though it was found",
    (withheld) => {
      const identity = identityOf(visit({ clickIds: gclid("G", 1), browserIds: { _fbp: "f" }, utm: { utm_source: "u" } }));
      const attribution = attribute(known(identity, { consent: "denied", withheld }), now, rules);
      expect(attribution).toEqual({ consent: "denied", withheld, identity: "found", ...nothing });
    },
  );
});

describe("consent, from a real store", () => {
  const file = join(freshFolder(), "store.db");
  let store: Store;
  beforeAll(async () => {
    store = await createStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid);
  });
  afterAll(() => store.close());

  /** Writes past the store, as a fault would. */
  function sql(text: string, ...values: string[]): void {
    const db = new DatabaseSync(file, { timeout: 5000 });
    try {
      db.prepare(text).run(...values);
    } finally {
      db.close();
    }
  }

  const decide = (person: string, state: ConsentState) =>
    store.people.change("site", (rows) => rows.decide(person, "test", state, now));
  const remember = (email: string, identity: Identity) =>
    store.people.change("site", async (rows) => {
      await rows.lockIdentity(sha256(email), now);
      await rows.saveIdentity(sha256(email), identity, now);
    });

  test.each<[ConsentState, "opt-out" | "opt-in", KnownPerson["withheld"]]>([
    ["granted", "opt-out", null],
    ["granted", "opt-in", null],
    ["denied", "opt-out", "opted out"],
    ["denied", "opt-in", "opted out"],
    ["unknown", "opt-out", null],
    ["unknown", "opt-in", "no consent"],
  ])("with consent %s in %s mode the withheld reason is %j", async (state, mode, withheld) => {
    await decide("person", state);
    expect(await readConsent(store.people, "site", sha256("person"), mode)).toEqual({
      consent: state,
      withheld,
    });
  });

  test("without a consent record ids are used in opt-out mode and withheld in opt-in mode", async () => {
    expect(await readConsent(store.people, "site", sha256("stranger"), "opt-out")).toEqual({
      consent: "unknown",
      withheld: null,
    });
    expect(await readConsent(store.people, "site", sha256("stranger"), "opt-in")).toEqual({
      consent: "unknown",
      withheld: "no consent",
    });
  });

  test("consent that is withdrawn after the event was received withholds its ids", async () => {
    const attribution = attribute(known(identityOf(visit({ clickIds: gclid("G", 1) }))), now, rules);
    const event = { siteId: "site", person: { emailSha256: sha256("changed mind") }, attribution };
    expect(await withCurrentConsent(store.people, event, "opt-out")).toEqual({
      ...attribution,
      consent: "unknown",
    });
    await decide("changed mind", "denied");
    expect(await withCurrentConsent(store.people, event, "opt-out")).toEqual({
      ...attribution,
      consent: "denied",
      withheld: "opted out",
    });
  });

  test("ids that were withheld when the event was received stay withheld", async () => {
    const attribution = attribute(known(null, { consent: "denied", withheld: "opted out" }), now, rules);
    const event = { siteId: "site", person: { emailSha256: sha256("granted later") }, attribution };
    await decide("granted later", "granted");
    expect(await withCurrentConsent(store.people, event, "opt-out")).toEqual(attribution);
  });

  test("consent on one site does not count on another", async () => {
    await decide("two sites", "denied");
    expect((await readConsent(store.people, "other", sha256("two sites"), "opt-out")).consent).toBe("unknown");
  });

  test.each(["garbage", "", "GRANTED", "granted ", "null", "1", "true"])(
    "the state %j in the row is unreadable: withheld in both modes, never taken for unknown",
    async (state) => {
      await decide("corrupt", "granted");
      sql("UPDATE consents SET state = ? WHERE subject = 'corrupt'", state);
      for (const mode of ["opt-out", "opt-in"] as const)
        expect(await readConsent(store.people, "site", sha256("corrupt"), mode)).toEqual({
          consent: "unreadable",
          withheld: "consent unreadable",
        });
    },
  );

  test("the look-up returns consent and identity record together", async () => {
    const identity = identityOf(visit({ clickIds: gclid("G", 1) }));
    await remember("whole", identity);
    await decide("whole", "granted");
    expect(await lookUpPerson(store.people, siteWith("opt-out"), sha256("whole"))).toEqual({
      consent: "granted",
      withheld: null,
      identity,
    });
    expect(await lookUpPerson(store.people, siteWith("opt-out"), sha256("nobody"))).toEqual({
      consent: "unknown",
      withheld: null,
      identity: null,
    });
  });

  test("a damaged identity record loses the ids and not the consent", async () => {
    await remember("broken", identityOf(visit({ clickIds: gclid("G", 1) })));
    await decide("broken", "granted");
    const readable: string[] = [];
    for (const record of ["{not json", "", "[[", "[[],", '[[["v","soon"]],{}]', '[[["v",5,0,{"gclid":5}]],{}]', "[[5],{}]"]) {
      sql("UPDATE identities SET record = ? WHERE email_sha256 = 'broken'", record);
      const found = await lookUpPerson(store.people, siteWith("opt-in"), sha256("broken"));
      expect(found).toMatchObject({ consent: "granted", withheld: null });
      if (found.identity !== "unreadable") readable.push(record);
    }
    expect(readable).toEqual([]);
  });

  test("an error while reading the identity record loses the ids and not the consent", async () => {
    await remember("kept", identityOf(visit({ clickIds: gclid("G", 1) })));
    await decide("kept", "granted");
    sql("ALTER TABLE identities RENAME TO elsewhere");
    const found = await lookUpPerson(store.people, siteWith("opt-in"), sha256("kept"));
    sql("ALTER TABLE elsewhere RENAME TO identities");
    expect(found).toEqual({ consent: "granted", withheld: null, identity: "unreadable" });
  });

  test("a refusal is found next to grants and an identity record", async () => {
    await remember("refused", identityOf(visit({ clickIds: gclid("G", 1) })));
    await decide("refused", "granted");
    await store.people.change("site", (rows) => rows.decide("refused", "another browser", "denied", now));
    expect(await lookUpPerson(store.people, siteWith("opt-out"), sha256("refused"))).toMatchObject({
      consent: "denied",
      withheld: "opted out",
      identity: { visits: [{ clickIds: gclid("G", 1) }] },
    });
  });

  test("an identity record of another shape is unreadable, and the person's events still pass", async () => {
    const shapes = ["{}", "[]", '"text"', "5", '{"visits":null}', '{"visits":[null]}', '{"visits":[{}]}'];
    await remember("misshapen", identityOf());
    const readable: string[] = [];
    for (const shape of shapes) {
      sql("UPDATE identities SET record = ? WHERE email_sha256 = 'misshapen'", shape);
      const { identity } = await lookUpPerson(store.people, siteWith("opt-out"), sha256("misshapen"));
      if (identity !== "unreadable") readable.push(shape);
    }
    expect(readable).toEqual([]);
  });
});

const broken = () => Promise.reject(new Error("disk I/O error"));
const hanging = () => new Promise<never>(() => {});

describe("a store that fails", () => {
  const identity = identityOf(visit({ clickIds: gclid("G", 1) }));
  const found: FoundPerson = { consent: "granted", identity };
  const people = (lookUp: () => Promise<FoundPerson>) => ({ lookUp }) as unknown as Store["people"];

  test("an error while reading consent withholds everything, in both modes", async () => {
    for (const mode of ["opt-out", "opt-in"] as const) {
      const unread = await lookUpPerson(people(broken), siteWith(mode), sha256("person"));
      expect(unread).toEqual({
        consent: "unreadable",
        withheld: "consent unreadable",
        identity: "unreadable",
      });
      expect(attribute(unread, now, rules)).toMatchObject(nothing);
    }
  });

  test("a slow store is waited for as long as the sender's deadline allows", async () => {
    expect([10_000, 5000, 2000, 86_400_000].map(lookUpTimeoutMs)).toEqual([8000, 3500, 1000, 8000]);
    vi.useFakeTimers();
    try {
      const slow = () => new Promise<FoundPerson>((resolve) => setTimeout(() => resolve(found), 6500));
      const waiting = lookUpPerson(people(slow), siteWith("opt-in"), sha256("person"), lookUpTimeoutMs(9600));
      await vi.advanceTimersByTimeAsync(6500);
      expect(await waiting).toEqual({ consent: "granted", withheld: null, identity });
    } finally {
      vi.useRealTimers();
    }
  });

  test("the look-up in a store that hangs is given up after two seconds", async () => {
    vi.useFakeTimers();
    try {
      let isOver = false;
      const waiting = lookUpPerson(people(hanging), siteWith("opt-out"), sha256("person")).finally(() => (isOver = true));
      await vi.advanceTimersByTimeAsync(1900);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(200);
      expect(isOver).toBe(true);
      expect(await waiting).toEqual({
        consent: "unreadable",
        withheld: "consent unreadable",
        identity: "unreadable",
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the path to an event", () => {
  const pathOf = (visits: Visit[], changes: Partial<KnownPerson> = {}) =>
    attribute(known(identityOf(...visits), changes), now, rules).path;
  const on = (daysAgo: number, changes: Partial<Visit> = {}) => visit({ seenAt: now - daysAgo * day, isSeen: true, ...changes });
  const clicked = (value: string, daysAgo: number) => on(daysAgo, { clickIds: gclid(value, daysAgo) });

  test("has the visits, oldest first, with what each began with", () => {
    const visits = [
      on(1, { utm: { utm_source: "newsletter", utm_campaign: "spring", utm_term: "x" } }),
      on(2, { isSubmitted: true }),
      clicked("First", 9),
    ];
    expect(pathOf(visits)).toEqual([
      { at: now - 9 * day, clickId: "gclid" },
      { at: now - 2 * day, hasForm: true },
      { at: now - day, utmSource: "newsletter", utmCampaign: "spring" },
    ]);
  });

  test("is not kept for one visit, nor where consent withholds ids", () => {
    expect(pathOf([clicked("Only", 1)])).toBeUndefined();
    expect(pathOf([clicked("Two", 1), clicked("One", 2)], { consent: "denied", withheld: "opted out" })).toBeUndefined();
  });

  test("a click id that is seen again is no new touch, and ids beside a click are none", () => {
    const again = on(1, { clickIds: { ...gclid("Same", 3), gad_source: { value: "1", seenAt: now - day } } });
    expect(pathOf([again, clicked("Same", 3)])).toEqual([{ at: now - 3 * day, clickId: "gclid" }, { at: now - day }]);
  });

  test("has neither visits of bots, nor after the event, nor of a browser with less evidence", () => {
    const own = [clicked("B", 2), clicked("A", 3)].map((one): Visit => ({ ...one, hasForm: true }));
    const others = [
      { ...clicked("Bot", 1), visitorId: "bot", verdict: aBot },
      clicked("Later", -1),
      { ...clicked("Stranger", 1), visitorId: "stranger" },
    ];
    expect(pathOf([...others, ...own])?.map(({ at }) => at)).toEqual([now - 3 * day, now - 2 * day]);
  });

  test("keeps the first visit and the last seven", () => {
    const visits = Array.from({ length: 12 }, (_, i) => clicked(`Click ${i}`, i + 1));
    expect(pathOf(visits)?.map(({ at }) => (now - at) / day)).toEqual([12, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("a newer click that the sender gave is its last touch", () => {
    const attribution = attribute(known(identityOf(clicked("B", 2), clicked("A", 3))), now, rules);
    addClickIds(attribution, { fbclid: { value: "Given", seenAt: now - day } }, now);
    expect(attribution.path?.at(-1)).toEqual({ at: now - day, clickId: "fbclid" });
  });
});
