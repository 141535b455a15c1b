// Asks before something is deleted or sent. On a terminal a person answers; in a script, --yes does, and without it nothing happens.

import { createInterface } from "node:readline/promises";
import { Conflict } from "../../kernel/refusal.ts";
import { maxCounted } from "../../store/maintenance/deletions.ts";
import { asInvoked } from "./invocation.ts";

type Question = {
  /** What will happen, as sentences. */
  what: string;
  /** The --yes of the command. */
  yes: boolean | undefined;
  /** The word that a person has to type; "yes" by default. */
  answer?: string;
};

type Terminal = {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
};

const ownTerminal: Terminal = { input: process.stdin, output: process.stderr };

/** Returns when it is confirmed, and throws otherwise. */
export async function confirm({ what, yes, answer = "yes" }: Question, terminal: Terminal = ownTerminal): Promise<void> {
  if (yes) return;
  const { input, output } = terminal;
  if (!input.isTTY || !output.isTTY) throw new Conflict("yes", `${what} Add --yes to do it.`);
  const given = await ask(terminal, `${asInvoked(what)}\nType ${answer} to do it: `);
  if (given.trim() !== answer) throw new Conflict("yes", "Nothing was changed.");
}

/** Returns an empty answer where the input ends. */
async function ask({ input, output }: Terminal, question: string): Promise<string> {
  const lines = createInterface({ input, output });
  try {
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return await Promise.race([lines.question(question), closed]);
  } finally {
    lines.close();
  }
}

/** Writes 48086 as 48,086. Counts are bounded: the largest one stands for more. */
export const countText = (count: number) => `${count >= maxCounted ? "more than " : ""}${count.toLocaleString("en-US")}`;
