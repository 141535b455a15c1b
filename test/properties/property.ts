// Property tests: fast-check makes the inputs, and shrinks one that breaks a promise. The seed is fixed, so that every run of
// the tests sees the same inputs; a failure prints it. `npm run test:long` takes a new seed and many more inputs.

import { withoutMarks } from "../../src/kernel/messages/message.ts";
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { test } from "vitest";

const seed = Number(process.env.PROPERTY_SEED ?? 20_261_115);
const scale = Number(process.env.PROPERTY_SCALE ?? 1);

type Options = { runs?: number };

/** Defines a test: `holds` must not throw, and must not return false, for any input. */
export function property<Input extends [unknown, ...unknown[]]>(
  promise: string,
  inputs: { [At in keyof Input]: fc.Arbitrary<Input[At]> },
  holds: (...input: Input) => boolean | void | Promise<boolean | void>,
  { runs = 200 }: Options = {},
): void {
  test(promise, { timeout: 90_000 * scale }, async () => {
    const checked = fc.asyncProperty<Input>(...inputs, async (...input) => holds(...input));
    await fc.assert(checked, { seed, numRuns: runs * scale });
  });
}

/** Any string that JavaScript has, halves of surrogate pairs included. */
export const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
);

/** Text that can be stored: no NUL, no half of a surrogate pair. */
export const storableText = (options: { minLength?: number; maxLength?: number } = {}) =>
  fc
    .oneof(fc.string({ unit: "grapheme", ...options }), fc.string({ unit: "binary", ...options }))
    .filter((text) => !text.includes("\0") && text === withoutMarks(text) && text.isWellFormed() && lengthFits(text, options));

const lengthFits = (text: string, { minLength = 0, maxLength = Infinity }) =>
  text.length >= minLength && text.length <= maxLength;

const hex = "0123456789abcdef".split("");
export const hash = fc.array(fc.constantFrom(...hex), { minLength: 64, maxLength: 64 }).map((digits) => digits.join(""));

export const digitSigns = "0123456789".split("");
const letters = "abcdefghijklmnopqrstuvwxyz".split("");
const lettersAndDigits = [...letters, ...digitSigns];
const wordOf = (signs: readonly string[], minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...signs), { minLength, maxLength }).map((chosen) => chosen.join(""));

export const word = (minLength = 1, maxLength = 12) => wordOf(letters, minLength, maxLength);

const label = wordOf(lettersAndDigits, 1, 12);
export const domain = fc
  .array(label, { minLength: 1, maxLength: 3 })
  .chain((labels) => word(2, 6).map((top) => [...labels, top].join(".")));

/** The part before the @: letters and digits, with dots, signs and a tag. */
export const localPart = fc
  .tuple(wordOf(lettersAndDigits, 3, 10), wordOf([...lettersAndDigits, ".", "_", "-"], 0, 10), wordOf(lettersAndDigits, 1, 6))
  .chain(([first, middle, last]) =>
    fc
      .option(wordOf(lettersAndDigits, 1, 8), { nil: null })
      .map((tag) => `${first}${middle}${last}${tag === null ? "" : `+${tag}`}`),
  );

export const address = fc.tuple(localPart, domain).map(([local, at]) => `${local}@${at}`);

/** The same text with some of its letters in upper case. */
export const inAnyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => Array.from(text, (sign, i) => (upper[i] ? sign.toUpperCase() : sign)).join(""));

export const sha256Hex = (text: string) => createHash("sha256").update(text).digest("hex");
