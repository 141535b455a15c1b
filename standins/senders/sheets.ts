// The senders, one row each.

import { always, any2xx, backOff, dayMs, exactly200, hourMs, minuteMs, never, secondMs, times, type Sheet } from "./sheet.ts";
import { basic, hubspotV1, hubspotV2, hubspotV3, ofBody, standardWebhooks, timed, webflow } from "./signatures.ts";

const json = "application/json";
const stripeForm = { time: "t", signature: "v1", separator: ",", joinedBy: "." };
const isServerFault = (status: number | null) => status === null || status >= 500 || status === 429;

export const sheets = [
  {
    id: "stripe",
    kind: "stripe",
    contentType: "application/json; charset=utf-8",
    sign: timed("stripe-signature", stripeForm),
    signsTime: true,
    rotates: true,
    success: any2xx,
    // Neither the limit nor the delays are published: three days in all.
    timeout: { totalMs: 20 * secondMs },
    retries: { delaysMs: backOff(5 * minuteMs, 12 * hourMs, 3 * dayMs), on: always },
  },
  {
    id: "shopify",
    kind: "shopify",
    contentType: json,
    sign: ofBody("x-shopify-hmac-sha256", "base64"),
    success: any2xx,
    timeout: { connectMs: secondMs, totalMs: 5 * secondMs },
    // Eight over four hours.
    retries: { delaysMs: [10 * secondMs, ...times(7, 34 * minuteMs)], on: always },
    off: { failuresInARow: 8 },
  },
  {
    id: "woocommerce",
    kind: "woocommerce",
    contentType: json,
    sign: ofBody("x-wc-webhook-signature", "base64"),
    success: any2xx,
    timeout: { totalMs: 60 * secondMs },
    retries: { delaysMs: [], on: never },
    off: { failuresInARow: 6 },
    http: "1.0",
  },
  {
    id: "hubspot",
    kind: "hubspot",
    contentType: json,
    sign: (request) => ({ ...hubspotV2(request), ...hubspotV3(request) }),
    signsTime: true,
    success: any2xx,
    timeout: { connectMs: 3 * secondMs, totalMs: 30 * secondMs },
    retries: { delaysMs: backOff(minuteMs, 8 * hourMs, 3 * dayMs), on: isServerFault },
    retryAfter: "milliseconds",
  },
  {
    id: "hubspot v1",
    kind: "hubspot",
    contentType: json,
    sign: hubspotV1,
    success: any2xx,
    timeout: { totalMs: 5 * secondMs },
    retries: { delaysMs: backOff(2 * minuteMs, 12 * hourMs, dayMs), on: isServerFault },
  },
  {
    id: "pipedrive",
    kind: "pipedrive",
    contentType: json,
    sign: basic,
    success: any2xx,
    timeout: { totalMs: 10 * secondMs },
    retries: { delaysMs: [3 * secondMs, 30 * secondMs, 150 * secondMs], on: always },
    ban: { firstTryFailures: 10, ms: 30 * minuteMs },
    off: { msWithoutSuccess: 3 * dayMs },
  },
  {
    id: "salesforce",
    kind: "salesforce",
    contentType: "text/xml; charset=UTF-8",
    success: (status, text) =>
      status === 200 &&
      /<notificationsResponse xmlns="http:\/\/soap\.sforce\.com\/2005\/09\/outbound">\s*<Ack>true<\/Ack>/.test(text),
    timeout: { totalMs: 60 * secondMs },
    retries: { delaysMs: backOff(minuteMs, 2 * hourMs, dayMs), on: always },
  },
  {
    id: "gohighlevel",
    kind: "gohighlevel",
    contentType: json,
    success: any2xx,
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: times(6, 10 * minuteMs), on: (status) => status === 429 },
  },
  {
    id: "calendly",
    kind: "calendly",
    contentType: json,
    sign: timed("calendly-webhook-signature", stripeForm),
    signsTime: true,
    rotates: true,
    success: any2xx,
    timeout: { connectMs: 10 * secondMs, totalMs: 25 * secondMs },
    retries: { delaysMs: backOff(minuteMs, 4 * hourMs, dayMs), on: always },
    off: { msWithoutSuccess: dayMs },
  },
  {
    id: "calcom",
    kind: "calcom",
    contentType: json,
    sign: ofBody("x-cal-signature-256", "hex"),
    success: any2xx,
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: [], on: never },
  },
  {
    id: "typeform",
    kind: "typeform",
    contentType: json,
    sign: ofBody("typeform-signature", "base64", { prefix: "sha256=" }),
    success: any2xx,
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: [5, 10, 20, 60, 120].map((minutes) => minutes * minuteMs), on: always },
    slowRetries: { on: (status) => [429, 408, 503, 423].includes(status ?? 0), delaysMs: times(240, 2.5 * minuteMs) },
    off: { statuses: [404, 410] },
  },
  {
    id: "tally",
    kind: "tally",
    contentType: json,
    sign: ofBody("tally-signature", "base64"),
    success: any2xx,
    timeout: { totalMs: 10 * secondMs },
    retries: { delaysMs: [5 * minuteMs, 30 * minuteMs, hourMs, 6 * hourMs, dayMs], on: always },
  },
  {
    id: "jotform",
    kind: "jotform",
    contentType: "multipart/form-data; boundary=------------------------f1c7a2",
    success: any2xx,
    // Neither is published.
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: [], on: never },
  },
  {
    id: "webflow",
    kind: "webflow",
    contentType: json,
    sign: webflow,
    signsTime: true,
    success: any2xx,
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: times(2, 10 * minuteMs), on: always },
  },
  {
    id: "callrail",
    kind: "callrail",
    contentType: json,
    sign: ofBody("signature", "base64", { algorithm: "sha1" }),
    success: any2xx,
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: [], on: never },
  },
  {
    id: "paddle",
    kind: "paddle",
    contentType: json,
    sign: timed("paddle-signature", { time: "ts", signature: "h1", separator: ";", joinedBy: ":" }),
    signsTime: true,
    rotates: true,
    success: exactly200,
    timeout: { totalMs: 5 * secondMs },
    // Sixty in three days.
    retries: { delaysMs: times(60, 72 * minuteMs), on: always },
  },
  {
    id: "lemonsqueezy",
    kind: "lemonsqueezy",
    contentType: json,
    sign: ofBody("x-signature", "hex"),
    success: exactly200,
    timeout: { totalMs: 30 * secondMs },
    retries: { delaysMs: [5 * secondMs, 25 * secondMs, 125 * secondMs], on: always },
  },
  {
    id: "chargebee",
    kind: "chargebee",
    contentType: json,
    sign: basic,
    success: exactly200,
    timeout: { connectMs: 20 * secondMs, totalMs: 60 * secondMs },
    // Seven, from two minutes up to two days.
    retries: { delaysMs: [2 * minuteMs, 6 * minuteMs, 30 * minuteMs, hourMs, 5 * hourMs, dayMs, 2 * dayMs], on: always },
  },
  {
    id: "standard webhooks",
    kind: "standard_webhooks",
    contentType: json,
    sign: standardWebhooks("webhook"),
    signsTime: true,
    rotates: true,
    success: any2xx,
    timeout: { totalMs: 15 * secondMs },
    retries: {
      delaysMs: [5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 10 * hourMs, 14 * hourMs, 20 * hourMs, dayMs],
      on: always,
    },
  },
  {
    id: "svix",
    kind: "standard_webhooks",
    contentType: json,
    sign: standardWebhooks("svix"),
    signsTime: true,
    rotates: true,
    success: any2xx,
    timeout: { totalMs: 15 * secondMs },
    retries: { delaysMs: [5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 10 * hourMs], on: always },
  },
  {
    id: "custom",
    kind: "custom",
    contentType: json,
    sign: ofBody("x-signature", "hex", { prefix: "sha256=" }),
    success: any2xx,
    timeout: { totalMs: 10 * secondMs },
    retries: { delaysMs: times(3, minuteMs), on: always },
  },
] as const satisfies readonly Sheet[];

export type SenderId = (typeof sheets)[number]["id"];

export function sheetOf(id: SenderId): Sheet {
  const sheet: Sheet | undefined = sheets.find((one) => one.id === id);
  if (!sheet) throw new Error(`there is no sender ${id}`);
  return sheet;
}
