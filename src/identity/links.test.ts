// Links between the domains of a site, with a real store: what a token opens, and what it carries.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { sha256 } from "../../test/support/sha256.ts";
import type { Visit } from "../kernel/event.ts";
import { ulid } from "../kernel/ids.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import { createStore, type Store } from "../store/store.ts";
import { attribute } from "./attribution.ts";
import { clicksOfVisits, createLinks, linkMs, readCarried } from "./links.ts";
import { identifyVisitor, storeReport, type Report, type ReportRules } from "./visits.ts";

const now = Date.UTC(2026, 10, 14, 12);
const links = createLinks("the secret of the installation");
const visitorId = "0123456789abcdefghij-V";
const optOut: ReportRules = { consentMode: "opt-out", keepMs: 90 * dayMs };
const optIn: ReportRules = { ...optOut, consentMode: "opt-in" };
const emailSha256 = sha256("e".repeat(64));
const person = { emailSha256, forms: {} };

describe("a token", () => {
  const token = links.sign("page", "site", visitorId, now);
  // Not the last character: some of its bits stand for nothing.
  const withAnotherCharacter = `${token.slice(0, 20)}${token[20] === "A" ? "B" : "A"}${token.slice(21)}`;

  test("opens for its site and purpose while it is valid", () => {
    expect(links.open("page", "site", token, now)).toBe(visitorId);
    expect(links.open("page", "site", token, now + linkMs)).toBe(visitorId);
    expect(createLinks("the secret of the installation").open("page", "site", token, now)).toBe(visitorId);
  });

  test.each([
    ["after its time", "page", "site", token, now + linkMs + 1],
    ["long before it was made", "page", "site", token, now - 2 * minuteMs],
    ["for another site", "page", "other", token, now],
    ["for a payment", "payment", "site", token, now],
    ["with another character", "page", "site", withAnotherCharacter, now],
    ["cut", "page", "site", token.slice(0, -4), now],
    ["as another text", "page", "site", "order-1001", now],
    ["as no text", "page", "site", "", now],
  ] as const)("opens nothing %s", (_, purpose, site, text, at) => {
    expect(links.open(purpose, site, text, at)).toBeNull();
  });

  test("of another installation opens nothing", () => {
    expect(createLinks("another secret").open("page", "site", token, now)).toBeNull();
  });

  test("hides its visitor, differs each time, and fits into a client reference id of Stripe", () => {
    const payment = links.sign("payment", "site", visitorId, now);
    expect(payment).toMatch(/^[A-Za-z0-9_-]{1,200}$/);
    expect(payment).not.toContain(visitorId);
    expect(Buffer.from(payment.slice(3), "base64url").toString("latin1")).not.toContain(visitorId);
    expect(payment).not.toBe(links.sign("payment", "site", visitorId, now));
  });
});

describe("visits that a link carries", () => {
  let store: Store;
  beforeAll(async () => {
    const file = join(freshFolder(), "store.db");
    store = await createStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid);
  });
  afterAll(() => store.close());

  let sites = 0;
  function newSite(rules = optOut) {
    sites += 1;
    const id = `site${sites}`;
    const take = (changes: Partial<Report>) => {
      const report: Report = {
        visitorId: "from",
        proposedId: null,
        remembered: null,
        signals: {},
        visit: null,
        person: null,
        at: now,
        ...changes,
      };
      return storeReport(store, id, report, rules, () => "new");
    };
    return {
      id,
      take,
      carried: () => readCarried(store.people, id, "from", rules.consentMode),
      visitor: (name: string) => store.people.findVisitor(id, name),
      identify: (visitor = "from") => identifyVisitor(store, id, visitor, person, { ...rules, at: now }),
      identity: () => store.people.findIdentity(id, emailSha256),
      consent: () => store.people.readConsent(id, emailSha256),
    };
  }
  const click = (value: string, seenAt = now - minuteMs) => ({
    seenAt,
    browser: { page: "https://www.example/", referrer: "", address: "203.0.113.9", userAgent: "Browser of the first domain" },
    clickIds: { gclid: { value, seenAt } },
    browserIds: { _fbp: "fb.1.1.1", _gcl_aw: "GCL.1.Keeps" },
    utm: { utm_source: "google" },
  });

  test("are the clicks and campaigns, with nothing else of the browser", async () => {
    const site = newSite();
    await site.take({ visit: click("First") });
    expect(await site.carried()).toEqual([
      {
        visitorId: "from",
        seenAt: now - minuteMs,
        browser: null,
        clickIds: { gclid: { value: "First", seenAt: now - minuteMs } },
        browserIds: { _gcl_aw: "GCL.1.Keeps" },
        utm: { utm_source: "google" },
        isCarried: true,
      },
    ]);
  });

  test("are none of bots, and none without a click or a campaign", async () => {
    const site = newSite();
    const verdict = { bot: true, score: 100, reasons: ["automation:webdriver"], rules: 1 };
    await site.take({ visit: { ...click("Bot"), verdict } });
    await site.take({ visit: { ...click(""), clickIds: {}, utm: {}, browserIds: { _fbp: "fb.1.1.1" } } });
    expect(await site.carried()).toEqual([]);
  });

  test("are none after a refusal, nor without a grant where the site asks first", async () => {
    const refused = newSite();
    await refused.take({ visit: click("Refused") });
    await refused.take({ signals: { own: "denied" } });
    expect(await refused.carried()).toEqual([]);
    const asked = newSite(optIn);
    await asked.take({ visit: click("Asked") });
    expect(await asked.carried()).toEqual([]);
    await asked.take({ visit: click("Asked"), signals: { own: "granted" } });
    expect(await asked.carried()).toHaveLength(1);
  });

  test("join the visitor who arrives once, however often the link is reported, and leave the other visitor alone", async () => {
    const site = newSite();
    await site.take({ visit: click("Carried") });
    const before = await site.visitor("from");
    const carried = await site.carried();
    for (let i = 0; i < 3; i++) await site.take({ visitorId: "to", carried });
    const { visits } = (await site.visitor("to")) ?? { visits: [] };
    expect(visits).toEqual([{ ...carried[0], visitorId: "to", isSeen: true }]);
    expect(await site.visitor("from")).toEqual(before);
  });

  test("are not stored for a visitor who refuses", async () => {
    const site = newSite();
    await site.take({ visit: click("Carried") });
    const carried = await site.carried();
    await site.take({ visitorId: "to", signals: { gpc: "denied" }, carried });
    expect(await site.visitor("to")).toBeNull();
  });

  test("a later visit of the browser is its own, with its page", async () => {
    const site = newSite();
    await site.take({ visit: click("Carried") });
    await site.take({ visitorId: "to", carried: await site.carried() });
    const own = { ...click("Carried", now), utm: {} };
    await site.take({ visitorId: "to", visit: own, person });
    const { visits } = (await site.identity()) ?? { visits: [] };
    expect(visits.map(({ browser, isCarried }) => [browser?.page, isCarried])).toEqual([
      ["https://www.example/", undefined],
      [undefined, true],
    ]);
  });

  const chosen = async (site: ReturnType<typeof newSite>) => {
    const found = { consent: "unknown", withheld: null, identity: await site.identity() } as const;
    const { clickIds, utm } = attribute(found, now, { keepMs: 90 * dayMs, isTrusted: false });
    return { gclid: clickIds.gclid?.value, source: utm.utm_source };
  };

  test("give the person a click where there is none", async () => {
    const site = newSite();
    await site.take({ visit: click("Carried") });
    await site.take({ visitorId: "to", carried: await site.carried() });
    await site.take({ visitorId: "to", person, hasForm: true });
    expect(await chosen(site)).toEqual({ gclid: "Carried", source: "google" });
  });

  test("never replace a click of a browser that submitted a form, though they are newer", async () => {
    const site = newSite();
    const own = { ...click("Own", now - 5 * dayMs), utm: { utm_source: "own" } };
    await site.take({ visitorId: "to", visit: own });
    await site.take({ visitorId: "to", person, hasForm: true });
    await site.take({ visit: click("Strangers") });
    await site.take({ visitorId: "to", carried: await site.carried() });
    expect(await chosen(site)).toEqual({ gclid: "Own", source: "own" });
  });

  test("replace an older click of a browser without a form", async () => {
    const site = newSite();
    await site.take({ visitorId: "to", visit: click("Older", now - 5 * dayMs) });
    await site.take({ visitorId: "to", person });
    await site.take({ visit: click("Newer") });
    await site.take({ visitorId: "to", carried: await site.carried() });
    expect(await chosen(site)).toMatchObject({ gclid: "Newer" });
  });

  test("a buyer gets the visits and the consent of the visitor", async () => {
    const site = newSite(optIn);
    await site.take({ visit: click("Paid"), signals: { own: "granted" } });
    await site.identify();
    expect((await site.identity())?.visits.map(({ clickIds }) => clickIds.gclid?.value)).toEqual(["Paid"]);
    expect(await site.consent()).toBe("granted");
  });

  test("a buyer gets nothing of a visitor who refused, or who is not known", async () => {
    const site = newSite();
    await site.take({ visit: click("Refused") });
    await site.take({ signals: { own: "denied" } });
    await site.identify();
    await site.identify("stranger");
    expect(await site.identity()).toBeNull();
    expect([await site.visitor("from"), await site.visitor("stranger")]).toEqual([null, null]);
    expect(await site.consent()).toBe("unknown");
  });
});

test("the newest useful click of each kind stands for visits without a person", () => {
  const visit = (clickIds: Visit["clickIds"]): Visit => ({
    visitorId: "v",
    seenAt: now,
    browser: null,
    clickIds,
    browserIds: {},
    utm: {},
  });
  const visits = [
    visit({ gclid: { value: "Newest", seenAt: now - dayMs }, ttclid: { value: "Old", seenAt: now - 40 * dayMs } }),
    visit({ gclid: { value: "Older", seenAt: now - 2 * dayMs }, fbclid: { value: "Other", seenAt: now - dayMs } }),
  ];
  expect(clicksOfVisits(visits, now)).toEqual({
    gclid: { value: "Newest", seenAt: now - dayMs },
    fbclid: { value: "Other", seenAt: now - dayMs },
  });
});
