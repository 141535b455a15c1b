// Texts that the relay sends: errors, reasons, help of settings. The relay answers in English; a translation has them by
// their English text. A text that it does not have, such as a platform's own error message, is shown unchanged.

import { language, type Language } from "./language.ts";

/** Texts by their English text. `{1}` stands for a value, which may itself be a text of the relay. */
export type ServerTexts = Readonly<Record<string, string>>;

type Pattern = { form: RegExp; places: readonly string[]; translation: string };
type Translator = { exact: ReadonlyMap<string, string>; patterns: readonly Pattern[] };

const texts = new Map<Language, ServerTexts>();
const translators = new Map<Language, Translator>();
const place = /\{\d\}/g;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const fixedLength = (english: string) => english.replace(place, "").length;

function toPattern([english, translation]: [string, string]): Pattern {
  const form = english.split(place).map(escaped).join("(.+?)");
  return { form: new RegExp(`^${form}$`, "s"), places: english.match(place) ?? [], translation };
}

/** Adds texts to those of the language. */
export function addServerTexts(of: Language, added: ServerTexts): void {
  texts.set(of, { ...texts.get(of), ...added });
  const all = Object.entries(texts.get(of) ?? {});
  const isPattern = ([english]: [string, string]) => english.search(place) !== -1;
  translators.set(of, {
    exact: new Map(all.filter((one) => !isPattern(one))),
    // The more of a text is fixed, the better it fits.
    patterns: all
      .filter(isPattern)
      .toSorted(([one], [other]) => fixedLength(other) - fixedLength(one))
      .map(toPattern),
  });
}

/** Returns a text of the relay in the chosen language. */
export const serverText = (text: string): string => findServerText(text) ?? text;

/** Returns null if the chosen language has no translation of the text. */
export function findServerText(text: string): string | null {
  const translator = translators.get(language());
  return translator === undefined ? null : translate(text, translator);
}

function translate(text: string, translator: Translator): string | null {
  const exact = translator.exact.get(text);
  if (exact !== undefined) return exact;
  for (const { form, places, translation } of translator.patterns) {
    const found = form.exec(text);
    if (!found) continue;
    const values = new Map(places.map((name, i) => [name, found[i + 1] ?? ""]));
    return translation.replace(place, (name) => {
      const value = values.get(name) ?? "";
      return translate(value, translator) ?? value;
    });
  }
  return null;
}
