import { loadOf } from "../../test/support/load.ts";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createTrafficMemory, type Hit } from "./frequency.ts";

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
    expect(last.emailsOfNetwork).toBeGreaterThan(30);
    expect(last.ofNetwork).toBeGreaterThan(300);
  });
});

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
    expect(memory.recall(farm, hit.at + 1000).goneOn).toMatchObject({ visits: 0 });
    const later = memory.recall(farm, hit.at + 5 * minute);
    expect(later).toMatchObject({
      clickIdsOfSource: 60,
      shareOfSource: 1,
      goneOn: { visits: 60, goneOn: 0, expected: expect.closeTo(43.9, 1) },
    });
    expect(memory.recall(farm, hit.at + 3 * day)).toMatchObject({ clickIdsOfSource: 0, goneOn: null });
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
    const phones = memory.recall({ ...hit, network: "carrier", userAgent: "iPhone" }, hit.at + 5 * minute);
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
    expect(memory.observe({ ...submit, network: "elsewhere" }).isCopy).toBe(true);
  });

  test("a form that a script submits for most visitors is known after ten of them", () => {
    const memory = createTrafficMemory();
    const submit = (isScripted: boolean) => memory.observe({ ...hit, form: { page: "/form", isScripted } }).isScriptedForm;
    for (let i = 0; i < 10; i++) expect(submit(true)).toBe(false);
    expect(submit(true)).toBe(true);
  });
});
