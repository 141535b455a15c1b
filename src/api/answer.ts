// Writes the answers of the management API: sentences are English, and what a program needs to say them in another language
// stands beside them.

import { threadShare } from "../kernel/concurrency.ts";
import { toJson, type Message } from "../kernel/messages/message.ts";

/** Writes an answer as JSON. Its `messages` have the code and the parameters of each message in it, by its English sentence. */
export function writeAnswer(answer: unknown): string {
  const messages = noteMessages();
  return messages.addTo(toJson(answer, messages.note));
}

/** The same in slices of the thread: an answer may have lists of thousands of entries. `key` is whose share they come from. */
export async function writeInSlices(key: string, answer: object): Promise<string> {
  const messages = noteMessages();
  const parts: string[] = [];
  for (const [name, part] of Object.entries(answer)) {
    if (part === undefined) continue;
    const items = Array.isArray(part) ? await threadShare.map(key, part, (item) => toJson(item, messages.note)) : null;
    parts.push(`${JSON.stringify(name)}:${items ? `[${items.join(",")}]` : toJson(part, messages.note)}`);
  }
  return messages.addTo(`{${parts.join(",")}}`);
}

function noteMessages() {
  const messages: Record<string, Message> = {};
  return {
    note: (sentence: string, message: Message) => void (messages[sentence] = message),
    addTo: (json: string) =>
      Object.keys(messages).length === 0 ? json : `${json.slice(0, -1)},"messages":${JSON.stringify(messages)}}`,
  };
}

const isLongList = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** True for an answer with lists that are read while they are written, so that no length of theirs fills the memory. */
export const hasLongLists = (answer: unknown): answer is Readonly<Record<string, unknown>> =>
  typeof answer === "object" && answer !== null && Object.values(answer).some(isLongList);

/** Writes such an answer piece by piece. It has no `messages`: it is a file, which nobody reads in another language. */
export async function* writePieces(value: unknown, before = ""): AsyncGenerator<string> {
  if (isLongList(value)) {
    let separator = `${before}[`;
    for await (const item of value) {
      yield* writePieces(item, separator);
      separator = ",";
    }
    yield separator === "," ? "]" : `${separator}]`;
  } else if (hasLongLists(value)) {
    let separator = `${before}{`;
    for (const [name, part] of Object.entries(value)) {
      yield* writePieces(part, `${separator}${JSON.stringify(name)}:`);
      separator = ",";
    }
    yield "}";
  } else yield before + toJson(value);
}

/** Reads the long lists of an answer, for a caller that takes it as a whole. */
export async function readWhole<T>(answer: T): Promise<T> {
  if (!hasLongLists(answer)) return answer;
  const json = await Array.fromAsync(writePieces(answer));
  return JSON.parse(json.join("")) as T;
}
