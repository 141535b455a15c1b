import { describe, expect, test } from "vitest";
import type { Identity, Visit } from "../kernel/event.ts";
import { addVisit, firstUtmOf, joinVisits } from "./records.ts";

const hour = 3_600_000;
const ever = Number.NEGATIVE_INFINITY;
const aBot = { bot: true, score: 100, reasons: ["user agent:named bot (Testbot)"], rules: 1 };
const visit = (seenAt: number, changes: Partial<Visit> = {}): Visit => ({
  visitorId: "v",
  seenAt,
  browser: null,
  clickIds: {},
  browserIds: {},
  utm: {},
  ...changes,
});
const click = (value: string, seenAt: number) => ({ clickIds: { gclid: { value, seenAt } } });
const after = (...visits: Visit[]) => visits.reduce<Visit[]>((known, one) => addVisit(known, one, ever), []);
const times = (visits: readonly Visit[]) => visits.map((one) => one.seenAt);

describe("the visits of a record", () => {
  test("visits are sorted newest first, also when one is reported late", () => {
    const other = (at: number) => visit(at, { visitorId: `v${at}` });
    expect(times(after(other(30), other(10), other(20)))).toEqual([30, 20, 10]);
  });

  test("of too many visits the oldest and the newest stay, so that additions cannot erase the history", () => {
    const many = Array.from({ length: 20 }, (_, i) => visit(i * hour));
    expect(times(after(...many)).map((at) => at / hour)).toEqual([19, 18, 17, 2, 1, 0]);
  });

  test("visits of bots do not displace a person's visit", () => {
    const human = visit(1, click("G-1", 1));
    const bots = Array.from({ length: 20 }, (_, i) => visit((i + 1) * hour, { verdict: aBot, visitorId: `b${i}` }));
    const kept = after(human, ...bots);
    expect(kept).toContainEqual(human);
    expect(kept.filter((one) => one.verdict?.bot)).toHaveLength(2);
  });

  test("visits that are too old are dropped when a new one comes", () => {
    expect(times(addVisit([visit(2 * hour), visit(hour)], visit(9 * hour), 2 * hour))).toEqual([9 * hour, 2 * hour]);
  });

  test("a page view of the same browser with no new ids belongs to the current visit", () => {
    const landing = visit(0, { ...click("G-1", 0), utm: { utm_source: "x" } });
    const kept = after(landing, visit(60_000, { browserIds: { _ga: "1" } }), visit(120_000, click("G-1", 120_000)));
    expect(kept).toEqual([{ ...landing, browserIds: { _ga: "1" } }]);
  });

  test("a visit keeps the worst verdict on its pages, and all evidence in shadow", () => {
    const verdict = (score: number, ...shadows: string[]) => ({ bot: false, score, reasons: [], rules: 2, shadows });
    const [kept, ...others] = after(
      visit(0, { verdict: verdict(0, "cookie:not sent back") }),
      visit(1000),
      visit(2000, { verdict: verdict(40, "window:no frame") }),
      visit(3000, { verdict: verdict(0, "window:no frame") }),
    );
    expect(others).toEqual([]);
    expect(kept?.verdict).toEqual(verdict(40, "cookie:not sent back", "window:no frame"));
  });

  test("another click, UTM field, browser or day starts a new visit", () => {
    const landing = visit(0, { ...click("G-1", 0), utm: { utm_source: "x" } });
    expect(after(landing, visit(1, click("G-2", 1)))).toHaveLength(2);
    expect(after(landing, visit(1, { utm: { utm_source: "y" } }))).toHaveLength(2);
    expect(after(landing, visit(1, { visitorId: "w" }))).toHaveLength(2);
    expect(after(landing, visit(24 * hour))).toHaveLength(2);
  });

  test("a click id that is reported again keeps the time of its click", () => {
    const [newest] = after(visit(0, click("G-1", 0)), visit(24 * hour, click("G-1", 24 * hour)));
    expect(newest?.clickIds.gclid).toEqual({ value: "G-1", seenAt: 0 });
  });

  test("adding a visit does not change the given list", () => {
    const known = after(visit(1, click("G-1", 1)));
    const before = structuredClone(known);
    addVisit(known, visit(2, { browserIds: { _ga: "1" } }), ever);
    joinVisits(known, [visit(3 * hour)], ever);
    expect(known).toEqual(before);
  });
});

describe("joining a visitor's visits to a person's", () => {
  test("visits of several devices are joined, each once", () => {
    const phone = visit(1, { visitorId: "phone", ...click("P", 1) });
    const laptop = visit(2, { visitorId: "laptop", ...click("L", 2) });
    expect(joinVisits([phone], [laptop], ever)).toEqual([laptop, phone]);
    expect(joinVisits([laptop, phone], [laptop], ever)).toEqual([laptop, phone]);
  });

  test("the visitor's copy of a visit replaces the person's", () => {
    const fresher = visit(1, { browserIds: { _ga: "1" } });
    expect(joinVisits([visit(1)], [fresher], ever)).toEqual([fresher]);
  });
});

describe("the first touch", () => {
  const identity = (firstUtm: Record<string, string> = {}): Identity => ({ visits: [], firstUtm, forms: {} });

  test("the first touch is the oldest visit with UTM fields", () => {
    const visits = [visit(3, { utm: { utm_source: "new" } }), visit(2, { utm: { utm_source: "old" } }), visit(1)];
    expect(firstUtmOf(identity(), visits)).toEqual({ utm_source: "old" });
    expect(firstUtmOf(identity(), [visit(1)])).toEqual({});
  });

  test("the first touch outlives its visit", () => {
    const later = [visit(9, { utm: { utm_source: "later" } })];
    expect(firstUtmOf(identity({ utm_source: "first" }), later)).toEqual({ utm_source: "first" });
  });
});
