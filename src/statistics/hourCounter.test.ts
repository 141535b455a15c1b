import { isRefund } from "./aggregate.ts";
import { describe, expect, test } from "vitest";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import type { CountedEvent } from "../store/events/eventRow.ts";
import type { Figure, Portion } from "../store/statistics/statistics.ts";
import { nextRollupAt } from "./hourlyRollup.ts";
import { moneyOf } from "./aggregate.ts";
import { createHourCounter, otherNames } from "./hourCounter.ts";

let lastId = 0;
function event(changes: Partial<CountedEvent> = {}): CountedEvent {
  lastId += 1;
  return {
    id: String(lastId),
    platformEventId: "",
    mode: "live",
    status: "accepted",
    filterReasons: [],
    event: "purchase",
    value: 10,
    currency: "EUR",
    orderId: null,
    receivedAt: 0,
    releasedAt: null,
    identity: "none",
    withheld: null,
    clickIds: [],
    cookies: [],
    utm: {},
    newestClickId: null,
    ...changes,
  };
}

const countedHour = 500_000;

const figuresOf = (events: CountedEvent[]) => {
  const counter = createHourCounter(countedHour);
  counter.add({ events, deliveries: [] });
  return counter
    .figures()
    .filter(({ kind }) => kind !== "source" && kind !== "campaign")
    .map(({ kind, name, currency, count, value }) => [kind, name, currency, count, value]);
};

describe("the figures of an hour", () => {
  test("conversions are counted by name and currency; those without a value have no currency", () => {
    expect(
      figuresOf([event(), event({ value: 2.5 }), event({ currency: "USD" }), event({ event: "lead", value: null })]),
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
    const filterReasons: CountedEvent["filterReasons"] = [
      { code: "blocked person", detail: null },
      { code: "only bot visits", detail: "headless" },
    ];
    expect(figuresOf([event({ status: "filtered", filterReasons })])).toEqual([["filtered", "only bot visits", "", 1, 0]]);
  });

  test("identified and withheld conversions and click ids are counted", () => {
    expect(
      figuresOf([event({ identity: "found", clickIds: ["gclid", "fbclid"] }), event({ withheld: "opted out" })]).slice(1),
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
    const counter = createHourCounter(countedHour);
    const delivery = { platform: "meta", state: "sent" as const };
    counter.add({
      events: [live, tried],
      deliveries: [
        { eventId: live.id, ...delivery },
        { eventId: tried.id, ...delivery, state: "queued" },
      ],
    });
    expect(counter.figures().filter(({ kind }) => kind === "delivery")).toEqual([
      { kind: "delivery", name: "meta sent", currency: "", count: 1, value: 0, hour: countedHour },
    ]);
    expect(counter.isOpen()).toBe(false);
    counter.add({ events: [live], deliveries: [{ eventId: live.id, ...delivery, state: "parked" }] });
    expect(counter.isOpen()).toBe(true);
  });

  test("events that arrived late are charted when they happened, their deliveries when they arrived", () => {
    const [onTime, late] = [event(), { ...event({ value: 7 }), happenedHour: countedHour - 30 }];
    const counter = createHourCounter(countedHour);
    const sent = { platform: "meta", state: "sent" as const };
    counter.add({ events: [onTime, late], deliveries: [onTime, late].map(({ id }) => ({ eventId: id, ...sent })) });
    const list = (kind: string) =>
      counter.figures().flatMap((one) => (one.kind === kind ? [[one.hour, one.count, one.value]] : []));
    expect(list("conversion")).toEqual([
      [countedHour, 1, 10],
      [countedHour - 30, 1, 7],
    ]);
    expect(list("delivered")).toEqual([
      [countedHour, 1, 10],
      [countedHour - 30, 1, 7],
    ]);
    expect(list("delivery")).toEqual([[countedHour, 2, 0]]);
    const ofEvent = counter.segments().filter(({ segment }) => segment === "event");
    expect(ofEvent.map((one) => [one.name, one.hour])).toEqual([
      ["purchase", countedHour],
      ["purchase", countedHour - 30],
    ]);
  });

  test("events of very many times are charted where they arrived, once there are too many times", () => {
    const events = Array.from({ length: 1000 }, (_, n) => ({ ...event(), happenedHour: countedHour - 2 - n }));
    const counter = createHourCounter(countedHour);
    counter.add({ events, deliveries: [] });
    const conversions = counter.figures().filter(({ kind }) => kind === "conversion");
    expect(conversions).toHaveLength(201);
    expect(conversions.reduce((sum, { count }) => sum + count, 0)).toBe(1000);
  });

  test("of very many event names the common ones are kept, the others are added up by currency", () => {
    const events = Array.from({ length: 6000 }, (_, n) => event({ event: `name ${n}`, value: 1 }));
    const common = Array.from({ length: 5 }, () => event({ event: "name 4000", value: 1 }));
    const figures = figuresOf([...events, ...common, event({ event: "name 5999", currency: "USD", value: 3 })]);
    expect(figures.length).toBeLessThanOrEqual(52);
    expect(figures).toContainEqual(["conversion", "name 4000", "EUR", 6, 6]);
    expect(figures).toContainEqual(["conversion", otherNames, "USD", 1, 3]);
    expect(figuresOf([...events, event({ event: "Refund", value: 7 })])).toContainEqual(["conversion", "refund", "EUR", 1, 7]);
    expect(figures.reduce((sum, [, , , count]) => sum + Number(count), 0)).toBe(6006);
  });

  const countOf = (events: CountedEvent[], deliveries: Portion["deliveries"] = []) => {
    const counter = createHourCounter(countedHour);
    counter.add({ events, deliveries });
    const list = (figures: readonly Figure[], ...kinds: string[]) =>
      figures
        .filter(({ kind }) => kinds.includes(kind))
        .map(({ name, currency, count, value }) => [name, currency, count, value]);
    return {
      figures: (...kinds: string[]) => list(counter.figures(), ...kinds),
      names: (kind: string) => counter.segments().flatMap((one) => (one.segment === kind ? [one.name] : [])),
      segment: (kind: string, name: string, ...kinds: string[]) => {
        const found = counter.segments().find((one) => one.segment === kind && one.name === name);
        return list(found?.figures ?? [], ...kinds);
      },
      all: counter.segments(),
    };
  };
  const utm = (utm_source: string, utm_campaign = "") => ({ utm: { utm_source, utm_campaign } });

  test("a source is utm_source, or the network of the last click, and a refund has no value there", () => {
    const { figures } = countOf([
      event({ ...utm(" newsletter "), clickIds: ["gclid"], newestClickId: "gclid" }),
      event({ clickIds: ["gclid"], newestClickId: "gclid" }),
      event({ clickIds: ["ttclid"], newestClickId: "ttclid" }),
      event({ clickIds: ["yclid"], newestClickId: "yclid" }),
      event({ ...utm("newsletter", "spring of ada@example.com"), event: "refund", value: 99 }),
    ]);
    expect(figures("source")).toEqual([
      ["newsletter", "EUR", 1, 10],
      ["google", "EUR", 1, 10],
      ["tiktok", "EUR", 1, 10],
      ["(none)", "EUR", 1, 10],
      ["newsletter", "", 1, 0],
    ]);
    expect(figures("campaign").at(-1)).toEqual(["spring of ada@example.com", "", 1, 0]);
    const masked = countOf([event(utm("a", maskAddresses("of ada@example.com")))]);
    expect(masked.names("campaign")).toEqual(["of email"]);
  });

  test("a segment counts its own conversions, and a platform's those that it was due to receive", () => {
    const [one, two, three] = [
      event(utm("google", "spring")),
      event({ ...utm("google", "autumn"), event: "lead", value: null }),
      event({ ...utm("bing", "spring"), value: 5 }),
    ];
    const { names, segment } = countOf(
      [one, two, three],
      [
        { eventId: one.id, platform: "meta", state: "sent" },
        { eventId: one.id, platform: "ga4", state: "rejected" },
        { eventId: two.id, platform: "meta", state: "skipped" },
        { eventId: three.id, platform: "meta", state: "sent" },
        { eventId: three.id, platform: "meta", state: "sent" },
      ],
    );
    expect(["event", "source", "campaign", "platform"].map(names)).toEqual([
      ["purchase", "lead"],
      ["google", "bing"],
      ["spring", "autumn"],
      ["meta", "ga4"],
    ]);
    expect(segment("source", "google", "conversion", "campaign", "delivery")).toEqual([
      ["purchase", "EUR", 1, 10],
      ["spring", "EUR", 1, 10],
      ["meta sent", "", 1, 0],
      ["ga4 rejected", "", 1, 0],
      ["lead", "", 1, 0],
      ["autumn", "", 1, 0],
      ["meta skipped", "", 1, 0],
    ]);
    expect(segment("platform", "meta", "conversion", "delivery", "delivered")).toEqual([
      ["purchase", "EUR", 2, 15],
      ["meta", "EUR", 2, 15],
      ["meta sent", "", 3, 0],
    ]);
  });

  test("however many campaigns an hour has, their number is bounded and each kept one has its full count", () => {
    const events = Array.from({ length: 3000 }, (_, n) => event({ ...utm("s", `c${n % 700}`), event: `e${n}` }));
    const common = Array.from({ length: 9 }, () => event(utm("s", "c650")));
    const { all, figures, segment } = countOf([...events, ...common]);
    expect(all.length).toBeLessThanOrEqual(3 * 50);
    expect(Math.max(...all.map((one) => one.figures.length))).toBeLessThan(60);
    const total = figures("campaign").find(([name]) => name === "c650");
    expect(total).toEqual(["c650", "EUR", 13, 130]);
    const counted = segment("campaign", "c650", "campaign");
    expect(counted).toEqual([total]);
    expect(figures("campaign").reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(3009);
  });

  test("an hour is rolled up again once, and then for as long as deliveries wait", () => {
    const hour = 3_600_000;
    const [soon, day] = [5 * 60_000, 24 * hour];
    expect(nextRollupAt(0, soon, false)).toBe(hour);
    expect(nextRollupAt(0, hour, false)).toBe(Number.MAX_SAFE_INTEGER);
    expect([soon, hour, 6 * hour, day, 3 * day].map((age) => nextRollupAt(0, age, true))).toEqual([
      hour,
      6 * hour,
      day,
      3 * day,
      8 * day,
    ]);
    expect(nextRollupAt(0, 9 * day, true)).toBe(10 * day);
  });
});

test("a refund by any of its usual names is no revenue", () => {
  expect(["refund", "Order Refunded", "refunds/create", "purchase"].map(isRefund)).toEqual([true, true, true, false]);
});
