import { describe, expect, test } from "vitest";
import { judgeSilence } from "./silence.ts";

const hour = 3_600_000;
const now = Date.UTC(2026, 10, 16, 14, 30); // a Monday
const thisHour = Math.floor(now / hour);

/** Events by hour over the last `days`: `perHour` gives the number for an hour of the day and a day of the week. */
function history(perHour: (hourOfDay: number, weekday: number) => number, days = 29, quietHours = 0) {
  const uses = new Map<number, number>();
  for (let at = thisHour - days * 24; at <= thisHour - quietHours; at++) {
    const date = new Date(at * hour);
    const n = perHour(date.getUTCHours(), date.getUTCDay());
    if (n > 0) uses.set(at, n);
  }
  return uses;
}
/** Returns the unusual pause; null for a usual one. */
function judge(uses: Map<number, number>, lastAt: number, at = now) {
  const { isUnusual, ...judged } = judgeSilence(uses, lastAt, at);
  return isUnusual ? judged : null;
}
const quietFor = (uses: Map<number, number>, hours: number) => judge(uses, now - hours * hour);

describe("a pause in a site's events", () => {
  test("two hours without events are unusual for a busy site", () => {
    const busy = (hours: number) => history(() => 10, 29, hours);
    expect(quietFor(busy(2), 1.9)).toBeNull();
    expect(quietFor(busy(3), 2.1)).toEqual({ since: now - 2.1 * hour, usualHours: 1 });
  });

  test("a pause that the same hours of other weeks had is usual", () => {
    // Nothing between 10 and 14 o'clock on Mondays, ever.
    const lunch = history((h, weekday) => (weekday === 1 && h >= 10 && h <= 14 ? 0 : 10));
    expect(quietFor(lunch, 5)).toBeNull();
    // The same pause on another day is unusual.
    const tuesdays = history((h, weekday) => (weekday === 2 && h >= 10 && h <= 14 ? 0 : 10), 29, 5);
    expect(quietFor(tuesdays, 5)).not.toBeNull();
  });

  test("a weekend without events is usual if earlier weekends had none, and unusual when the pause lasts longer", () => {
    const office = (hours: number) => history((h, d) => (d >= 1 && d <= 5 && h >= 8 && h < 18 ? 20 : 0), 29, hours);
    const atEight = Date.UTC(2026, 10, 16, 8, 30);
    const friday = Date.UTC(2026, 10, 13, 17, 50);
    expect(judge(office(69), friday, atEight)).toBeNull();
    // The pause of a weekend is 63 hours; six more must have passed.
    expect(judge(office(69), friday, Date.UTC(2026, 10, 16, 14, 30))).toBeNull();
    expect(judge(office(69), friday, Date.UTC(2026, 10, 16, 15, 30))).not.toBeNull();
  });

  test("a site with few events never raises the silence alert", () => {
    const few = history((h) => (h % 2 === 0 ? 1 : 0), 29, 20);
    expect(quietFor(few, 20)).toBeNull();
  });

  test("a busy site with less than three weeks of events never raises the silence alert", () => {
    expect(
      quietFor(
        history(() => 100, 14, 5),
        5,
      ),
    ).toBeNull();
    expect(
      quietFor(
        history(() => 100, 23, 5),
        5,
      ),
    ).not.toBeNull();
  });

  test("a site without events never raises the silence alert", () => {
    expect(judge(new Map(), 0)).toBeNull();
  });

  test("a pause is compared with the longest pause of all weeks, not with an average", () => {
    const uses = history(() => 10, 29, 7);
    // Two weeks ago these hours were empty once, for three hours.
    for (const h of [10, 11, 12]) uses.delete(Math.floor(Date.UTC(2026, 10, 2, h) / hour));
    expect(quietFor(uses, 7.9)).toBeNull();
    expect(quietFor(uses, 8.1)).toMatchObject({ usualHours: 4 });
  });

  test.each<[string, Map<number, number>, number]>([
    ["of a busy site", history(() => 10, 29, 2), now - 1.5 * hour],
    ["over a weekend", history((h, d) => (d >= 1 && d <= 5 && h >= 8 && h < 18 ? 20 : 0), 29, 69), now - 68.7 * hour],
    ["of a site with few events", history((h) => (h % 2 === 0 ? 1 : 0), 29, 20), now - 20 * hour],
    ["of a site without events", new Map(), 0],
  ])("a usual pause %s does not become unusual before the time that is given for it", (_title, uses, lastAt) => {
    const judged = judgeSilence(uses, lastAt, now);
    if (judged.isUnusual) throw new Error("the pause is unusual");
    expect(judged.until).toBeGreaterThanOrEqual(now);
    for (let at = now; at <= judged.until; at += hour / 4) expect([at, judge(uses, lastAt, at)]).toEqual([at, null]);
  });
});
