import { expect, test } from "vitest";
import type { Conversion } from "../kernel/event.ts";
import { platforms } from "./index.ts";
import { sampleConversion } from "./shared/sample.ts";
import { skipOf } from "./shared/skips.ts";
import { costFieldsOf, ruledValue, ruleFault, settingsFor, withRuledValue } from "./valueRules.ts";

const order = (more: Partial<Conversion> = {}): Conversion => ({
  ...sampleConversion({ name: "purchase", value: 62, currency: "EUR" }),
  ...more,
});
const items = [
  { id: "a", category: "Shoes", price: 20, quantity: 2 },
  { id: "b", category: "hats", price: 10, quantity: 1 },
];

const sent = (rule: string, conversion: Conversion) => {
  const ruled = withRuledValue(conversion, { "value.purchase": rule });
  return [ruled.value, ruled.currency];
};

test.each<[rule: string, conversion: Conversion, value: number | null, currency?: string]>([
  ["20%", order(), 12.4],
  ["20 %", order(), 12.4],
  ["12.5%", order({ value: 0.2 }), 0.03],
  ["0%", order(), 0],
  ["150%", order(), 93],
  ["33.3333%", order({ value: 1000, currency: "JPY" }), 333, "JPY"],
  ["50%", order({ value: 0.125, currency: "KWD" }), 0.063, "KWD"],
  ["20%", order({ value: null }), null],
  ["15", order(), 15],
  ["15 USD", order(), 15, "USD"],
  ["15.5eur", order({ value: null, currency: "USD" }), 15.5],
  ["net", order({ costs: 12 }), 50],
  ["net", order(), 62],
  ["net", order({ costs: 100 }), 0],
  ["net 20%", order({ costs: 12 }), 10],
  // 40 of shoes, 10 of hats, and 12 that no item explains.
  ["shoes 20%, hats 50%, others 10%", order({ items }), 8 + 5 + 1.2],
  ["shoes 20%", order({ items }), 8 + 10 + 12],
  ["SHOES 20%, others 0%", order({ items }), 8],
  ["shoes 20%, others 10%", order(), 6.2],
  // A discount of 10: each item bears a fifth of its price.
  ["shoes 20%, hats 50%, others 0%", order({ value: 40, items }), 0.8 * (8 + 5)],
  ["garden tools 20%", order({ items: [{ id: "a", category: "Garden Tools", price: 62, quantity: 1 }] }), 12.4],
  ["as sent", order(), 62],
])("the rule %s sends what it says", (rule, conversion, value, currency = "EUR") => {
  expect(ruleFault(rule)).toBeNull();
  expect(sent(rule, conversion)).toEqual([value, currency]);
});

test.each([
  "",
  "%",
  "-5%",
  "1001%",
  "15 XXX",
  "15 EURO",
  "half",
  "shoes",
  "shoes 20%, shoes 5%",
  "20%, 5%",
  "shoes 20",
  "net 5",
  "1e9%",
])("%j is no rule", (rule) => expect(ruleFault(rule)).toMatch(/^must be like/));

test("an event takes its own rule, else that of the usual event, else the rule of all others", () => {
  const settings = { "value.purchase": "10%", "value.ordercompleted": "20%", "value.*": "30%", "value.lead": "as sent" };
  const ruleOf = (name: string) => ruledValue(order({ name }), settings)?.rule ?? null;
  expect(ruleOf("Order Completed")).toBe("20%");
  expect(ruleOf("Purchase")).toBe("10%");
  expect(ruleOf("sign_up")).toBe("30%");
  expect(ruleOf("generate_lead")).toBeNull();
  expect(ruledValue(order(), {})).toBeNull();
});

test("the settings of an event are those of its own name, the usual one, what it takes back, and all others", () => {
  expect(settingsFor("Order Refunded")).toEqual(["value.orderrefunded", "value.refund", "value.purchase", "value.*"]);
  expect(settingsFor("purchase")).toEqual(["value.purchase", "value.*"]);
  expect(settingsFor("*")).toEqual(["value.*"]);
});

test("a refund follows the rule of the purchase that it takes back", () => {
  const refund = order({ name: "refund", value: 31 });
  expect(withRuledValue(refund, { "value.purchase": "20%", "value.*": "50%" }).value).toBe(6.2);
  expect(withRuledValue(refund, { "value.refund": "10%", "value.purchase": "20%" }).value).toBe(3.1);
});

test.each<[rule: string, whole: Partial<Conversion>, full: number, half: number]>([
  ["20%", {}, 12.4, 6.2],
  ["15", {}, 15, 7.5],
  ["net", { costs: 12 }, 50, 25],
  ["shoes 20%, others 0%", { items }, 8, 4],
])("of an order that %s made smaller, the rest keeps its share", (rule, whole, full, half) => {
  const { items: bought, ...one } = order(whole);
  expect(sent(rule, order(whole))).toEqual([full, "EUR"]);
  const rest = (value: number): Conversion => ({ ...one, value, whole: { value: 62, items: bought } });
  expect(sent(rule, rest(31))).toEqual([half, "EUR"]);
  expect(sent(rule, rest(0))).toEqual([0, "EUR"]);
  expect(sent(rule, rest(62))).toEqual([full, "EUR"]);
});

test.each<[rule: string, whole: number | null, listed: number, value: number]>([
  ["20%", null, 50, 10],
  ["20%", 0, 50, 10],
  ["15", null, 50, 15],
  ["15", null, 0, 0],
])("by %s, an order that came with the value %s and is %s in the list is sent as %s", (rule, whole, listed, value) => {
  expect(sent(rule, order({ value: listed, whole: { value: whole } }))).toEqual([value, "EUR"]);
});

test("a conversion that was ruled has nothing by which a rule could be applied to the original again", () => {
  const ruled = withRuledValue({ ...order({ costs: 12 }), whole: { value: 62 } }, { "value.*": "net" });
  expect(Object.keys(ruled)).not.toEqual(expect.arrayContaining(["costs"]));
  expect(Object.keys(ruled)).not.toEqual(expect.arrayContaining(["whole"]));
});

test("tax and shipping are kept only where a rule needs them", () => {
  expect(costFieldsOf({ "value.purchase": "net 20%" })).toEqual(["tax", "shipping"]);
  expect(costFieldsOf({ "value.purchase": "20%", pixel_id: "net" })).toEqual([]);
});

const valued = platforms.filter(({ skips }) => skips?.includes("no_value"));

test.each(valued.map((platform) => [platform.id, platform] as const))(
  "at %s a fixed value stands in for a missing one",
  (_id, platform) => {
    const settings = Object.fromEntries(platform.settings.map(({ name, default: value }) => [name, value ?? "1"]));
    const unvalued = order({ value: null });
    const reason = `${platform.name} requires a value`;
    expect(skipOf(platform, unvalued, settings)?.reason).toContain(reason);
    expect(skipOf(platform, unvalued, { ...settings, "value.purchase": "15 EUR" })?.reason ?? "").not.toContain(reason);
  },
);
