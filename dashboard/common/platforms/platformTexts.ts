// Texts of platforms: description, settings, fields and guide. The relay has them in English; a translation has them by their
// place in the platform, such as `meta.settings.pixel_id.help`. What it leaves out stays English.

/** The translation of a platform's texts. */
export type PlatformTexts = {
  description?: string;
  settings?: Readonly<Record<string, { label?: string; help?: string }>>;
  /** Help of the fields that can be mapped. */
  fields?: Readonly<Record<string, string>>;
  guide?: {
    credentials?: readonly string[];
    /** Where each field comes from. */
    sends?: Readonly<Record<string, string>>;
    notSent?: readonly string[];
    testMode?: string;
  };
};

type Described = {
  description: string;
  settings: readonly { name: string; label: string; help: string }[];
  fields: readonly { name: string; help: string }[];
  guide: {
    credentials: readonly string[];
    sends: readonly { field: string; from: string }[];
    notSent: readonly string[];
    testMode: string | null;
  } | null;
};

/** A list is translated as a whole: a translation with more or fewer entries is of another version of it. */
const translateList = (english: readonly string[], translation: readonly string[] | undefined) =>
  translation?.length === english.length ? [...translation] : [...english];

/** Returns a platform with the texts of a translation. */
export function translatePlatform<P extends Described>(platform: P, texts: PlatformTexts): P {
  const { description, settings, fields, guide } = platform;
  return {
    ...platform,
    description: texts.description ?? description,
    settings: settings.map((one) => ({ ...one, ...texts.settings?.[one.name] })),
    fields: fields.map((one) => ({ ...one, help: texts.fields?.[one.name] ?? one.help })),
    guide: guide && {
      ...guide,
      credentials: translateList(guide.credentials, texts.guide?.credentials),
      sends: guide.sends.map((one) => ({ ...one, from: texts.guide?.sends?.[one.field] ?? one.from })),
      notSent: translateList(guide.notSent, texts.guide?.notSent),
      testMode: texts.guide?.testMode ?? guide.testMode,
    },
  };
}
