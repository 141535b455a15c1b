// What the steps of an event cost the database: the store takes one step after the other, for one event at a time and for several
// of a site that arrive together.

import { ulid } from "../../../src/kernel/ids.ts";
import type { NewEvent } from "../../../src/store/events/events.ts";
import type { OutcomeRow } from "../../../src/store/deliveries/outcomes.ts";
import { byNode, newAttempt, newEvent, settlementOf } from "../events.ts";
import { withStore } from "../installation.ts";
import type { Installation } from "../relay.ts";
import { sha256 } from "../sha256.ts";

type StepCost = { step: string; together: number; databaseUs: number };

/** A connection plans a statement anew for its first five runs. */
const warmUpRuns = 8;
const runs = 100;

/** `cpuMs` is the CPU time of all servers of the database so far. */
export function measureSteps(home: Installation, siteId: string, cpuMs: () => number): Promise<StepCost[]> {
  return withStore(home, async (store) => {
    const costs: StepCost[] = [];
    const accepted: NewEvent[] = [];
    const steps: [step: string, take: () => Promise<unknown>][] = [
      ["look up a person", () => store.people.lookUp(siteId, sha256(`${ulid()}${"0".repeat(64)}`.slice(0, 64)))],
      [
        "accept",
        () => {
          const item = eventOf(siteId);
          accepted.push(item);
          return store.events.accept(item);
        },
      ],
      ["settle", () => store.deliveries.settleFirst(outcomesOf(accepted.pop() ?? eventOf(siteId)))],
    ];
    for (const together of [1, 8])
      for (const [step, take] of steps) {
        const takeAll = () => Promise.all(Array.from({ length: together }, take));
        for (let i = 0; i < warmUpRuns; i += 1) await takeAll();
        const before = cpuMs();
        for (let i = 0; i < runs; i += 1) await takeAll();
        costs.push({ step, together, databaseUs: Math.round((1000 * (cpuMs() - before)) / runs / together) });
      }
    return costs;
  });
}

const eventOf = (siteId: string) => {
  const receivedAt = Date.now();
  const id = ulid(receivedAt);
  return newEvent(siteId, { id, receivedAt, orderId: id }, { ownership: byNode(), orderEventId: `order-${id}` });
};

const outcomesOf = (item: NewEvent): OutcomeRow => ({
  siteId: item.event.siteId,
  eventId: item.event.id,
  number: 0,
  settlements: [
    { ...settlementOf(item, "sent", { attempt: newAttempt("sent") }), position: 0, platform: "sandbox", settings: "" },
  ],
});
