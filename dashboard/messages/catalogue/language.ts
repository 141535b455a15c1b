// The language of the texts and the locale of numbers and times. The browser's languages choose it; a choice of the user
// stays in this browser.

export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

export const languageNames = Object.keys(languages) as Language[];

const isLanguage = (text: string | null): text is Language => text !== null && Object.hasOwn(languages, text);
const storageKey = "cleancast-language";

/** Reads the saved choice. A browser may forbid storage. */
function readChoice(): string | null {
  try {
    return globalThis.localStorage?.getItem(storageKey) ?? null;
  } catch {
    return null;
  }
}

const browserLocales = (): readonly string[] => globalThis.navigator?.languages ?? ["en"];
const languageOf = (locale: string) => locale.toLowerCase().split(/[-_@.]/, 1)[0] ?? "";

/** Returns the first of the wanted locales that there is a translation for. */
export function preferredLanguage(choice: string | null, locales: readonly string[]): Language {
  if (isLanguage(choice)) return choice;
  return locales.map(languageOf).find(isLanguage) ?? "en";
}

/** Returns the locale of numbers and times: the browser's own variant of the language, such as en-GB. */
export function preferredLocale(chosen: Language, locales: readonly string[]): string {
  const own = locales.find((locale) => languageOf(locale) === chosen);
  return own !== undefined && isSupported(own) ? own : chosen;
}

/** A browser may name a language that is none, such as en-US@posix. */
function isSupported(locale: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale).length > 0;
  } catch {
    return false;
  }
}

let current = preferredLanguage(readChoice(), browserLocales());

export const language = (): Language => current;
export const locale = (): string => preferredLocale(current, browserLocales());

/** Shows English without changing the saved choice. */
export function showEnglish(): void {
  current = "en";
}

/** Changes the language and keeps the choice in this browser. */
export function setLanguage(chosen: Language): void {
  current = chosen;
  try {
    globalThis.localStorage?.setItem(storageKey, chosen);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}
