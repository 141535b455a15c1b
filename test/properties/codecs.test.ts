// Promises of stored forms: what is packed is read again as it was.

import * as fc from "fast-check";
import { expect } from "vitest";
import { browserIds, clickIds, utmFields } from "../../src/identity/clickIds.ts";
import type { Identity, Person, Sha256, Visit, Visitor } from "../../src/kernel/event.ts";
import { sealWith } from "../../src/store/engine/seal.ts";
import { packPerson, readPerson } from "../../src/store/events/eventRow.ts";
import { ownedByAny } from "../../src/store/deliveries/ownership.ts";
import { packPlan, readPlan, toPlan, type PlanEntry } from "../../src/store/deliveries/plan.ts";
import { oldestIn, packRecord, unpackRecord } from "../../src/store/people/personCodec.ts";
import { anyText, hash, property, storableText, word } from "./property.ts";

const now = Date.UTC(2026, 10, 15, 12);
const seen = fc.integer({ min: now - 100 * 86_400_000, max: now });
const idValue = fc.oneof(
  anyText.filter((text) => text !== ""),
  fc.constantFrom("fb.1.1794297600000.1098115397", "GA1.1.1234567890.1794297600", "1.1.5", "fb.1.", "="),
);
const text = fc.oneof(
  anyText,
  fc.constantFrom("https://www.google.com/", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)", "facebook\\google"),
);
const named = <T>(names: readonly string[], value: fc.Arbitrary<T>) =>
  fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4, noNullPrototype: true });

const visit: fc.Arbitrary<Visit> = seen.chain((seenAt) =>
  fc.record(
    {
      visitorId: fc.option(word(8, 12)),
      seenAt: fc.constant(seenAt),
      browser: fc.option(fc.record({ page: text, referrer: text, address: text, userAgent: text })),
      clickIds: named(
        clickIds.map(({ name }) => name),
        fc.record({ value: idValue, seenAt: fc.oneof(fc.constant(seenAt), seen) }),
      ),
      browserIds: named(
        browserIds.map(({ name }) => name),
        idValue,
      ),
      utm: named(utmFields, text),
      verdict: fc.record({
        bot: fc.boolean(),
        score: fc.nat(100),
        reasons: fc.array(anyText, { maxLength: 2 }),
        rules: fc.nat(9),
      }),
    },
    { requiredKeys: ["visitorId", "seenAt", "browser", "clickIds", "browserIds", "utm"] },
  ),
);
const visits = fc.array(visit, { maxLength: 4 }).map((found) => found.toSorted((one, other) => other.seenAt - one.seenAt));
const sha256 = hash.map((one) => one as Sha256);

const identity: fc.Arbitrary<Identity> = fc.record({
  visits,
  firstUtm: named(utmFields, text),
  forms: fc.record({ emailGoogleSha256: sha256, emailMicrosoftSha256: sha256, emailRedditSha256: sha256 }, { requiredKeys: [] }),
});

property(
  "an identity record is read as it was stored",
  [identity, sha256],
  (record, subject) => {
    expect(unpackRecord(packRecord(record, subject), subject)).toEqual(record);
  },
  { runs: 500 },
);

property("the hashes of a record that are its own email's are found again", [identity, sha256], (record, subject) => {
  const own = { ...record, forms: { emailGoogleSha256: subject, emailMicrosoftSha256: subject } };
  const packed = packRecord(own, subject);
  expect(packed).not.toContain(subject);
  expect(unpackRecord(packed, subject)).toEqual(own);
});

property(
  "a visitor is read as it was stored",
  [fc.record({ visits, emailSha256s: fc.array(sha256, { maxLength: 3 }) }), word(8, 12)],
  (record: Visitor, subject) => {
    expect(unpackRecord(packRecord(record, subject), subject)).toEqual(record);
  },
);

property(
  "a record can be stored by both engines: it has neither NUL nor half of a surrogate pair",
  [identity, sha256],
  (record, subject) => {
    const packed = packRecord(record, subject);
    expect(packed.isWellFormed() && !packed.includes("\0")).toBe(true);
  },
);

property(
  "no text makes reading a record hang or return something that is not a record",
  [fc.oneof(anyText, fc.json())],
  (garbage) => {
    try {
      expect(unpackRecord(garbage, "subject")).toHaveProperty("visits");
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  },
);

property("the oldest time of a record is the smallest in it", [visits], (found) => {
  const times = found.flatMap((one) => [one.seenAt, ...Object.values(one.clickIds).map((id) => id.seenAt)]);
  expect(oldestIn(found, -1)).toBe(times.length ? times.reduce((a, b) => Math.min(a, b)) : -1);
});

const forms = [
  "emailGoogleSha256",
  "emailMicrosoftSha256",
  "emailRedditSha256",
  "phoneSha256",
  "phoneDigitsSha256",
  "firstNameSha256",
  "lastNameSha256",
];

property(
  "a person is read as it was stored, also where forms are equal",
  [
    fc.record(
      { emailSha256: sha256, ...Object.fromEntries(forms.map((name) => [name, sha256])) },
      { requiredKeys: ["emailSha256"] },
    ),
    fc.subarray(forms),
  ],
  (found, equal) => {
    const person = {
      ...found,
      ...Object.fromEntries(equal.map((name) => [name, found.emailSha256])),
    } as Person;
    expect(readPerson(packPerson(person))).toEqual(person);
  },
);

const entry = fc
  .record({
    connectionId: word(1, 10),
    platform: word(1, 8),
    by: fc.constantFrom("node", "row", "skipped"),
    reason: storableText(),
  })
  .map(({ reason, ...rest }): PlanEntry => ({ ...rest, reason: rest.by === "skipped" ? reason : null }));

property(
  "a plan is read as it was stored, and plans every delivery",
  [fc.array(entry, { maxLength: 6 }), fc.boolean()],
  (plan, hasOwner) => {
    expect(readPlan(packPlan(plan))).toEqual(plan);
    const deliveries = plan.map(
      ({ connectionId, platform, by, reason }) =>
        ({
          connectionId,
          platform,
          state: by === "node" ? "queued" : by === "row" ? "parked" : "skipped",
          reason,
        }) as const,
    );
    const made = toPlan(deliveries, hasOwner ? { by: "node", owner: "node", at: 0 } : ownedByAny(0));
    expect(made.map((one) => one.connectionId)).toEqual(plan.map((one) => one.connectionId));
    expect(made.some(({ by }) => by === "node")).toBe(hasOwner && plan.some(({ by }) => by === "node"));
  },
);

property(
  "a sealed text opens in its place only",
  [anyText.filter((one) => one.isWellFormed()), word(), word()],
  (plain, place, other) => {
    const seal = sealWith(() => [Buffer.alloc(32, 7)]);
    const sealed = seal.seal(plain, place);
    expect(seal.unseal(sealed, place)).toBe(plain);
    if (plain.length > 8) expect(sealed).not.toContain(plain);
    if (place !== other) expect(() => seal.unseal(sealed, other)).toThrow();
  },
);
