import { describe, expect, test } from "vitest";
import type { Conversion, Item } from "../../kernel/event.ts";
import { contentsOf, idsOf, joinTexts, piecesOf, totalOf } from "./items.ts";
import { applyMapping, mappingFault, numberField, textField, idList } from "./mapping.ts";
import { sampleConversion, sampleItems } from "./sample.ts";

describe("items of an order", () => {
  const line = (price: number | undefined, quantity = 1): Item => ({ id: "a", price, quantity });

  test("pieces are quantities added up, and every line has its id", () => {
    expect(piecesOf(sampleItems)).toBe(3);
    expect(idsOf(sampleItems)).toEqual(["SKU-1", "SKU-2"]);
  });

  test.each<[string, Item[], number | undefined]>([
    ["EUR", [line(0.1), line(0.2)], 0.3],
    ["EUR", [line(9.95, 2), line(30)], 49.9],
    ["EUR", [line(1.005, 3)], 3.03],
    ["JPY", [line(100.4, 10)], 1000],
    ["KWD", [line(0.001, 1_000_000)], 1000],
    ["EUR", [line(0)], 0],
    ["EUR", [line(5), line(undefined)], undefined],
  ])("the price of everything, in %s, is that of %j: %d", (currency, items, total) => {
    expect(totalOf(items, currency)).toBe(total);
  });

  test("texts are listed once each, and there are none where no item has one", () => {
    const items = [...sampleItems, { id: "SKU-1", brand: "South", quantity: 1 }];
    expect(joinTexts(items, "id")).toBe("SKU-1,SKU-2");
    expect(joinTexts(items, "brand")).toBe("North,South");
    expect(joinTexts([{ id: "a", quantity: 1 }], "name")).toBeUndefined();
    expect(joinTexts(undefined, "id")).toBeUndefined();
  });

  test("prices have the digits of the currency", () => {
    expect(contentsOf([{ id: "a", price: 100.4, quantity: 1 }], "JPY")).toEqual([{ id: "a", quantity: 1, item_price: 100 }]);
  });
});

describe("mappings of items", () => {
  const fields = [
    textField("ids", "Ids.", idList),
    textField("names", "Names."),
    textField("brand", "Brand."),
    numberField("pieces", "Pieces."),
    numberField("total", "Total."),
  ];
  const settings = {
    "map.ids": "items.id",
    "map.names": "items.name",
    "map.brand": "items.brand",
    "map.pieces": "items.quantity",
    "map.total": "items.price",
  };
  function mapped(changes: Partial<Conversion>) {
    const event = {};
    applyMapping(event, sampleConversion(changes), settings, { fields });
    return event;
  }

  test("a mapping may name every field of an item, and no other", () => {
    for (const field of ["id", "name", "category", "brand", "price", "quantity"])
      expect(mappingFault("names", `items.${field}`, fields)).toBeNull();
    for (const source of ["items", "items.sku", "items.0.id", "items.constructor"])
      expect(mappingFault("names", source, fields)).toMatch(/^must be an event field \(.*items\.id/);
  });

  test("a field of items stands for all of them", () => {
    expect(mapped({ items: sampleItems })).toEqual({
      ids: ["SKU-1", "SKU-2"],
      names: "Mug",
      brand: "North",
      pieces: 3,
      total: 49.9,
    });
  });

  test("an event without items fills nothing", () => {
    expect(mapped({})).toEqual({});
  });
});
