// Texts of the kinds of sources. The relay has them in English; a translation has them by their place in the kind. What it leaves
// out stays English.

import { useEffect, useMemo, useState } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { language, type Language } from "../../messages/catalogue/language.ts";

export type Kind = Answer<"GET /source-kinds">["items"][number];
export type KindSetting = Kind["settings"][number];

/** The translation of a kind's texts. */
export type KindTexts = {
  name?: string;
  about: string;
  settings?: Readonly<Record<string, { label: string; help: string }>>;
  steps: readonly string[];
  retries: readonly string[];
  notes?: readonly string[];
};

type Texts = {
  kinds: Readonly<Record<string, KindTexts>>;
  /** Settings that several kinds have, by their name. */
  settings: Readonly<Record<string, { label: string; help: string }>>;
  /** Names of rules, by the English ones. */
  rules: Readonly<Record<string, string>>;
};

const sources: Record<Exclude<Language, "en">, () => Promise<{ kindTexts: Texts }>> = {
  de: () => import("../../messages/de/kinds/texts.ts"),
};
const english: Texts = { kinds: {}, settings: {}, rules: {} };
const loaded = new Map<Language, Texts>([["en", english]]);

async function load(of: Language): Promise<Texts> {
  const texts = of === "en" ? english : (await sources[of]()).kindTexts;
  loaded.set(of, texts);
  return texts;
}

/** Undefined until the texts are loaded. They stay English if they cannot be loaded. */
function useTexts(): Texts | undefined {
  const [texts, setTexts] = useState(() => loaded.get(language()));
  useEffect(() => {
    if (texts) return;
    void load(language())
      .catch(() => english)
      .then(setTexts);
  }, [texts]);
  return texts;
}

/** A list is translated as a whole: a translation with more or fewer entries is of another version of it. */
const translateList = (list: string[], translation: readonly string[] | undefined) =>
  translation?.length === list.length ? [...translation] : list;

function translateKind(kind: Kind, { kinds, settings, rules }: Texts): Kind {
  const texts = kinds[kind.id];
  return {
    ...kind,
    name: texts?.name ?? kind.name,
    about: texts?.about ?? kind.about,
    settings: kind.settings.map((one) => ({ ...one, ...(texts?.settings?.[one.name] ?? settings[one.name]) })),
    rules: kind.rules.map((one) => ({ ...one, name: rules[one.name] ?? one.name })),
    steps: translateList(kind.steps, texts?.steps),
    retries: translateList(kind.retries, texts?.retries),
    notes: translateList(kind.notes, texts?.notes),
  };
}

export function useKinds() {
  const { data, error, refetch } = useApi("GET /source-kinds", {});
  const texts = useTexts();
  // A change of the language mounts all components again.
  const translated = useMemo(() => data && texts && data.items.map((kind) => translateKind(kind, texts)), [data, texts]);
  return { data: translated, error, refetch };
}
