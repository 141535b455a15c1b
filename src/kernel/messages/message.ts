// Sentences for people. Inside of the relay a message is its code with its parameters; it becomes a sentence at the edge:
// English where the relay answers or prints it, the reader's language in the dashboard, which has its own catalogue by the
// same codes.
//
// A message travels as one string, so that it fits wherever a text does: a parameter of another message, a column of a row. A
// string without the mark is a text as it is, such as a platform's own error.

import { messages } from "./messages.ts";

type Catalogue = typeof messages;
export type MessageCode = keyof Catalogue;

/** The names in a template: "{a} of {b}" has a and b. */
type Places<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;

/** A text that is a parameter may be a message itself; a list of them is written with commas. */
type Value = string | number | readonly string[];
type Given<Code extends MessageCode> = [Places<Catalogue[Code]>] extends [never]
  ? []
  : [parameters: Readonly<Record<Places<Catalogue[Code]>, Value>>];

export type Message = { code: MessageCode; parameters: Readonly<Record<string, Value>> };

/** Control characters that mean nothing in a text. What enters from outside loses them, so that nobody else writes a message. */
const [begin, end] = ["\u0001", "\u0002"];
const packed = new RegExp(`${begin}([^${end}]*)${end}`, "g");

/** Creates a message. */
export function say<Code extends MessageCode>(code: Code, ...[parameters]: Given<Code>): string {
  return pack(parameters ? { code, parameters } : { code });
}

const pack = (message: Partial<Message>) => begin + JSON.stringify(message) + end;

/** Removes the characters that mark a message from a text of a sender or a platform. */
export const withoutMarks = (text: string): string =>
  text.includes(begin) || text.includes(end) ? text.replaceAll(begin, "").replaceAll(end, "") : text;

/** Does the same in JSON, where the characters may be written as escapes; those become spaces. */
export const withoutMarksInJson = (json: string): string =>
  withoutMarks(json.includes("\\u000") ? json.replaceAll(/\\u000[12]/g, "\\u0020") : json);

/** Writes messages in a text, also in a longer one, as English sentences. */
export const english = (text: string): string => replaceMessages(text, writeEnglish);

const writeEnglish = ({ code, parameters }: Message): string => fill(messages[code], parameters);

/** Replaces each message in a text by what `write` returns. */
function replaceMessages(text: string, write: (message: Message) => string): string {
  if (!text.includes(begin)) return text;
  return text.replace(packed, (all, json: string) => {
    const message = readMessage(json);
    return message ? write(message) : all;
  });
}

/** Returns the code of a text that is one message; null for others. */
export function codeOf(text: string): MessageCode | null {
  const json = text.startsWith(begin) && text.endsWith(end) ? text.slice(1, -1) : "";
  return json.includes(end) ? null : (readMessage(json)?.code ?? null);
}

/** Returns null for a text that only has the same control characters, such as one stored by another program. */
function readMessage(json: string): Message | null {
  try {
    const { code, parameters = {} } = JSON.parse(json) as Pick<Message, "code"> & Partial<Message>;
    const isKnown = Object.hasOwn(messages, code) && typeof parameters === "object" && Object.values(parameters).every(isValue);
    return isKnown ? { code, parameters } : null;
  } catch {
    return null;
  }
}

const isValue = (given: unknown): given is Value =>
  typeof given === "string" ||
  typeof given === "number" ||
  (Array.isArray(given) && given.every((one) => typeof one === "string"));

/** Changes a text, and in a message the texts of its parameters: whoever masks or cuts a text must leave the message whole. */
export function changeTexts(text: string, change: (part: string) => string): string {
  if (!text.includes(begin)) return change(text);
  const changed = <T>(part: T): T | string => (typeof part === "string" ? changeTexts(part, change) : part);
  return replaceMessages(text, ({ code, parameters }) => pack({ code, parameters: mapValues(parameters, changed) }));
}

/** Writes every message in a value as an English sentence. */
export function inEnglish<T>(value: T): T {
  const json = JSON.stringify(value);
  return json?.includes("\\u0001") ? (JSON.parse(toJson(value)) as T) : value;
}

/** Writes a value as JSON with English sentences. `note` gets each message with its sentence, the innermost first. */
export function toJson(value: unknown, note?: (sentence: string, message: Message) => void): string {
  const json = JSON.stringify(value);
  if (!json?.includes("\\u0001")) return json;
  const show = <T>(part: T): T | string => (typeof part === "string" ? replaceMessages(part, write) : part);
  const write = (message: Message) => {
    const sentence = writeEnglish(message);
    note?.(sentence, { code: message.code, parameters: mapValues(message.parameters, show) });
    return sentence;
  };
  const isRecord = (part: unknown) => typeof part === "object" && part !== null && !Array.isArray(part);
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part as object).map(([key, one]) => [show(key), one])) : show(part),
  );
}

function mapValues(parameters: Message["parameters"], change: (part: string | number) => string | number) {
  const changed = Object.entries(parameters).map(([name, given]) => [
    name,
    Array.isArray(given) ? given.map(change) : change(given as string | number),
  ]);
  return Object.fromEntries(changed) as Message["parameters"];
}

/** Puts the parameters in their places. */
function fill(template: string, parameters: Message["parameters"]): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    [parameters[name] ?? place]
      .flat()
      .map((value) => english(String(value)))
      .join(", "),
  );
}
