// Promises of the inbound fields: nothing that a sender writes makes them fail, and nothing plain of a person leaves them.

import { inspect } from "node:util";
import * as fc from "fast-check";
import { expect } from "vitest";
import { createExactFields } from "../../src/inbound/body.ts";
import { FieldFault } from "../../src/inbound/fieldFault.ts";
import { newEvent, readExtra, readFields, type Fields } from "../../src/inbound/fields.ts";
import { dayMs, minuteMs } from "../../src/kernel/time.ts";
import { withDefaults } from "../../src/sites/settings.ts";
import type { Site } from "../../src/sites/directory.ts";
import { connectionTo } from "../support/lanes.ts";
import { address, anyText, digitSigns, hash, inAnyCase, property, sha256Hex, storableText, word } from "./property.ts";

const now = Date.UTC(2026, 10, 15, 12);
const read = (text: string, country: string | null = null) =>
  readFields(
    { fields: JSON.parse(text) as Record<string, unknown>, exact: createExactFields(text) },
    { id: "site", settings: { country, conversionsWithoutEmail: false } },
    now,
  );

function accepted(found: Fields | FieldFault): Fields {
  if (found instanceof FieldFault) throw new Error(found.message);
  return found;
}

const names = [
  "email",
  "hashed_email",
  "event",
  "value",
  "currency",
  "orderId",
  "firstName",
  "lastName",
  "phone",
  "eventTime",
  "items",
];
const country = fc.constantFrom(null, "US", "DE", "JP", "XX", "nonsense");

/** A value of a kind that a confused or hostile sender writes. */
const anyValue = fc.oneof(
  anyText,
  address,
  hash,
  fc.double(),
  fc.constantFrom(null, true, [], {}, "", " ", 0, -0, 1e308, "USD", "2026-11-15", "+4930123456"),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>,
);
const anyBody = fc.dictionary(
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: anyText }),
  anyValue,
  { maxKeys: 10 },
);

property(
  "no JSON object makes reading the fields fail",
  [anyBody, country],
  (body, of) => {
    const found = read(JSON.stringify(body), of);
    if (found instanceof FieldFault) expect(found.message).toMatch(/^[^\n]{1,200}$/);
    else expect(newEvent(found, origin)).toMatchObject({ time: expect.any(Number) });
  },
  { runs: 1000 },
);

const origin = {
  id: "id",
  siteId: "site",
  keyId: "key",
  mode: "live",
  receivedAt: now,
  extra: null,
} as const;

/** Long enough to be in no message by chance. */
const mark = word(12, 12).map((letters) => `zq${letters}`);

property(
  "no message quotes what the sender wrote",
  [anyBody, mark, fc.constantFrom(...names)],
  (body, given, name) => {
    const found = read(
      JSON.stringify({
        email: `${given}@example.com`,
        event: given,
        ...body,
        [name]: `${given}\u0001 ${given}`,
      }),
    );
    if (found instanceof FieldFault) expect(found.message).not.toContain(given);
  },
  { runs: 500 },
);

const phones = fc.constantFrom("+49 30 901820", "+1 (425) 555-1234", "030 901820", "+81 3-1234-5678");

/** Names that are too long to appear in hashes or elsewhere by chance. */
const personalName = word(7, 20).map((letters) => `${letters}zq`);

property(
  "nothing plain of a person is in what is read",
  [address, personalName, personalName, phones, country],
  (email, firstName, lastName, phone, of) => {
    const found = accepted(read(JSON.stringify({ email, event: "purchase", firstName, lastName, phone }), of));
    const local = email.slice(0, email.indexOf("@"));
    const text = `${JSON.stringify(found)} ${inspect(found, { depth: null })} ${JSON.stringify(newEvent(found, origin))}`;
    const plain = [firstName, lastName, phone, phone.replaceAll(/\D/g, ""), ...(local.length > 6 ? [local] : [])];
    for (const one of plain) expect(text.includes(one), one).toBe(false);
  },
);

/** JSON that a careful sender writes, and what must be read from it. Addresses in names are another matter. */
const eventName = storableText({ minLength: 1, maxLength: 100 }).filter((name) => name.trim() !== "" && !name.includes("@"));
const orderId = storableText({ minLength: 1, maxLength: 128 }).filter((id) => id.trim() !== "" && !id.includes("@"));
const value = fc.oneof(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.integer({ min: 0, max: 1e9 }));
const currency = fc.constantFrom("USD", "EUR", "JPY", "KWD", "CLF").chain(inAnyCase);

property(
  "a correct event is read as it was written",
  [address.chain(inAnyCase), eventName, value, currency, orderId],
  (email, event, amount, code, order) => {
    const found = accepted(
      read(JSON.stringify({ email: ` ${email}\t`, event, value: amount, currency: ` ${code}`, orderId: order })),
    );
    expect(found).toMatchObject({
      name: event,
      currency: code.toUpperCase(),
      orderId: order.trim(),
      eventTime: null,
    });
    expect(found.value === amount && !Object.is(found.value, -0)).toBe(true);
    expect(found.person.emailSha256).toBe(sha256Hex(email.toLowerCase()));
    expect(found.emailDomain).toBe(email.slice(email.indexOf("@") + 1).toLowerCase());
  },
);

const absent = fc.constantFrom(undefined, null, "", "  ", "\t\n");

property(
  "optional fields that are null or blank count as absent",
  [
    address,
    eventName,
    fc.record({
      value: absent,
      currency: absent,
      orderId: absent,
      firstName: absent,
      lastName: absent,
      phone: absent,
      eventTime: absent,
    }),
  ],
  (email, event, optional) => {
    expect(read(JSON.stringify({ email, event, ...optional }))).toEqual(read(JSON.stringify({ email, event })));
  },
);

property("a hash in any case is the person of the address that it was made from", [address, fc.boolean()], (email, isUpper) => {
  const hashed = sha256Hex(email.trim().toLowerCase());
  const found = accepted(read(JSON.stringify({ hashed_email: isUpper ? hashed.toUpperCase() : hashed, event: "lead" })));
  expect(found.person).toEqual({
    emailSha256: accepted(read(JSON.stringify({ email, event: "lead" }))).person.emailSha256,
  });
});

const wholeNumber = fc
  .array(fc.constantFrom(...digitSigns), { minLength: 1, maxLength: 30 })
  .map((found) => found.join("").replace(/^0+(?=\d)/, ""));

property(
  "an order id that is a JSON number keeps every digit",
  [wholeNumber, fc.option(wholeNumber, { nil: null }), fc.boolean()],
  (whole, fraction, isNegative) => {
    const literal = `${isNegative ? "-" : ""}${whole}${fraction === null ? "" : `.${fraction}`}`;
    const text = `{"nested":{"orderId":1},"email":"ada@example.com","event":"lead","orderId":${literal}}`;
    expect(accepted(read(text)).orderId).toBe(literal);
  },
);

const recent = fc.integer({ min: now - 90 * dayMs, max: now + 5 * minuteMs });
const offset = fc.integer({ min: -14 * 60, max: 14 * 60 });
const pad = (number: number, length = 2) => String(Math.abs(number)).padStart(length, "0");

property(
  "a time with any offset is read as the moment that it names",
  [recent, offset, fc.constantFrom("T", " ", "t"), fc.boolean(), fc.constantFrom("", "123", "9", "123456789")],
  (at, minutes, separator, hasColon, fraction) => {
    const wall = new Date(at + minutes * minuteMs).toISOString();
    const zone =
      minutes === 0
        ? "Z"
        : `${minutes < 0 ? "-" : "+"}${pad(Math.trunc(minutes / 60))}${hasColon ? ":" : ""}${pad(minutes % 60)}`;
    const eventTime = `${wall.slice(0, 10)}${separator}${wall.slice(11, 19)}${fraction && `.${fraction}`}${zone}`;
    const seconds = Math.floor(at / 1000) * 1000 + Math.floor(Number(`0.${fraction || 0}`) * 1000);
    const found = read(JSON.stringify({ email: "ada@example.com", event: "lead", eventTime }));
    // The fraction of the last second may lie beyond the limits.
    if (seconds >= now - 90 * dayMs && seconds <= now + 5 * minuteMs) expect(accepted(found).eventTime).toBe(seconds);
  },
);

property("Unix seconds are read to the millisecond, as a number and as a text", [recent], (at) => {
  for (const eventTime of [at / 1000, String(at / 1000)])
    expect(accepted(read(JSON.stringify({ email: "ada@example.com", event: "lead", eventTime }))).eventTime).toBe(at);
});

const site = (...mapped: string[]): Site =>
  ({
    id: "site",
    name: "site",
    hosts: [],
    hostRows: [],
    servedHosts: [],
    keys: [],
    settings: withDefaults({}),
    connections: [
      connectionTo("meta", {
        settings: Object.fromEntries(mapped.map((name, i) => [`map.${i}`, `extra.${name}`])),
      }),
    ],
  }) as unknown as Site;

property(
  "of other fields only mapped ones are kept, short, and never an address",
  [
    fc.dictionary(
      word(1, 3),
      fc.oneof(
        anyValue,
        address.map((one) => ` ${one} `),
      ),
      { maxKeys: 6 },
    ),
    fc.array(word(1, 3), { maxLength: 4 }),
  ],
  (fields, mapped) => {
    const kept = readExtra(fields, site(...mapped)) ?? {};
    for (const [name, one] of Object.entries(kept)) {
      expect(mapped).toContain(name);
      expect(["string", "number", "boolean"]).toContain(typeof one);
      expect(String(one)).not.toMatch(/^\S+@\S+\.\S+$/);
      expect(String(one).length).toBeLessThanOrEqual(512);
    }
  },
);
