import { isRefund } from "./aggregate.ts";
import { describe, expect, test } from "vitest";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import type { EventSummary } from "../store/events/eventRow.ts";
import { nextRollupAt } from "./hourlyRollup.ts";
import { moneyOf } from "./aggregate.ts";
import { openHourCounter, otherNames } from "./hourCounter.ts";

let lastId = 0;
function event(changes: Partial<EventSummary> = {}): EventSummary {
  lastId += 1;
  return {
    id: String(lastId), platformEventId: "", mode: "live", status: "accepted", filterReasons: [], event: "purchase", value: 10,
    currency: "EUR", orderId: null, receivedAt: 0, releasedAt: null, identity: "none", withheld: null, clickIds: [],
    ...changes,
  }; // prettier-ignore
}

const figuresOf = (events: EventSummary[]) => {
  const counter = openHourCounter();
  counter.add({ events, deliveries: [] });
  return counter
    .figures()
    .map(({ kind, name, currency, count, value }) => [kind, name, currency, count, value]);
};

describe("the figures of an hour", () => {
  test("conversions are counted by name and currency; those without a value have no currency", () => {
    expect(
      figuresOf([
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

  test("a masked address in a name is not kept: names that differ only in it count together", () => {
    const [ada, bob] = ["lead of ada@example.com", "lead of bob@example.com"].map(maskAddresses);
    expect(ada).not.toBe(bob);
    expect(figuresOf([event({ event: ada ?? "" }), event({ event: bob ?? "" })])).toEqual([
      ["conversion", "lead of email", "EUR", 2, 20],
    ]);
  });

  test("huge values do not make a sum infinite", () => {
    const huge = Array.from({ length: 60 }, (_, n) => event({ event: `name ${n % 55}`, value: 1.7e308 }));
    const values = figuresOf(huge).map(([, , , , value]) => value);
    expect(values.every((value) => Number.isFinite(value))).toBe(true);
    expect(moneyOf(new Map([["EUR", { value: Number(values[0]), conversions: 2 }]]))).toEqual([
      { currency: "EUR", value: 1e300 },
    ]);
  });

  test("a test event counts only as a test; a filtered event counts once, as a bot's or under its first reason", () => {
    const clickIds = ["gclid"];
    expect(
      figuresOf([
        event({ mode: "test", clickIds }),
        event({
          mode: "test",
          status: "filtered",
          filterReasons: [{ code: "blocked person", detail: null }],
        }),
        event({
          status: "filtered",
          clickIds,
          filterReasons: [
            { code: "blocked domain", detail: "a.example" },
            { code: "blocked person", detail: null },
          ],
        }),
      ]),
    ).toEqual([
      ["test", "", "", 2, 0],
      ["filtered", "blocked domain", "", 1, 0],
    ]);
    const filterReasons: EventSummary["filterReasons"] = [
      { code: "blocked person", detail: null },
      { code: "only bot visits", detail: "headless" },
    ];
    expect(figuresOf([event({ status: "filtered", filterReasons })])).toEqual([
      ["filtered", "only bot visits", "", 1, 0],
    ]);
  });

  test("identified and withheld conversions and click ids are counted", () => {
    expect(
      figuresOf([
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

  test("deliveries are counted by platform and state, and the hour is open while some wait", () => {
    const [live, tried] = [event(), event({ mode: "test" })];
    const counter = openHourCounter();
    const delivery = { platform: "meta", state: "sent" as const };
    counter.add({
      events: [live, tried],
      deliveries: [
        { eventId: live.id, ...delivery },
        { eventId: tried.id, ...delivery, state: "queued" },
      ],
    });
    expect(counter.figures().filter(({ kind }) => kind === "delivery")).toEqual([
      { kind: "delivery", name: "meta sent", currency: "", count: 1, value: 0 },
    ]);
    expect(counter.isOpen()).toBe(false);
    counter.add({ events: [live], deliveries: [{ eventId: live.id, ...delivery, state: "parked" }] });
    expect(counter.isOpen()).toBe(true);
  });

  test("of very many event names the common ones are kept, the others are added up by currency", () => {
    const events = Array.from({ length: 6000 }, (_, n) => event({ event: `name ${n}`, value: 1 }));
    const common = Array.from({ length: 5 }, () => event({ event: "name 4000", value: 1 }));
    const figures = figuresOf([
      ...events,
      ...common,
      event({ event: "name 5999", currency: "USD", value: 3 }),
    ]);
    expect(figures.length).toBeLessThanOrEqual(52);
    expect(figures).toContainEqual(["conversion", "name 4000", "EUR", 6, 6]);
    expect(figures).toContainEqual(["conversion", otherNames, "USD", 1, 3]);
    expect(figuresOf([...events, event({ event: "Refund", value: 7 })])).toContainEqual(
      ["conversion", "refund", "EUR", 1, 7],
    ); // prettier-ignore
    expect(figures.reduce((sum, [, , , count]) => sum + Number(count), 0)).toBe(6006);
  });

  test("an hour is rolled up again once, and then for as long as deliveries wait", () => {
    const hour = 3_600_000;
    const [soon, day] = [5 * 60_000, 24 * hour];
    expect(nextRollupAt(0, soon, false)).toBe(hour);
    expect(nextRollupAt(0, hour, false)).toBe(Number.MAX_SAFE_INTEGER);
    expect([soon, hour, 6 * hour, day, 3 * day].map((age) => nextRollupAt(0, age, true))).toEqual(
      [hour, 6 * hour, day, 3 * day, 8 * day],
    ); // prettier-ignore
    expect(nextRollupAt(0, 9 * day, true)).toBe(10 * day);
  });
});

test("a refund by any of its usual names is no revenue", () => {
  expect(["refund", "Order Refunded", "refunds/create", "purchase"].map(isRefund)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
