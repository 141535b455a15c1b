// Promises that every platform keeps for every conversion: its functions are pure and never fail, its requests are well
// formed, and what consent withholds is not in them.

import * as fc from "fast-check";
import { describe, expect } from "vitest";
import type { Conversion, Person, Sha256 } from "../../src/kernel/event.ts";
import { dayMs, minuteMs } from "../../src/kernel/time.ts";
import { toConversion } from "../../src/delivery/conversion.ts";
import { examplesOf } from "../../src/platforms/examples.ts";
import { platforms } from "../../src/platforms/index.ts";
import type { ConnectionSettings, Platform } from "../../src/platforms/platform.ts";
import { mappingFault } from "../../src/platforms/shared/mapping.ts";
import { fillTemplate, templateFault } from "../../src/platforms/webhook/template.ts";
import { conversionFieldNames, conversionJson } from "../../src/platforms/shared/conversionJson.ts";
import { skipOf } from "../../src/platforms/shared/skips.ts";
import { unattributed } from "../support/events.ts";
import { anyText, hash, property, storableText, word } from "./property.ts";

const now = Date.UTC(2026, 10, 15, 12);
const sha256 = hash.map((text) => text as Sha256);
const contactFields = [
  "emailGoogleSha256",
  "emailMicrosoftSha256",
  "emailRedditSha256",
  "phoneSha256",
  "phoneDigitsSha256",
  "firstNameSha256",
  "lastNameSha256",
] as const;

const person: fc.Arbitrary<Person> = fc
  .record(
    { emailSha256: sha256, ...Object.fromEntries(contactFields.map((name) => [name, sha256])) },
    { requiredKeys: ["emailSha256"] },
  )
  .map((found) => found as Person);

const idValue = fc.oneof(
  fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 }),
  word(8, 30),
  fc.uuid(),
  storableText({ minLength: 1, maxLength: 20 }),
);
const idNames = [...new Set(platforms.flatMap(({ ids = [] }) => ids))];

const conversionOf = (names: readonly string[]): fc.Arbitrary<Conversion> =>
  fc.record({
    platformEventId: fc.uuid(),
    name: fc.oneof(
      fc.constantFrom("purchase", "lead", "refund", "signup", "add_to_cart", ...names),
      storableText({ minLength: 1, maxLength: 100 }).filter((name) => name.trim() !== ""),
    ),
    mode: fc.constant("live"),
    value: fc.option(fc.oneof(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.integer({ min: 0, max: 1e6 }))),
    currency: fc.constantFrom("USD", "EUR", "JPY", "KWD", "XAU"),
    orderId: fc.option(storableText({ minLength: 1, maxLength: 100 }).filter((id) => id.trim() !== "")),
    time: fc.integer({ min: now - 90 * dayMs, max: now + 5 * minuteMs }),
    receivedAt: fc.constant(now),
    person: fc.option(person),
    clickIds: fc.dictionary(
      fc.constantFrom(...idNames),
      idValue.map((value) => ({ value, seenAt: now - dayMs })),
      { maxKeys: 6 },
    ),
    browserIds: fc.dictionary(fc.constantFrom(...idNames), idValue, { maxKeys: 6 }),
    utm: fc.dictionary(fc.constantFrom("utm_source", "utm_campaign", "utm_term"), storableText({ maxLength: 50 })),
    browser: fc.option(
      fc.record({
        page: storableText({ maxLength: 60 }),
        referrer: fc.webUrl(),
        address: fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant("")),
        userAgent: storableText({ maxLength: 80 }),
      }),
    ),
    consent: fc.constantFrom("granted", "denied", "unknown"),
    extra: fc.dictionary(
      word(1, 2),
      fc.oneof(storableText({ maxLength: 30 }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
      { maxKeys: 4 },
    ),
  });

const source = fc.oneof(
  fc.constantFrom("event", "value", "currency", "orderId", "page", "referrer", "utm_source", "utm_campaign"),
  word(1, 2).map((name) => `extra.${name}`),
  storableText({ minLength: 1, maxLength: 30 }).map((text) => `const:${text}`),
);

/** The settings of an example, and mappings of some fields that the connection's form would accept. */
const settingsOf = (platform: Platform): fc.Arbitrary<ConnectionSettings> => {
  const examples = examplesOf(platform.id).examples.map(({ settings }) => settings);
  const fields = platform.fields ?? [];
  const mapped: fc.Arbitrary<Record<string, string>> = fields.length
    ? fc.dictionary(fc.constantFrom(...fields.map(({ name }) => name)), source, { maxKeys: 5 })
    : fc.constant({});
  return fc.tuple(fc.constantFrom(...(examples.length ? examples : [{}])), mapped).map(([settings, chosen]) => ({
    ...settings,
    ...Object.fromEntries(
      Object.entries(chosen).flatMap(([name, from]) => (mappingFault(name, from, fields) ? [] : [[`map.${name}`, from]])),
    ),
  }));
};

/** Those of the conversions that the relay would send in one request. */
function sendable(platform: Platform, conversions: readonly Conversion[], settings: ConnectionSettings): Conversion[] {
  const fit = conversions.filter((one) => !skipOf(platform, one, settings));
  const groupOf = (one: Conversion) => platform.group?.(one, settings, now) ?? "";
  return fit.filter((one) => groupOf(one) === groupOf(fit[0] as Conversion)).slice(0, platform.batch);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

const anyAnswer = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 201, 204, 207, 302, 400, 401, 403, 404, 409, 413, 422, 429, 500, 503),
    fc.integer({ min: 100, max: 599 }),
  ),
  headers: fc.dictionary(
    fc.constantFrom("retry-after", "content-type", "x-request-id"),
    fc.oneof(anyText, fc.integer().map(String)),
  ),
});

describe.each(platforms.map((platform) => [platform.id, platform] as const))("%s", (_id, platform) => {
  const conversions = fc.array(conversionOf(Object.keys(platform.events?.standard ?? {})), {
    minLength: 1,
    maxLength: Math.min(platform.batch, 3),
  });
  const settings = settingsOf(platform);

  property(
    "every conversion that is not skipped makes a well-formed request, always the same",
    [conversions, settings],
    (given, chosen) => {
      const sent = sendable(platform, deepFreeze(given), chosen);
      for (const one of given)
        expect(skipOf(platform, one, chosen)?.reason ?? null).toSatisfy((reason) => reason === null || reason.length > 3);
      if (sent.length === 0) return;
      const request = platform.toRequest(sent, chosen, now);
      expect(platform.toRequest(sent, { ...chosen }, now)).toEqual(request);
      expect(new URL(request.url).protocol).toBe(platform.id === "sandbox" ? "sandbox:" : "https:");
      for (const text of [...Object.entries(request.headers).flat(), request.url]) expect(text).toMatch(/^[\x20-\x7e]*$/);
      expect(request.body.isWellFormed()).toBe(true);
      if (/json/.test(request.headers["content-type"] ?? "")) expect(() => JSON.parse(request.body)).not.toThrow();
    },
    { runs: 80 },
  );

  property(
    "a request without a person has no hash, id, address or user agent of one",
    [conversions, settings, person],
    (given, chosen, known) => {
      const withheld = given.map((one): Conversion => {
        const event = {
          ...one,
          id: one.platformEventId,
          siteId: "s",
          orderEventId: null,
          keyId: "k",
          person: one.person ?? known,
          extra: one.extra,
        };
        const ids = {
          clickIds: { gclid: { value: "clickzq1", seenAt: now } },
          browserIds: { _fbp: "browserzq2" },
          utm: { utm_source: "utmzq3" },
        };
        const browser = {
          page: "https://a.example/pagezq4",
          referrer: "https://b.example/zq5",
          address: "203.0.113.77",
          userAgent: "agentzq6",
        };
        return toConversion(event, one.platformEventId, {
          ...unattributed,
          ...ids,
          browser,
          withheld: "opted out",
        });
      });
      const sent = sendable(platform, withheld, chosen);
      if (sent.length === 0) return;
      const { body, url, headers } = platform.toRequest(sent, chosen, now);
      const text = `${url} ${JSON.stringify(headers)} ${body}`;
      const hashes = given.flatMap((one) => Object.values(one.person ?? known));
      for (const secret of [...hashes, "zq1", "zq2", "zq3", "zq4", "zq5", "zq6", "203.0.113.77"])
        expect(text.includes(secret), secret).toBe(false);
    },
    { runs: 40 },
  );

  property(
    "no answer makes reading it fail, and every conversion gets one reading",
    [
      conversions,
      settings,
      anyAnswer,
      fc.oneof(anyText, fc.json(), fc.constantFrom("", ...(examplesOf(platform.id).responses ?? []).map(({ body }) => body))),
      fc.boolean(),
    ],
    (given, chosen, answer, body, isCut) => {
      const response = { ...answer, body, ...(isCut && ({ isCut } as { isCut: true })) };
      const readings = platform.readResponse(response, given, chosen, now);
      expect(readings).toHaveLength(given.length);
      for (const { kind, ...reading } of readings) {
        expect(["accepted", "rejected", "retry", "unauthorized"]).toContain(kind);
        if ("error" in reading) expect(reading.error).toMatch(/^.{3,}$/);
        // Pinterest's 422 says for each event what became of it.
        const isPartial = platform.id === "pinterest" && answer.status === 422;
        if (answer.status >= 400 && !isPartial) expect(kind).not.toBe("accepted");
      }
    },
    { runs: 80 },
  );
});

const template = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
const placeholders = fc
  .array(
    fc.oneof(
      fc.constantFrom(...conversionFieldNames.map((name) => `{{${name}}}`), "{{ utm.utm_source }}", "{{clickIds.gclid}}"),
      storableText({ maxLength: 10 }),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(""));

property(
  "no value breaks out of its place in a template",
  [fc.dictionary(word(1, 3), placeholders), conversionOf([])],
  (fields, conversion) => {
    const text = JSON.stringify(fields);
    if (templateFault(text)) return;
    const filled = JSON.parse(fillTemplate(text, conversionJson(conversion))) as Record<string, unknown>;
    expect(Object.keys(filled)).toEqual(Object.keys(fields));
  },
);

property("a template without placeholders is sent as it is", [template.filter((text) => !text.includes("{{"))], (text) => {
  expect(JSON.parse(fillTemplate(text, {}))).toEqual(JSON.parse(text));
});

property("no text makes the check of a template or a mapping fail", [anyText, anyText], (one, other) => {
  templateFault(one);
  for (const { fields = [] } of platforms) {
    expect(mappingFault(one, other, fields)).not.toBe("");
    const [field] = fields;
    if (field && mappingFault(field.name, other, fields) === null)
      expect(other).toMatch(/^(?:event|value|currency|orderId|page|referrer|utm_\w+|extra\.[\w.-]+|const:[^]+)$/);
  }
});
