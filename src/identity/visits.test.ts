// Tests the tag's reports with a real store: consent is applied before anything is stored.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { ulid } from "../kernel/ids.ts";
import { openStore, type Store } from "../store/store.ts";
import { storeReport, type Report, type ReportRules } from "./visits.ts";
import { sha256 } from "../../test/support/sha256.ts";

const now = Date.UTC(2026, 10, 14, 12);
const optOut: ReportRules = { consentMode: "opt-out", keepMs: 90 * 86_400_000 };
const optIn: ReportRules = { ...optOut, consentMode: "opt-in" };
const emailSha256 = sha256("e".repeat(64));

let store: Store;
beforeAll(async () => {
  const file = join(freshFolder(), "store.db");
  store = await openStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid);
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

let sites = 0;
/** Creates a site for one test. */
function site(rules: ReportRules = optOut) {
  sites += 1;
  const id = `site${sites}`;
  return {
    take: (changes: Partial<Report>) => storeReport(store, id, report(changes), rules, () => "new visitor"),
    consent: () => store.people.readConsent(id, emailSha256),
    identity: () => store.people.findIdentity(id, emailSha256),
  };
}

describe("a visitor's decisions", () => {
  test("a grant and a later refusal apply to every email that the visitor ever submitted", async () => {
    const { take, consent, identity } = site();
    await take({ visit: landing });
    await take({ visit: landing, person });
    for (const own of ["denied", "granted", "denied"] as const) {
      await take({ signals: { own } });
      expect(await consent()).toBe(own);
    }
    expect(await identity()).toBeNull();
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

  test("a refusal that only the page remembers counts, and never overrides a stored decision", async () => {
    const { take, consent } = site();
    await take({ visit: landing, person });
    await take({ remembered: "denied" });
    expect(await consent()).toBe("denied");
    await take({ signals: { own: "granted" } });
    await take({ remembered: "denied" });
    expect(await consent()).toBe("granted");
  });

  test("a privacy signal that is no longer sent has ended", async () => {
    const { take, consent } = site();
    await take({ signals: { gpc: "denied" }, person });
    expect(await consent()).toBe("denied");
    await take({ visit: landing, person });
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

  test("in opt-in mode a grant stores the visit and the person's consent", async () => {
    const { take, consent, identity } = site(optIn);
    const taken = await take({ visitorId: null, signals: { own: "granted" }, visit: landing, person });
    expect(taken).toMatchObject({ visitorId: "new visitor", suppressed: false });
    expect(await consent()).toBe("granted");
    expect((await identity())?.visits).toHaveLength(1);
  });
});
