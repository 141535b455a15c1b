// Example requests and responses of Taboola, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import {
  bareConversion,
  clickedAt,
  clickedPurchase,
  exampleBuilder,
  response,
  second,
  tooManyRequests,
  twice,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater } from "../shared/response.ts";
import { sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { account_id: "1234567" };

const request = (actions: unknown[]): Example["request"] => ({
  method: "POST",
  url: "https://trc.taboola.com/1234567/log/3/bulk-s2s-action",
  headers: { "content-type": "application/json" },
  body: { actions },
});

const click = "GiDxLZcEVjwEqkGfExampleClick";
const clickIds = { tblci: { value: click, seenAt: clickedAt } };
const clicked = (changes: Partial<Conversion> = {}) => bareConversion({ clickIds, ...changes });
const action = {
  "click-id": click,
  timestamp: 1_794_648_600_000,
  orderid: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
};
const purchase = { ...action, name: "make_purchase", revenue: 49.9, currency: "EUR", orderid: "A-1001" };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase after a click on an ad", clickedPurchase("tblci", click), purchase),
  example("An order with its items", clickedPurchase("tblci", click, { items: sampleItems }), {
    ...purchase,
    quantity: 3,
  }),
  example("The minimum: a lead after a click", clicked(), { ...action, name: "lead" }),
  example(
    "A value in a currency that Taboola does not take is left out",
    clicked({ name: "purchase", value: 20, currency: "CHF" }),
    { ...action, name: "make_purchase" },
  ),
  example(
    "The name of your definition in Realize, and a mapped field",
    clickedPurchase("tblci", click, { extra: { count: 3 } }),
    { ...purchase, name: "shop_order", quantity: 3 },
    { "event.purchase": "shop_order", "map.quantity": "extra.count" },
  ),
  example(
    "Two in one request; an event that Realize has no category for keeps its name",
    [clicked(), clicked({ ...second, name: "Quiz Done" })],
    [
      { ...action, name: "lead" },
      { ...action, name: "Quiz Done", orderid: "A-1002" },
    ],
  ),
  ...Object.entries(events.standard).map(([ours, name]) =>
    example(`The event ${ours} is sent as ${name}`, clicked({ name: ours, value: 20 }), {
      ...action,
      name,
      revenue: 20,
      currency: "EUR",
    }),
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted: the response has no body", 204, "", twice(accepted)),
  unreadableSuccess('{"result":'),
  response("The request is not valid", 400, "", twice(rejected("HTTP 400"))),
  response("The request is too large", 413, "", twice(rejected("HTTP 413"))),
  tooManyRequests(10),
  response("Taboola is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
