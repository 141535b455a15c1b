// Switches the language of the page that is open.

import { useSyncExternalStore } from "react";
import { showAllTexts, showLanguage } from "../messages/catalogue/catalogue.ts";
import { language, setLanguage, showEnglish, type Language } from "../messages/catalogue/language.ts";

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
let shown: Language | null = null;

/** Loads the texts of the chosen language, then draws the page with them. English stays if they cannot be loaded. */
export async function startLanguage(): Promise<void> {
  await showLanguage().catch(() => {
    showEnglish();
    return showLanguage();
  });
  shown = language();
  document.documentElement.lang = shown;
  for (const listener of listeners) listener();
}

/** Switches the page that is open, which may show any text. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  setLanguage(chosen);
  await showAllTexts();
  await startLanguage();
}

/** Returns the language that the page shows; null until its texts are loaded. */
export const useShownLanguage = (): Language | null => useSyncExternalStore(subscribe, () => shown);
