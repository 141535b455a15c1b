// Sample people and conversions for previews, test events, and the examples of platforms.

import { hourMs } from "../../kernel/time.ts";
import type { Conversion, Item, Person, Sha256 } from "../../kernel/event.ts";

/** Marks a hash that is written down as text. */
export const sha256 = (hex: string) => hex as Sha256;

// john@contoso.com
const email = sha256("ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602");

const person = {
  emailSha256: email,
  emailGoogleSha256: email,
  emailMicrosoftSha256: email,
  emailRedditSha256: email,
  // +14255551234
  phoneSha256: sha256("c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e"),
} as const satisfies Person;

/** A realistic purchase after a click on an ad. */
export function sampleConversion(changes: Partial<Conversion> = {}): Conversion {
  return {
    platformEventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
    name: "purchase",
    mode: "live",
    value: 49.9,
    currency: "EUR",
    orderId: "A-1001",
    time: Date.UTC(2026, 10, 14, 9, 30),
    receivedAt: Date.UTC(2026, 10, 14, 9, 30, 1),
    person: { ...person },
    clickIds: { gclid: { value: "EAIaIQobChMI-Example_1", seenAt: Date.UTC(2026, 10, 10, 8, 0) } },
    browserIds: { _fbp: "fb.1.1794297600000.1098115397" },
    utm: { utm_source: "newsletter", utm_campaign: "autumn" },
    browser: {
      page: "https://shop.example.com/autumn",
      referrer: "https://www.google.com",
      address: "203.0.113.9",
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    },
    consent: "granted",
    extra: {},
    ...changes,
  };
}

/** Together 49.90, the value of the sample. The second has only what every item has. */
export const sampleItems: readonly Item[] = [
  { id: "SKU-1", name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 },
  { id: "SKU-2", price: 30, quantity: 1 },
];

/** john@contoso.com, +14255551234, John Smith; each form as its hash. */
export const fullPerson = {
  ...person,
  phoneDigitsSha256: sha256("f8a0621a89b87b16447d34d2169bdba8e3eaae523b45df87d86108ee65bd1d6f"),
  firstNameSha256: sha256("96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a"),
  lastNameSha256: sha256("6627835f988e2c5e50533d491163072d3f4f41f5c8b04630150debb3722ca2dd"),
} as const satisfies Person;

/** The full person with an id of every kind, for previews and test events. */
export function fullSample(changes: Partial<Conversion> = {}): Conversion {
  const time = changes.time ?? sampleConversion().time;
  const seenAt = time - hourMs;
  const clicks = {
    gclid: "EAIaIQobChMI-Example_1",
    dclid: "CLjExample_dclid-1",
    fbclid: "IwAR2F4-Example_Click",
    ttclid: "E.C.P.ExampleClick",
    msclkid: "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab",
    li_fat_id: "a3b1f0c2-9d4e-4f6a-8b7c-1d2e3f4a5b6c",
    epik: "dj0yJnU9ZXhhbXBsZQ",
    ScCid: "5a9f3c10-8e52-4b7d-a6f1-0123456789ab",
    rdt_cid: "2034567890123456789",
    twclid: "26l6412g5p4iyj65a2oic2ayg2",
    oppref: "gAAAAABo-Example_Click",
    ndclid: "nd-Example_Click-1",
    aleid: "ax-Example_Click-1",
    alart: "ax-Example_Visitor-1",
    qclid: "Example_Click|4711|0",
    tblci: "GiDxLZcEVjwEqkGfExampleClick",
    ob_click_id: "v1-ExampleOutbrainClick",
    aref: "ExampleAmazonClick",
    _kx: "Example_kx-4711.AbC123",
  };
  return {
    ...sampleConversion(),
    person: fullPerson,
    clickIds: Object.fromEntries(Object.entries(clicks).map(([name, value]) => [name, { value, seenAt }])),
    browserIds: {
      _fbp: "fb.1.1794297600000.1098115397",
      _ga: "GA1.1.1234567890.1794297600",
      _ttp: "example_ttp_0123456789",
      _scid: "b1f2c3d4-0000-4000-8000-000000000001",
      _rdt_uuid: "1794297600000.7d2c9f10-aaaa-4bbb-8ccc-0123456789ab",
      _uetvid: "b171a9b06ce011ecafcd1b209be8601b",
      __obref: "ob-7d2c9f10-example",
      _axwrt: "ax-7d2c9f10-example",
      __spdt: "sp7d2c9f10example",
      hubspotutk: "7d2c9f107d2c9f107d2c9f107d2c9f10",
    },
    ...changes,
  };
}

/** The changes to a conversion whose person opted out. */
export const withheld = {
  person: null,
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
  consent: "denied",
} as const satisfies Partial<Conversion>;
