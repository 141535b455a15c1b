// Texts that the relay sends: errors, reasons, alerts. They arrive in English, and each answer has the code and the parameters
// of its messages beside them, by their sentences. A translation has messages by their codes. Words of a closed set, such as
// states and short reasons, are their own codes. Other texts, such as a platform's own error, are shown unchanged.

import type { Message, MessageCode } from "../../src/kernel/messages/message.ts";
import { language, type Language } from "./catalogue/language.ts";

export type ServerTexts = {
  /** By code; `{name}` is the place of a parameter. */
  messages: Readonly<Partial<Record<MessageCode, string>>>;
  words: Readonly<Record<string, string>>;
};

const translations = new Map<Language, ServerTexts>();
/** Messages by their English sentences. */
const received = new Map<string, Message>();
const maxReceived = 5_000;

/** Adds texts to those of the language. */
export function addServerTexts(of: Language, { messages, words }: ServerTexts): void {
  const known = translations.get(of);
  translations.set(of, { messages: { ...known?.messages, ...messages }, words: { ...known?.words, ...words } });
}

/** Keeps the messages of an answer. */
export function keepMessages(answer: unknown): void {
  const { messages } = (answer ?? {}) as { messages?: Readonly<Record<string, Message>> };
  if (messages === undefined) return;
  if (received.size > maxReceived) received.clear();
  for (const [sentence, message] of Object.entries(messages)) received.set(sentence, message);
}

/** Returns the code and the parameters of a sentence of the relay. */
export const messageOf = (sentence: string): Message | undefined => received.get(sentence);

/** Returns a word of a closed set in the chosen language; undefined if it has none for it, or is English. */
export const wordText = (word: string): string | undefined => translations.get(language())?.words[word];

/** Returns a text of the relay in the chosen language. */
export function serverText(text: string): string {
  const texts = translations.get(language());
  if (texts === undefined) return text;
  const message = received.get(text);
  const template = message && texts.messages[message.code];
  if (template === undefined) return texts.words[text] ?? text;
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    [message?.parameters[name] ?? place]
      .flat()
      .map((value) => serverText(String(value)))
      .join(", "),
  );
}
