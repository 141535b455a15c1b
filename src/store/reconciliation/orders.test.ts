// Orders are found by many keys at once, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { engines } from "../../../test/support/relay.ts";
import { orderIdOf, orderKey, type Order } from "./orders.ts";

const now = Date.UTC(2026, 10, 15, 12);

describe.each(engines)("orders on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);

  test("any number of keys finds each of its orders once, and others do not hide them", async () => {
    const siteId = await newSite(store);
    const listed = { time: now, value: 5, currency: "EUR", emailSha256: null };
    const orderOf = (orderId: string): Order => ({
      siteId,
      id: orderKey(orderId, listed),
      status: "paid",
      listedAt: now,
      ...listed,
    });
    const numbers = Array.from({ length: 130 }, (_, i) => i);
    // The first two share a folded id, and more orders than are read of one share another.
    const same = Array.from({ length: 30 }, (_, i) => `${"#".repeat(i + 1)}SAME`);
    await store.orders.write(["a-0", ...numbers.map((n) => `A-${n}`), ...same].map(orderOf));
    for (const count of [0, 1, 2, 3, 63, 64, 65, 127, 130]) {
      const some = numbers.slice(0, count);
      const found = await store.orders.findFolded(siteId, ["none", "same", ...some.map((n) => `a-${n}`)]);
      expect(found.get("same")).toHaveLength(20);
      const others = [...found].filter(([folded]) => folded !== "same").flatMap(([, orders]) => orders);
      expect(others.map(orderIdOf).toSorted()).toEqual([...(count > 0 ? ["a-0"] : []), ...some.map((n) => `A-${n}`)].toSorted());
      const byId = await store.orders.find(
        siteId,
        some.map((n) => `=A-${n}`),
      );
      expect([...byId.keys()].toSorted()).toEqual(some.map((n) => `=A-${n}`).toSorted());
    }
  });
});
