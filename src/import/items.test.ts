import { describe, expect, test } from "vitest";
import { readItemsCell } from "./items.ts";
import { parseExact } from "../tables/ndjson.ts";
import { ValueFault } from "../tables/values.ts";

describe("the items of a row", () => {
  const json = '[{"id":12345678901234567891,"name":"12","price":9.90,"quantity":2},{"id":"b","price":"1e1"}]';
  const items = [
    { id: "12345678901234567891", name: "12", price: 9.9, quantity: 2 },
    { id: "b", price: 10 },
  ];

  test("a cell of CSV is JSON: ids stay exact, prices and quantities are numbers", () => {
    expect(readItemsCell(` ${json} `)).toEqual(items);
  });

  test("a list of NDJSON, whose numbers were read as texts, gives the same", () => {
    expect(readItemsCell(parseExact(json))).toEqual(items);
  });

  test.each(["3", "[]", "null", '"text"', '["SKU-1"]', '{"id":"a"}'])("%s is left for the checks of inbound", (text) => {
    expect(readItemsCell(text)).toEqual(parseExact(text));
  });

  test("a text in place of a price stays one", () => {
    expect(readItemsCell('[{"id":"a","price":"9,90 €","quantity":"two"}]')).toEqual([
      { id: "a", price: "9,90 €", quantity: "two" },
    ]);
  });

  test.each(["2 x Mug", "[{id:1}]", "[", "SKU-1;SKU-2"])("%s is refused with what to do", (text) => {
    const fault = readItemsCell(text);
    expect(fault).toBeInstanceOf(ValueFault);
    expect((fault as ValueFault).message).toMatch(/^items is not a JSON list like .*; correct it, or leave the column out$/);
  });

  test("a blank cell has no items", () => {
    expect(readItemsCell(undefined)).toBeUndefined();
  });
});
