import { describe, expect, test } from "vitest";
import type { EventSummary } from "../store/events/eventRow.ts";
import { nextLook } from "./roll.ts";
import { moneyOf } from "./sums.ts";
import { openTally, otherNames } from "./tally.ts";

let made = 0;
function event(changes: Partial<EventSummary> = {}): EventSummary {
  made += 1;
  return {
    id: String(made), platformEventId: "", mode: "live", status: "accepted", filterReasons: [], event: "purchase", value: 10,
    currency: "EUR", orderId: null, receivedAt: 0, releasedAt: null, identity: "none", withheld: null, clickIds: [],
    ...changes,
  }; // prettier-ignore
}

const told = (events: EventSummary[]) => {
  const tally = openTally();
  tally.add({ events, deliveries: [] });
  return tally
    .figures()
    .map(({ kind, name, currency, count, value }) => [kind, name, currency, count, value]);
};

describe("the numbers of an hour", () => {
  test("conversions by name and currency; without a value they have no currency", () => {
    expect(
      told([
        event(),
        event({ value: 2.5 }),
        event({ currency: "USD" }),
        event({ event: "lead", value: null }),
      ]),
    ).toEqual([
      ["conversion", "purchase", "EUR", 2, 12.5],
      ["conversion", "purchase", "USD", 1, 10],
      ["conversion", "lead", "", 1, 0],
    ]);
  });

  test("values without measure do not make a sum without end", () => {
    const huge = Array.from({ length: 60 }, (_, n) => event({ event: `name ${n % 55}`, value: 1.7e308 }));
    const values = told(huge).map(([, , , , value]) => value);
    expect(values.every((value) => Number.isFinite(value))).toBe(true);
    expect(moneyOf(new Map([["EUR", { value: Number(values[0]), conversions: 2 }]]))).toEqual([
      { currency: "EUR", value: 1e300 },
    ]);
  });

  test("a test event counts as nothing else; a filtered one under its first reason", () => {
    const clickIds = ["gclid"];
    expect(
      told([
        event({ mode: "test", clickIds }),
        event({ mode: "test", status: "filtered", filterReasons: ["blocked person"] }),
        event({
          status: "filtered",
          clickIds,
          filterReasons: ["blocked domain:a.example", "blocked person"],
        }),
      ]),
    ).toEqual([
      ["test", "", "", 2, 0],
      ["filtered", "blocked domain", "", 1, 0],
    ]);
    const filterReasons: EventSummary["filterReasons"] = ["blocked person", "only bot visits:headless"];
    expect(told([event({ status: "filtered", filterReasons })])).toEqual([
      ["filtered", "only bot visits", "", 1, 0],
    ]);
  });

  test("how many are known, withheld, and came with which click id", () => {
    expect(
      told([
        event({ identity: "found", clickIds: ["gclid", "fbclid"] }),
        event({ withheld: "opted out" }),
      ]).slice(1),
    ).toEqual([
      ["identified", "", "", 1, 0],
      ["with click id", "", "", 1, 0],
      ["click id", "gclid", "", 1, 0],
      ["click id", "fbclid", "", 1, 0],
      ["withheld", "", "", 1, 0],
    ]);
  });

  test("deliveries of conversions by platform and state; while some wait the hour is open", () => {
    const [live, tried] = [event(), event({ mode: "test" })];
    const tally = openTally();
    const delivery = { platform: "meta", state: "sent" as const };
    tally.add({
      events: [live, tried],
      deliveries: [
        { eventId: live.id, ...delivery },
        { eventId: tried.id, ...delivery, state: "queued" },
      ],
    });
    expect(tally.figures().filter(({ kind }) => kind === "delivery")).toEqual([
      { kind: "delivery", name: "meta sent", currency: "", count: 1, value: 0 },
    ]);
    expect(tally.isOpen()).toBe(false);
    tally.add({ events: [live], deliveries: [{ eventId: live.id, ...delivery, state: "parked" }] });
    expect(tally.isOpen()).toBe(true);
  });

  test("of very many names the common ones are told, the others together and by currency", () => {
    const events = Array.from({ length: 6000 }, (_, n) => event({ event: `name ${n}`, value: 1 }));
    const common = Array.from({ length: 5 }, () => event({ event: "name 4000", value: 1 }));
    const figures = told([...events, ...common, event({ event: "name 5999", currency: "USD", value: 3 })]);
    expect(figures.length).toBeLessThanOrEqual(52);
    expect(figures).toContainEqual(["conversion", "name 4000", "EUR", 6, 6]);
    expect(figures).toContainEqual(["conversion", otherNames, "USD", 1, 3]);
    expect(told([...events, event({ event: "Refund", value: 7 })])).toContainEqual(
      ["conversion", "refund", "EUR", 1, 7],
    ); // prettier-ignore
    expect(figures.reduce((sum, [, , , count]) => sum + Number(count), 0)).toBe(6006);
  });

  test("an hour is looked at again once, and then for as long as deliveries wait", () => {
    const hour = 3_600_000;
    const [soon, day] = [5 * 60_000, 24 * hour];
    expect(nextLook(0, soon, false)).toBe(hour);
    expect(nextLook(0, hour, false)).toBe(Number.MAX_SAFE_INTEGER);
    expect([soon, hour, 6 * hour, day, 3 * day].map((age) => nextLook(0, age, true))).toEqual(
      [hour, 6 * hour, day, 3 * day, 8 * day],
    ); // prettier-ignore
    expect(nextLook(0, 9 * day, true)).toBe(10 * day);
  });
});
