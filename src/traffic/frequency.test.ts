import { loadOf } from "../../test/support/load.ts";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createTrafficMemory, quiet, type ClickNews, type Hit } from "./frequency.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const minute = 60_000;
const hit: Hit = {
  siteId: "s",
  network: "203.0.113.7",
  userAgent: "Firefox",
  visitor: "v",
  pageId: null,
  isVisit: true,
  isInput: false,
  submitDigest: null,
  form: null,
  emailSha256: null,
  clickIds: [],
  hasRefused: false,
  at: 1_000_000_000_000,
};

describe("frequency", () => {
  test("visits are counted by visitor, and by network with user agent", () => {
    const memory = createTrafficMemory();
    const note = (one: Hit) => memory.observe(one);
    note(hit);
    expect(note({ ...hit, visitor: "w" })).toMatchObject({ ofNetwork: 2, ofVisitor: 1 });
    expect(note({ ...hit, userAgent: "Safari" })).toMatchObject({ ofNetwork: 1, ofVisitor: 2 });
    expect(note({ ...hit, network: "198.51.100.1", visitor: "x" })).toMatchObject({
      ofNetwork: 1,
      ofVisitor: 1,
    });
    expect(note({ ...hit, siteId: "other" })).toMatchObject({ ofNetwork: 1, ofVisitor: 1 });
    expect(note({ ...hit, isVisit: false })).toMatchObject({ ofNetwork: 2 });
  });

  test("older visits count less, and after the window not at all", () => {
    const memory = createTrafficMemory();
    const note = (one: Hit) => memory.observe(one);
    for (let i = 0; i < 100; i++) note(hit);
    const later = (ms: number) => note({ ...hit, isVisit: false, at: hit.at + ms }).ofNetwork;
    expect(later(0)).toBe(100);
    expect(later(minute)).toBe(100);
    expect(later(1.5 * minute)).toBe(50);
    expect(later(3 * minute)).toBe(0);
  });

  test("each email counts once within an hour", () => {
    const memory = createTrafficMemory();
    const note = (one: Hit) => memory.observe(one);
    for (const email of ["a", "b", "a", "c", "b"]) note({ ...hit, emailSha256: email });
    expect(note(hit)).toMatchObject({ emailsOfVisitor: 3, emailsOfNetwork: 3 });
    expect(note({ ...hit, emailSha256: "d", at: hit.at + 70 * minute })).toMatchObject({
      emailsOfVisitor: 4,
    });
    expect(note({ ...hit, at: hit.at + 300 * minute })).toMatchObject({ emailsOfVisitor: 0 });
  });

  test("a browser without a cookie counts for its network only", () => {
    const memory = createTrafficMemory();
    const note = (one: Hit) => memory.observe(one);
    let last = note(hit);
    for (let i = 0; i < 50; i++) last = note({ ...hit, visitor: null, emailSha256: `e${i}`, clickIds: ["c"] });
    expect(last).toMatchObject({ ofVisitor: 0, emailsOfVisitor: 0, emailsOfNetwork: 50, visitorsOfClick: 1 });
  });

  test("a click id is counted by its sources, and of several click ids the highest count is returned", () => {
    const memory = createTrafficMemory();
    const note = (one: Hit) => memory.observe(one);
    for (let i = 0; i < 4; i++) note({ ...hit, network: `198.51.100.${i}`, clickIds: ["shared"] });
    // The same person counts once, with and without a cookie.
    note({ ...hit, network: "198.51.100.0", visitor: null, clickIds: ["shared"] });
    expect(note({ ...hit, network: "198.51.100.0", clickIds: ["shared"] }).visitorsOfClick).toBe(4);
    expect(note({ ...hit, network: "198.51.100.9", clickIds: ["own", "shared"] }).visitorsOfClick).toBe(5);
    expect(note({ ...hit, clickIds: [] }).visitorsOfClick).toBe(0);
  });

  test("a flood of different visitors is counted in bounded memory", () => {
    const memory = createTrafficMemory();
    const note = (one: Hit) => memory.observe(one);
    const before = heldBytes();
    let last = note(hit);
    for (let i = 0; i < loadOf(300_000); i++)
      last = note({
        ...hit,
        visitor: `v${i}`,
        emailSha256: `e${i}`,
        clickIds: [`c${i}`],
        at: hit.at + i / 100,
      });
    expect(heldBytes() - before).toBeLessThan(40_000_000);
    expect(memory.observe(hit).ofNetwork).toBeGreaterThan(0);
    expect(last.emailsOfNetwork).toBeGreaterThan(30);
    expect(last.ofNetwork).toBeGreaterThan(300);
  });

  test("floods of networks, user agents, forms and reports with many click ids each are counted in bounded memory", () => {
    const memory = createTrafficMemory();
    const before = heldBytes();
    for (let i = 0; i < loadOf(120_000); i++) {
      // As many members of each key as are kept: the most that a number of reports can hold.
      const network = `2001:db8:${Math.floor(i / 8)}`;
      const at = hit.at + i;
      const page = `https://shop.example/${"long ".repeat(90)}${i}`;
      const clickIds = Array.from({ length: 12 }, (_, n) => `click ${i} ${n}`);
      memory.noteFetch({ ...hit, network: `${network} ${i}` }, at);
      memory.noteCookie("s", `page ${i}`, at);
      memory.observe({
        ...hit,
        network,
        visitor: i % 2 ? `visitor ${Math.floor(i / 16)} ${i}` : null,
        pageId: `page ${i}`,
        emailSha256: `email ${i}`,
        clickIds,
        isInput: true,
        submitDigest: `submit ${i}`,
        form: { page, isScripted: false, isUntouched: false },
        at,
      });
    }
    expect(heldBytes() - before).toBeLessThan(80_000_000);
    // Until here the memory must not be collected itself.
    expect(memory.observe(hit).ofNetwork).toBeGreaterThan(0);
  });
});

/** An earlier visit of this visitor. */
const ofVisitor = (visitor: string | null) => ({ visitor, clickIds: [] });

describe("sources of ad clicks", () => {
  const day = 24 * 60 * minute;
  const clickOf = (network: string, n: number, at: number): Hit => ({
    ...hit,
    network,
    visitor: null,
    pageId: `${network} ${n}`,
    clickIds: [`${network} ${n}`],
    at,
  });
  /** Forty people at home, of whom three quarters go on. */
  function usualSite() {
    const memory = createTrafficMemory();
    for (let i = 0; i < 40; i++) {
      memory.noteFetch({ ...hit, network: `home ${i}` }, hit.at);
      memory.observe(clickOf(`home ${i}`, 0, hit.at));
      if (i % 4) memory.observe({ ...hit, network: `home ${i}`, visitor: `person ${i}`, at: hit.at + 1000 });
    }
    return memory;
  }

  test("a farm brings many click ids, and nobody goes on", () => {
    const memory = usualSite();
    for (let i = 0; i < 60; i++) memory.observe(clickOf("farm", i, hit.at + i));
    const farm = { ...hit, network: "farm" };
    expect(memory.recall(memory.keysOf(farm), ofVisitor(null), hit.at + 1000).goneOn).toMatchObject({ visits: 0 });
    const later = memory.recall(memory.keysOf(farm), ofVisitor(null), hit.at + 5 * minute);
    expect(later).toMatchObject({
      clickIdsOfSource: 60,
      shareOfSource: 1,
      goneOn: { visits: 60, goneOn: 0, expected: expect.closeTo(43.9, 1) },
    });
    expect(memory.recall(memory.keysOf(farm), ofVisitor(null), hit.at + 3 * day)).toMatchObject({
      clickIdsOfSource: 0,
      goneOn: null,
    });
  });

  test("nodes that share what they observe know a farm as one node does, and nothing of a visitor who refused", () => {
    const [one, first, second] = [usualSite(), usualSite(), usualSite()];
    const news: ClickNews[] = [];
    const sharing = createTrafficMemory({ onNews: (observed) => news.push(observed) });
    const farm = { ...hit, network: "farm" };
    for (let i = 0; i < 60; i++) {
      const click = clickOf("farm", i, hit.at + i);
      one.observe(click);
      sharing.observe({ ...click, hasRefused: i === 59 });
    }
    expect(JSON.stringify(news)).not.toMatch(/Firefox|"farm"/);
    expect(news[1]?.[6]).not.toContain("farm 1");
    // Each node received half of the clicks, and reads the other half.
    for (const [i, observed] of news.entries()) {
      (i % 2 ? first : second).learn(observed, hit.at + i);
      (i % 2 ? second : first).learn(JSON.parse(JSON.stringify(observed)), hit.at + minute);
    }
    const known = one.recall(one.keysOf(farm), ofVisitor(null), hit.at + 5 * minute);
    expect(known).toMatchObject({ clickIdsOfSource: 60, goneOn: { visits: 60 } });
    const ofShared = { visits: 59, goneOn: 0, expected: expect.any(Number) };
    const shared = { ...known, clickIdsOfSource: 59, goneOn: ofShared, secondSteps: ofShared };
    for (const node of [first, second])
      expect(node.recall(node.keysOf(farm), ofVisitor(null), hit.at + 5 * minute)).toEqual(shared);
  });

  test("a person in the network of a farm who goes on is none of it, now and when the visit is judged again", () => {
    const memory = usualSite();
    const neighbour = { ...clickOf("farm", 1000, hit.at), pageId: "neighbour-of-a-farm" };
    memory.observe(neighbour);
    for (let i = 0; i < 60; i++) memory.observe(clickOf("farm", i, hit.at + i));
    const cookie = { ...neighbour, visitor: "neighbour-of-a-farm", pageId: null, clickIds: [], at: hit.at + 5 * minute };
    expect(memory.observe(cookie).goneOn).toBe(null);
    const keys = memory.keysOf(neighbour);
    expect(memory.recall(keys, ofVisitor("neighbour-of-a-farm"), hit.at + 6 * minute)).toEqual(quiet);
    expect(memory.recall(keys, ofVisitor("farm 1"), hit.at + 6 * minute)).toMatchObject({
      clickIdsOfSource: 61,
      goneOn: { visits: 61, goneOn: 1 },
    });
    // Of so many who go on not each is kept.
    for (let i = 0; i < 120; i++) memory.observe({ ...cookie, visitor: `visitor ${i}`.padStart(12, `${i} `) });
    expect(memory.recall(keys, ofVisitor("another person"), hit.at + 6 * minute)).toEqual(quiet);
  });

  test("a farm that invents an input for each click has no second steps, and a person's input is still known", () => {
    const memory = usualSite();
    for (let i = 0; i < 300; i++) {
      const click = clickOf("farm", i, hit.at + i);
      memory.observe(click);
      memory.observe({ ...click, pageId: null, clickIds: [], isVisit: false, isInput: true });
    }
    const person = { ...clickOf("farm", 1000, hit.at), pageId: "someone-who-scrolls" };
    memory.observe(person);
    memory.observe({ ...person, visitor: "someone-who-scrolls", clickIds: [], isVisit: false, isInput: true });
    const keys = memory.keysOf(person);
    const known = memory.recall(keys, ofVisitor("a click of the farm"), hit.at + 5 * minute);
    expect(known.goneOn).toMatchObject({ visits: 301, goneOn: 301 });
    expect(known.secondSteps).toMatchObject({ visits: 301, goneOn: 0 });
    expect(known.secondSteps?.expected).toBeGreaterThan(100);
    expect(memory.recall(keys, ofVisitor("someone-who-scrolls"), hit.at + 5 * minute)).toEqual(quiet);
    // In an office some open a second page.
    for (let i = 0; i < 20; i++)
      memory.observe({ ...hit, network: "farm", visitor: `office ${i}`.padStart(12, `${i}`), at: hit.at + 6 * minute });
    expect(memory.recall(keys, ofVisitor(null), hit.at + 9 * minute).secondSteps).toMatchObject({ goneOn: 20 });
  });

  test("invented user agents, visitors and click ids do not displace a farm, nor the submits that may be copied", () => {
    const memory = usualSite();
    for (let i = 0; i < 60; i++) memory.observe(clickOf("farm", i, hit.at + i));
    memory.observe({ ...hit, submitDigest: "recorded" });
    for (let i = 0; i < 45_000; i++) {
      const at = hit.at + minute + i;
      const invented = { ...clickOf(`server ${i % 8}`, i, at), userAgent: `invented ${i}` };
      memory.noteFetch(invented, at);
      memory.observe({ ...invented, submitDigest: `submit ${i}`, emailSha256: `email ${i}` });
    }
    const farm = memory.recall(memory.keysOf({ ...hit, network: "farm" }), ofVisitor(null), hit.at + 5 * minute);
    expect(farm).toMatchObject({ clickIdsOfSource: 60, shareOfSource: 1, goneOn: { visits: 60, goneOn: 0 } });
    // Nor do they change what is usual on the site.
    expect(farm.goneOn?.expected).toBeGreaterThan(30);
    expect(memory.observe({ ...hit, submitDigest: "recorded", at: hit.at + 5 * minute }).isCopy).toBe(true);
  });

  test("visitors that one network invents do not hide who never fetched the tag", () => {
    const memory = usualSite();
    for (let i = 0; i < 200; i++) memory.observe({ ...hit, network: "inventor", visitor: `invented ${i}`, at: hit.at + i });
    memory.noteFetch({ ...hit, network: "late" }, hit.at + minute);
    for (let i = 0; i < 100; i++) {
      memory.noteFetch({ ...hit, network: `later ${i}` }, hit.at + minute);
      memory.observe({ ...hit, network: `later ${i}`, visitor: `later ${i}`, at: hit.at + minute });
    }
    expect(memory.observe(clickOf("program", 0, hit.at + 2 * minute)).hasFetchedTag).toBe(false);
  });

  test("who follows an advertisement just before the day of the memory ends may go on after it", () => {
    const memory = usualSite();
    for (let i = 0; i < 40; i++) memory.observe(clickOf(`street ${i}`, 0, hit.at));
    for (let i = 0; i < 20; i++) memory.observe(clickOf("office", i, hit.at + day - minute));
    for (let i = 0; i < 15; i++)
      memory.observe({ ...hit, network: "office", visitor: `office ${i}`.padStart(12, `${i}`), at: hit.at + day + minute });
    const keys = memory.keysOf({ ...hit, network: "office" });
    expect(memory.recall(keys, ofVisitor("somebody else"), hit.at + day + 2 * minute).goneOn).toMatchObject({
      visits: 20,
      goneOn: 15,
    });
  });

  test("a carrier's network has visitors with other browsers, who go on", () => {
    const memory = usualSite();
    for (let i = 0; i < 60; i++) {
      memory.observe({ ...clickOf("carrier", i, hit.at + i), userAgent: i % 2 ? "iPhone" : "Android" });
      memory.observe({
        ...hit,
        network: "carrier",
        userAgent: i % 2 ? "iPhone" : "Android",
        visitor: `c${i}`,
        at: hit.at + 500 + i,
      });
    }
    const phones = memory.recall(
      memory.keysOf({ ...hit, network: "carrier", userAgent: "iPhone" }),
      ofVisitor(null),
      hit.at + 5 * minute,
    );
    expect(phones).toMatchObject({ clickIdsOfSource: 30, shareOfSource: 0.5, goneOn: { visits: 30, goneOn: 30 } });
  });

  test("a site with few visitors says nothing about those who go on or fetch the tag", () => {
    const memory = createTrafficMemory();
    expect(memory.observe(clickOf("first", 0, hit.at))).toMatchObject({ goneOn: null, hasFetchedTag: null });
  });

  test("a report without the tag stands out only where nearly all visitors fetch it", () => {
    const memory = usualSite();
    expect(memory.observe(clickOf("program", 0, hit.at + minute)).hasFetchedTag).toBe(false);
    for (let i = 0; i < 20; i++) memory.observe({ ...hit, network: `cdn ${i}`, visitor: `cached ${i}`, at: hit.at + minute });
    expect(memory.observe(clickOf("program", 1, hit.at + minute)).hasFetchedTag).toBe(null);
  });

  test("a browser that fetched the tag at home has it on the road too", () => {
    const memory = usualSite();
    memory.noteFetch({ ...hit, network: "home" }, hit.at);
    memory.observe({ ...hit, network: "home", visitor: "on the road", at: hit.at });
    const road = { ...hit, network: "road", at: hit.at + minute };
    expect(memory.observe({ ...road, visitor: "on the road" }).hasFetchedTag).toBe(true);
    expect(memory.observe({ ...road, visitor: "a program" }).hasFetchedTag).toBe(false);
  });

  test("a page that got a cookie and reports without it later has lost it", () => {
    const memory = createTrafficMemory();
    memory.noteCookie("s", "page", hit.at);
    const later = { ...hit, visitor: null, pageId: "page" };
    expect(memory.observe({ ...later, at: hit.at + 200 }).isCookieLost).toBe(false);
    expect(memory.observe({ ...later, at: hit.at + 5000 }).isCookieLost).toBe(true);
    expect(memory.observe({ ...later, visitor: "v", at: hit.at + 5000 }).isCookieLost).toBe(false);
  });

  test("a copied submit is one that comes again later or from elsewhere, not a repeated request", () => {
    const memory = createTrafficMemory();
    const submit = { ...hit, submitDigest: "x" };
    expect(memory.observe(submit).isCopy).toBe(false);
    expect(memory.observe({ ...submit, at: hit.at + 2000 }).isCopy).toBe(false);
    expect(memory.observe({ ...submit, at: hit.at + 5 * minute }).isCopy).toBe(true);
    // A browser repeats a request on a new connection, and a gateway or a phone on the road may have another address by then.
    expect(memory.observe({ ...submit, network: "elsewhere", at: hit.at + 3000 }).isCopy).toBe(false);
    expect(memory.observe({ ...submit, network: "elsewhere", at: hit.at + 20_000 }).isCopy).toBe(true);
  });

  const form = { page: "/form", isScripted: true, isUntouched: false };
  const untouched = { ...form, isScripted: false, isUntouched: true };

  test("a form that a script submits for most visitors is known after ten of them", () => {
    const memory = createTrafficMemory();
    const submit = (network: string) => memory.observe({ ...hit, network, form }).isScriptedForm;
    for (let i = 0; i < 10; i++) expect(submit(`198.51.100.${i}`)).toBe(false);
    expect(submit("203.0.113.1")).toBe(true);
  });

  test("a robot that submits a form a hundred times does not make it a form that scripts submit", () => {
    const memory = createTrafficMemory();
    for (let i = 0; i < 100; i++) expect(memory.observe({ ...hit, form }).isScriptedForm).toBe(false);
  });

  test("emails that no hand submits are counted by visitor, and by source for those without a cookie", () => {
    const memory = createTrafficMemory();
    const submit = (n: number, more: Partial<Hit>) =>
      memory.observe({ ...hit, emailSha256: `e${n}`, form, ...more }).emailsWithoutHands;
    for (let n = 1; n <= 12; n++) {
      expect(submit(n, { visitor: "robot" })).toBe(n);
      expect(submit(n, { network: "203.0.113.8", visitor: null, form: untouched })).toBe(n);
    }
  });

  test("an office whose password manager submits, people who type, and people who refused have no emails without hands", () => {
    const memory = createTrafficMemory();
    const typed = { ...untouched, isUntouched: false };
    for (let n = 0; n < 40; n++) {
      const submit = (network: string, more: Partial<Hit>) =>
        memory.observe({ ...hit, network, emailSha256: `${network} ${n}`, ...more }).emailsWithoutHands;
      expect(submit("an office", { visitor: `v${n}`, form: untouched })).toBeLessThanOrEqual(1);
      expect(submit("a tablet", { visitor: "tablet", form: typed })).toBe(0);
      expect(submit("those who refused", { visitor: null, form: untouched, hasRefused: true })).toBe(0);
      // Of a VPN's customers, half have cookies, or submit by hand.
      const ofVpn = submit("a VPN", { visitor: null, form: n % 2 === 0 ? typed : untouched });
      expect(ofVpn).toBe(0);
    }
  });

  test("a form library that submits for everybody leaves no emails without hands", () => {
    const memory = createTrafficMemory();
    for (let n = 0; n < 20; n++) memory.observe({ ...hit, network: `198.51.100.${n}`, visitor: `v${n}`, form });
    for (let n = 0; n < 20; n++)
      expect(memory.observe({ ...hit, visitor: null, emailSha256: `e${n}`, form }).emailsWithoutHands).toBe(0);
  });
});
