// A recovery that another promotion interrupts. Those of real servers are in openEvents.test.ts.

import { expect, test } from "vitest";
import { createRecovery } from "./recovery.ts";
import { createTakeover } from "./takeover.ts";

test("a promotion during a recovery is recovered from whole, on each site and from its own mark", async () => {
  const server = { promotions: 0, mark: "b" };
  const calls: [siteId: string, mark: string, isInHand: boolean][] = [];
  const clock = { elapsed: 0 };
  let isFailing = true;
  const store = {
    engine: "postgres",
    nodes: {
      promotions: () => server.promotions,
      readMark: async () => server.mark,
      async takeOver(siteId: string, { lowWater }: { lowWater: string }, _at: number, isInHand: (id: string) => boolean) {
        calls.push([siteId, lowWater, isInHand("x5")]);
        if (siteId === "s2" && isFailing) throw new Error("down");
        return 0;
      },
    },
    slices: { divide: async (ids: Iterable<string>) => new Map([["", new Map([["", Array.from(ids)]])]]) },
  } as never;
  const rewriting = Promise.withResolvers<void>();
  const list = { lastId: "x1" };
  const events = {
    firstId: "a",
    lastId: () => list.lastId,
    ids: () => [],
    attempts: () => [{ rewrite: () => rewriting.promise }],
  } as never;
  const takeover = await createTakeover({
    store,
    sites: () => [{ id: "s1" }, { id: "s2" }],
    owner: "node",
    sharedNow: () => 0,
    elapsed: () => clock.elapsed,
    onDefect() {},
  });
  const recovery = createRecovery({ store, owner: "node", events, takeover });
  server.promotions = 1;
  await recovery.begin();
  const first = recovery.recover();
  // This server has an older mark, and lacks outcomes of an event that was not in hand at the first promotion.
  Object.assign(server, { promotions: 2, mark: "a" });
  list.lastId = "x9";
  await recovery.begin();
  rewriting.resolve();
  await first;
  expect(calls).toEqual([
    ["s1", "b", true],
    ["s2", "b", true],
  ]);
  calls.length = 0;
  isFailing = false;
  clock.elapsed += 60_000;
  await recovery.recover();
  expect(calls).toEqual([
    ["s1", "a", false],
    ["s2", "a", false],
  ]);
  expect(recovery.isDone()).toBe(true);
});
