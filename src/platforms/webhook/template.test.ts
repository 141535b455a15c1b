import { describe, expect, test } from "vitest";
import { conversionJson } from "../shared/conversionJson.ts";
import { sampleConversion, sampleItems, sha256 } from "../shared/sample.ts";
import { fillTemplate, templateFault } from "./template.ts";

const fields = conversionJson(sampleConversion());
const fill = (template: unknown, values: Record<string, unknown> = fields): unknown =>
  JSON.parse(fillTemplate(JSON.stringify(template), values));

describe("filling a template", () => {
  test("a field that is the whole string keeps its type", () => {
    expect(fill({ a: "{{value}}", b: "{{event}}", c: "{{clickIds}}", d: "{{ utm.utm_source }}" })).toEqual({
      a: 49.9,
      b: "purchase",
      c: { gclid: "EAIaIQobChMI-Example_1" },
      d: "newsletter",
    });
  });

  test("items are a list, whose entries have their places; without items they are null", () => {
    const order = conversionJson(sampleConversion({ items: sampleItems }));
    const template = { lines: "{{items}}", first: "{{items.0.id}}", third: "{{items.2.id}}" };
    expect(fill(template, order)).toEqual({ lines: sampleItems, first: "SKU-1", third: null });
    expect(fill(template)).toEqual({ lines: null, first: null, third: null });
    expect(templateFault(JSON.stringify(template))).toBeNull();
  });

  test("a field within other text becomes text", () => {
    expect(fill({ note: "{{event}} of {{value}} {{currency}}, ids {{clickIds}}" })).toEqual({
      note: 'purchase of 49.9 EUR, ids {"gclid":"EAIaIQobChMI-Example_1"}',
    });
  });

  test("an unknown field is null as a whole string and empty within text", () => {
    const nothing = conversionJson(sampleConversion({ person: null, clickIds: {}, orderId: null }));
    expect(fill({ a: "{{emailSha256}}", b: "order {{orderId}}!", c: "{{clickIds.gclid}}" }, nothing)).toEqual({
      a: null,
      b: "order !",
      c: null,
    });
  });

  test("value 0 is a value", () => {
    const free = conversionJson(sampleConversion({ value: 0 }));
    expect(fill({ a: "{{value}}", b: "costs {{value}}" }, free)).toEqual({ a: 0, b: "costs 0" });
  });

  test("lists, nested objects, numbers, booleans and null stay as they are written", () => {
    const template = { list: ["{{event}}", 1, true, null, { deep: ["{{currency}}"] }], n: 1.5, no: false };
    expect(fill(template)).toEqual({
      list: ["purchase", 1, true, null, { deep: ["EUR"] }],
      n: 1.5,
      no: false,
    });
  });

  test("the whole template may be one string", () => {
    expect(fill("{{event}}")).toBe("purchase");
    expect(fill(["{{value}}"])).toEqual([49.9]);
  });

  test("a template that is filled twice keeps nothing of the first conversion", () => {
    const template = { order: "{{orderId}}" };
    expect(fill(template, { orderId: "A" })).toEqual({ order: "A" });
    expect(fill(template, { orderId: "B" })).toEqual({ order: "B" });
  });
});

describe("injection", () => {
  const template = { order: "{{orderId}}", note: "order {{orderId}} paid" };

  test.each([
    ["closing quotes and new keys", 'x","admin":true,"y":"z'],
    ["a whole JSON object", '{"admin":true}'],
    ["a JSON number as text", "1e5"],
    ["a placeholder of another field", "{{emailSha256}}"],
    ["half a placeholder, completed by the template", "{{emailSha256"],
    ["patterns of String.replace", "$& $1 $` $' $$ $<x>"],
    ["line breaks and control characters", "\r\nX-Evil: 1\r\n\u0000\u0007"],
    ["line separators of JavaScript", "\u2028\u2029"],
    ["backslashes", "\\u0022,\\"],
    ["markup", "</script><script>alert(1)</script>"],
    ["the prototype", "__proto__"],
  ])("%s stays one text in its place", (_what, orderId) => {
    expect(fill(template, { ...fields, orderId })).toEqual({
      order: orderId,
      note: `order ${orderId} paid`,
    });
  });

  test("two adjacent values cannot form a placeholder", () => {
    const split = { orderId: "{{email", event: "Sha256}}", emailSha256: sha256("secret") };
    expect(fill({ a: "{{orderId}}{{event}}" }, split)).toEqual({ a: "{{emailSha256}}" });
  });

  test("a template never reaches inherited properties", () => {
    for (const path of [
      "constructor",
      "__proto__",
      "toString",
      "clickIds.constructor",
      "clickIds.__proto__.polluted",
      "event.length.constructor",
    ])
      expect(fill({ a: `{{${path}}}`, b: `x{{${path}}}` }), path).toEqual({ a: null, b: "x" });
  });

  test("a template with a __proto__ key pollutes nothing and is sent as written", () => {
    const filled = fillTemplate('{"__proto__":{"polluted":"{{event}}"}}', fields);
    expect(filled).toBe('{"__proto__":{"polluted":"purchase"}}');
    expect("polluted" in {}).toBe(false);
  });

  test("placeholders in keys are not filled", () => {
    expect(fill({ "{{event}}": 1 })).toEqual({ "{{event}}": 1 });
  });
});

describe("the check of a template", () => {
  test.each([
    '{"a":"{{platformEventId}} {{event}} {{eventTime}} {{value}} {{currency}} {{orderId}}"}',
    '{"a":"{{emailSha256}}","b":"{{phoneSha256}}","c":"{{consent}}"}',
    '{"a":"{{clickIds}}","b":"{{clickIds.gclid}}","c":"{{utm.utm_source}}"}',
    '{"no":"placeholder"}',
    "[]",
    '"{{ event }}"',
    "null",
  ])("the template %s passes the check", (template) => {
    expect(templateFault(template)).toBeNull();
  });

  test("a template may name every field of a conversion", () => {
    for (const name of Object.keys(fields)) expect(templateFault(`"{{${name}}}"`), name).toBeNull();
  });

  test.each(["", "{", '{"a":{{value}}}', "{'a':1}", "undefined", '{"a":1,}', "NaN"])(
    "the template %j is rejected: it is not JSON",
    (template) => {
      expect(templateFault(template)).toBe("must be valid JSON");
    },
  );

  test.each([
    ['{"a":"{{email}}"}', "email"],
    ['{"a":"{{orderID}}"}', "orderID"],
    ['{"a":"x {{ user.name }} y"}', "user.name"],
    ['{"a":"{{__proto__}}"}', "__proto__"],
  ])("the template %s is rejected: it names an unknown field", (template, path) => {
    expect(templateFault(template)).toContain(`{{${path}}}`);
    expect(templateFault(template)).toContain("emailSha256");
  });

  test("the check of a template is independent of earlier checks", () => {
    expect(templateFault("{")).not.toBeNull();
    expect(templateFault("{}")).toBeNull();
    expect(templateFault("{")).not.toBeNull();
  });
});
