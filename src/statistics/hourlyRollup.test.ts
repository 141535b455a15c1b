import { expect, test } from "vitest";
import { newEvent } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { createStepSize } from "../background/pace.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { countHour, maxPortion, rollUpHour } from "./hourlyRollup.ts";

test("an hour is counted in portions that shrink while they take too long, with a pause after each", async () => {
  const { store, close } = await createNodes("sqlite");
  const at = Date.UTC(2026, 10, 15, 12);
  const accept = (n: number) =>
    store.events.accept(newEvent("s", { receivedAt: at + n, orderId: String(n) }, { claim: String(n), deliveries: [] }));
  await Promise.all(Array.from({ length: 100 }, (_, n) => accept(n)));
  const count = async (stepMs: number) => {
    const portions: number[] = [];
    let pauses = 0;
    const pace = { stepMs, rest: async () => void (pauses += 1) };
    const listPortion: typeof store.statistics.listPortion = (site, hour, after, max) => {
      portions.push(max);
      return store.statistics.listPortion(site, hour, after, max);
    };
    const statistics = { ...store.statistics, listPortion };
    const { events } = await countHour({ statistics }, "s", at / hourMs, { pace, size: createStepSize(pace, maxPortion) });
    return { events, portions, pauses };
  };
  expect(await count(0)).toEqual({ events: 100, portions: [32, 16, 8, 8, 8, 8, 8, 8, 8], pauses: 9 });
  expect(await count(Infinity)).toEqual({ events: 100, portions: [32, 64, 128], pauses: 3 });
  await close();
});

test("an hour that a clock ahead has counted stays due, unchanged as it is, until its last events must be committed", async () => {
  const { store, close } = await createNodes("sqlite");
  const { statistics } = store;
  const hour = Date.UTC(2026, 10, 15, 12) / hourMs;
  const endedAt = (hour + 1) * hourMs;
  const accept = (order: string) =>
    store.events.accept(newEvent("s", { receivedAt: endedAt - 1000, orderId: order }, { claim: order, deliveries: [] }));
  const rollUpDue = async (now: number) => {
    for (const due of await statistics.listDueHours("s", now, 10)) await rollUpHour(store, "s", due, now);
    const figures = await statistics.listFigures("s", hour, hour + 1);
    return figures.find(({ kind }) => kind === "conversion")?.count;
  };
  await accept("A-1");
  // As the correction of the clock leaves the hour.
  const correctedAt = endedAt + 5000;
  const { figures: counted } = await countHour(store, "s", hour);
  await statistics.replaceHour("s", hour, counted, { rolledAt: correctedAt, dueAt: correctedAt, settledEvents: 1 });
  expect(await rollUpDue(correctedAt + 1000)).toBe(1);
  // Its commit was slow.
  await accept("A-2");
  expect(await rollUpDue(endedAt + 10 * minuteMs)).toBe(1);
  expect(await rollUpDue(endedAt + hourMs)).toBe(2);
  await close();
});
