import { language } from "../../messages/catalogue/language.ts";

const notCountries = new Set(["EU", "EZ", "UN", "XA", "XB", "ZZ"]);
const choices = new Map<string, { value: string; label: string }[]>();

/** Every country by its name, as this browser knows them. */
export function countryChoices(): { value: string; label: string }[] {
  const known = choices.get(language()) ?? readCountries();
  choices.set(language(), known);
  return known;
}

function readCountries() {
  const names = new Intl.DisplayNames(language(), { type: "region" });
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => {
      const name = names.of(code);
      // Intl replaces the code of a former country by its successor's.
      return name !== undefined && name !== code && !notCountries.has(code) && new Intl.Locale(`und-${code}`).region === code;
    })
    .map((code) => ({ value: code, label: `${names.of(code)} (${code})` }))
    .toSorted((one, other) => one.label.localeCompare(other.label, language()));
}
