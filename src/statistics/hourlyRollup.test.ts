import { expect, test } from "vitest";
import { newEvent } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { createStepSize } from "../background/pace.ts";
import { hourMs } from "../kernel/time.ts";
import { countHour, maxPortion } from "./hourlyRollup.ts";

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
