// What changed settings would have done with stored events, on both engines: nothing but reading, in parts that add up.

import { afterAll, describe, expect, test } from "vitest";
import { newEvent, newSite, unattributed } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { addDifferences, noDifferences } from "../../contract/whatIf/differences.ts";
import type { Attribution, Event, FilterReason, Verdict, Visit } from "../../kernel/event.ts";
import { dayMs, hourMs } from "../../kernel/time.ts";
import { connectPlatform } from "../../sites/connect.ts";
import { createDirectory, type Site } from "../../sites/directory.ts";
import { findSite } from "../../sites/manage.ts";
import { withDefaults, type SiteSettings } from "../../sites/settings.ts";
import { rulesVersion } from "../../traffic/verdict.ts";
import { whatIf, whatIfEvent } from "./whatIf.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now, checkAddress: () => null };
const period = { from: now - dayMs, to: now + dayMs, cursor: null };
const browser = { page: "https://shop.example/", referrer: "", address: "198.51.100.7", userAgent: "Mozilla/5.0 Special/1.0" };
const verdict = (score: number, reasons: string[], more: Partial<Verdict> = {}): Verdict => ({
  bot: score >= 60,
  score,
  reasons,
  rules: rulesVersion,
  ...more,
});
const soft = ["velocity:visitor in a hurry (70 in a minute)", "headers:no language"];
const filteredAsBot: FilterReason[] = [{ code: "only bot visits", detail: "automation:webdriver" }];

describe.each(["sqlite", "postgres"] as const)("what if, on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function setUp(): Promise<Site> {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = findSite(context, siteId);
    const connect = (platform: string, settings: Record<string, string>, events?: string[]) =>
      connectPlatform(context, site, platform, { settings, events }, by);
    await connect("meta", { pixel_id: "123456789012345", access_token: "token" }, ["purchase"]);
    await connect("webhook", { url: "https://hooks.example.com/in" });
    return findSite(context, siteId);
  }

  let people = 0;
  const visit = (fields: Partial<Visit> = {}): Visit => ({
    visitorId: "visitor",
    seenAt: now - hourMs,
    browser,
    clickIds: { fbclid: { value: `click-${people}`, seenAt: now - hourMs } },
    browserIds: {},
    utm: {},
    isSeen: true,
    ...fields,
  });

  type Added = { visits?: Visit[]; attribution?: Partial<Attribution>; filtered?: FilterReason[]; event?: Partial<Event> };
  /** Stores an event of a person of its own, with what is kept of their visits. */
  async function add(site: Site, { visits = [], attribution = {}, filtered = [], event = {} }: Added = {}) {
    const emailSha256 = sha256((++people).toString(16).padStart(64, "0"));
    const fields = { orderId: `A-${people}`, value: 10, receivedAt: now, person: { emailSha256 }, ...event };
    const item = newEvent(site.id, fields, {
      attribution: { ...unattributed, identity: visits.length ? "found" : "none", ...attribution },
      filterReasons: filtered,
      ...(filtered.length && { deliveries: [] }),
    });
    await store.events.accept(item);
    if (visits.length)
      await store.people.change(site.id, async (rows) => {
        await rows.lockIdentity(emailSha256, now);
        await rows.saveIdentity(emailSha256, { visits, firstUtm: {}, forms: {} }, now);
      });
    return { id: item.event.id, emailSha256 };
  }

  const sidesOf = (site: Site, changes: Partial<SiteSettings>, judgesVisits: boolean, connections = site.connections) => {
    const shared = { judgesVisits, countryOf: null };
    const before = { settings: site.settings, connections: site.connections, ...shared };
    return { before, after: { settings: { ...site.settings, ...changes }, connections, ...shared } };
  };
  const changeConnection = (site: Site, platform: string, settings: Record<string, string>) =>
    site.connections.map((one) => (one.platform === platform ? { ...one, settings: { ...one.settings, ...settings } } : one));
  const ofPlatform = (differences: ReturnType<typeof noDifferences>, platform: string) =>
    Object.values(differences.connections).find((one) => one.platform === platform);

  test("a higher threshold lets conversions pass, a lower one filters others, each with its money", async () => {
    const site = await setUp();
    await add(site, { visits: [visit({ verdict: verdict(75, soft) })], filtered: filteredAsBot });
    await add(site, { visits: [visit({ verdict: verdict(45, soft.slice(0, 1)) })], event: { value: 20 } });
    await add(site, { visits: [visit()], event: { value: 40 } });
    const looser = await whatIf(store, site.id, sidesOf(site, { botThreshold: 90 }, true), period);
    expect(looser.differences).toMatchObject({
      events: 3,
      unknown: 0,
      filtered: { before: { events: 1, values: { EUR: 10 } }, after: { events: 0, values: {} } },
      nowPassed: { "only bot visits: velocity:visitor in a hurry (70 in a minute)": { events: 1, values: { EUR: 10 } } },
      nowFiltered: {},
    });
    expect(ofPlatform(looser.differences, "webhook")).toMatchObject({
      before: { events: 2, values: { EUR: 60 } },
      after: { events: 3, values: { EUR: 70 } },
    });
    expect(looser.examples).toHaveLength(1);
    expect(looser.examples[0]).toMatchObject({ value: 10, filtered: { after: null } });
    expect(looser).toMatchObject({ progress: 1, isComplete: true, next: null });

    const denied = await whatIf(store, site.id, sidesOf(site, { denyUserAgents: ["*Special*"] }, true), period);
    expect(denied.differences.nowFiltered).toEqual({
      "only bot visits: site rule:denied user agent *Special*": { events: 2, values: { EUR: 60 } },
    });
    expect(ofPlatform(denied.differences, "webhook")).toMatchObject({ after: { events: 0 } });
  });

  test("evidence in shadow counts once it is switched on, and a click of a visit that would be a bot's is not used", async () => {
    const site = await setUp();
    const shadows = ["pointer:no way to the press", "typing:keys too short"];
    const inShadow = visit({ verdict: verdict(35, ["headers:no language"], { shadows }) });
    const clicked = { fbclid: { value: "bot-click", seenAt: now - hourMs } };
    const human = visit({ visitorId: "other", seenAt: now - 2 * hourMs, clickIds: {} });
    await add(site, {
      visits: [{ ...inShadow, clickIds: clicked }, human],
      attribution: { clickIds: clicked, browser },
    });
    const alone = await add(site, { visits: [inShadow], event: { value: 30 } });
    const before = await whatIf(store, site.id, sidesOf(site, { evidence: [] }, true), period);
    expect(before.examples).toEqual([]);
    const on = await whatIf(store, site.id, sidesOf(site, { evidence: ["all=on"] }, true), period);
    expect(on.differences.filtered).toEqual({ before: { events: 0, values: {} }, after: { events: 1, values: { EUR: 30 } } });
    expect(on.examples.find(({ event }) => event === alone.id)?.filtered.after).toContain("only bot visits: ");
    const strict = sidesOf(site, { denyUserAgents: ["*Special*"], allowNetworks: ["203.0.113.0/24"] }, true);
    const elsewhere = { ...browser, address: "203.0.113.9" };
    await add(site, {
      visits: [
        { ...inShadow, clickIds: clicked },
        { ...human, browser: elsewhere },
      ],
      attribution: { clickIds: clicked, browser },
    });
    const { differences, examples } = await whatIf(store, site.id, strict, period);
    // Of the second person, one visit is a person's: the event passes, without the bot's click.
    expect(differences.filtered.after.events).toBe(2);
    const meta = examples.find(({ filtered }) => filtered.after === null)?.deliveries.find(({ platform }) => platform === "meta");
    expect(meta?.fields.removed).toContain("data.user_data.fbc");
  });

  test("opt-in withholds what nobody agreed to, and opt-out gives it back from what is kept of the visits", async () => {
    const site = await setUp();
    const clickIds = { fbclid: { value: "click", seenAt: now - hourMs } };
    await add(site, { visits: [visit({ clickIds })], attribution: { clickIds, browser } });
    await add(site, { visits: [visit({ clickIds })], attribution: { clickIds, browser, consent: "granted" } });
    const optIn = await whatIf(store, site.id, sidesOf(site, { consentMode: "opt-in" }, false), period);
    expect(optIn.differences.withheld).toEqual({ before: 0, after: 1 });

    const other = await setUp();
    await add(other, { visits: [visit({ clickIds })], attribution: { withheld: "no consent", identity: "found" } });
    await add(other, { attribution: { withheld: "no consent", identity: "found" } });
    const strict: Site = { ...other, settings: withDefaults({ consentMode: "opt-in" }) };
    const optOut = await whatIf(store, other.id, sidesOf(strict, { consentMode: "opt-out" }, false), period);
    expect(optOut.differences).toMatchObject({ withheld: { before: 2, after: 0 }, unknown: 1 });
    const { changed, fields } = ofPlatform(optOut.differences, "webhook") ?? expect.unreachable();
    expect(changed).toBe(2);
    expect(fields["clickIds.fbclid"]).toEqual({ added: 1, removed: 0, changed: 0 });
  });

  test("nobody who refuses by now is looked at again, and the erased become nothing", async () => {
    const site = await setUp();
    const clickIds = { fbclid: { value: "click", seenAt: now - hourMs } };
    const refused = await add(site, {
      visits: [visit({ clickIds })],
      attribution: { withheld: "no consent", identity: "found" },
    });
    await store.people.change(site.id, (rows) => rows.decide(refused.emailSha256, "operator", "denied", now));
    const erased = await add(site, { visits: [visit()] });
    await store.erase.events(site.id, erased.emailSha256, now);
    const strict: Site = { ...site, settings: withDefaults({ consentMode: "opt-in" }) };
    const { differences, examples } = await whatIf(store, site.id, sidesOf(strict, { consentMode: "opt-out" }, false), period);
    expect(differences).toMatchObject({ events: 2, erased: 1, withheld: { before: 1, after: 1 } });
    expect(examples.flatMap(({ deliveries }) => deliveries)).toEqual([]);
  });

  test("a value rule changes the money of its connection, and a mapping the fields of its requests", async () => {
    const site = await setUp();
    for (const value of [100, 0.1, 0.2]) await add(site, { event: { value, extra: { plan: "gold" } } });
    const share = sidesOf(site, {}, false, changeConnection(site, "meta", { "value.purchase": "20%" }));
    const ruled = await whatIf(store, site.id, share, period);
    expect(ofPlatform(ruled.differences, "meta")).toMatchObject({
      before: { events: 3, values: { EUR: 100.3 } },
      after: { events: 3, values: { EUR: 20.06 } },
      changed: 3,
      fields: { "data.custom_data.value": { added: 0, removed: 0, changed: 3 } },
    });
    expect(ofPlatform(ruled.differences, "webhook")).toMatchObject({ changed: 0, fields: {} });
    const mapped = sidesOf(site, {}, false, changeConnection(site, "meta", { "map.custom_data.content_name": "extra.plan" }));
    const { differences } = await whatIf(store, site.id, mapped, period);
    expect(ofPlatform(differences, "meta")?.changed).toBe(3);
    expect(ofPlatform(differences, "meta")?.fields).toEqual({
      "data.custom_data.content_name": { added: 3, removed: 0, changed: 0 },
    });
  });

  test("another connection has no past, and one that is left out says why", async () => {
    const site = await setUp();
    await add(site);
    await add(site, { event: { name: "lead" } });
    const meta = site.connections.find(({ platform }) => platform === "meta");
    if (!meta) throw new Error("no connection");
    const another = { ...meta, id: "new", account: "other", events: ["lead"] };
    const part = await whatIf(store, site.id, sidesOf(site, {}, false, [...site.connections, another]), period);
    expect(part.differences.connections.new).toMatchObject({
      platform: "meta",
      before: { events: 0 },
      after: { events: 1 },
      skipped: { "event not selected": { before: 0, after: 1 } },
    });
  });

  test("parts add up to the whole, newest first, and test events are left out", async () => {
    const site = await setUp();
    for (let i = 0; i < 450; i++) await add(site, { event: { receivedAt: now - i, value: 1 } });
    await add(site, { event: { mode: "test" } });
    const sides = sidesOf(site, {}, false, changeConnection(site, "meta", { "value.*": "50%" }));
    const sum = noDifferences();
    const progress: number[] = [];
    let cursor: Awaited<ReturnType<typeof whatIf>>["next"] = null;
    do {
      const part = await whatIf(store, site.id, sides, { ...period, cursor });
      addDifferences(sum, part.differences);
      progress.push(part.progress);
      cursor = part.next;
    } while (cursor);
    expect(progress).toHaveLength(3);
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
    expect(sum.events).toBe(450);
    expect(ofPlatform(sum, "meta")).toMatchObject({ before: { values: { EUR: 450 } }, after: { values: { EUR: 225 } } });
    // Before the limit it goes on; from there on it says that older events are left out.
    const at = { before: "z".repeat(26), events: 49_900 };
    expect(await whatIf(store, site.id, sides, { ...period, cursor: at })).toMatchObject({
      isComplete: false,
      next: null,
      progress: 1,
    });
  });

  test("one event shows all of its deliveries, also where nothing changes", async () => {
    const site = await setUp();
    const { id } = await add(site, { event: { mode: "test" } });
    const event = await store.events.get(site.id, id);
    if (!event || event === "damaged") throw new Error("no event");
    const { examples } = await whatIfEvent(store, event, sidesOf(site, {}, false));
    expect(examples).toHaveLength(1);
    expect(examples[0]?.deliveries.map(({ platform }) => platform).toSorted()).toEqual(["meta", "webhook"]);
    expect(examples[0]?.deliveries.every(({ before, after }) => before !== null && after?.skipped === before.skipped)).toBe(true);
  });
});
