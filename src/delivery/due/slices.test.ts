// Work on the sites of a sharded database whose division is given, with sites that fail.

import { expect, test } from "vitest";
import { MachineDown } from "../../store/engine/postgres/machines.ts";
import type { Store } from "../../store/store.ts";
import { createMachineWork, createSitePass } from "./slices.ts";

/** Sites a, b and c are on one machine, d is on another. */
function createCluster(failing: Set<string>, toError: () => Error = () => new MachineDown()) {
  const machines = { a: "1", b: "1", c: "1", d: "2" };
  const onEachMachine = createMachineWork({
    slices: {
      divide: async (siteIds: Iterable<keyof typeof machines>) =>
        new Map([...Map.groupBy(siteIds, (id) => machines[id])].map(([machine, ids]) => [machine, new Map([["slice", ids]])])),
    },
    health: { isMachineError: (error: unknown) => error instanceof MachineDown },
  } as unknown as Store);
  const tried: string[] = [];
  async function work(siteId: string): Promise<void> {
    tried.push(siteId);
    if (failing.has(siteId)) throw toError();
  }
  /** Returns the sites that the step tried. */
  async function triedBy(step: () => Promise<unknown>): Promise<string> {
    tried.length = 0;
    await step();
    return tried.toSorted().join("");
  }
  return { onEachMachine, work, triedBy };
}

test("a site that fails whenever it is tried ends a run on its machine, but the next run does the others first", async () => {
  const failing = new Set(["a", "b"]);
  const { onEachMachine, work, triedBy } = createCluster(failing);
  const run = () => onEachMachine(["a", "b", "c", "d"], (id) => id, work);
  expect([await triedBy(run), await triedBy(run), await triedBy(run)]).toEqual(["ad", "bd", "acd"]);
  failing.clear();
  expect(await triedBy(run)).toBe("abcd");
});

test("a site that fails for a reason of its own keeps no other from being done in the same run", async () => {
  const { onEachMachine, work, triedBy } = createCluster(new Set(["a"]), () => new Error("damaged"));
  expect(await triedBy(() => onEachMachine(["a", "b", "c", "d"], (id) => id, work))).toBe("abcd");
});

test("a pass tries only the sites that are left, after a pause that grows up to half a minute while none succeeds", async () => {
  const failing = new Set(["a", "b"]);
  const { onEachMachine, work, triedBy } = createCluster(failing, () => new Error("damaged"));
  let elapsed = 0;
  const pass = createSitePass(onEachMachine, work, () => elapsed);
  const run = () => pass.run(["a", "b", "c", "d"]);
  expect(await triedBy(run)).toBe("abcd");
  const triedAfter = (ms: number) => {
    elapsed += ms;
    return triedBy(run);
  };
  for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect([await triedAfter(pauseMs - 1), await triedAfter(1)]).toEqual(["", "ab"]);
  failing.delete("a");
  expect(await triedAfter(30_000)).toBe("ab");
  // One of them has succeeded: the pause begins anew.
  expect(await triedAfter(1000)).toBe("b");
  failing.clear();
  elapsed += 30_000;
  expect(await run()).toEqual({ isDone: true, errors: [] });
});

test("a pass does not wait for a site that fails and is deleted or moved away, and does one that is added", async () => {
  const { onEachMachine, work, triedBy } = createCluster(new Set(["a"]), () => new Error("locked"));
  const pass = createSitePass(onEachMachine, work, () => 0);
  expect(await pass.run(["a", "b"])).toMatchObject({ isDone: false });
  expect(await pass.run(["b"])).toEqual({ isDone: true, errors: [] });
  const other = createSitePass(onEachMachine, work, () => Infinity);
  expect(await triedBy(() => other.run(["b", "c"]))).toBe("bc");
  expect(await triedBy(() => other.run(["b", "c", "d"]))).toBe("d");
});
