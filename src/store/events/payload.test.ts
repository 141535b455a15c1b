import { describe, expect, test } from "vitest";
import type { Item } from "../../kernel/event.ts";
import { packPayload, unpackPayload } from "./payload.ts";

const mug: Item = { id: "SKU-1", name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 };

describe("the sealed part of an event", () => {
  test("an event with neither items nor extra fields has none", () => {
    expect(packPayload({ extra: null })).toBeNull();
  });

  test("an event without items is stored as its extra fields alone, without a byte for items", () => {
    const extra = { plan: "gold", seats: 3 };
    expect(packPayload({ extra })).toBe(JSON.stringify(extra));
    expect(unpackPayload(JSON.stringify(extra))).toEqual({ extra });
  });

  test.each<[string, Item[]]>([
    ["every field", [mug]],
    ["only an id", [{ id: "a", quantity: 1 }]],
    ["a price of 0", [{ id: "a", price: 0, quantity: 1_000_000 }]],
    ["a brand and nothing before it", [{ id: "a", brand: "North", quantity: 1 }]],
    ["a name and no price", [{ id: "a", name: "Mug", quantity: 1 }]],
    ["texts with quotes, brackets and other scripts", [{ id: '["a"]', name: 'カップ \\ "}', quantity: 3 }]],
    ["a hundred lines", Array.from({ length: 100 }, (_, i) => ({ ...mug, id: `SKU-${i}` }))],
  ])("items with %s read back as they were, also next to extra fields", (_what, items) => {
    for (const extra of [null, { plan: "gold" }]) {
      const text = packPayload({ extra, items }) ?? expect.unreachable("nothing was packed");
      // The exact properties: an absent one must not come back as null or undefined.
      expect(unpackPayload(text)).toStrictEqual({ extra, items });
    }
  });

  test("a lead id reads back as it was, next to everything else", () => {
    for (const extra of [null, { plan: "gold" }])
      for (const items of [undefined, [mug]]) {
        const event = { extra, ...(items && { items }), leadId: "123456789012345" };
        expect(unpackPayload(packPayload(event) ?? "")).toStrictEqual(event);
      }
  });

  test("items are packed without names of fields", () => {
    expect(packPayload({ extra: null, items: [mug, { id: "b", quantity: 1 }] })).toBe(
      '[[["SKU-1",2,9.95,"Mug","Kitchen","North"],["b",1]]]',
    );
  });
});
