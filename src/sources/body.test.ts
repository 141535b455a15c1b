import { expect, test } from "vitest";
import { cpuRatio } from "../../test/support/cpuTime.ts";
import { readJson, readSourceBody, readXml } from "./body.ts";
import { maskText, shapeOf } from "./shape.ts";

const read = (
  text: string,
  type: string,
  formats: Parameters<typeof readSourceBody>[2] = ["json", "form", "multipart", "soap"],
) => readSourceBody(Buffer.from(text), type, formats);

test("long integers stay exact texts, other numbers numbers", () => {
  expect(readJson('{"id":820982911946154508,"price":49.90,"n":-12345678901234567890,"short":123456789012345}')).toEqual({
    id: "820982911946154508",
    price: 49.9,
    n: "-12345678901234567890",
    short: 123456789012345,
  });
  expect(readJson('{"text":"820982911946154508 is an id","f":0.1234567890123456}')).toEqual({
    text: "820982911946154508 is an id",
    f: 0.1234567890123456,
  });
});

test("integers are texts from 16 digits on, wherever they are in a body", () => {
  for (let place = 0; place < 40; place++)
    for (let length = 14; length <= 34; length++) {
      const digits = "9".repeat(length);
      const { id } = readJson(`{"a":"1${"x".repeat(place)}","id":${digits},"b":1}`) as { id: unknown };
      expect(id).toBe(length < 16 ? Number(digits) : digits);
    }
});

test("__proto__ is a field like any other", () => {
  const body = readJson('{"__proto__":{"admin":true}}') as Record<string, unknown>;
  expect(Object.hasOwn(body, "__proto__")).toBe(true);
  expect((body as { admin?: boolean }).admin).toBeUndefined();
});

test("a body that nests deeply is read, with exact ids", () => {
  const deep = `${"[".repeat(20_000)}1234567890123456789${"]".repeat(20_000)}`;
  let inner = readJson(deep);
  while (Array.isArray(inner)) inner = inner[0];
  expect(inner).toBe("1234567890123456789");
});

test("digits within strings and within other numbers stay as they are", () => {
  const texts = ['"1234567890123456789', "\\", '\\"1234567890123456789,', '\\\\"', "", "1234567890123456789", 'a"'];
  const fields = Object.fromEntries(texts.map((text, i) => [`${text}${i}`, texts.slice(i)]));
  const others = '"f":-0.1234567890123456789,"e":1234567890123456789e2,"d":1234567890123456.5,"l":[-1234567890123456789 ,1]';
  expect(readJson(`{"fields":${JSON.stringify(fields)},${others}}`)).toEqual({
    fields,
    f: Number("-0.1234567890123456789"),
    e: Number("1234567890123456789e2"),
    d: Number("1234567890123456.5"),
    l: ["-1234567890123456789", 1],
  });
});

test("one long id costs a few times what it costs to parse the body, whatever else the body holds", () => {
  const text = `{"id":1234567890123456789,"rest":[${"0,".repeat(500_000)}0]}`;
  const readOnce = () => void readJson(text);
  expect(cpuRatio(readOnce, () => JSON.parse(text))).toBeLessThan(15);
});

test("forms give texts, and lists where a name repeats", async () => {
  expect(await read("a=1&b=%C3%BC&a=2&__proto__=x", "application/x-www-form-urlencoded; charset=utf-8")).toEqual(
    Object.assign(Object.create(null), { a: ["1", "2"], b: "ü", ["__proto__"]: "x" }),
  );
  const many = Array.from({ length: 3000 }, (_, i) => `f${i}=1`).join("&");
  expect(await read(many, "application/x-www-form-urlencoded")).toBeNull();
});

test("multipart forms give their fields without files, and many parts are refused", async () => {
  const part = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nsecret\r\n';
  const body = `${part("a", '{"x":1}')}${file}${part("c", "2")}--b--\r\n`;
  const type = "multipart/form-data; boundary=b";
  expect(await readSourceBody(Buffer.from(body), type, ["multipart"], ["a"])).toEqual(
    Object.assign(Object.create(null), { a: { x: 1 }, c: "2" }),
  );
  expect(await read(part("a", "1").repeat(3000), type)).toBeNull();
  expect(await read("--b\r\nnothing", type)).toBeNull();
  expect(await read("x", "multipart/form-data")).toBeNull();
});

test("XML gives objects, lists and texts; a document type is refused", () => {
  expect(readXml("<a xmlns:s='u'><s:b>Zo&#235; &amp; co</s:b><c>1</c><c><d/></c><e><![CDATA[<x>]]></e></a>")).toEqual({
    a: { b: "Zoë & co", c: ["1", { d: "" }], e: "<x>" },
  });
  expect(readXml('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')).toBeNull();
  expect(readXml("<a><b></a>")).toBeNull();
  expect(readXml("<a>".repeat(500) + "</a>".repeat(500))).toBeNull();
  expect(readXml("no xml")).toBeNull();
});

test("only the kind's own formats are read, and a vague content type means the first one", async () => {
  expect(await read('{"a":1}', "application/json", ["form"])).toBeNull();
  expect(await read('{"a":1}', "", ["json"])).toEqual({ a: 1 });
  expect(await read('{"a":1}', "text/plain", ["json"])).toEqual({ a: 1 });
  expect(await read('{"a":1}', "application/vnd.api+json", ["json"])).toEqual({ a: 1 });
  expect(await read('\uFEFF{"a":1}', "application/json", ["json"])).toEqual({ a: 1 });
  expect(await readSourceBody(Buffer.from([0xff, 0xfe, 0x7b]), "application/json", ["json"])).toBeNull();
});

test("a shape names fields and types, and masks values", () => {
  const shape = shapeOf({
    type: "order.paid",
    email: "ada@example.com",
    phone: "+49 30 123456",
    total: "49.90",
    id: 820982911946,
    "odd name": true,
    lines: [{ sku: "L-1" }, { sku: "L-2" }, { sku: "L-3" }, { sku: "L-4" }],
    none: null,
  });
  expect(shape).toEqual([
    { path: "type", type: "text", sample: "order.paid" },
    { path: "email", type: "text", sample: "a…@e…" },
    { path: "phone", type: "text", sample: "+…" },
    { path: "total", type: "text", sample: "49.90" },
    { path: "id", type: "number", sample: "82…" },
    { path: '["odd name"]', type: "boolean", sample: "true" },
    { path: "lines", type: "list", sample: "4" },
    { path: "lines[0].sku", type: "text", sample: "L…" },
    { path: "lines[1].sku", type: "text", sample: "L…" },
    { path: "lines[2].sku", type: "text", sample: "L…" },
    { path: "none", type: "null", sample: "" },
  ]);
  expect(maskText("Ada Lovelace")).toBe("A…");
  expect(maskText("2026-11-18T10:00:00Z")).toBe("2026-11-18…");
});
