// Settings of sources are checked when they are saved: with a wrong one, each request would be ignored later.

import { expect, test } from "vitest";
import { settingsOf } from "../sources/kind.ts";
import { kinds } from "../sources/kinds/index.ts";
import type { Source } from "./directory.ts";
import { checkSource } from "./sources.ts";

const withCurrency = kinds.filter((kind) => settingsOf(kind).some(({ name }) => name === "currency"));

/** A source of the kind that has all it needs. */
function sourceOf(kind: (typeof kinds)[number], settings: Record<string, string> = {}): Source {
  const needed = settingsOf(kind).filter(({ required, secret, requiredUnless }) => !secret && (required ?? requiredUnless));
  const secrets = settingsOf(kind).flatMap(({ name, secret }) => (secret ? [[name, [{ value: "secret", until: null }]]] : []));
  return {
    kind: kind.id,
    settings: { ...Object.fromEntries(needed.map(({ name }) => [name, "a"])), ...settings },
    secrets: Object.fromEntries(secrets),
  } as unknown as Source;
}

test.each(withCurrency.map((kind) => [kind.id, kind] as const))("the currency of %s is a code", (id, kind) => {
  const check = (currency: string) => () => checkSource(id, sourceOf(kind), { currency }, Date.now());
  for (const code of ["EUR", "usd", " CHF ", ""]) expect(check(code)).not.toThrow();
  for (const text of ["Euro", "German (Germany) - EUR", "€", "EUX", "total.currency"])
    expect(check(text)).toThrow("currency must be the three letters of a currency, such as EUR.");
});

test("a currency that was saved before it was checked refuses no file that names it", () => {
  const [kind] = withCurrency;
  if (!kind) throw new Error("there is none");
  const source = sourceOf(kind, { currency: "Euro" });
  expect(() => checkSource(kind.id, source, { currency: "Euro" }, Date.now())).not.toThrow();
  expect(() => checkSource(kind.id, source, { currency: "Dollar" }, Date.now())).toThrow("three letters");
});

test("the kinds with a currency for what names none", () => {
  expect(withCurrency.map(({ id }) => id)).toEqual(expect.arrayContaining(["salesforce", "hubspot", "gohighlevel", "custom"]));
});
