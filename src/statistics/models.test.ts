// The models of attribution: whatever the paths are, each gives away exactly the conversions and the money that there are.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clickIds } from "../identity/clickIds.ts";
import { currencyDigits } from "../kernel/currency.ts";
import type { PathVisit } from "../kernel/event.ts";
import type { CountedEvent } from "../store/events/eventRow.ts";
import { addFigureDetails, emptyDetails, moneyOf } from "./aggregate.ts";
import { createHourCounter } from "./hourCounter.ts";
import { models, partsOfOne, splitMoney, type Model } from "./models.ts";

let lastId = 0;
const event = (changes: Partial<CountedEvent>): CountedEvent => ({
  id: String((lastId += 1)),
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
  identity: "found",
  withheld: null,
  clickIds: [],
  cookies: [],
  utm: {},
  newestClickId: null,
  ...changes,
});

/** The sources or campaigns of these events, as the statistics show them. */
function shown(events: readonly CountedEvent[], model: Model, by: "sources" | "campaigns" = "sources") {
  const counter = createHourCounter(0);
  counter.add({ events: [...events], deliveries: [] });
  const details = emptyDetails();
  for (const figure of counter.figures()) addFigureDetails(details, figure, model);
  return [...details[by]].map(([name, { conversions, values }]) => ({
    name,
    conversions: conversions / partsOfOne,
    values: moneyOf(values),
  }));
}
const inShort = (items: ReturnType<typeof shown>) =>
  Object.fromEntries(items.map(({ name, conversions, values }) => [name, [conversions, values[0]?.value]]));

const facebook: PathVisit = { at: 1, clickId: "fbclid" };
const newsletter: PathVisit = { at: 2, utmSource: "newsletter", utmCampaign: "spring" };
const direct: PathVisit = { at: 3, hasForm: true };
const google: PathVisit = { at: 4, clickId: "gclid" };

describe("a conversion with a path", () => {
  const events = [event({ path: [facebook, newsletter, direct, google], utm: { utm_source: "newsletter" } })];

  test("counts for the last touch, for the first, or in equal parts; a visit without a campaign or a click is no touch", () => {
    expect(inShort(shown(events, "last"))).toEqual({ google: [1, 10] });
    expect(inShort(shown(events, "first"))).toEqual({ google: [0, 0], facebook: [1, 10] });
    expect(inShort(shown(events, "linear"))).toEqual({
      google: [1 / 3, 3.34],
      facebook: [1 / 3, 3.33],
      newsletter: [1 / 3, 3.33],
    });
  });

  test("counts for campaigns as for sources", () => {
    expect(inShort(shown(events, "linear", "campaigns"))).toEqual({ "(none)": [2 / 3, 6.67], spring: [1 / 3, 3.33] });
  });

  test("of one source moves nothing, and needs no figures", () => {
    const counter = createHourCounter(0);
    counter.add({ events: [event({ path: [google, { ...google, at: 5 }] })], deliveries: [] });
    expect(counter.figures().filter(({ kind }) => /first|linear/.test(kind))).toEqual([]);
  });

  test("moves no value of a refund", () => {
    const refund = event({ event: "refund", path: [facebook, google] });
    expect(inShort(shown([refund], "first"))).toEqual({ google: [0, undefined], facebook: [1, undefined] });
  });
});

test("money is divided in the smallest unit of its currency, and what is left goes to the last", () => {
  expect(splitMoney(10, "EUR", 3)).toEqual([3.33, 3.33, 3.34]);
  expect(splitMoney(100, "JPY", 8)).toEqual([12, 12, 12, 12, 12, 12, 12, 16]);
  expect(splitMoney(1, "KWD", 3)).toEqual([0.333, 0.333, 0.334]);
  expect(splitMoney(0.3, "EUR", 3)).toEqual([0.1, 0.1, 0.1]);
  expect(splitMoney(0.01, "EUR", 4)).toEqual([0, 0, 0, 0.01]);
  expect(splitMoney(1e300, "EUR", 2)).toEqual([0, 1e300]);
});

const name = fc.constantFrom(undefined, "google", "facebook", "newsletter", "partner");
const visit = fc.record({
  at: fc.nat(),
  utmSource: name,
  utmCampaign: fc.constantFrom(undefined, "spring", "summer", "winter"),
  clickId: fc.constantFrom(undefined, ...clickIds.map((id) => id.name)),
}) as fc.Arbitrary<PathVisit>;
const currency = fc.constantFrom("EUR", "JPY", "KWD");
const anyEvent = fc
  .record({
    path: fc.option(fc.array(visit, { minLength: 2, maxLength: 8 }), { nil: undefined }),
    minor: fc.option(fc.nat(10_000_000)),
    currency,
    event: fc.constantFrom("purchase", "lead", "refund"),
  })
  .map(({ minor, path, ...rest }) =>
    event({
      ...rest,
      ...(path && { path }),
      value: minor === null ? null : minor / 10 ** currencyDigits(rest.currency),
    }),
  );

test("all models have the same conversions and the same money, by source and by campaign", () => {
  fc.assert(
    fc.property(
      fc.array(anyEvent, { maxLength: 30 }),
      fc.constantFrom("sources" as const, "campaigns" as const),
      (events, by) => {
        const totals = models.map((model) => {
          const money = new Map<string, number>();
          let parts = 0;
          for (const { conversions, values } of shown(events, model, by)) {
            parts += Math.round(conversions * partsOfOne);
            expect(conversions).toBeGreaterThanOrEqual(0);
            for (const { value, currency: of } of values) {
              expect(value).toBeGreaterThanOrEqual(0);
              money.set(of, Math.round(((money.get(of) ?? 0) + value) * 1000) / 1000);
            }
          }
          return { parts, money: [...money].filter(([, value]) => value !== 0).toSorted() };
        });
        expect(totals[0]?.parts).toBe(events.length * partsOfOne);
        expect(totals[1]).toEqual(totals[0]);
        expect(totals[2]).toEqual(totals[0]);
      },
    ),
    { numRuns: 500 },
  );
});
