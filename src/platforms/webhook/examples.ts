// Example requests of the webhook, which serve as tests and as documentation.

import type { Example } from "../example.ts";
import { fullPerson, sampleConversion, sampleItems, withheld } from "../shared/sample.ts";

const samplePurchase = {
  platformEventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  event: "purchase",
  eventTime: "2026-11-14T09:30:00.000Z",
  value: 49.9,
  currency: "EUR",
  orderId: "A-1001",
};

export const examples: readonly Example[] = [
  {
    title: "Without a template the whole conversion is sent",
    settings: { url: "https://hooks.example.com/conversions" },
    conversions: [sampleConversion()],
    request: {
      method: "POST",
      url: "https://hooks.example.com/conversions",
      headers: { "content-type": "application/json" },
      body: {
        ...samplePurchase,
        emailSha256: fullPerson.emailSha256,
        phoneSha256: fullPerson.phoneSha256,
        clickIds: { gclid: "EAIaIQobChMI-Example_1" },
        utm: { utm_source: "newsletter", utm_campaign: "autumn" },
        consent: "granted",
      },
    },
  },
  {
    title: "A template chooses the fields; a field that is a whole string keeps its type",
    settings: {
      url: "https://hooks.example.com/orders",
      method: "PUT",
      headers: '{"X-Shop":"north"}',
      template: '{"order":"{{orderId}}","total":"{{value}}","note":"{{event}} in {{currency}}","gclid":"{{clickIds.gclid}}"}',
    },
    conversions: [sampleConversion()],
    request: {
      method: "PUT",
      url: "https://hooks.example.com/orders",
      headers: { "content-type": "application/json", "x-shop": "north" },
      body: { order: "A-1001", total: 49.9, note: "purchase in EUR", gclid: "EAIaIQobChMI-Example_1" },
    },
  },
  {
    title: "An order with its items",
    settings: {
      url: "https://hooks.example.com/orders",
      template: '{"order":"{{orderId}}","lines":"{{items}}","first":"{{items.0.id}}"}',
    },
    conversions: [sampleConversion({ items: sampleItems })],
    request: {
      method: "POST",
      url: "https://hooks.example.com/orders",
      headers: { "content-type": "application/json" },
      body: { order: "A-1001", lines: sampleItems, first: "SKU-1" },
    },
  },
  {
    title: "After an opt-out nothing identifies the person",
    settings: { url: "https://hooks.example.com/conversions" },
    conversions: [sampleConversion(withheld)],
    request: {
      method: "POST",
      url: "https://hooks.example.com/conversions",
      headers: { "content-type": "application/json" },
      body: {
        ...samplePurchase,
        emailSha256: null,
        phoneSha256: null,
        clickIds: {},
        utm: {},
        consent: "denied",
      },
    },
  },
];
