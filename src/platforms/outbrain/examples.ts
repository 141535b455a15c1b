// Example requests and responses of Outbrain, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import {
  bareConversion,
  clickedAt,
  clickedPurchase,
  response,
  tooManyRequests,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import type { ConnectionSettings } from "../platform.ts";
import { accepted, rejected, retryLater } from "../shared/response.ts";

const click = "v1-ExampleOutbrainClick";

const example = (title: string, conversion: Conversion, query: string, settings: ConnectionSettings = {}): Example => ({
  title,
  settings,
  conversions: [conversion],
  request: { method: "GET", url: `https://tr.outbrain.com/unifiedPixel?${query}`, headers: {}, body: "" },
});

export const examples: Example[] = [
  example(
    "A purchase after a click on an ad",
    clickedPurchase("ob_click_id", click),
    `ob_click_id=${click}&name=purchase&orderId=A-1001&orderValue=49.90&currency=EUR`,
  ),
  example(
    "The minimum: a lead, with the click id that Outbrain adds itself",
    bareConversion({ clickIds: { dicbo: { value: "v4-ExampleDicbo", seenAt: clickedAt } } }),
    "ob_click_id=v4-ExampleDicbo&name=lead&orderId=0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  ),
  example(
    "The name of your definition, which may have spaces",
    clickedPurchase("ob_click_id", click, { value: 1500, currency: "JPY" }),
    `ob_click_id=${click}&name=Order%20%26%20Payment&orderId=A-1001&orderValue=1500&currency=JPY`,
    { "event.purchase": "Order & Payment" },
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted: the response says nothing more", 204, "", accepted),
  response("Accepted, with a pixel's body", 200, "GIF89a", accepted),
  unreadableSuccess('{"result":'),
  response("The call is not valid", 400, "", rejected("HTTP 400")),
  tooManyRequests(10),
  response("Outbrain is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
