// Inside of the relay a message is a code with parameters. Whatever leaves it has sentences: every answer that tests read, and
// everything that commands print, is checked here.

import { messages } from "../../src/kernel/messages/messages.ts";

const codes = Object.keys(messages).join("|");

/** A packed message, as it is or quoted in JSON; or what is left of one without its control characters. */
const packedMessage = new RegExp(String.raw`(?:\u0001|\\u0001)\{|(?<!":)\{\\*"+code\\*"+:\\*"+(?:${codes})\\*".{0,200}`);

/** Returns the text, and throws where it has a packed message. */
export function checkSentences(text: string): string {
  const found = packedMessage.exec(text);
  if (found) throw new Error(`a message is not a sentence: ${text.slice(Math.max(0, found.index - 200), found.index + 300)}`);
  return text;
}
