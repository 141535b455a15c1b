import { describe, expect, test } from "vitest";
import { FieldFault } from "./fieldFault.ts";
import { createExactFields } from "./body.ts";
import { newEvent, readFields } from "./fields.ts";

const now = Date.UTC(2026, 10, 14, 12);
const start = '{"email":"ada@example.com","event":"purchase"';

const site = { id: "site", settings: { country: null, conversionsWithoutEmail: false } };
const readEvent = (text: string) =>
  readFields({ fields: JSON.parse(text) as Record<string, unknown>, exact: createExactFields(text) }, site, now);

/** Reads the items of an event whose `items` are this JSON text; a fault is returned as its sentence. */
function readText(items: string, before = "") {
  const text = `${start}${before},"items":${items}}`;
  const read = readEvent(text);
  return read instanceof FieldFault ? read.message : read.items;
}
const read = (items: unknown) => readText(JSON.stringify(items));

describe("items", () => {
  test("an item needs only an id; its quantity is then 1", () => {
    expect(read([{ id: "SKU-1" }])).toEqual([{ id: "SKU-1", quantity: 1 }]);
  });

  test("every field is read, texts are trimmed, and other fields are left out", () => {
    const item = {
      id: " SKU-1 ",
      name: " Mug ",
      category: "Kitchen",
      brand: "North",
      price: 9.95,
      quantity: 2,
    };
    expect(read([{ ...item, sku: "other", constructor: 1 }])).toEqual([
      { id: "SKU-1", name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 },
    ]);
  });

  test.each([null, "", "  "])("%j in an optional field of an item counts as absent", (blank) => {
    const given = { name: blank, category: blank, brand: blank, price: blank, quantity: blank };
    expect(read([{ id: "a", ...given }])).toEqual([{ id: "a", quantity: 1 }]);
  });

  test.each([undefined, null, "", " ", []])("items of %j count as absent", (given) => {
    const text = JSON.stringify({ email: "ada@example.com", event: "x", items: given });
    const fields = readEvent(text);
    expect((fields as { items?: unknown }).items).toBeUndefined();
  });

  test("an event without items has no such property", () => {
    const text = `${start}}`;
    const fields = readEvent(text);
    if (fields instanceof FieldFault) return expect.unreachable(fields.message);
    const origin = { id: "e", siteId: "s", keyId: "k", mode: "live", receivedAt: now, extra: null } as const;
    expect(Object.keys(fields)).not.toContain("items");
    expect(Object.keys(newEvent(fields, origin))).not.toContain("items");
  });

  test.each([
    ["1001", "1001"],
    ["0", "0"],
    ["41234567890123", "41234567890123"],
    ["12345678901234567891", "12345678901234567891"],
    ["1.10", "1.10"],
  ])("an id given as the JSON number %s is the text %j", (written, text) => {
    expect(readText(`[{"id":"a"},{"id":${written}}]`)).toEqual([
      { id: "a", quantity: 1 },
      { id: text, quantity: 1 },
    ]);
  });

  test("of repeated items the last count, and an id elsewhere is not one of an item", () => {
    const before = ',"items":[{"id":1}],"x":{"items":[{"id":2.5}],"id":3.5}';
    expect(readText('[{"id":12345678901234567891,"id":22345678901234567891}]', before)).toEqual([
      { id: "22345678901234567891", quantity: 1 },
    ]);
  });

  test("100 items with the longest texts are accepted, counted in characters", () => {
    expect(read(Array.from({ length: 100 }, (_, i) => ({ id: `${i}` })))).toHaveLength(100);
    const longest = {
      id: "😀".repeat(128),
      name: "é".repeat(512),
      category: "c".repeat(512),
      brand: "b".repeat(512),
    };
    expect(read([longest])).toEqual([{ ...longest, quantity: 1 }]);
  });

  test.each([0, 0.1, 1e12])("a price of %d is accepted", (price) => {
    expect(read([{ id: "a", price }])).toEqual([{ id: "a", price, quantity: 1 }]);
  });

  test("an address in place of a text is left out", () => {
    const given = { id: "a", name: "ada@example.com", category: " Ada@Example.com ", brand: "North" };
    expect(read([given])).toEqual([{ id: "a", brand: "North", quantity: 1 }]);
  });

  const finite = "must be a finite JSON number";
  const whole = "must be a whole number from 1 to 1000000";
  const table: [items: unknown, sentence: string][] = [
    [{}, "items must be a list of objects"],
    [{ 0: { id: "a" } }, "items must be a list of objects"],
    ["SKU-1", "items must be a list of objects"],
    [3, "items must be a list of objects"],
    [true, "items must be a list of objects"],
    [Array.from({ length: 101 }, () => ({ id: "a" })), "items has more than 100 entries"],
    [["SKU-1"], "items[0] must be an object"],
    [[{ id: "a" }, null], "items[1] must be an object"],
    [[{ id: "a" }, [1]], "items[1] must be an object"],
    [[{ sku: "a" }], "items[0].id required"],
    [[{ id: null }], "items[0].id required"],
    [[{ id: "  " }], "items[0].id required"],
    [[{ id: true }], "items[0].id must be a string"],
    [[{ id: {} }], "items[0].id must be a string"],
    [[{ id: "i".repeat(129) }], "items[0].id is longer than 128 characters"],
    [[{ id: "a" }, { id: "b", name: 5 }], "items[1].name must be a string"],
    [[{ id: "a", name: "n".repeat(513) }], "items[0].name is longer than 512 characters"],
    [[{ id: "a", category: [] }], "items[0].category must be a string"],
    [[{ id: "a", brand: "b".repeat(513) }], "items[0].brand is longer than 512 characters"],
    [
      [{ id: "a", name: "a\ud800b" }],
      "items[0].name contains a character that cannot be stored (NUL or half of a surrogate pair)",
    ],
    [[{ id: "a\0b" }], "items[0].id contains a character that cannot be stored (NUL or half of a surrogate pair)"],
    [[{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d", price: "9.90" }], `items[3].price ${finite}`],
    [[{ id: "a", price: true }], `items[0].price ${finite}`],
    [[{ id: "a", price: -0.01 }], "items[0].price must not be negative"],
    [[{ id: "a", price: 1e12 + 1 }], "items[0].price must be at most 1000000000000"],
    [[{ id: "a", quantity: 0 }], `items[0].quantity ${whole}`],
    [[{ id: "a", quantity: -1 }], `items[0].quantity ${whole}`],
    [[{ id: "a", quantity: 1.5 }], `items[0].quantity ${whole}`],
    [[{ id: "a", quantity: "2" }], `items[0].quantity ${whole}`],
    [[{ id: "a", quantity: 1_000_001 }], `items[0].quantity ${whole}`],
  ];
  test.each(table.map(([given, sentence]) => [sentence, given] as const))(
    "a wrong item is named with its place: %s",
    (sentence, given) => {
      expect(read(given)).toBe(sentence);
    },
  );

  test("an infinite price is refused", () => {
    expect(readText('[{"id":"a","price":1e999}]')).toBe(`items[0].price ${finite}`);
  });

  test("addresses in the texts of an item are masked", () => {
    const mask = /^email-[0-9a-f]{16} mug$/;
    const [item] = read([{ id: "ada@example.com mug", name: "ada@example.com mug" }]) as readonly {
      id: string;
      name: string;
    }[];
    expect(item?.id).toMatch(mask);
    expect(item?.name).toMatch(mask);
  });

  test("the other fields are checked first", () => {
    const text = JSON.stringify({ email: "ada@example.com", event: "x", eventTime: "never", items: 5 });
    const fault = readEvent(text);
    expect(fault).toMatchObject({ message: "eventTime must be an ISO 8601 time or Unix seconds" });
  });

  test("no error repeats what the sender wrote", () => {
    for (const field of ["id", "name", "category", "brand", "price", "quantity"])
      for (const wrong of ["s3cret\0", `s3cret${"x".repeat(600)}`, { s3cret: 1 }])
        expect(read([{ id: "a", [field]: wrong }]), field).toSatisfy(
          (fault) => typeof fault === "string" && fault.startsWith(`items[0].${field} `) && !fault.includes("s3cret"),
        );
  });

  test("an id next to the deepest nesting is read digit by digit", () => {
    const deep = "[".repeat(30_000) + "]".repeat(30_000);
    expect(readText('[{"id":12345678901234567891}]', `,"deep":${deep}`)).toEqual([{ id: "12345678901234567891", quantity: 1 }]);
  });

  test("an id that cannot be read exactly, because its name is written with escapes, must be a string", () => {
    expect(readText('[{"\\u0069d":12345678901234567891}]', "")).toBe("items[0].id must be a string");
    expect(readText('[{"\\u0069d":1234}]', "")).toEqual([{ id: "1234", quantity: 1 }]);
  });

  test("a name in the prototype of an item is not its name", () => {
    expect(readText('[{"id":"a","__proto__":{"name":"x","price":"no"}}]')).toEqual([{ id: "a", quantity: 1 }]);
  });
});
