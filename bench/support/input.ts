// The events of all benchmarks: the same fields, each event once, half of them of people with an identity record.

import { hash } from "node:crypto";
import type { Identity } from "../../src/kernel/event.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { sha256 } from "../../test/support/sha256.ts";

/** The email of the n-th person with an identity record. */
export const knownEmail = (n: number | string) => `known-${n}@example.com`;

export type Population = {
  /** Different in every run of a sender, because order ids must not repeat. */
  prefix: string;
  /** The number of people with records; every second event belongs to one of them. */
  known: number;
  /** Different in every run, so that runs do not find the pages of the same people in the caches. */
  firstPerson?: number;
};

/** Every site gets two consecutive events, then the next site. */
export function eventFields(i: number, { prefix, known, firstPerson = 0 }: Population, siteCount = 1) {
  // The prime number scatters the events of each site over all of its records.
  const n = ((firstPerson + Math.floor(i / 2 / siteCount)) * 7_919) % known;
  const email = known > 0 && i % 2 === 0 ? knownEmail(n) : `new-${prefix}-${i}@example.com`;
  return {
    email,
    event: "purchase",
    value: 10 + (i % 9000) / 100,
    currency: "EUR",
    orderId: `${prefix}-${i}`,
    phone: `+1425555${String(i % 10_000).padStart(4, "0")}`,
    firstName: "Ada",
    lastName: `Lovelace ${i % 1000}`,
  };
}

/**
 * A record as the tag creates it: three click ids, UTM, and the forms of the email. `mark` has ten characters and differs between
 * people. For most addresses all forms have the same hash.
 */
export function identityRecord(mark: string, seenAt: number, emailSha256: string): Identity {
  const utm = {
    utm_source: "google",
    utm_medium: "cpc",
    utm_campaign: "autumn-sale",
    utm_content: "banner-2",
  };
  const visitorId = hash("sha256", mark).slice(0, 22);
  return {
    visits: [
      {
        visitorId,
        seenAt,
        browser: {
          page: "https://shop.example.com/autumn",
          referrer: "https://www.google.com",
          address: "203.0.113.9",
          userAgent:
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
        },
        clickIds: {
          gclid: { value: `EAIaIQobChMI${mark}gwMVKYpoCR0_example`, seenAt },
          fbclid: { value: `IwAR${mark}aem_AbCdEfGhIjKlMnOpQrStUv`, seenAt },
          msclkid: { value: `dd4afcccb1c94a4cad95${mark}`, seenAt },
        },
        browserIds: { _fbp: `fb.1.1794297600000.${mark}`, _ga: `GA1.1.${mark}.1794297600` },
        utm,
      },
    ],
    firstUtm: utm,
    forms: {
      emailGoogleSha256: sha256(emailSha256),
      emailMicrosoftSha256: sha256(emailSha256),
      emailRedditSha256: sha256(emailSha256),
    },
  };
}

export const oldDays = 200;
export const youngDays = 3;
export const daysAgo = (days: number) => Date.now() - days * dayMs;
