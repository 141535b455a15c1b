// Orders are found by many keys at once, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { engines } from "../../../test/support/relay.ts";
import { listedId, type Order } from "./orders.ts";

const now = Date.UTC(2026, 10, 15, 12);

describe.each(engines)("orders on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);

  test("any number of ids finds each order once, and a list that spells it in another way replaces it", async () => {
    const siteId = await newSite(store);
    const orderOf = (orderId: string): Order => {
      const listed = { orderId, time: now, value: 5, currency: "EUR", emailSha256: null };
      return { siteId, id: listedId(listed), status: "paid", listedAt: now, ...listed };
    };
    const numbers = Array.from({ length: 130 }, (_, i) => i);
    await store.orders.write(["#a-0", " A-1 ", ...numbers.map((n) => `A-${n}`)].map(orderOf));
    await store.orders.write([orderOf("#A-129")]);
    for (const count of [0, 1, 2, 3, 63, 64, 65, 127, 130]) {
      const some = numbers.slice(0, count);
      const found = await store.orders.find(siteId, ["=none", ...some.map((n) => `=a-${n}`)]);
      const spelled = some.map((n) => (n === 129 ? "#A-129" : `A-${n}`));
      expect([...found.values()].map(({ orderId }) => orderId).toSorted()).toEqual(spelled.toSorted());
    }
  });
});
