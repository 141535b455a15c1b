// Lists the texts of the relay that a language of the dashboard does not have; they are shown in English. `node scripts/missingTexts.ts`
// lists those of every language, and those of platforms too.

import * as firstPage from "../dashboard/messages/de/firstPage.ts";
import * as otherPages from "../dashboard/messages/de/otherPages.ts";
import { platformTexts } from "../dashboard/messages/de/platforms/texts.ts";
import type { PlatformTexts } from "../dashboard/common/platforms/platformTexts.ts";
import type { ServerTexts } from "../dashboard/messages/server.ts";
import { messages } from "../src/kernel/messages/messages.ts";
import { platforms } from "../src/platforms/index.ts";
import type { Platform } from "../src/platforms/platform.ts";

export type Language = { server: ServerTexts; platforms: Readonly<Record<string, PlatformTexts>> };

export const languages: Readonly<Record<string, Language>> = {
  de: {
    server: {
      messages: { ...firstPage.serverTexts.messages, ...otherPages.serverTexts.messages },
      words: { ...firstPage.serverTexts.words, ...otherPages.serverTexts.words },
    },
    platforms: platformTexts,
  },
};

/** Lists the codes of messages without a text. */
export const missingMessages = ({ server }: Language): string[] =>
  Object.keys(messages).filter((code) => !Object.hasOwn(server.messages, code));

/** Lists the keys of a platform's texts, such as `settings.pixel_id.help`. */
export const textKeysOf = ({ settings, fields = [], guide }: Platform): string[] => [
  "description",
  ...settings.flatMap(({ name }) => [`settings.${name}.label`, `settings.${name}.help`]),
  ...fields.map(({ name }) => `fields.${name}`),
  ...(guide
    ? ["guide.credentials", ...guide.sends.map(([field]) => `guide.sends.${field}`), "guide.notSent", "guide.testMode"]
    : []),
];

/** Lists the keys that a translation of a platform has. */
export function translatedKeys({ description, settings = {}, fields = {}, guide }: PlatformTexts): string[] {
  return [
    ...(description === undefined ? [] : ["description"]),
    ...Object.entries(settings).flatMap(([name, texts]) => Object.keys(texts).map((part) => `settings.${name}.${part}`)),
    ...Object.keys(fields).map((name) => `fields.${name}`),
    ...Object.entries(guide ?? {}).flatMap(([part, texts]) =>
      part === "sends" ? Object.keys(texts as object).map((field) => `guide.sends.${field}`) : [`guide.${part}`],
    ),
  ];
}

const missingOfPlatform = (platform: Platform, language: Language): string[] => {
  const known = new Set(translatedKeys(language.platforms[platform.id] ?? {}));
  return textKeysOf(platform).filter((key) => !known.has(key));
};

if (import.meta.main)
  for (const [name, language] of Object.entries(languages)) {
    const missing = [
      ...missingMessages(language),
      ...platforms.flatMap((platform) => missingOfPlatform(platform, language).map((key) => `platform.${platform.id}.${key}`)),
    ];
    console.log([`${name}: ${missing.length} missing`, ...missing.map((key) => `  ${key}`)].join("\n"));
  }
