// The texts of platforms: labels, help and guides of all platforms are many, so they are loaded with the first page that
// shows them.

import { useEffect, useState } from "react";
import { language, type Language } from "../../messages/language.ts";
import { addServerTexts } from "../../messages/server.ts";

const loaded = new Set<Language>(["en"]);

async function load(): Promise<void> {
  const { platformTexts } = await import("../../messages/de/platforms/texts.ts");
  addServerTexts("de", platformTexts);
  loaded.add("de");
}

/** Returns true once the texts can be shown. They stay English if they cannot be loaded. */
export function usePlatformTexts(): boolean {
  const [isLoaded, setIsLoaded] = useState(() => loaded.has(language()));
  useEffect(() => {
    if (isLoaded) return;
    void load()
      .catch(() => {})
      .finally(() => setIsLoaded(true));
  }, [isLoaded]);
  return isLoaded;
}
