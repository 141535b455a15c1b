// Texts that databases refuse, and mappings that would take long. What each kind makes of a request is in its examples.

import { expect, test } from "vitest";
import { hubspot as hubspotApp } from "../../standins/senders/leads.ts";
import { cpuMsOf } from "../../test/support/cpuTime.ts";
import { clickIdName } from "../identity/clickIds.ts";
import { FieldFault } from "../inbound/fieldFault.ts";
import { readFields } from "../inbound/fields.ts";
import { checkSource } from "../sites/sources.ts";
import { withMapping } from "./customRules.ts";
import type { Kind } from "./kind.ts";
import { custom } from "./kinds/custom/index.ts";
import { hubspot } from "./kinds/hubspot/index.ts";
import { shopify } from "./kinds/shopify/index.ts";
import { standardWebhooks } from "./kinds/standard_webhooks/index.ts";
import { compileKind, runKind } from "./run.ts";

const compiled = compileKind(shopify);
const order = {
  id: "1\0",
  name: "#10\0 01\ud800",
  email: "ada@example.com",
  total_price: "49.90",
  currency: "EUR",
  customer: { first_name: "A\0da", last_name: "\ud83d" },
  landing_site: `/?gclid=Cj0-%00click`,
  line_items: [{ sku: "L\0-1", title: `${"x".repeat(127)}🙂`, price: "49.90", quantity: 1 }],
};
const run = (body: unknown) =>
  runKind(
    compiled,
    { headers: { "x-shopify-topic": "orders/paid", "x-shopify-webhook-id": "w\0-1" }, body },
    { event: "purchase" },
    clickIdName,
  );

test("no text of an outcome has a NUL or half of a surrogate pair", () => {
  expect(run(order)).toEqual([
    expect.objectContaining({
      is: "conversion",
      deliveryId: "w-1",
      orderRef: "1",
      fields: expect.objectContaining({
        orderId: "#10 01\ufffd",
        firstName: "Ada",
        lastName: "\ufffd",
        clickIds: { gclid: "Cj0-click" },
        items: [expect.objectContaining({ id: "L-1", name: `${"x".repeat(127)}\ufffd` })],
      }),
    }),
  ]);
});

test("such texts cost no conversion, and an address that has one stays refused", () => {
  const site = { id: "site", settings: { country: null, conversionsWithoutEmail: false } };
  const read = (body: unknown) => {
    const [outcome] = run(body);
    const fields = outcome && outcome.is !== "ignored" ? outcome.fields : {};
    return readFields({ fields, exact: () => undefined }, site, Date.now());
  };
  expect(read(order)).toMatchObject({ orderId: "#10 01\ufffd", value: 49.9 });
  expect(read({ ...order, email: "ada\0@example.com" })).toBeInstanceOf(FieldFault);
});

const orderOf = (id: string, status = "paid") => ({ id, status, email: `${id}@example.com` });
const idsOf = (kind: Kind, given: Record<string, string>, headers: Record<string, string>, orders: readonly unknown[]) => {
  const settings = { entries: "orders", email: "email", order_id: "id", ...given };
  const outcomes = runKind(compileKind(withMapping(kind, settings)), { headers, body: { orders } }, settings, clickIdName);
  return outcomes.map(({ is, deliveryId }) => (is === "ignored" ? is : deliveryId));
};

test.each<[what: string, kind: Kind, settings: Record<string, string>]>([
  ["Standard Webhooks", standardWebhooks, {}],
  ["a mapped header", custom, { delivery_id: "$headers.webhook-id" }],
])("entries that share the id of their request have one each, the same in every repeat: %s", (_what, kind, settings) => {
  const headers = { "webhook-id": "msg_1" };
  const orders = [orderOf("a"), null, orderOf("b", "open"), orderOf("c"), orderOf("d")];
  const ids = () => idsOf(kind, settings, headers, orders);
  expect(ids()).toEqual(["msg_1", "ignored", "msg_1 #2", "msg_1 #3", "msg_1 #4"]);
  expect(ids()).toEqual(ids());
  // What is ignored changes with the settings, and the ids of the others do not.
  const paid = idsOf(kind, { ...settings, when: 'status = "paid"' }, headers, orders);
  expect(paid).toEqual(["msg_1", "ignored", "ignored", "msg_1 #3", "msg_1 #4"]);
  expect(idsOf(kind, settings, headers, [orderOf("a")])).toEqual(["msg_1"]);
});

test("entries that have ids of their own keep them, wherever a repeat has them", () => {
  const settings = { delivery_id: "id" };
  expect(idsOf(custom, settings, {}, [orderOf("a"), orderOf("b"), orderOf("c")])).toEqual(["a", "b", "c"]);
  expect(idsOf(custom, settings, {}, [orderOf("c"), orderOf("b")])).toEqual(["c", "b"]);
});

/** One of these took 150 seconds of the thread that accepts the events of all sites. */
test.each<[what: string, settings: Record<string, string>, around: Record<string, unknown>]>([
  ["a condition over a long text", { when: "x in ($body.long)" }, { long: "a,".repeat(450_000) }],
  ["pairs in a long text", { event_from: "x lookup($body.long)" }, { long: "a,".repeat(450_000) }],
  ["a long text, changed again and again", { event_from: "$body.long upper lower digits" }, { long: "a".repeat(900_000) }],
  ["a long text of spaces", { event_from: "$body.long | x" }, { long: " ".repeat(900_000) }],
  ["a long text as the value of many fields", { email: "$body.long", phone: "$body.long" }, { long: "a".repeat(900_000) }],
  ["a text that grows", { event_from: `$body.long${" append($body.long)".repeat(5)}` }, { long: "a".repeat(900_000) }],
  [
    "a list that is searched many times",
    { event_from: Array.from({ length: 20 }, () => "$body.list where(key, x) first").join(" | ") },
    { list: Array.from({ length: 1000 }, () => ({ key: "a" })) },
  ],
  [
    "an element that is searched many times",
    { event_from: Array.from({ length: 20 }, () => "$body.list[key=x].value").join(" | ") },
    { list: Array.from({ length: 1000 }, () => ({ key: "a" })) },
  ],
  [
    "click ids among many fields",
    { click_ids: "$body.fields; $body.fields; $body.fields" },
    { fields: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, i])) },
  ],
  [
    "an address among many fields",
    { email: "$body.fields email" },
    { fields: { below: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, i])) } },
  ],
  [
    "whether an object has fields",
    { when: "$body.fields exists" },
    { fields: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, i])) },
  ],
])("the work of a mapping is bounded: %s", (_what, given, around) => {
  const settings = { entries: "orders", email: "email", ...given };
  const compiledMapping = compileKind(withMapping(custom, settings));
  const orders = Array.from({ length: 500 }, (_, i) => ({ x: "q", email: `p${i}@example.com` }));
  const body = { orders, ...around };
  const last: unknown[] = [];
  const ms = cpuMsOf(() => last.push(runKind(compiledMapping, { headers: {}, body }, settings, clickIdName).at(-1)));
  expect(last).toMatchObject([{ is: "ignored", reason: "too much work" }]);
  expect(ms).toBeLessThan(500);
});

test("500 entries of a usual size are no such work", () => {
  const settings = {
    entries: "orders",
    email: "customer.email | customer email",
    event_from: `status lookup("${Array.from({ length: 10 }, (_, i) => `state ${i}=event_${i}`).join(", ")}")`,
    when: 'status in ("state 1", "state 2") and lines exists',
    order_id: "id",
    first_name: "customer.name words(first)",
    last_name: "customer.name words(last)",
    phone: "customer.phone digits",
    value: "lines sum(price)",
    currency_from: "currency upper",
    event_time: "at iso",
    click_ids: "page; fields",
    items: "lines",
  };
  const orders = Array.from({ length: 500 }, (_, i) => ({
    id: `order ${i}`,
    status: "state 1",
    customer: { name: "Ada King Lovelace", email: `p${i}@example.com`, phone: "+44 20 7946 0958" },
    currency: "eur",
    at: "2026-11-18T10:00:00Z",
    page: `https://shop.example/a?utm_source=x&gclid=${"c".repeat(100)}`,
    fields: Array.from({ length: 5 }, (_one, k) => ({ name: `field ${k}`, value: "v" })),
    lines: Array.from({ length: 5 }, (_one, k) => ({ id: `sku ${k}`, name: "a thing", price: "9.90", quantity: 1 })),
  }));
  const outcomes = runKind(compileKind(withMapping(custom, settings)), { headers: {}, body: { orders } }, settings, clickIdName);
  expect(outcomes.map(({ is }) => is)).toEqual(orders.map(() => "conversion"));
});

const maxSetting = 2000;
/** The stage that counts comes first: the whole list is about others. */
const stagesOf = (other: (i: number) => string) =>
  ["closedwon=purchase", ...Array.from({ length: maxSetting }, (_, i) => other(i))].join(",").slice(0, maxSetting);

test.each([
  ["pairs", stagesOf((i) => `stage_of_a_pipeline_${i}=qualified_lead`)],
  ["names of one letter", stagesOf(() => "a")],
])("a full batch of HubSpot counts with the longest list of stages, of %s", (_what, stages) => {
  const settings = { stages, lifecycle_stages: stages };
  const setting = stages.padEnd(maxSetting, "x");
  expect(() => checkSource("hubspot", undefined, { stages: setting }, Date.now())).not.toThrow();
  expect(() => checkSource("hubspot", undefined, { stages: `${setting}x` }, Date.now())).toThrow("longer");
  const facts = Array.from({ length: 100 }, (_, i) => ({ n: String(i), email: "", value: 0, currency: "", at: Date.now() }));
  const body = hubspotApp.changes(facts).body(1);
  const outcomes = runKind(compileKind(hubspot), { headers: {}, body }, settings, clickIdName);
  expect(outcomes).toMatchObject(facts.map(({ n }) => ({ is: "conversion", fields: { event: "purchase", orderId: n } })));
});
