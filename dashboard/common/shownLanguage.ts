// Switches the language of the page that is open.

import { useEffect, useState, useSyncExternalStore } from "react";
import { hasAllTexts, showAllTexts, showLanguage } from "../messages/catalogue/catalogue.ts";
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

/** Returns true once all texts can be shown, for the parts of the first page that show any text of the relay. */
export function useAllTexts(isNeeded: boolean): boolean {
  const [isShown, setIsShown] = useState(hasAllTexts);
  useEffect(() => {
    if (isNeeded && !isShown) void showAllTexts().finally(() => setIsShown(true));
  }, [isNeeded, isShown]);
  return isShown;
}

/** Returns the language that the page shows; null until its texts are loaded. */
export const useShownLanguage = (): Language | null => useSyncExternalStore(subscribe, () => shown);
