// A request that waits for another one of its sender waits for three days, and no longer; and not so many that the sender is refused.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import type { Site, Source } from "../../sites/directory.ts";
import type { Mapped } from "../../sources/run.ts";
import type { SourceOutcome } from "../../store/sources/sourceRequests.ts";
import { createLookUpJob } from "./lookUpJob.ts";
import { relayOutcomes, type RelayOptions } from "./relayOutcomes.ts";

const sale: Mapped = {
  is: "conversion",
  type: "transaction.completed",
  deliveryId: "evt_1",
  deliveredAt: "",
  mode: "live",
  fields: { event: "purchase", value: 30, currency: "USD", orderId: "txn_1" },
  customer: "ctm_1",
  orderRef: null,
  link: null,
  lookUp: null,
};
const refund: Mapped = { ...sale, is: "refund", deliveryId: "evt_2", customer: null, fields: { orderId: "txn_0", value: 5 } };

describe("requests that wait", async () => {
  const { store, close } = await createNodes("sqlite");
  afterAll(close);

  async function setUp(relayStore: RelayOptions["store"] = store) {
    const siteId = await newSite(store);
    const source = { siteId, id: "src", kind: "paddle", state: "active", settings: {}, secrets: {}, tokens: [] };
    const site = { id: siteId, leaving: null, settings: { keepEventsMs: 90 * dayMs }, sources: [source] };
    let now = Date.now();
    const options: RelayOptions = {
      store: relayStore,
      links: {
        open: () => {
          throw new Error("nothing is linked");
        },
      } as never,
      acceptBatch: () => Promise.reject(new Error("nothing is complete")),
      reserveId: () => {
        throw new Error("nothing is complete");
      },
      now: () => now,
      onDefect: (error) => {
        throw error;
      },
    };
    const ended: SourceOutcome[] = [];
    const job = createLookUpJob({
      ...options,
      store,
      owner: "one",
      elapsed: () => now,
      directory: { sites: () => [site as unknown as Site] },
      sender: { send: () => Promise.reject(new Error("nothing is asked")) } as never,
      retry: { scheduleMs: [10_000, minuteMs, hourMs, 5 * hourMs], random: () => 0.5 },
      answerMs: 10_000,
      onLookedUp: (_source, outcome) => ended.push(outcome),
    });
    const context = { site: site as unknown as Site, source: source as unknown as Source, receivedAt: now, deadline: now + 5000 };
    return {
      relay: (outcomes: readonly Mapped[]) => relayOutcomes(outcomes, context, options),
      list: async () =>
        (await store.sourceRequests.list(siteId, "src", { limit: 9 })).toSorted((a, b) => (a.type < b.type ? 1 : -1)),
      pass: async (ms: number) => {
        now += ms;
        await job.run();
      },
      ended,
    };
  }

  test("are looked at on the schedule of deliveries, and ignored after three days", async () => {
    const { relay, list, pass, ended } = await setUp();
    const results = await relay([sale, { ...refund, type: "adjustment.created" }]);
    expect(results).toMatchObject([
      { outcome: "waiting", reason: "unknown customer" },
      { outcome: "waiting", reason: "unknown order" },
    ]);
    await pass(0);
    expect(await list()).toMatchObject([
      { outcome: "waiting", reason: "unknown customer", attempts: 1 },
      { outcome: "waiting", reason: "unknown order", attempts: 1 },
    ]);
    await pass(5000);
    expect(await list()).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
    await pass(5000);
    for (let hours = 0; hours < 70; hours += 5) await pass(5 * hourMs);
    expect(await list()).toMatchObject([{ outcome: "waiting" }, { outcome: "waiting" }]);
    await pass(5 * hourMs);
    expect(await list()).toMatchObject([
      { outcome: "ignored", reason: "unknown customer", dueAt: null },
      { outcome: "ignored", reason: "unknown order", dueAt: null },
    ]);
    expect(ended).toEqual(["ignored", "ignored"]);
  });

  test("are ignored at once where too many wait already: the sender must not get an error for them", async () => {
    const { sourceRequests } = store;
    const { relay } = await setUp({
      ...store,
      sourceRequests: { ...sourceRequests, addWaiting: (some) => Promise.resolve(some) },
    });
    expect(await relay([sale, refund])).toMatchObject([
      { outcome: "ignored", reason: "unknown customer" },
      { outcome: "ignored", reason: "unknown order" },
    ]);
  });
});
