// The message catalogue: complete in every language, used, and the only place with texts.

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Messages } from "../../dashboard/messages/catalogue/catalogue.ts";
import * as firstPage from "../../dashboard/messages/de/firstPage.ts";
import * as otherPages from "../../dashboard/messages/de/otherPages.ts";
import * as signInPages from "../../dashboard/messages/de/signIn.ts";
import { preferredLanguage, preferredLocale } from "../../dashboard/messages/catalogue/language.ts";
import { english, keysOf, messageAt, sectionNames as names } from "./catalogue.ts";
import { findTexts, findUses, readSource, readSources } from "./sourceTexts.ts";

const sources = readSources();
const translation: Readonly<Record<string, Messages>> = {
  ...firstPage.translation,
  ...signInPages.translation,
  ...otherPages.translation,
};

const tagsOf = (text: unknown) =>
  typeof text === "string" ? [...text.matchAll(/<\/?(\w+)\/?>/g)].map(([, name]) => name).toSorted() : [];

test("the German translation has every section and every key, and no other", () => {
  expect(Object.keys(translation).toSorted()).toEqual(names.toSorted());
  for (const name of names) {
    const german = translation[name] ?? {};
    expect(keysOf(german).toSorted(), name).toEqual(keysOf(english[name] ?? {}).toSorted());
    for (const key of keysOf(english[name] ?? {}))
      expect(tagsOf(messageAt(german, key)), `${name}: ${key}`).toEqual(tagsOf(messageAt(english[name] ?? {}, key)));
  }
});

test("German has one word for deliveries and one for inbound keys", () => {
  const files = globSync("dashboard/messages/de/**/*.ts").map((file) => readFileSync(file, "utf8"));
  const others = files.flatMap((text) => text.match(/\p{L}*übertrag\p{L}*|inbound-\p{L}*/giu) ?? []);
  expect([files.length > 20, others]).toEqual([true, []]);
});

test("every message is used", () => {
  const uses = sources.flatMap(findUses);
  const unused = names.flatMap((name) =>
    keysOf(english[name] ?? {})
      .filter((key) => {
        const path = key.split("\n");
        return !uses.some((use) => use.section === `${name}Text` && use.keys.every((one, i) => path[i] === one));
      })
      .map((key) => `${name}: ${key.replaceAll("\n", ".")}`),
  );
  expect(unused).toEqual([]);
});

test("no text stands in a component", () => {
  expect(sources.flatMap(findTexts)).toEqual([]);
  const bad = readSource("bad.tsx", 'const a = <p title="Hello">Good day {`${1} more things`}</p>;');
  expect(findTexts(bad)).toEqual(["bad.tsx:1: Hello", "bad.tsx:1: Good day", "bad.tsx:1: more things"]);
});

test("messages are read while rendering, so that a change of the language reaches them", () => {
  const early = sources.flatMap(findUses).filter(({ isAtModuleLevel }) => isAtModuleLevel);
  expect(early.map(({ where }) => where)).toEqual([]);
  expect(findUses(readSource("bad.ts", "const a = commonText.save;"))[0]?.isAtModuleLevel).toBe(true);
});

test("the saved choice comes before the browser's languages, and English is last", () => {
  expect(preferredLanguage("de", ["en-GB"])).toBe("de");
  expect(preferredLanguage(null, ["fr-FR", "de-AT", "en"])).toBe("de");
  expect(preferredLanguage("xx", ["fr-FR"])).toBe("en");
});

test("numbers and times use the browser's variant of the language", () => {
  expect(preferredLocale("en", ["de-AT", "en-GB"])).toBe("en-GB");
  expect(preferredLocale("de", ["en-GB"])).toBe("de");
});
