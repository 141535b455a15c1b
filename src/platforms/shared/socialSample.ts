// The people and events that the examples of the social platforms start from.

import type { Browser, Conversion, Person } from "../../kernel/event.ts";
import type { ConnectionSettings, Example } from "../platform.ts";
import { sampleConversion, sha256 } from "./sample.ts";

/** john@contoso.com, +14255551234, John Smith; each form as its hash. */
export const fullPerson = {
  ...(sampleConversion().person as Person),
  phoneSha256: sha256("c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e"),
  phoneDigitsSha256: sha256("f8a0621a89b87b16447d34d2169bdba8e3eaae523b45df87d86108ee65bd1d6f"),
  firstNameSha256: sha256("96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a"),
  lastNameSha256: sha256("6627835f988e2c5e50533d491163072d3f4f41f5c8b04630150debb3722ca2dd"),
} as const satisfies Person;

export const sampleBrowser = sampleConversion().browser as Browser;

/** A moment four days before the sample conversion: the click on the ad. */
export const clickedAt = Date.UTC(2026, 10, 10, 8, 0);

/** The sample conversion's time in seconds. */
export const sampleSeconds = 1_794_648_600;

/** Nothing is known but the hashed email. */
export function bareConversion(changes: Partial<Conversion> = {}): Conversion {
  return sampleConversion({
    name: "lead",
    value: null,
    orderId: null,
    person: { emailSha256: fullPerson.emailSha256 },
    clickIds: {},
    browserIds: {},
    utm: {},
    browser: null,
    ...changes,
  });
}

/** What remains of a conversion when consent withholds the person. */
export function withheldConversion(changes: Partial<Conversion> = {}): Conversion {
  return bareConversion({ person: null, consent: "denied", ...changes });
}

/** One small example for each standard event of a platform. */
export function standardExamples(
  standard: Readonly<Record<string, string>>,
  settings: ConnectionSettings,
  requestFor: (theirName: string) => Example["request"],
): Example[] {
  return Object.entries(standard).map(([ours, theirs]) => ({
    title: `The event ${ours} is sent as ${theirs}`,
    settings: { ...settings },
    conversions: [bareConversion({ name: ours, value: 20 })],
    request: requestFor(theirs),
  }));
}
