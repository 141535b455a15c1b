// Writes the answers of the management API: sentences are English, and what a program needs to say them in another language
// stands beside them.

import { toJson, type Message } from "../kernel/messages/message.ts";

/** Writes an answer as JSON. Its `messages` have the code and the parameters of each message in it, by its English sentence. */
export function writeAnswer(answer: unknown): string {
  const messages: Record<string, Message> = {};
  const json = toJson(answer, (sentence, message) => {
    messages[sentence] = message;
  });
  return Object.keys(messages).length === 0 ? json : `${json.slice(0, -1)},"messages":${JSON.stringify(messages)}}`;
}
