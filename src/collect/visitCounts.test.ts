import { afterEach, describe, expect, test, vi } from "vitest";
import { hourMs } from "../kernel/time.ts";
import type { VisitCount } from "../store/statistics/traffic.ts";
import { countVisits } from "./visitCounts.ts";

const now = Date.UTC(2026, 10, 15, 12, 30);

function setUp() {
  vi.useFakeTimers({ now });
  const written = new Map<string, number>();
  const everBots = new Map<string, number>();
  const state = { down: false, slowMs: 0, writes: 0 };
  const defects: unknown[] = [];
  const traffic = {
    async saveCounts(
      _writer: string,
      counts: readonly VisitCount[],
      bots: ReadonlyMap<string, number>,
      botWriter: string,
    ): Promise<void> {
      state.writes += 1;
      if (state.slowMs) await new Promise((resolve) => setTimeout(resolve, state.slowMs));
      if (state.down) throw new Error("the store is down");
      for (const { siteId, hour, bucket, reason, visits } of counts)
        written.set([siteId, hour - Math.floor(now / hourMs), bucket, reason].join(" "), visits);
      for (const [siteId, visits] of bots) everBots.set(`${botWriter} ${siteId}`, visits);
    },
  };
  const counts = countVisits({ traffic } as never, "w", (error) => defects.push(error));
  return { counts, written, everBots, state, defects };
}

afterEach(() => vi.useRealTimers());

describe("counting visits", () => {
  test("many visits are one write per interval, and an interval without visits writes nothing", async () => {
    const { counts, written, state } = setUp();
    for (let i = 0; i < 1000; i++) counts.count("s", "people", "", now);
    counts.count("s", "bots", "user agent:named bot", now);
    await vi.advanceTimersByTimeAsync(1000);
    expect(Object.fromEntries(written)).toEqual({
      "s 0 people ": 1000,
      "s 0 bots user agent:named bot": 1,
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.writes).toBe(1);
    await counts.stop();
  });

  test("a click counts once, and once as a bot's, also when that is known later", async () => {
    const { counts, written } = setUp();
    const click = { name: "gclid", value: "g1", campaign: "spring" };
    expect(counts.countClick("s", click, false, now)).toBe(false);
    expect(counts.countClick("s", click, false, now)).toBe(false);
    expect(counts.countClick("s", click, true, now)).toBe(true);
    expect(counts.countClick("s", click, true, now)).toBe(false);
    expect(counts.countClick("s", click, false, now)).toBe(false);
    expect(counts.countClick("s", { ...click, value: "g2" }, true, now)).toBe(true);
    await counts.stop();
    expect(Object.fromEntries(written)).toEqual({ "s 0 clicks gclid spring": 2, "s 0 clicks of bots gclid spring": 2 });
  });

  test("the newest 50,000 clicks are known to be counted, and older ones are forgotten in the end", async () => {
    const { counts, written } = setUp();
    const see = (n: number) => counts.countClick("s", { name: "gclid", value: `g${n}`, campaign: "" }, false, now);
    for (let n = 0; n < 150_000; n += 1) {
      see(n);
      if (n % 1000 === 0) see(Math.max(0, n - 49_000));
    }
    see(0);
    await counts.stop();
    expect(Object.fromEntries(written)).toEqual({ "s 0 clicks gclid ": 150_001 });
  });

  test("a flood of clicks and prerendered pages at one site makes none of another site count again", async () => {
    const { counts, written } = setUp();
    const see = (siteId: string, n: number) =>
      counts.countClick(siteId, { name: "gclid", value: `g${n}`, campaign: "" }, false, now);
    counts.countPrerendered("quiet", "page", now);
    see("quiet", 0);
    for (let n = 0; n < 110_000; n += 1) see("flooded", n);
    for (let n = 0; n < 11_000; n += 1) counts.countPrerendered("flooded", `page ${n}`, now);
    counts.uncountPrerendered("quiet", "page");
    see("quiet", 0);
    await counts.stop();
    expect(written.get("quiet 0 clicks gclid ")).toBe(1);
    expect(written.get("quiet 0 not a visit ") ?? 0).toBe(0);
  });

  test("more campaigns than a site has are counted without their names", async () => {
    const { counts, written } = setUp();
    // A visit that is judged late may be of the hour before.
    for (let i = 0; i < 300; i++)
      counts.countClick(
        "s",
        { name: "gclid", value: `g${i}`, campaign: `made up ${i}` },
        false,
        i % 50 === 49 ? now - hourMs : now,
      );
    await counts.stop();
    expect([...written.keys()].filter((key) => key.includes("made up"))).toHaveLength(200);
    expect([...written.values()].reduce((sum, one) => sum + one, 0)).toBe(300);
  });

  test("a store that fails loses no visits", async () => {
    const { counts, written, state, defects } = setUp();
    state.down = true;
    counts.count("s", "people", "", now);
    await vi.advanceTimersByTimeAsync(3000);
    counts.count("s", "people", "", now);
    state.down = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect(written.get("s 0 people ")).toBe(2);
    expect(defects.length).toBeGreaterThan(0);
    await counts.stop();
  });

  test("the total of bot visits grows over all hours, even if the store failed meanwhile", async () => {
    const { counts, everBots, state } = setUp();
    counts.count("s", "bots", "a", now);
    counts.count("s", "people", "", now);
    await vi.advanceTimersByTimeAsync(1000);
    expect(Object.fromEntries(everBots)).toEqual({ "w s": 1 });
    state.down = true;
    counts.count("s", "bots", "b", now + hourMs);
    await vi.advanceTimersByTimeAsync(2000);
    state.down = false;
    counts.count("s", "bots", "a", now + 9 * hourMs);
    counts.count("t", "bots", "a", now);
    counts.countPrerendered("t", "page", now);
    counts.uncountPrerendered("t", "page");
    await counts.stop();
    expect(Object.fromEntries(everBots)).toEqual({ "w s": 3, "w t": 1 });
  });

  test("a stop writes the remaining counts", async () => {
    const { counts, written } = setUp();
    counts.count("s", "suppressed", "", now);
    await counts.stop();
    expect(written.get("s 0 suppressed ")).toBe(1);
  });

  test("a prerendered page that is shown in the next hour is no longer counted in the hour in which it was loaded", async () => {
    const { counts, written } = setUp();
    counts.countPrerendered("s", "page", now);
    await vi.advanceTimersByTimeAsync(40 * 60_000);
    counts.uncountPrerendered("s", "page");
    counts.count("s", "people", "", now + 40 * 60_000);
    await counts.stop();
    expect(Object.fromEntries(written)).toEqual({ "s 0 not a visit ": 0, "s 1 people ": 1 });
  });

  test("a prerendered page is uncounted once, and only by its own id", async () => {
    const { counts, written } = setUp();
    for (const page of ["a", "b", null]) counts.countPrerendered("s", page, now);
    counts.uncountPrerendered("s", "c");
    counts.uncountPrerendered("s", null);
    counts.uncountPrerendered("other", "a");
    for (let i = 0; i < 3; i++) counts.uncountPrerendered("s", "a");
    await counts.stop();
    expect(Object.fromEntries(written)).toEqual({ "s 0 not a visit ": 2 });
  });

  test("a store that fails slowly for hours loses no visits", async () => {
    const { counts, written, state } = setUp();
    state.slowMs = 5000;
    state.down = true;
    for (let i = 0; i < 100; i++) counts.count("s", "people", "", now);
    await vi.advanceTimersByTimeAsync(4 * hourMs);
    state.down = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(written.get("s 0 people ")).toBe(100);
    await counts.stop();
  });

  test("a new hour has its own counts, and purging an old hour does not change it in the store", async () => {
    const { counts, written } = setUp();
    counts.count("s", "people", "", now);
    await vi.advanceTimersByTimeAsync(5 * hourMs);
    counts.count("s", "people", "", now + 5 * hourMs);
    await counts.stop();
    expect(Object.fromEntries(written)).toEqual({ "s 0 people ": 1, "s 5 people ": 1 });
  });
});
