import { loadOf } from "../../test/support/load.ts";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { watchFrequency, type Hit } from "./frequency.ts";

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
  isVisit: true,
  emailSha256: null,
  clickIds: [],
  at: 1_000_000_000_000,
};

describe("frequency", () => {
  test("visits are counted by visitor, and by network with user agent", () => {
    const note = watchFrequency();
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
    const note = watchFrequency();
    for (let i = 0; i < 100; i++) note(hit);
    const later = (ms: number) => note({ ...hit, isVisit: false, at: hit.at + ms }).ofNetwork;
    expect(later(0)).toBe(100);
    expect(later(minute)).toBe(100);
    expect(later(1.5 * minute)).toBe(50);
    expect(later(3 * minute)).toBe(0);
  });

  test("each email counts once within an hour", () => {
    const note = watchFrequency();
    for (const email of ["a", "b", "a", "c", "b"]) note({ ...hit, emailSha256: email });
    expect(note(hit)).toMatchObject({ emailsOfVisitor: 3, emailsOfNetwork: 3 });
    expect(note({ ...hit, emailSha256: "d", at: hit.at + 70 * minute })).toMatchObject({
      emailsOfVisitor: 4,
    });
    expect(note({ ...hit, at: hit.at + 300 * minute })).toMatchObject({ emailsOfVisitor: 0 });
  });

  test("a browser without a cookie counts for its network only", () => {
    const note = watchFrequency();
    let last = note(hit);
    for (let i = 0; i < 50; i++) last = note({ ...hit, visitor: null, emailSha256: `e${i}`, clickIds: ["c"] });
    expect(last).toMatchObject({ ofVisitor: 0, emailsOfVisitor: 0, emailsOfNetwork: 50, visitorsOfClick: 1 });
  });

  test("a click id is counted by its sources, and of several click ids the highest count is returned", () => {
    const note = watchFrequency();
    for (let i = 0; i < 4; i++) note({ ...hit, network: `198.51.100.${i}`, clickIds: ["shared"] });
    // The same person counts once, with and without a cookie.
    note({ ...hit, network: "198.51.100.0", visitor: null, clickIds: ["shared"] });
    expect(note({ ...hit, network: "198.51.100.0", clickIds: ["shared"] }).visitorsOfClick).toBe(4);
    expect(note({ ...hit, network: "198.51.100.9", clickIds: ["own", "shared"] }).visitorsOfClick).toBe(5);
    expect(note({ ...hit, clickIds: [] }).visitorsOfClick).toBe(0);
  });

  test("a flood of different visitors is counted in bounded memory", () => {
    const note = watchFrequency();
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
