// The catalogue of texts. English is the source: a file of this folder is one section. Each other language is a folder with
// the same sections. A section is loaded with the pages that use it, a translation only when its language is chosen: first
// what the overview shows, or the sign-in page, the rest with the first other page.

import { language, type Language } from "./language.ts";
import { addServerTexts, type ServerTexts } from "../server.ts";

/** A text, or a function of its parameters. */
type Message = string | ((...values: never[]) => string);
export type Messages = { readonly [key: string]: Message | Messages };

/** The type of a section's translation: the same keys and parameters, any text. */
export type Translation<T> = {
  readonly [Key in keyof T]: T[Key] extends string
    ? string
    : T[Key] extends (...values: infer Values) => string
      ? (...values: Values) => string
      : Translation<T[Key]>;
};

type Section = { english: Messages; shown: Messages };

const sections = new Map<string, Section>();
const translations = new Map<Language, Readonly<Record<string, Messages>>>();

/**
 * Declares a section. The returned object shows the chosen language, so read it while rendering and never in a constant of a
 * module, which would keep the language of the moment.
 */
export function section<const T extends Messages>(name: string, english: T): T {
  const added = { english, shown: {} };
  sections.set(name, added);
  show(name, added);
  return added.shown as T;
}

function show(name: string, { english, shown }: Section): void {
  Object.assign(shown, english, translations.get(language())?.[name]);
}

type Part = { translation: Readonly<Record<string, Messages>>; serverTexts: ServerTexts };

const parts = {
  de: {
    firstPage: () => import("../de/firstPage.ts"),
    signInPages: () => import("../de/signIn.ts"),
    otherPages: () => import("../de/otherPages.ts"),
  },
} satisfies Record<Exclude<Language, "en">, Record<string, () => Promise<Part>>>;

const loaded = new Set<string>();

/** Loads a part of the chosen language if it is needed, and shows its texts. */
async function showPart(part: keyof (typeof parts)["de"]): Promise<void> {
  const of = language();
  if (of !== "en" && !loaded.has(`${of} ${part}`)) {
    const { translation, serverTexts } = await parts[of][part]();
    if (!loaded.has(`${of} ${part}`)) addServerTexts(of, serverTexts);
    translations.set(of, { ...translations.get(of), ...translation });
    loaded.add(`${of} ${part}`);
  }
  for (const [name, one] of sections) show(name, one);
}

/** Shows the sections of the first page in the chosen language. */
export const showLanguage = (): Promise<void> => showPart("firstPage");

/** Shows all sections in the chosen language. Texts that cannot be loaded stay English. */
export const showAllTexts = (): Promise<void> =>
  Promise.all([showPart("signInPages"), showPart("otherPages")]).then(
    () => {},
    () => {},
  );

/** Loads a page before sign-in together with its texts. */
export const withSignInTexts =
  <T>(load: () => Promise<T>) =>
  async (): Promise<T> => {
    const [module] = await Promise.all([load(), showPart("signInPages").catch(() => {})]);
    return module;
  };

/** Loads code together with the texts that it may show. */
export const withTexts =
  <T>(load: () => Promise<T>) =>
  async (): Promise<T> => {
    const [module] = await Promise.all([load(), showAllTexts()]);
    return module;
  };
