const notCountries = new Set(["EU", "EZ", "UN", "XA", "XB", "ZZ"]);
let choices: { value: string; label: string }[] | null = null;

/** Every country by its name, as this browser knows them. */
export function countryChoices(): { value: string; label: string }[] {
  choices ??= readCountries();
  return choices;
}

function readCountries() {
  const names = new Intl.DisplayNames("en", { type: "region" });
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => {
      const name = names.of(code);
      // Intl replaces the code of a former country by its successor's.
      return (
        name !== undefined &&
        name !== code &&
        !notCountries.has(code) &&
        new Intl.Locale(`und-${code}`).region === code
      );
    })
    .map((code) => ({ value: code, label: `${names.of(code)} (${code})` }))
    .toSorted((one, other) => one.label.localeCompare(other.label, "en"));
}
