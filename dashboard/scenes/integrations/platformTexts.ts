// The texts of platforms: labels, help and guides of all platforms are many, so they are loaded with the first page that
// shows them.

import { useEffect, useState } from "react";
import { language, type Language } from "../../messages/catalogue/language.ts";
import type { PlatformTexts } from "../../common/platforms/platformTexts.ts";

/** By the platform's id. */
type Texts = Readonly<Record<string, PlatformTexts>>;

const sources: Record<Exclude<Language, "en">, () => Promise<{ platformTexts: Texts }>> = {
  de: () => import("../../messages/de/platforms/texts.ts"),
};
const loaded = new Map<Language, Texts>([["en", {}]]);

async function load(of: Language): Promise<Texts> {
  const texts = of === "en" ? {} : (await sources[of]()).platformTexts;
  loaded.set(of, texts);
  return texts;
}

/** Returns undefined until the texts are loaded. They stay English if they cannot be loaded. */
export function usePlatformTexts(): Texts | undefined {
  const [texts, setTexts] = useState(() => loaded.get(language()));
  useEffect(() => {
    if (texts) return;
    void load(language())
      .catch(() => ({}))
      .then(setTexts);
  }, [texts]);
  return texts;
}
