// The conversion that every platform's examples start from: one realistic person with everything known.

import type { Conversion } from "../event.ts";

export function sampleConversion(changes: Partial<Conversion> = {}): Conversion {
  return {
    eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
    name: "purchase",
    mode: "live",
    value: 49.9,
    currency: "EUR",
    orderId: "A-1001",
    time: Date.UTC(2026, 10, 14, 9, 30),
    receivedAt: Date.UTC(2026, 10, 14, 9, 30, 1),
    person: {
      // john@contoso.com
      email: "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602",
      emailGoogle: "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602",
      emailMicrosoft: "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602",
      emailReddit: "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602",
      // +14255551234
      phone: "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e",
    },
    clickIds: { gclid: { value: "EAIaIQobChMI-Example_1", seenAt: Date.UTC(2026, 10, 10, 8, 0) } },
    browserIds: { _fbp: "fb.1.1794297600000.1098115397" },
    utm: { utm_source: "newsletter", utm_campaign: "autumn" },
    browser: {
      page: "https://shop.example.com/autumn",
      referrer: "https://www.google.com",
      address: "203.0.113.9",
      userAgent:
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    },
    consent: "granted",
    extra: {},
    ...changes,
  };
}
