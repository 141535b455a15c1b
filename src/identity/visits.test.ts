// Tests the tag's reports with a real store: consent is applied before anything is stored.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { ulid } from "../kernel/ids.ts";
import { otherBrowsers } from "../store/people/people.ts";
import { createStore, type Store } from "../store/store.ts";
import { setConsent } from "./people.ts";
import { storeReport, type Report, type ReportRules } from "./visits.ts";
import { sha256 } from "../../test/support/sha256.ts";

const now = Date.UTC(2026, 10, 14, 12);
const optOut: ReportRules = { consentMode: "opt-out", keepMs: 90 * 86_400_000 };
const optIn: ReportRules = { ...optOut, consentMode: "opt-in" };
const emailSha256 = sha256("e".repeat(64));

let store: Store;
beforeAll(async () => {
  const file = join(freshFolder(), "store.db");
  store = await createStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid);
});
afterAll(() => store.close());

const report = (changes: Partial<Report>): Report => ({
  visitorId: "v",
  proposedId: null,
  remembered: null,
  signals: {},
  visit: null,
  person: null,
  at: now,
  ...changes,
});
const landing: Report["visit"] = {
  seenAt: now,
  browser: null,
  clickIds: { gclid: { value: "G", seenAt: now } },
  browserIds: {},
  utm: {},
};
const person = { emailSha256, forms: {} };

let ids = 0;
/** The first one is that of a visitor, where the browser has none. */
const newId = () => `new ${(ids += 1)}`;

let sites = 0;
/** Creates a site for one test. */
function site(rules: ReportRules = optOut) {
  sites += 1;
  const id = `site${sites}`;
  return {
    take: (changes: Partial<Report>, by = rules) => storeReport(store, id, report(changes), by, newId),
    consent: (of = emailSha256) => store.people.readConsent(id, of),
    decisions: async (subject: string) =>
      (await store.people.listDecisions(id, subject)).map((one) => `${one.givenBy}: ${one.state}`),
    setByOperator: (state: "granted" | "denied") => setConsent(store, { siteId: id, emailSha256, actor: "operator", now }, state),
    identity: (of = emailSha256) => store.people.findIdentity(id, of),
  };
}

describe("a visitor's decisions", () => {
  test("a grant and a later refusal apply to every email that the visitor ever submitted", async () => {
    const { take, consent, identity } = site();
    await take({ visit: landing });
    await take({ visit: landing, person });
    for (const own of ["granted", "denied"] as const) {
      await take({ signals: { own } });
      expect(await consent()).toBe(own);
    }
    expect(await identity()).toBeNull();
  });

  test("a refusal applies to fifty emails of a browser, newest first, and removes its visits from them", async () => {
    const { take, consent, identity } = site();
    const emails = Array.from({ length: 52 }, (_, n) => sha256(`email ${n}`));
    await take({ visit: landing });
    for (const one of emails) await take({ visit: landing, person: { emailSha256: one, forms: {} } });
    await take({ signals: { own: "denied" } });
    const states = await Promise.all(emails.map((one) => consent(one)));
    expect(states).toEqual([...Array<string>(2).fill("unknown"), ...Array<string>(50).fill("denied")]);
    expect(await Promise.all(emails.slice(2).map((one) => identity(one)))).toEqual(Array(50).fill(null));
  });

  test("a browser that granted for thousands of emails refuses for the fifty newest and the fifty that it granted for first", async () => {
    const { take, consent } = site();
    const emails = Array.from({ length: 120 }, (_, n) => sha256(`email ${n}`));
    const granted = { signals: { own: "granted" }, visit: landing } as const;
    await take(granted);
    for (const one of emails) await take({ ...granted, person: { emailSha256: one, forms: {} } });
    expect(await Promise.all(emails.map((one) => consent(one)))).toEqual(Array(120).fill("granted"));
    await take({ signals: { own: "denied" } });
    const states = await Promise.all(emails.map((one) => consent(one)));
    expect(states).toEqual([...Array(50).fill("denied"), ...Array(20).fill("granted"), ...Array(50).fill("denied")]);
  });

  test("of the browsers that grant for an email, twenty are stored one by one, and the refusal of any further one counts", async () => {
    const { take, consent, decisions } = site();
    const agree = async (visitorId: string) => {
      for (const given of [null, person]) await take({ visitorId, signals: { own: "granted" }, visit: landing, person: given });
    };
    for (let n = 1; n <= 40; n += 1) await agree(`browser ${n}`);
    expect(await decisions(emailSha256)).toHaveLength(21);
    expect(await decisions(emailSha256)).toContain(`${otherBrowsers.granted}: granted`);
    expect(await consent()).toBe("granted");
    await take({ visitorId: "browser 30", signals: { own: "denied" } });
    expect(await consent()).toBe("denied");
  });

  test("a later visit joins the five newest emails of a browser", async () => {
    const { take, identity } = site();
    const emails = Array.from({ length: 7 }, (_, n) => sha256(`email ${n}`));
    await take({ visit: landing });
    for (const one of emails) await take({ person: { emailSha256: one, forms: {} } });
    await take({ visit: { ...landing, seenAt: now + 3_600_000 }, at: now + 3_600_000 });
    const visits = await Promise.all(emails.map(async (one) => (await identity(one))?.visits.length));
    expect(visits).toEqual([1, 1, 2, 2, 2, 2, 2]);
  });

  test("a browser that names many emails refuses for none of a person who submitted a form elsewhere", async () => {
    const { take, consent } = site();
    await take({ visitorId: "own", visit: landing });
    await take({ visitorId: "own", person, hasForm: true });
    await take({ visitorId: "stranger", person });
    for (let n = 0; n < 8; n += 1)
      await take({ visitorId: "stranger", person: { emailSha256: sha256(`other ${n}`), forms: {} } });
    await take({ visitorId: "stranger", signals: { own: "denied" } });
    expect(await consent()).toBe("unknown");
  });

  test("a person's refusal counts, though visits of many other browsers have displaced theirs from the person's record", async () => {
    const { take, consent, identity } = site();
    const comeAndSubmit = async (visitorId: string, at: number) => {
      const visit = { ...landing, seenAt: at };
      await take({ visitorId, visit, at });
      await take({ visitorId, visit, person, hasForm: true, at });
    };
    const visitors = ["a", "b", "c", "d", "own", "e", "f", "g", "h"];
    for (const [i, visitorId] of visitors.entries()) await comeAndSubmit(visitorId, now + i);
    expect((await identity())?.visits.map((visit) => visit.visitorId)).not.toContain("own");
    await take({ visitorId: "own", signals: { own: "denied" } });
    expect(await consent()).toBe("denied");
  });

  test("a refusal that does not count leaves the person as it was", async () => {
    const { take, identity } = site();
    const advertised = { ...landing, utm: { utm_source: "first" } };
    await take({ visitorId: "own", visit: advertised });
    await take({ visitorId: "own", visit: advertised, person, hasForm: true });
    // The first campaign is that of a visit which is no longer kept.
    const at = now + 3_600_000;
    await take({ visitorId: "own", visit: { ...landing, seenAt: at }, person, at }, { ...optOut, keepMs: 1000 });
    const before = await identity();
    expect(before?.firstUtm).toEqual({ utm_source: "first" });
    await take({ visitorId: null, proposedId: "stranger", signals: { own: "denied" }, person });
    expect(await identity()).toEqual(before);
  });

  test("a refusal removes this visitor's visits and no other's", async () => {
    const { take, identity } = site();
    await take({ visitorId: "phone", visit: landing, person });
    await take({ visitorId: "laptop", visit: landing, person });
    await take({ visitorId: "phone", signals: { own: "denied" } });
    expect((await identity())?.visits.map((visit) => visit.visitorId)).toEqual(["laptop"]);
  });

  test("one source's grant does not lift another's refusal", async () => {
    const { take, consent } = site();
    await take({ signals: { own: "denied" }, person });
    await take({ signals: { tcf: "granted" }, person });
    expect(await consent()).toBe("denied");
  });

  test("a refusal that only the page remembers counts, because its report may have been lost", async () => {
    const { take, consent } = site();
    await take({ signals: { own: "granted" }, visit: landing, person });
    await take({ remembered: "denied" });
    expect(await consent()).toBe("denied");
  });

  test("a grant that only the page remembers counts, but never against a stored refusal", async () => {
    const { take, consent } = site();
    await take({ remembered: "granted", visit: landing });
    await take({ remembered: "granted", visit: landing, person });
    expect(await consent()).toBe("granted");
    await take({ signals: { own: "denied" } });
    await take({ remembered: "granted", visit: landing, person });
    expect(await consent()).toBe("denied");
  });

  test("a default of Consent Mode withholds this page, and ends no grant that the visitor gave before", async () => {
    const { take, consent, identity, decisions } = site();
    await take({ signals: { gcm: "granted" }, visit: landing });
    await take({ signals: { gcm: "granted" }, visit: landing, person });
    const byDefault = { signals: { gcm: "denied" }, isDefaultRefusal: true } as const;
    expect(await take({ ...byDefault, visit: landing, person })).toEqual({
      visitorId: null,
      consent: "unknown",
      suppressed: true,
      refusedBy: [],
      proof: null,
    });
    expect(await decisions("v")).toEqual(["gcm: granted"]);
    expect([await consent(), (await identity())?.visits.length]).toEqual(["granted", 1]);
    // The visitor's own refusal counts, also where the default comes with it.
    await take({ ...byDefault, signals: { gcm: "denied", own: "denied" } });
    expect([await consent(), await identity()]).toEqual(["denied", null]);
  });

  test("a default of Consent Mode counts as a refusal where nobody has granted", async () => {
    const { take, consent } = site();
    await take({ signals: { gcm: "denied" }, isDefaultRefusal: true, person });
    expect(await consent()).toBe("denied");
  });

  test("a privacy signal that is no longer sent has ended", async () => {
    const { take, consent } = site();
    const { proof } = await take({ signals: { gpc: "denied" }, person });
    expect(await consent()).toBe("denied");
    await take({ visit: landing, person, proof });
    expect(await consent()).toBe("unknown");
  });
});

describe("a browser that refused", () => {
  const nameless = { visitorId: null, proposedId: null } as const;

  test("a refusal leaves no id for the cookie, and names the sources that refused", async () => {
    const { take } = site();
    await take({ visit: landing, person });
    expect(await take({ signals: { own: "denied", tcf: "denied", gcm: "granted" } })).toEqual({
      visitorId: null,
      consent: "denied",
      suppressed: true,
      refusedBy: ["own", "tcf"],
      proof: expect.any(String),
    });
  });

  test("a browser without an id that refuses leaves no row about itself, only about the email it gives", async () => {
    const { take, decisions } = site();
    expect(await take({ ...nameless, signals: { gcm: "denied" } })).toMatchObject({ proof: null });
    const { proof } = await take({ ...nameless, refusals: ["gcm"], person });
    for (let last = ids; last > 0; last -= 1) expect(await decisions(`new ${last}`)).toEqual([]);
    expect(await decisions(emailSha256)).toEqual([expect.stringMatching(/^[0-9a-f]{22}: denied$/)]);
    expect(await decisions(emailSha256)).not.toContain(`${proof}: denied`);
  });

  test("a remembered refusal applies to later reports, until the same source grants", async () => {
    const { take, identity } = site();
    const refusals = ["tcf"] as const;
    for (const signals of [{}, { own: "granted" }, { gcm: "granted" }] as const) {
      const taken = await take({ ...nameless, proposedId: "page", refusals, signals, visit: landing });
      expect(taken).toMatchObject({ visitorId: null, refusedBy: ["tcf"] });
    }
    const taken = await take({
      ...nameless,
      proposedId: "later",
      refusals,
      signals: { tcf: "granted" },
      visit: landing,
      person,
    });
    expect(taken).toMatchObject({ visitorId: "later", refusedBy: [] });
    expect((await identity())?.visits).toHaveLength(1);
  });

  test("a remembered refusal by Global Privacy Control ends with the signal", async () => {
    const { take } = site();
    const taken = await take({ ...nameless, proposedId: "page", refusals: ["gpc"], visit: landing });
    expect(taken).toMatchObject({ visitorId: "page", consent: "unknown", refusedBy: [] });
  });

  test("an id that the browser got from another tab after its refusal is deleted with its visits", async () => {
    const { take, identity, decisions } = site();
    await take({ visitorId: null, proposedId: "other tab", visit: landing, person });
    const taken = await take({ visitorId: "other tab", refusals: ["tcf"], visit: landing });
    expect(taken).toMatchObject({ visitorId: null, consent: "denied" });
    expect(await identity()).toBeNull();
    expect(await decisions("other tab")).toEqual(["tcf: denied"]);
  });

  /** A browser refuses, loses its id, and gets a new one when it grants later. Returns how it reports from then on. */
  async function refuseAndGrant(take: (changes: Partial<Report>) => Promise<{ proof: string | null }>, name: string) {
    await take({ visitorId: `${name} before`, visit: landing, person });
    const { proof } = await take({ visitorId: `${name} before`, signals: { own: "denied" } });
    const after = { visitorId: `${name} after`, proof } as const;
    const grant = () =>
      take({ ...nameless, proposedId: after.visitorId, proof, refusals: ["own"], signals: { own: "granted" }, visit: landing });
    return { after, grant };
  }

  test("its grant ends its refusal of an email when the email is given again, and not before", async () => {
    const { take, consent, identity } = site();
    const { after, grant } = await refuseAndGrant(take, "laptop");
    await grant();
    expect(await consent()).toBe("denied");
    await take({ ...after, visit: landing, person });
    expect(await consent()).toBe("granted");
    expect((await identity())?.visits).toHaveLength(1);
  });

  test("if two browsers refused for an email, both must grant", async () => {
    const { take, consent } = site();
    const laptop = await refuseAndGrant(take, "laptop");
    const phone = await refuseAndGrant(take, "phone");
    await laptop.grant();
    for (let page = 0; page < 3; page += 1) await take({ ...laptop.after, person });
    expect(await consent()).toBe("denied");
    await phone.grant();
    await take({ ...phone.after, person });
    expect(await consent()).toBe("granted");
  });

  test("nobody who merely knows the email ends its refusal, whatever their browser claims to have refused", async () => {
    const { take, consent, decisions } = site();
    const victim = await refuseAndGrant(take, "laptop");
    const before = await decisions(emailSha256);
    const granting = { signals: { own: "granted" }, person } as const;
    await take({ visitorId: "stranger", ...granting });
    await take({ ...nameless, proposedId: "claims", refusals: ["own", "gcm", "tcf", "gpc"], ...granting });
    for (const proof of ["guess", "", victim.after.visitorId, before[0]?.split(":")[0] ?? ""])
      await take({ ...nameless, proposedId: `with ${proof}`, refusals: ["own"], proof, ...granting });
    expect(await consent()).toBe("denied");
    expect(await decisions(emailSha256)).toEqual(expect.arrayContaining(before));
  });

  test("no browser ends a refusal that the operator recorded", async () => {
    const { take, consent, setByOperator } = site();
    await setByOperator("denied");
    const { after, grant } = await refuseAndGrant(take, "laptop");
    await grant();
    await take({ ...after, person });
    expect(await consent()).toBe("denied");
  });

  test("a refusing browser counts once for an email, on however many pages it gives it", async () => {
    const { take, decisions } = site();
    const { proof } = await take({ ...nameless, proposedId: "page 1", signals: { own: "denied" }, person });
    for (const page of ["page 2", "page 3"]) await take({ ...nameless, proposedId: page, refusals: ["own"], proof, person });
    expect(await decisions(emailSha256)).toHaveLength(1);
  });

  test("of the refusals of a browser that keeps no cookies, five are stored one by one, and the others as one", async () => {
    const { take, decisions } = site();
    for (let page = 1; page <= 8; page += 1)
      await take({ ...nameless, proposedId: `page ${page}`, signals: { own: "denied" }, person });
    expect(await decisions(emailSha256)).toHaveLength(6);
    expect(await decisions(emailSha256)).toContain(`${otherBrowsers.denied}: denied`);
  });

  test("a refusal counts, however many were stored before it, until the operator grants", async () => {
    const { take, consent, decisions, setByOperator } = site();
    const refused = { signals: { own: "denied" }, person } as const;
    const strangers = [];
    for (let n = 1; n <= 5; n += 1) strangers.push(await take({ ...nameless, proposedId: `stranger ${n}`, ...refused }));
    await take({ visitorId: "own", visit: landing });
    await take({ visitorId: "own", visit: landing, person, hasForm: true });
    const own = await take({ visitorId: "own", signals: { own: "denied" } });
    for (const { proof } of [...strangers, own])
      await take({ ...nameless, proposedId: `with ${proof}`, refusals: ["own"], proof, signals: { own: "granted" }, person });
    expect(await decisions(emailSha256)).toEqual([`${otherBrowsers.denied}: denied`]);
    await setByOperator("granted");
    expect(await consent()).toBe("granted");
  });

  test("lifting a refusal grants nothing: that needs a page that was seen", async () => {
    const { take, consent } = site();
    const { proof } = await take({ ...nameless, proposedId: "page 1", signals: { own: "denied" }, person });
    await take({ ...nameless, proposedId: "page 2", refusals: ["own"], proof, signals: { own: "granted" }, person });
    expect(await consent()).toBe("unknown");
  });
});

describe("opt-in mode", () => {
  test("in opt-in mode nothing is stored before the decision, and no visitor is created", async () => {
    const { take, identity } = site(optIn);
    const taken = await take({ visitorId: null, visit: landing, person });
    expect(taken).toMatchObject({ visitorId: null, suppressed: true });
    expect(await identity()).toBeNull();
  });

  test("in opt-in mode a refusal that comes with an email stores nothing", async () => {
    const { take, consent, decisions } = site(optIn);
    await take({ visitorId: null, proposedId: null, signals: { own: "denied" }, visit: landing, person });
    expect(await decisions(`new ${ids}`)).toEqual([]);
    expect(await consent()).toBe("unknown");
  });

  test("in opt-in mode a withdrawal holds for the emails that the visitor gave while they agreed", async () => {
    const { take, consent, identity } = site(optIn);
    await take({ signals: { own: "granted" }, visit: landing, person });
    expect(await take({ signals: { own: "denied" } })).toMatchObject({ visitorId: null });
    expect(await consent()).toBe("denied");
    expect(await identity()).toBeNull();
  });

  test("in opt-in mode a grant stores the visit and the person's consent", async () => {
    const { take, consent, identity } = site(optIn);
    const { visitorId, suppressed } = await take({ visitorId: null, signals: { own: "granted" }, visit: landing });
    expect([visitorId, suppressed]).toEqual([`new ${ids}`, false]);
    await take({ visitorId, signals: { own: "granted" }, visit: landing, person });
    expect(await consent()).toBe("granted");
    expect((await identity())?.visits).toHaveLength(1);
  });
});
