// Texts that databases refuse. What each kind makes of a request is in its examples.

import { expect, test } from "vitest";
import { clickIdName } from "../identity/clickIds.ts";
import { FieldFault } from "../inbound/fieldFault.ts";
import { readFields } from "../inbound/fields.ts";
import { shopify } from "./kinds/shopify/index.ts";
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
